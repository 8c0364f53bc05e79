"""Commit: drafts the episode, the memory and the links of one commit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from helix.ingest.cues import Verdict, judge
from helix.ingest.draft import EpisodeDraft, LinkDraft, MemoryDraft, Slice
from helix.ingest.message import Message, Naming, advisories, issues, references
from helix.ingest.plain import shorten
from helix.model.edge import Relation
from helix.model.entity import EntityKind, Mention
from helix.model.memory import Kind
from helix.model.provenance import Trust

_MOST_FILES = 30
_MOST_FOLDERS = 10
_FOLDER_DEPTH = 2
_LONGEST_PATH = 290
_LONGEST_NAME = 200
_LONGEST_EPISODE = 16_000
_LONGEST_RESOLUTION = 6_000
_REPAIRED = frozenset({Naming.REVERTS, Naming.FIXES, Naming.BLAMES, Naming.SINCE})
_TAIL = re.compile(r"\s*(?:\((?:#|GH-)\d+\)|\[(?:skip ci|ci skip|no ci)\])\s*$", re.IGNORECASE)
_REVERT_LINE = re.compile(
    r"^(?:This )?(?:partly |partially )?reverts? (?:the )?commit\s+[0-9a-f]{7,64}[.,]?\s*", re.I | re.M
)
_BUCKET = 4  # hex digits: few buckets, each short, where one per commit would double the memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A file as a commit left it: git's letter for what happened, its path, and the path it had before."""

    status: str
    path: str
    old_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit as read; `parents` is their number, `authored_at` None where its clock makes no sense."""

    sha: str
    parents: int
    authored_at: datetime | None
    author: str
    message: Message
    changes: tuple[Change, ...]


@dataclass(slots=True)
class CommitIndex:
    """The commits seen so far, found by the whole or the beginning of their hash."""

    _buckets: dict[str, list[str]] = field(default_factory=dict)
    _without_memory: set[str] = field(default_factory=set)

    def add(self, sha: str, *, memory: bool = True) -> None:
        """Take in a commit and whether it has a memory that links can lead to."""
        bucket = self._buckets.setdefault(sha[:_BUCKET], [])
        if sha not in bucket:
            bucket.append(sha)
        if not memory:
            self._without_memory.add(sha)

    def resolve(self, named: str) -> str | None:
        """Return the one commit with a memory that the name stands for; None where it is none, or one of several."""
        found = [sha for sha in self._buckets.get(named[:_BUCKET], ()) if sha.startswith(named)]
        return found[0] if len(found) == 1 and found[0] not in self._without_memory else None


def slice_of(commit: Commit, *, scope: str, index: CommitIndex, position: int) -> Slice:
    """Return the commit as an episode, and as a memory with links to the commits it names where it is worth one."""
    source = _source(scope, commit.sha)
    files = touched(change.path for change in commit.changes)
    author = commit.author[:_LONGEST_NAME]
    episode = EpisodeDraft(
        source=source,
        content=_content(commit),
        trust=Trust.TOOL_OUTPUT,
        occurred_at=commit.authored_at,
        agent=author,
        role="author",
        files=files,
        entities=(Mention(kind=EntityKind.COMMIT, name=commit.sha[:12]),),
    )
    paths = [change.path for change in commit.changes]
    verdict = judge(commit.message, author=commit.author, merge=commit.parents > 1, paths=paths)
    if verdict.kind is None:
        return Slice(episode=episode, position=position)
    named = _named(commit.message, scope, index)
    memory = MemoryDraft(
        source=source,
        grounded_in=source,
        kind=verdict.kind,
        trigger=_trigger(commit.message, verdict),
        resolution=_resolution(commit.message, verdict, files),
        trust=Trust.TOOL_OUTPUT,
        confidence=verdict.confidence,
        importance=verdict.importance,
        agent=author,
        files=files,
        entities=episode.entities,
        valid_from=commit.authored_at,
        attributes=_attributes(commit),
    )
    return Slice(episode=episode, position=position, memories=(memory,), links=tuple(_links(source, verdict, named)))


def touched(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths, or of more than 30 the folders that hold most of them, as globs (`lib/vtls/**`)."""
    known = [path for path in dict.fromkeys(paths) if path and len(path) <= _LONGEST_PATH]
    if len(known) <= _MOST_FILES:
        return tuple(known)
    folders = Counter("/".join(path.split("/")[:-1][:_FOLDER_DEPTH]) for path in known)
    return tuple(f"{folder}/**" for folder, _ in folders.most_common(_MOST_FOLDERS) if folder)


def _source(scope: str, sha: str) -> str:
    return f"git:{scope}:{sha}"


def _content(commit: Commit) -> str:
    """Return the evidence: the message, and what happened to which file."""
    message = shorten(commit.message.text, _LONGEST_EPISODE) or "(no message)"
    if not commit.changes:
        return message
    lines = [
        f"{change.status} {change.path}"
        if change.old_path == change.path
        else f"{change.status} {change.old_path} -> {change.path}"
        for change in commit.changes[:_MOST_FILES]
    ]
    if (more := len(commit.changes) - len(lines)) > 0:
        lines.append(f"and {more} more")
    return shorten(message + "\n\nFiles:\n" + "\n".join(lines), 2 * _LONGEST_EPISODE)


def _trigger(message: Message, verdict: Verdict) -> str:
    if verdict.revert:
        return f'"{verdict.revert}" was reverted'
    return _TAIL.sub("", message.subject) or message.subject


def _resolution(message: Message, verdict: Verdict, files: tuple[str, ...]) -> str:
    """Return what was done: the body, else, so that there is something to go by, where it was done."""
    body = message.body
    if verdict.revert:
        body = _REVERT_LINE.sub("", body).strip()
        return shorten(
            f"It was taken back: {body}" if body else "It was taken back; the commit does not say why.",
            _LONGEST_RESOLUTION,
        )
    if body:
        return shorten(body, _LONGEST_RESOLUTION)
    return f"Changed {', '.join(files[:8])}{' and more' if len(files) > 8 else ''}." if files else ""


def _attributes(commit: Commit) -> dict[str, object]:
    text = commit.message.text
    found = {"issues": list(issues(text)), "advisories": list(advisories(text))}
    return {"commit": commit.sha, **{name: values for name, values in found.items() if values}}


def _named(message: Message, scope: str, index: CommitIndex) -> dict[str, Naming]:
    """Return the sources of the earlier commits that a message names, each with the first thing said about it."""
    named: dict[str, Naming] = {}
    for reference in references(message.text):
        if (sha := index.resolve(reference.sha)) is not None:
            named.setdefault(_source(scope, sha), reference.naming)
    return named


def _links(source: str, verdict: Verdict, named: dict[str, Naming]) -> Iterable[LinkDraft]:
    """Yield the edges to named commits; only what went wrong was caused, and only a repair of it solves."""
    for target, naming in named.items():
        if verdict.kind is Kind.FAILURE and naming in _REPAIRED:
            yield LinkDraft(type=Relation.SOLVES, source=source, target=target)
            if naming is not Naming.REVERTS or verdict.faulty:
                yield LinkDraft(type=Relation.CAUSES, source=target, target=source)
        else:
            word = Naming.MENTIONS if naming is Naming.BLAMES else naming
            yield LinkDraft(type=Relation.RELATED, source=source, target=target, relation=word.value)
