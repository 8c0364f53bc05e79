"""JSON lines: reads one episode or one memory from each line; a broken line is a problem, and the rest goes in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, BinaryIO

from helix.errors import InvalidInputError
from helix.ingest.draft import EpisodeDraft, MemoryDraft, Slice, told_key
from helix.ingest.plain import bounded_lines, shorten
from helix.memory.change.intake import fraction, known_kind, poignancy
from helix.model.memory import Kind
from helix.model.provenance import Trust, weakest_trust
from helix.model.reports import IngestProblem
from helix.text.cleaning import clean
from helix.text.client_ids import short_digest
from helix.text.excerpts import head
from helix.text.structured import MOST_NESTED, is_too_nested

TEXT_LIMIT = 65_536
"""Characters of a text that is cleaned: one of 98 MB, of another program's database, kept the whole daemon waiting."""
_LABEL_LIMIT = 200
_FILE_LIMIT = 300
_MOST_FILES = 100
_CONFIDENCE = 0.7
# Seconds since the epoch beyond the year 5000 are taken for milliseconds.
_LARGEST_SECONDS = 95_617_584_000
_LARGEST_NUMBER = 1e9
# Characters of JSON per character of text: a line that is all escapes has twelve, and there is more than text in it.
_LONGEST_LINE = 16
_LONGEST_LINE_BYTES = 4 * _LONGEST_LINE * TEXT_LIMIT
_CHAT_ROLES = frozenset({"ai", "assistant", "developer", "human", "system", "tool", "user"})


def read_lines(
    lines: Iterable[str], *, first_line: int = 1, source: str = "jsonl", text_limit: int = TEXT_LIMIT
) -> Iterator[Slice | IngestProblem]:
    """Yield a slice for each JSON line to ingest, or a problem that names its line; blank lines are passed over.

    An episode has `text` or `content`, and may have `id`, `ts` or `timestamp` (ISO, or seconds since the epoch),
    `session`, `speaker` or `role`, `agent`, `scope`, `files`, and `scope` and `files` in `meta`. A memory has
    `trigger` and `resolution`, and may have `kind` (fact), `name`, `confidence`, `importance`, `valid_from`,
    `valid_to`, `attributes` and what an episode has. Sources are `jsonl:<source>:<id, or digest of the line>`;
    positions are the lines' numbers.
    """
    source = told_key(source) if len(source) <= TEXT_LIMIT else short_label(source)
    for number, line in enumerate(lines, first_line):
        if not line.strip():
            continue
        try:
            yield record_slice(parsed(line, text_limit), f"jsonl:{source}", number, text_limit)
        except InvalidInputError as error:
            yield IngestProblem(where=f"line {number}", why=str(error))


def read_file(stream: BinaryIO, *, source: str) -> Iterator[Slice | IngestProblem]:
    """Yield slices of a file of JSON lines as `read_lines` does, in bounded memory even where a line has no end."""
    for number, raw in bounded_lines(stream, _LONGEST_LINE_BYTES):
        if raw is None:
            yield IngestProblem(where=f"line {number}", why=f"longer than {_LONGEST_LINE_BYTES:,} bytes")
            continue
        try:
            line = raw.decode("utf-8").strip("\ufeff\r\n")
        except UnicodeDecodeError:
            yield IngestProblem(where=f"line {number}", why="not UTF-8 text")
            continue
        yield from read_lines((line,), first_line=number, source=source)


def parsed(line: str, text_limit: int = TEXT_LIMIT) -> Mapping[str, Any]:
    """Return the JSON object of a line to ingest; raises InvalidInputError for anything else, or a line too long."""
    if len(line) > _LONGEST_LINE * text_limit:
        raise InvalidInputError(f"the line has {len(line):,} characters: too long to be read")
    try:
        data = json.loads(line, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise InvalidInputError(f"not JSON: {error.msg} at column {error.colno}") from error
    except ValueError as error:
        raise InvalidInputError(f"not JSON that can be read: {error}") from error
    except RecursionError as error:
        raise InvalidInputError("not JSON that can be read: it is nested too deeply") from error
    if not isinstance(data, Mapping):
        raise InvalidInputError("not a JSON object", hint='such as {"text": "..."}')
    return data


def record_slice(data: Mapping[str, Any], source: str, position: int, text_limit: int = TEXT_LIMIT) -> Slice:
    """Return the slice of a JSON object of the form of a line; its source is `source`, and its id behind a colon.

    Raises InvalidInputError where it says nothing, or what cannot be.
    """
    return _Record(data, text_limit).slice(source, position)


class _Record:
    """One object whose values are taken out checked and cleaned; InvalidInputError says what is wrong."""

    def __init__(self, data: Mapping[str, Any], text_limit: int) -> None:
        meta = data.get("meta")
        self._data = data
        self._meta: Mapping[str, Any] = meta if isinstance(meta, Mapping) else {}
        self._text_limit = text_limit

    def slice(self, source: str, position: int) -> Slice:
        is_memory = self._data.get("trigger") is not None or self._data.get("resolution") is not None
        trigger = self._text("trigger") if is_memory else ""
        told = is_memory and self._data.get("resolution") != ""  # a memory may be a fact alone, where it says so
        resolution = self._text("resolution") if told else ""
        content = f"{trigger}\n{resolution}" if is_memory else self._text("text", "content")
        speaker = self._label("speaker")
        is_role = speaker.lower() in _CHAT_ROLES
        scope = self._label("scope") or short_label(self._meta.get("scope"))
        own = told_key(self._label("id")) or short_digest(
            content, *map(self._label, ("ts", "timestamp", "session")), speaker, scope
        )
        episode = EpisodeDraft(
            source=f"{source}:{own}",
            content=content,
            trust=self._trust(),
            occurred_at=self._moment("ts", "timestamp"),
            session=self._label("session"),
            scope=scope,
            agent=self._label("agent") or ("" if is_role else speaker),
            role=self._label("role") or (speaker if is_role else ""),
            files=self._files(),
        )
        memories = (self._memory(episode, trigger, resolution),) if is_memory else ()
        return Slice(episode=episode, position=position, memories=memories)

    def _memory(self, episode: EpisodeDraft, trigger: str, resolution: str) -> MemoryDraft:
        importance = self._number("importance")
        attributes = self._data.get("attributes")
        return MemoryDraft(
            source=episode.source,
            kind=known_kind(self._label("kind") or Kind.FACT),
            trigger=trigger,
            resolution=resolution,
            trust=episode.trust,
            confidence=fraction(self._number("confidence"), "confidence", _CONFIDENCE),
            importance=None if importance is None else poignancy(importance, importance),
            name=self._label("name"),
            scope=episode.scope,
            agent=episode.agent,
            files=episode.files,
            valid_from=self._moment("valid_from", "ts", "timestamp"),
            valid_to=self._moment("valid_to"),
            attributes=_clean_attributes(attributes) if isinstance(attributes, Mapping) else {},
        )

    def _text(self, *keys: str) -> str:
        key = next((key for key in keys if self._data.get(key) is not None), keys[0])
        value = self._data.get(key)
        if value is None:
            raise InvalidInputError(f"no {' and no '.join(repr(name) for name in keys)}")
        if not isinstance(value, str):
            raise InvalidInputError(f"{key!r} is not a text")
        if len(value) > self._text_limit:
            raise InvalidInputError(f"{key!r} has {len(value):,} characters, more than {self._text_limit:,}")
        text = clean(value).strip()
        if not text:
            raise InvalidInputError(f"{key!r} is empty")
        return text

    def _label(self, key: str) -> str:
        return short_label(self._data.get(key))

    def _files(self) -> tuple[str, ...]:
        value = self._data.get("files") or self._meta.get("files")
        names = value if isinstance(value, list) else [value]
        paths = (clean(name).strip() for name in names if isinstance(name, str) and len(name) <= TEXT_LIMIT)
        return tuple(dict.fromkeys(path for path in paths if path and len(path) <= _FILE_LIMIT))[:_MOST_FILES]

    def _number(self, key: str) -> float | None:
        value = self._data.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _LARGEST_NUMBER:
            raise InvalidInputError(f"{key!r} is not a number that can be used")
        return float(value)

    def _moment(self, *keys: str) -> datetime | None:
        key = next((key for key in keys if self._data.get(key) not in (None, "")), None)
        if key is None:
            return None
        moment = time_of(self._data[key])
        if moment is None:
            shown = shorten(str(self._data[key]), 40)
            raise InvalidInputError(f"{key!r} is not a time: {shown}", hint="such as 2024-05-31T12:00:00Z")
        return moment

    def _trust(self) -> Trust:
        """Return what the line claims, but never more than a tool's word, which no agent is told unquoted.

        Nobody has checked the file's author, who would else be heard as an agent of this user.
        """
        claimed = self._label("trust").lower()
        return weakest_trust(Trust.TOOL_OUTPUT, Trust(claimed)) if claimed in set(Trust) else Trust.TOOL_OUTPUT


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def short_label(value: object) -> str:
    """Return a short text of an ingested value; a number counts as text, else none; a long one ends in a digest."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    whole = str(value)
    text = " ".join(clean(whole[:TEXT_LIMIT]).split())
    if len(whole) <= TEXT_LIMIT:
        whole = text
    return whole if len(whole) <= _LABEL_LIMIT else f"{head(text, _LABEL_LIMIT - 17)}~{short_digest(whole)}"


def time_of(value: object) -> datetime | None:
    """Return the moment of a value in a JSON line to ingest, UTC where it names no zone, or None for none."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) > _LARGEST_SECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _clean_attributes(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes with every text in them cleaned; raises InvalidInputError where they are nested too deeply."""
    if is_too_nested(value):
        raise InvalidInputError(f"'attributes' are nested more than {MOST_NESTED} deep")
    cleaned: dict[str, Any] = _clean_tree(value)
    return cleaned


def _clean_tree(value: Any) -> Any:
    if isinstance(value, str):
        if len(value) > TEXT_LIMIT:
            raise InvalidInputError(f"'attributes' hold a text of {len(value):,} characters")
        return clean(value)
    if isinstance(value, Mapping):
        return {_clean_tree(key): _clean_tree(item) for key, item in value.items()}
    return [_clean_tree(item) for item in value] if isinstance(value, list) else value
