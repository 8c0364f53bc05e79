"""Markdown: reads notes (agents' instructions, decision records, any Markdown or text) as slices, one section each.

Of an architecture decision record (ADR) the one decision that it holds is drafted.

A grammar of front matter, headings of decision records and their states.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

from helix.identity import identify
from helix.ingest.draft import EpisodeDraft, MemoryDraft, Slice, WholeReading, told_key
from helix.ingest.note_files import NoteFile, NoteFolder, exists, note_files
from helix.ingest.note_kinds import SectionNote, notes_of
from helix.ingest.plain import shorten
from helix.ingest.sections import BlockKind, Document, Section, parse_markdown, parse_rst
from helix.model.memory import Kind
from helix.model.provenance import Trust
from helix.model.reports import IngestProblem
from helix.text.chunks import chunks
from helix.text.cleaning import slug
from helix.text.client_ids import short_digest
from helix.text.path_patterns import as_name

_LONGEST_EPISODE = 30_000
_LONGEST_HEADING = 200
_LONGEST_PATH = 290
_GLOB_KEYS = ("globs", "paths", "applyto", "files")
_MOST_GLOBS = 30
_FOUND_OUT = (Kind.SYSTEMIC, Kind.GAP)
_CHANGELOG = re.compile(
    r"change[-_ ]?log.*|(?:changes|history|news|release[-_ ]?notes)(?:[-_ ]?v?\d.*)?", re.IGNORECASE
)
"""What a file is called, without its suffix, that tells what was changed: 114 of other projects made 65,889 memories,
6,314 of them "conventions" such as `Fix segfault on test-crypto`."""


def read_notes(
    paths: Iterable[str | Path],
    *,
    root: Path | None = None,
    scope: str = "",
    mine: bool = False,
    told_by: str = "",
    met: Callable[[NoteFile], None] = lambda _: None,
) -> Iterator[Slice | IngestProblem | WholeReading]:
    """Yield the sections of the Markdown notes at the paths as slices, and a problem for each excluded file.

    Behind each file and folder it says that all of it was read: what is not there any more is said no more.

    Sources are `notes:<scope>:<path from the root>#<headings>@<digest>`, with `<repository>//` before the path where
    the scope is not the repository's own, and without a scope `notes:<whole path>#...`. A section that has not changed
    has the source it had, and of one that has changed, so has each rule in it that has not. `root` is the work tree the
    notes lie in where none is given. What they say is trusted as a commit's words are: anybody may have written it.
    With `mine` the user stands for it. `told_by` names a place elsewhere that they come from, in the repository's
    stead: what changes there says nothing of notes that lie here. `met` is told of each file that is read. Raises
    NotFoundError for a missing path.
    """
    position, trust, prefix_of = (
        0,
        Trust.USER_ASSERTED if mine else Trust.TOOL_OUTPUT,
        cache(partial(_prefix, scope, told_by)),
    )
    for found in note_files(paths, root):
        if isinstance(found, IngestProblem):
            yield found
            continue
        prefix = prefix_of(found.base)
        is_there = partial(_is_there, found.base, prefix)
        if isinstance(found, NoteFolder):
            holds: Callable[[str], bool] = is_there
            prefix += found.place
        else:
            met(found)
            reading, places = _Reading.of(found, prefix, trust, whole=not scope), set[str]()
            for passage in reading.passages():
                position += 1
                read = reading.slice(passage, position)
                places.add(read.supersedes)
                yield read
            holds, prefix = places.__contains__, f"{reading.prefix}#"
        yield WholeReading(prefix=prefix, holds=holds, is_there=is_there, trust=trust, position=position)


def _prefix(scope: str, told_by: str, base: Path | None) -> str:
    """Return how sources begin of notes in a work tree: two repositories that share a scope are told apart in it."""
    if not scope:
        return "notes:"
    if told_by:
        return f"notes:{scope}:{told_by}//"
    own = identify(base) if base is not None else None
    if own is None or not own.repository or f"{scope}/".startswith(f"{own.repository}/"):
        return f"notes:{scope}:"
    return f"notes:{scope}:{own.repository}//"


def _is_there(base: Path | None, prefix: str, place: str) -> bool:
    """Return whether the file is there of a place in a work tree; where that cannot be told, it is."""
    rest = place.removeprefix(prefix)
    file = rest.partition("#")[0]
    if rest == place or "~" in file or "//" in file or rest.startswith("/") != (base is None):
        return True  # of another repository; with a digest in its name; of a file outside of work trees
    ends = [match.start() for match in re.finditer("#", rest)]
    return any(exists(Path(base or "/", rest[:end])) for end in ends)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passage:
    """What is ingested whole: a section or a decision record, as it stands and as notes."""

    heading: str
    text: str
    notes: tuple[SectionNote, ...]
    valid_from: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """One file being read; `prefix` is how the source of everything in it begins."""

    file: NoteFile
    document: Document
    prefix: str
    trust: Trust

    @classmethod
    def of(cls, file: NoteFile, prefix: str, trust: Trust, *, whole: bool) -> _Reading:
        """`whole`: the file is known by its whole path."""
        parse = parse_rst if file.path.suffix.lower() == ".rst" else parse_markdown
        prefix += told_key(file.path.as_posix() if whole else file.place)
        return cls(file=file, document=parse(file.text), prefix=prefix, trust=trust)

    def passages(self) -> Iterator[_Passage]:
        """Yield the sections, headings that repeat told apart by a number; of a decision record, the whole.

        A changelog tells what happened, and no rule.
        """
        title = self._title()
        if (recorded := decision_of(self.document, title)) is not None:
            note, decided_at = recorded
            text = shorten(self.file.text.strip(), _LONGEST_EPISODE)
            yield _Passage(heading="", text=text, notes=(note,), valid_from=decided_at)
            return
        dated, is_changelog = date_of(self.document.front_matter), _CHANGELOG.fullmatch(self.file.path.stem) is not None
        met: Counter[str] = Counter()
        sections = self.document.sections
        blocks = [block for section in sections for block in section.blocks]
        # A title above a single text says what that is about; a list of rules may have shrunk to a single one.
        about = len(blocks) == 1 and blocks[0].kind is not BlockKind.ITEM
        titled = len({one.path[:1] for one in sections}) == 1 and not about
        for section in (part for whole in sections for part in _parts(whole)):
            heading = " > ".join(section.path)
            met[heading] += 1
            notes = () if is_changelog else notes_of(section, title, titled=titled)
            yield _Passage(
                heading=heading if met[heading] == 1 else f"{heading} ({met[heading]})",
                text=section.text,
                notes=tuple(map(self._with_kind, notes)),
                valid_from=dated,
            )

    def slice(self, passage: _Passage, position: int) -> Slice:
        """Return the passage as an episode, and a memory for each thing it says."""
        place = f"{self.prefix}#{_in_source(passage.heading)}@"
        name, globs = as_name(self.file.place), self._globs()
        episode = EpisodeDraft(
            source=place + short_digest(passage.text, *globs),
            content=f"{passage.heading}\n\n{passage.text}" if passage.heading else passage.text,
            trust=self.trust,
            occurred_at=self.file.modified_at,
            role="note",
            files=(name,) if len(name) <= _LONGEST_PATH else (),
        )
        memories = [
            MemoryDraft(
                source=place + short_digest(note.kind, note.trigger, note.resolution, *globs),
                kind=note.kind,
                trigger=note.trigger,
                resolution=note.resolution,
                trust=self.trust,
                confidence=note.confidence,
                name=slug(note.name) if note.name else "",
                files=globs,
                valid_from=passage.valid_from,
                attributes=note.attributes,
            )
            for note in dict.fromkeys(passage.notes)
        ]
        return Slice(episode=episode, position=position, memories=tuple(memories), supersedes=place)

    def _title(self) -> str:
        stated = self.document.front_matter.get("title", "")
        return stated if isinstance(stated, str) and stated else self.file.path.stem

    def _with_kind(self, note: SectionNote) -> SectionNote:
        """Return the note with the kind that the front matter names, where it names one; code stays a snippet.

        What is systemic or a gap Helix finds out by itself.
        """
        matter = self.document.front_matter
        stated = matter.get("kind", matter.get("type", ""))
        kind = next((kind for kind in Kind if kind.value == stated and kind not in _FOUND_OUT), note.kind)
        return note if note.kind is Kind.SNIPPET else replace(note, kind=kind)

    def _globs(self) -> tuple[str, ...]:
        """Return the files that a note says it is about, as rule files of agents do in their front matter."""
        matter = self.document.front_matter
        stated = next((matter[key] for key in _GLOB_KEYS if matter.get(key)), ())
        listed = stated.split(",") if isinstance(stated, str) else stated
        return tuple(glob.strip() for glob in listed if 0 < len(glob.strip()) <= _LONGEST_PATH)[:_MOST_GLOBS]


def _in_source(heading: str) -> str:
    """Return the heading as a source has it: without a secret, without `@`, which ends it there, and bounded."""
    heading = " ".join(told_key(heading).split())
    if len(heading) <= _LONGEST_HEADING and "@" not in heading:
        return heading
    return f"{heading[:_LONGEST_HEADING].replace('@', ' ')}~{short_digest(heading)}"


def _parts(section: Section) -> Iterator[Section]:
    """Yield the section, in pieces where it is too long for one episode."""
    if len(section.text) <= _LONGEST_EPISODE:
        yield section
        return
    for piece in chunks(section.text, _LONGEST_EPISODE):
        for read in parse_markdown(piece).sections:
            yield Section(path=section.path, text=read.text, blocks=read.blocks)


_CONTEXT = re.compile(r"context\b|problem\b|issue$|motivation\b|background\b", re.IGNORECASE)
_DECISION = re.compile(r"decisions?(?: outcome| made)?$|resolution$|we decided", re.IGNORECASE)
_REASONS = re.compile(r"consequences?$|rationale$|justification$|pros and cons|implications?$", re.IGNORECASE)
_STATUS = re.compile(r"status$", re.IGNORECASE)
_STATUS_LINE = re.compile(r"^[-* ]*status\**\s*:\**\s*(?P<value>\S.*)$", re.IGNORECASE | re.MULTILINE)
_DATE = re.compile(r"\b(?P<date>\d{4}-\d{2}-\d{2})\b")
_NUMBER = re.compile(r"^\s*(?:ADR|RFC)?[-\s#]*\d{0,5}\s*[-.:\u2013\u2014]?\s*", re.IGNORECASE)
_OVER = re.compile(r"supersed|deprecat|reject|replac|obsolete|withdrawn", re.IGNORECASE)
_OPEN = re.compile(r"propos|draft|pending|open|discussion", re.IGNORECASE)

_LONGEST_CONTEXT = 400
_LONGEST_RESOLUTION = 6_000


def decision_of(document: Document, name: str) -> tuple[SectionNote, datetime | None] | None:
    """Return the decision and date that a Markdown note records, or None where it is no decision record.

    It is one when a section is headed as the decision and another as its context, status or consequences; of an open
    or abandoned decision the confidence is lower, and its status is told.
    """
    parts = {part: _under(document, heading) for part, heading in _RECORD_PARTS.items()}
    if not parts["decision"] or not (parts["context"] or parts["status"] or parts["reasons"]):
        return None
    title = _NUMBER.sub("", document.sections[0].path[0] if document.sections[0].path else "") or name
    status = _status(document, parts["status"])
    context = " ".join(parts["context"].split())
    told = [parts["decision"], parts["reasons"], f"Status: {status}" if status else ""]
    note = SectionNote(
        kind=Kind.DECISION,
        trigger=f"{title}: {shorten(context, _LONGEST_CONTEXT)}" if context else title,
        resolution=shorten("\n\n".join(part for part in told if part), _LONGEST_RESOLUTION),
        confidence=0.4 if _OVER.search(status) else 0.6 if _OPEN.search(status) else 0.9,
        name=title,
        attributes={"status": status} if status else {},
    )
    return note, date_of(document.front_matter, document)


_RECORD_PARTS = {"context": _CONTEXT, "decision": _DECISION, "reasons": _REASONS, "status": _STATUS}


def date_of(front_matter: Mapping[str, str | tuple[str, ...]], document: Document | None = None) -> datetime | None:
    """Return the date of a Markdown note, by its front matter, else the first in its head, as midnight UTC."""
    stated = front_matter.get("date", front_matter.get("created", ""))
    head = document.sections[0].text[:_LONGEST_CONTEXT] if document and document.sections else ""
    match = _DATE.search(stated if isinstance(stated, str) else "") or _DATE.search(head)
    try:
        return datetime.fromisoformat(match["date"]).replace(tzinfo=UTC) if match else None
    except ValueError:
        return None


def _under(document: Document, heading: re.Pattern[str]) -> str:
    """Return the text of the sections under the first heading that matches, their own sections included."""
    found: list[Section] = []
    depth = 0
    for section in document.sections:
        if found:
            if len(section.path) <= depth:
                break
            found.append(section)
        elif section.path and heading.match(_NUMBER.sub("", section.path[-1])):
            depth = len(section.path)
            found.append(section)
    return "\n\n".join(section.text.strip() for section in found)


def _status(document: Document, section: str) -> str:
    stated = document.front_matter.get("status", "")
    if isinstance(stated, str) and stated:
        return shorten(stated, 100)
    if section:
        return shorten(section.split("\n\n")[0].replace("\n", " "), 100)
    match = next((found for part in document.sections if (found := _STATUS_LINE.search(part.text))), None)
    return shorten(match["value"], 100) if match else ""
