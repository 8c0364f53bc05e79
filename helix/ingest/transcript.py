"""Transcripts: reads Claude Code's histories as slices: what was said, what failed, what mended it, what worked.

A history is a file of JSON lines to which the client adds, and keeps adding kinds of record that nobody has heard of:
what cannot be read is passed over. A running session may be ingested again and again; what is there is skipped.

Its few patterns are a grammar of the names under which clients keep what they record.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from helix.agents.hook_events.claude_code import CLIENT, is_by_client
from helix.agents.hook_events.client_transcripts import (
    OpenCalls,
    Record,
    blocks_of,
    folder_in,
    folder_told,
    forked_from,
    moment_of,
    record_of,
)
from helix.command_outcome.command_evidence import classify
from helix.command_outcome.command_run import CommandRun
from helix.command_outcome.fixes import FIXED, Fix, FixTracker, failure_words
from helix.command_outcome.ignored import names_ignored, tells_of_ignored
from helix.errors import InvalidInputError, NotFoundError
from helix.files import open_regular, read_bytes, real_path
from helix.helixignore import IgnoreLookup
from helix.identity import NO_PROJECT, Identity
from helix.ingest.draft import EpisodeDraft, MemoryDraft, Slice
from helix.ingest.plain import bounded_lines, count_lines, shorten
from helix.model.evidence import EvidenceKind
from helix.model.memory import Kind
from helix.model.provenance import Trust
from helix.model.reports import IngestProblem
from helix.text.client_ids import told_id
from helix.text.own_words import own_words
from helix.text.path_patterns import as_name

log = logging.getLogger(__name__)

ProjectOf = Callable[[Path], Identity]
"""Returns the project of what is done in a folder, which may be gone by now."""

_LONGEST_LINE_BYTES = 1 << 24
_LONGEST_TEXT = 8_000
_NOT_SAID = ("[Request interrupted", "Caveat: The messages below", "This session is being continued from")
_COMMAND = "<command-"
"""How a record begins that tells of a command of the client, whose file's text may stand behind it."""
_CONFIDENCE = 0.6
_WORKED: Mapping[EvidenceKind, str] = {
    EvidenceKind.TEST: "How the tests are run",
    EvidenceKind.BUILD: "How this is built",
    EvidenceKind.LINT: "How the code is checked",
}

_WORKS = "A command that works here"
_OFTEN = 3
"""How often any other command has to pass in a session."""
_SELECTED = re.compile(r"[/\\]|::|\.\w+(?=\s|$)|\s-k\b")
"""Files, tests and the like: what was run is then no more than a part, which other work has no use for."""

_KEPT = (
    ("CLAUDE_CONFIG_DIR", "~/.claude", re.compile(r"projects/[^/]+/(?:[^/]+\.jsonl|[^/]+/subagents/[^/]+\.jsonl)")),
    ("CODEX_HOME", "~/.codex", re.compile(r"(?:archived_)?sessions/(?:[^/]+/)*rollout-[^/]+\.jsonl")),
    ("", "~/.gemini", re.compile(r"tmp/[^/]+/(?:chats/[^/]+\.jsonl?|logs\.json)")),
    ("XDG_DATA_HOME", "~/.local/share", re.compile(r"opencode/opencode\.db")),
)
"""Where clients write their sessions: the variable that moves the place, the place, and the files in it.

Beside them lie skills, plugins and extensions: copies of strangers' repositories.
"""


def staying_inside(folder: Path, found: Iterable[Path]) -> Iterator[Path]:
    """Yield those of the files found in a folder of histories that no link leads out of it."""
    top = real_path(folder)
    for file in found:
        with suppress(OSError):  # links that lead round, or through very many names
            if real_path(file).is_relative_to(top):
                yield file


def transcript_files(path: Path) -> list[Path]:
    """Return the transcripts at a path: the file, or every `.jsonl` below the folder, sorted.

    A link that leads out of the folder is passed over. Raises NotFoundError where there is none.
    """
    place = path.expanduser()
    below = sorted(staying_inside(place, place.rglob("*.jsonl"))) if place.is_dir() else [place]
    found = [path for path in below if path.is_file()]  # a pipe of that name would be waited for
    if not found:
        hint = "Claude Code keeps them in ~/.claude/projects; name a .jsonl file or a folder of them"
        raise NotFoundError(f"there is no transcript at {place}", hint=hint)
    return found


def line_count(files: Iterable[Path]) -> int:
    """Return how many lines transcripts have together: what `read_transcripts` counts its positions up to."""
    total = 0
    for file in files:
        with suppress(OSError), open_regular(file) as stream:  # what cannot be read is told of when it is
            total += count_lines(stream)
    return total


def read_transcripts(files: Iterable[Path], project_of: ProjectOf) -> Iterator[Slice | IngestProblem]:
    """Yield the slices of Claude Code's transcripts, each file's in its order, a line at a time.

    Sources are `claude-code:<session>:<record or call>`: those a live hook uses, so that nothing comes twice. A fault
    of Helix in one history ends that history, and the log has its trace.
    """
    before = 0
    for file in files:
        history = _History(_agent_of(file), project_of, file.absolute(), trust=trust_of(file))
        try:
            yield from _read_slices(file, history, before)
        except Exception as error:  # the boundary to a file that anything may have written: the others are ingested
            log.exception("a history could not be ingested", extra={"file": str(file), "line": history.lines})
            why = f"the rest was not ingested, by a fault of Helix ({type(error).__name__}): the log has more"
            yield IngestProblem(where=f"{file}, line {history.lines}", why=why)
        before += history.lines


def read_records(
    client: str, records: Iterable[Record], project_of: ProjectOf, file: Path, before: int = 0
) -> Iterator[Slice | IngestProblem]:
    """Yield the slices of another client's session, told in the transcript records that Claude Code writes.

    They are read in `file`. Sources are `<client>:<session>:<record or call>`; positions count on from `before`.
    """
    history = _History(client, project_of, file.absolute(), client=client, trust=trust_of(file))
    for history.lines, record in enumerate(records, 1):
        yield from history.take(record, before + history.lines)
    yield from history.end(before + history.lines)


def _read_slices(file: Path, history: _History, before: int) -> Iterator[Slice | IngestProblem]:
    unread, whole = 0, True
    try:
        with open_regular(file) as stream:
            for history.lines, raw in bounded_lines(stream, _LONGEST_LINE_BYTES):
                record = None if raw is None else record_of(raw)
                whole = record is not None or (raw is not None and raw.isspace())
                unread += not whole and raw is not None
                if raw is None:
                    why = f"longer than {_LONGEST_LINE_BYTES:,} bytes"
                    yield IngestProblem(where=f"{file}, line {history.lines}", why=why)
                elif record is not None:
                    yield from history.take(record, before + history.lines)
    except OSError as error:
        yield IngestProblem(where=str(file), why=f"cannot be read: {error.strerror}")
    if whole:  # behind a line that was cut the agent goes on, and what it said last may be no answer
        yield from history.end(before + history.lines)
    if unread or (history.lines and not history.session):
        lost = f"{unread} of {history.lines} lines are not JSON objects"
        yield IngestProblem(where=str(file), why=lost if unread else "it holds no session of Claude Code")


@dataclass(slots=True)
class _Said:
    """What an agent said last; it is its answer if nothing follows, no call either, but a person's next words."""

    key: str
    text: str
    at: datetime | None


@dataclass(slots=True)
class _History:
    """One file on its way into slices: the calls whose results have not come, what has failed, what was said last.

    `lines` is how many of its lines were read.
    """

    agent: str
    project_of: ProjectOf
    file: Path
    trust: Trust
    client: str = CLIENT
    lines: int = 0
    session: str = ""
    forked: str = ""
    folder: str = ""
    scope: str = ""
    root: str = ""
    fix_tracker: FixTracker = field(default_factory=FixTracker)
    calls: OpenCalls = field(default_factory=OpenCalls)
    passed: Counter[str] = field(default_factory=Counter)
    said: _Said | None = None

    def take(self, record: Record, position: int) -> Iterator[Slice]:
        """Yield what one record of a transcript adds to what is ingested."""
        kind, message = record.get("type"), record.get("message")
        if kind not in ("user", "assistant") or not isinstance(message, Mapping):
            return
        yield from self._changed(record, position)
        self.forked = forked_from(record) or self.forked
        if not self._placed(record):
            return
        if record.get("isMeta") is True or record.get("isCompactSummary") is True:
            return
        at, key = moment_of(record.get("timestamp")), str(record.get("uuid") or "")
        for block in blocks_of(message.get("content")):
            match block.get("type"):
                case "text" if kind == "assistant":
                    self.said = _Said(key, str(block.get("text") or ""), at)
                case "tool_use":
                    self.said = None
                    self.calls.called(block)
                case "tool_result":
                    yield from self._ended(block, record, at, position)
        if kind == "user" and key and (text := _typed(record, message)):
            yield from self.end(position)
            by_agent = record.get("isSidechain") is True or bool(record.get("agentId"))
            if not by_agent:
                yield self._episode(key, text, position, at=at, role="user")
            elif may_be_told(text, self.root):
                yield self._episode(key, text, position, at=at, role="assistant", agent=self.client)

    def end(self, position: int) -> Iterator[Slice]:
        """Yield what the end of the file adds."""
        if self.said is not None and self.said.key:
            said, self.said = self.said, None
            if said.text.strip() and may_be_told(said.text, self.root):
                yield self._episode(said.key, said.text, position, at=said.at, role="assistant", agent=self.agent)

    def _changed(self, record: Record, position: int) -> Iterator[Slice]:
        """Begin anew where a record is of another session: a file may go on with one, or repeat one that is private."""
        session = str(record.get("sessionId") or "")
        if session and session != self.session:
            yield from self.end(position)
            self.session, self.calls, self.passed = session, OpenCalls(), Counter()
            self.fix_tracker = FixTracker()
            self.forked = ""

    def _placed(self, record: Record) -> bool:
        """Note where its session is, by the first record that tells; False for one of no session.

        A sub-agent's is where the main thread's began. Until any tells, the folder that the file lies in stands for it,
        as in no project it would be in all; so does a path of another system, which leads to nothing here. A file that
        no client keeps says itself where that was: it is of the folder that it lies in, whichever project it names.
        """
        first, before = not self.scope, self.folder
        if first and self.session:
            self.folder = _begun_in(self.file, self.session)
        self.folder = self.folder or folder_in(record)
        if first or self.folder != before:
            project = self.project_of(Path("/", self.folder) if self.folder else self.file.parent)
            self.scope = project.scope if self.trust is Trust.AGENT_INFERRED else self._scope_of_file()
            self.root = str(project.root)
            self.fix_tracker = FixTracker()
        return bool(self.session)

    def _scope_of_file(self) -> str:
        """Return the scope of the folder that the file lies in; of the file itself where that is in no project."""
        found = self.project_of(self.file.parent)
        return (self.project_of(self.file) if found.scope == NO_PROJECT else found).scope

    def _ended(self, block: Record, record: Record, at: datetime | None, position: int) -> Iterator[Slice]:
        action = self.calls.ended(self.session, block, record)
        if action is None:
            return
        action = replace(action, at=at, root=self.root)
        run = action if isinstance(action, CommandRun) else None
        if run is not None and not may_be_told(run, self.root):
            return
        if (fix := self.fix_tracker.take(action)) is not None:
            if may_be_told(fix, self.root):
                yield self._mended(fix, position, at)
        elif run is not None and run.passed is False and not run.only_looks:
            yield self._episode(run.id, failure_words(run), position, at=at, role="tool", trust=Trust.TOOL_OUTPUT)
        if run is not None:
            yield from self._worked(run, position, at)

    def _mended(self, fix: Fix, position: int, at: datetime | None) -> Slice:
        item = self._episode(
            f"{fix.passed_id}{FIXED}",
            f"{fix.trigger}\n{fix.resolution}",
            position,
            at=at,
            role="tool",
            trust=Trust.TOOL_OUTPUT,
        )
        memory = self._memory(item, Kind.FAILURE, fix.trigger, fix.resolution)
        return replace(
            item, memories=(replace(memory, files=tuple(map(as_name, fix.files)), attributes=fix.attributes),)
        )

    def _worked(self, run: CommandRun, position: int, at: datetime | None) -> Iterator[Slice]:
        """Yield a command that works here: one that tests, builds or checks the project as a whole, or passes often."""
        if not run.ended_well or run.only_looks:
            return
        command = run.forms[0].text if run.forms else ""
        if not command or command.startswith("git ") or _SELECTED.search(command):
            return
        self.passed[command] += 1
        evidence = classify(run)
        title = _WORKED.get(evidence.kind, "") if evidence is not None else ""
        if self.passed[command] != (1 if title else _OFTEN):
            return
        trigger, resolution = f"{title or _WORKS}: `{command}`", f"`{command}` was run here, and it passed."
        item = self._episode(f"{run.id}#worked", f"{trigger}\n{resolution}", position, at=at, role="tool")
        yield replace(item, memories=(self._memory(item, Kind.SNIPPET, trigger, resolution),))

    def _episode(
        self,
        key: str,
        text: str,
        position: int,
        *,
        at: datetime | None,
        role: str,
        agent: str = "",
        trust: Trust | None = None,
    ) -> Slice:
        draft = EpisodeDraft(
            source=f"{self.client}:{told_id(self.session)}:{told_id(key)}",
            content=_kept_of(text),
            trust=trust or self.trust,
            occurred_at=at,
            session=self.session,
            forked_from=self.forked,
            scope=self.scope,
            agent=agent,
            role=role,
        )
        return Slice(episode=draft, position=position)

    def _memory(self, item: Slice, kind: Kind, trigger: str, resolution: str) -> MemoryDraft:
        return MemoryDraft(
            source=item.episode.source,
            kind=kind,
            trigger=trigger,
            resolution=resolution,
            trust=item.episode.trust,
            confidence=_CONFIDENCE,
            scope=self.scope,
            agent=self.agent,
            valid_from=item.episode.occurred_at,
        )


def _typed(record: Record, message: Record) -> str:
    """Return what was typed in a user's record; empty where another session, a channel or a command's file speaks."""
    origin = record.get("origin")
    if isinstance(origin, Mapping) and origin.get("kind", "human") != "human":
        return ""
    texts = [str(block.get("text") or "") for block in blocks_of(message.get("content")) if block.get("type") == "text"]
    if any(text.lstrip().startswith(_COMMAND) for text in texts):
        return ""
    own = (text for text in map(own_words, texts) if text and not is_by_client(text))
    return "\n".join(text for text in own if not text.startswith(_NOT_SAID))


def may_be_told(told: Fix | CommandRun | str, folder: str) -> bool:
    """Return whether no `.helixignore` excludes a file of a fix, or one that a command or an agent's words name.

    `folder` is the top of the project of the history that tells it, which may be another machine's: then nothing may.
    """
    try:
        if isinstance(told, str):
            return not tells_of_ignored(_kept_of(told), folder)
        if isinstance(told, CommandRun):
            return not names_ignored(told)
        return not IgnoreLookup().ignored(told.files, folder)
    except InvalidInputError:  # rules that cannot be read, or a folder of another kind of machine
        return False


def _kept_of(text: str) -> str:
    return shorten(text.strip(), _LONGEST_TEXT)


def _begun_in(file: Path, session: str) -> str:
    """Return where the main thread's history, beside or above a sub-agent's, says that a session began; else ""."""
    if not file.name.startswith("agent-") or "/" in session:
        return ""
    folder = file.parents[2] if file.parent.name == "subagents" else file.parent
    return folder_told(folder / f"{session}.jsonl", session)


def _agent_of(file: Path) -> str:
    """Return who speaks in a file: the client's main thread, or the kind of sub-agent that its neighbour file tells."""
    try:
        told = json.loads(read_bytes(file.with_suffix(".meta.json")))
        kind = str(told["agentType"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return CLIENT
    return f"{CLIENT}/{kind}"


def is_clients_own(folder: Path) -> bool:
    """Return whether a folder is one of a client's own, as `~/.claude`: its notes are read in every project."""
    return any(place == folder for place, _ in _own_folders())


def trust_of(history: Path) -> Trust:
    """Return the trust in a client's transcript: as an agent where the client itself writes it, else as tool output.

    A link does not make a file the client's own.
    """
    try:
        real = real_path(history.expanduser())
    except OSError:  # links that lead round, or through very many names
        return Trust.TOOL_OUTPUT
    for place, files in _own_folders():
        if real.is_relative_to(place) and files.fullmatch(real.relative_to(place).as_posix()):
            return Trust.AGENT_INFERRED
    return Trust.TOOL_OUTPUT


def _own_folders() -> Iterator[tuple[Path, re.Pattern[str]]]:
    """Yield the folders that clients keep their own files in, and which of them are sessions."""
    for variable, usual, files in _KEPT:
        named = Path(os.environ.get(variable) or usual).expanduser()
        if named.is_absolute():
            yield real_path(named), files
