"""Commit: drafts the episode, the memory and the links of one commit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from helix.ingest.commit_cues import CommitVerdict, judge
from helix.ingest.commit_index import CommitIndex
from helix.ingest.draft import EpisodeDraft, LinkDraft, MemoryDraft, Slice
from helix.ingest.message import Message, Naming, advisories, blamed, issues, merged_title, references, titled
from helix.ingest.plain import shorten
from helix.model.edge import Relation
from helix.model.entity import EntityKind, Mention
from helix.model.memory import Kind
from helix.model.provenance import Trust
from helix.text.path_patterns import as_name

_MOST_FILES = 30
_MOST_FOLDERS = 10
_FOLDER_DEPTH = 2
_LONGEST_PATH = 290
_LONGEST_NAME = 200
_LONGEST_EPISODE = 16_000
_MOST_NAMED = 50
"""Earlier commits that one is linked to. A message of 60 kB has room for 7,000, each of which is up to two edges."""
_REPAIRED = frozenset({Naming.REVERTS, Naming.FIXES, Naming.BLAMES, Naming.SINCE})
_FIXED = re.compile(
    r"^(?:bug|hot)?fix(?:e[sd]|ing)?\s+(?:(?:for|bug(?: (?:in|with|where))?|issue(?: (?:with|where))?)\s+)?(?:#\d+\W+)?"
    r"(?=\S)(?!.*\s(?:to|by)\s)",
    re.IGNORECASE,
)
_LEAST_FAULT = 3
_WITHOUT_REASON = "It was taken back; the commit does not say why."


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A file as a commit left it: git's letter for what happened, its path, and the path it had before."""

    status: str
    path: str
    old_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit as read; `parents` are their hashes, `authored_at` None where its clock makes no sense.

    `more_changes` says how many files it touched beside those in `changes`.
    """

    sha: str
    parents: tuple[str, ...]
    authored_at: datetime | None
    author: str
    message: Message
    changes: tuple[FileChange, ...]
    more_changes: int = 0


def slice_of(commit: Commit, *, scope: str, index: CommitIndex, position: int) -> Slice:
    """Return a git commit as an episode, and as a memory with links to the commits it names where it is worth one.

    What a commit reverts ends, whether or not it is worth a memory itself.
    """
    source = _source(scope, commit.sha)
    files = touched(change.path for change in commit.changes)
    author = commit.author[:_LONGEST_NAME]
    verdict = judge(
        commit.message,
        author=commit.author,
        merge=len(commit.parents) > 1,
        paths=[change.path for change in commit.changes],
        removed=[change.path for change in commit.changes if change.status == "D"],
    )
    episode = EpisodeDraft(
        source=source,
        content=_content(commit),
        found_by=_message(commit),  # the files it touched are found as such, not by the words of their paths
        trust=Trust.TOOL_OUTPUT,
        occurred_at=commit.authored_at,
        agent=author,
        role="author",
        files=files,
        entities=(Mention(kind=EntityKind.COMMIT, name=commit.sha[:12]),),
        silent=verdict.noise or index.says_no_more(commit.message, commit.parents),
    )
    lesson = _memory(commit, verdict, episode) if verdict.kind is not None else None
    named = _named(commit.message, index)
    undone = index.undo(commit.sha, commit.message, named)
    return Slice(
        episode=episode,
        position=position,
        memories=(lesson,) if lesson is not None else (),
        links=tuple(_links(source, verdict, scope, named)) if lesson is not None else (),
        ends=tuple(_source(scope, sha) for sha in undone.ends),
        revives=tuple(_source(scope, sha) for sha in undone.revives),
    )


def _memory(commit: Commit, verdict: CommitVerdict, episode: EpisodeDraft) -> MemoryDraft:
    assert verdict.kind is not None
    return MemoryDraft(
        source=episode.source,
        kind=verdict.kind,
        trigger=_trigger(commit.message, verdict),
        resolution=_resolution(verdict),
        trust=Trust.TOOL_OUTPUT,
        found_by=shorten(f"{commit.message.subject}\n{commit.message.body}".strip(), _LONGEST_EPISODE),
        confidence=verdict.confidence,
        importance=verdict.importance,
        agent=episode.agent,
        files=episode.files,
        entities=episode.entities,
        valid_from=commit.authored_at,
        attributes=_attributes(commit),
    )


def touched(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths that a git commit touched, or of more than 30 the folders of most, as patterns (`lib/vtls/**`).

    Whatever a file is called, its name is no pattern.
    """
    names = (as_name(path) for path in dict.fromkeys(paths))
    known = [name for name in names if name and len(name) <= _LONGEST_PATH]
    if len(known) <= _MOST_FILES:
        return tuple(known)
    folders = Counter("/".join(path.split("/")[:-1][:_FOLDER_DEPTH]) for path in known)
    return tuple(f"{folder}/**" for folder, _ in folders.most_common(_MOST_FOLDERS) if folder)


def _source(scope: str, sha: str) -> str:
    return f"git:{scope}:{sha}"


def _content(commit: Commit) -> str:
    """Return the evidence: the message, and what happened to which file."""
    message = _message(commit)
    if not commit.changes:
        return message
    lines = [
        f"{change.status} {change.path}"
        if change.old_path == change.path
        else f"{change.status} {change.old_path} -> {change.path}"
        for change in commit.changes[:_MOST_FILES]
    ]
    if (more := len(commit.changes) + commit.more_changes - len(lines)) > 0:
        lines.append(f"and {more} more")
    return shorten(message + "\n\nFiles:\n" + "\n".join(lines), 2 * _LONGEST_EPISODE)


def _message(commit: Commit) -> str:
    text, title = commit.message.text, merged_title(commit.message)
    if title and title != commit.message.subject:
        text = f"{title}\n\n{text}"  # "Merge pull request #12 from ..." is no title
    return shorten(text, _LONGEST_EPISODE) or "(no message)"


def _trigger(message: Message, verdict: CommitVerdict) -> str:
    """Return when the memory matters: what was taken back, the fault that was mended, else what holds now."""
    if verdict.revert:
        return f'"{titled(verdict.revert)}" was reverted'
    title = titled(message.subject)
    if verdict.kind is Kind.FAILURE:
        fault = _FIXED.sub("", title)
        return fault if len(fault.split()) >= _LEAST_FAULT else title
    return title


def _resolution(verdict: CommitVerdict) -> str:
    """Return the why; a subject that says all has none beside it."""
    if verdict.revert:
        return f"It was taken back: {verdict.reason}" if verdict.reason else _WITHOUT_REASON
    return verdict.reason


def _attributes(commit: Commit) -> dict[str, object]:
    text = commit.message.text
    found = {"issues": list(issues(text)), "advisories": list(advisories(text))}
    return {"commit": commit.sha, **{name: values for name, values in found.items() if values}}


def _named(message: Message, index: CommitIndex) -> dict[str, Naming]:
    """Return the first earlier commits that a message names, by hash, then by number, each with what it first says."""
    by_hash = ((index.resolve(one.sha), one.naming) for one in references(message.text))
    by_number = ((index.numbered(number), Naming.BLAMES) for number in blamed(message.text))
    named: dict[str, Naming] = {}
    for sha, naming in chain(by_hash, by_number):
        if sha is not None:
            named.setdefault(sha, naming)
        if len(named) == _MOST_NAMED:
            break
    return named


def _links(source: str, verdict: CommitVerdict, scope: str, named: dict[str, Naming]) -> Iterable[LinkDraft]:
    """Yield the edges to named commits; only what went wrong was caused, and only a repair of it solves.

    Few commits are memories, so each link leads to the commit itself, too.
    """
    for sha, naming in named.items():
        target = _source(scope, sha)
        repairs = verdict.kind is Kind.FAILURE and naming in _REPAIRED
        word = Naming.FIXES if repairs and naming is not Naming.REVERTS else naming
        yield LinkDraft(type=Relation.GROUNDED_IN, source=source, target=target, relation=word.value)
        if repairs:
            yield LinkDraft(type=Relation.SOLVES, source=source, target=target)
            if naming is not Naming.REVERTS or verdict.reason:
                yield LinkDraft(type=Relation.CAUSES, source=target, target=source)
        else:
            word = Naming.MENTIONS if naming is Naming.BLAMES else naming
            yield LinkDraft(type=Relation.RELATED, source=source, target=target, relation=word.value)
