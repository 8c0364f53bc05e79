"""Evaluation sets: passages and judged questions read from a folder, by the form of its lines and never by its name."""

from __future__ import annotations

import gzip
import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from helix.errors import InvalidInputError
from helix.ingest.draft import EpisodeDraft, Slice
from helix.ingest.jsonl import read_lines

SOURCE = "set"
"""The name of the import; an answer's source is `jsonl:set:<id>`."""

LATER_SHARE = 0.01
"""Share of the evidence that may be later than its question before times are no longer given as `as_of`."""

SHARING_SHARE = 0.95
"""Share of the questions with files whose evidence is just what shares a file, from which files are not given."""

RULES = (
    f"By rule, times are given as as_of unless more than {LATER_SHARE:.0%} of a set's evidence is later than its "
    f"question or has no time, and files unless for at least {SHARING_SHARE:.0%} of the questions with files the "
    "evidence is exactly what shares a file with them."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A question with the ids of the passages that answer it; `scope`, `files` and `ts` are what its line gives."""

    id: str
    text: str
    relevant: frozenset[str]
    category: str
    scope: str | None
    files: tuple[str, ...]
    ts: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Whether something that questions have is given with them, and what decided it."""

    used: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSet:
    """One set. `lines` are those of the corpus, untouched; `ids` maps the source of an answer to a passage's id.

    `haystacks` maps a question's id to the places, in `lines`, of the passages it is searched in. `dated` says whether
    the questions' times are given as `as_of`: where evidence is later than its question, they would hide it. `filed`
    says the same of their files: where what is relevant is just what shares a file, they would be the answer.
    """

    name: str
    lines: Sequence[str]
    ids: Mapping[str, str]
    questions: Sequence[Judged]
    haystacks: Mapping[str, Sequence[int]]
    dated: Given
    filed: Given

    @property
    def scoped(self) -> bool:
        """Whether questions are searched in a part of the set."""
        return bool(self.haystacks) or any(question.scope for question in self.questions)


def read_set(folder: Path, *, dated: bool | None = None, filed: bool | None = None) -> EvaluationSet:
    """Read a folder with `corpus` and `queries` (and perhaps `haystacks`), each `.jsonl` or `.jsonl.gz`.

    `dated` and `filed` decide what is given with the questions; None leaves it to RULES. Questions without anything
    relevant are left out, and there may be none. A line of the corpus that is no passage is the import's to refuse;
    raises InvalidInputError for any other line that cannot be read, and where corpus or queries are missing.
    """
    lines = [line for line in _lines(folder, "corpus") if line.strip()]
    records = [_passage(line) for line in lines]
    slices = [item for item in read_lines(lines, source=SOURCE) if isinstance(item, Slice)]
    drafts = {_id_of(records[item.position - 1]): item.episode for item in slices}
    scopes = {_scope_of(records[item.position - 1]): item.episode.scope for item in slices}
    questions = [_judged(record, scopes, where) for record, where in _records(folder, "queries")]
    questions = [question for question in questions if question.relevant and question.text.strip()]
    places = {_id_of(record): place for place, record in enumerate(records)}
    return EvaluationSet(
        name=folder.resolve().name,
        lines=lines,
        ids={draft.source: name for name, draft in drafts.items()},
        questions=questions,
        haystacks=_haystacks(folder, places),
        dated=_dated(questions, drafts) if dated is None else Given(used=dated, why=f"--{'' if dated else 'no-'}as-of"),
        filed=_filed(questions, drafts) if filed is None else Given(used=filed, why=f"--{'' if filed else 'no-'}files"),
    )


def in_scope(line: str, scope: str) -> str:
    """Return a corpus line that says it is of that scope, and is otherwise as it was."""
    return json.dumps({**_passage(line), "scope": scope})


def _path(folder: Path, name: str) -> Path:
    plain = folder / f"{name}.jsonl"
    return plain if plain.is_file() else folder / f"{name}.jsonl.gz"


def _lines(folder: Path, name: str, *, needed: bool = True) -> list[str]:
    path = _path(folder, name)
    if not path.is_file():
        if needed:
            raise InvalidInputError(f"there is no {name}.jsonl or {name}.jsonl.gz in {folder}")
        return []
    try:
        written = path.read_bytes()
        return (gzip.decompress(written) if path.suffix == ".gz" else written).decode("utf-8-sig").split("\n")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InvalidInputError(
            f"{path} cannot be read: {error}", hint="it is UTF-8 text, or such text by gzip"
        ) from error


def _records(folder: Path, name: str, *, needed: bool = True) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the object of every line that is not blank, and where it is; raises InvalidInputError naming the line."""
    for number, line in enumerate(_lines(folder, name, needed=needed), 1):
        if line.strip():
            where = f"{_path(folder, name)}, line {number}"
            yield _object(line, where), where


def _object(line: str, where: str) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{where}: not JSON: {error}") from error
    if not isinstance(record, Mapping):
        raise InvalidInputError(f"{where}: not a JSON object: {line[:80]}")
    return record


def _passage(line: str) -> Mapping[str, Any]:
    """Return the object of a corpus line, empty where it is none."""
    try:
        return _object(line, "corpus")
    except InvalidInputError:
        return {}


def _id_of(record: Mapping[str, Any]) -> str:
    return str(record.get("id", ""))


def _scope_of(record: Mapping[str, Any]) -> str | None:
    meta = record.get("meta")
    scope = record.get("scope") or (meta.get("scope") if isinstance(meta, Mapping) else None)
    return None if scope is None else str(scope)


def _judged(record: Mapping[str, Any], scopes: Mapping[str | None, str], where: str) -> Judged:
    scope = record.get("scope")
    return Judged(
        id=_id_of(record),
        text=str(record.get("query") or ""),
        relevant=frozenset(_names(record, "relevant", where)),
        category=str(record.get("category") or ""),
        scope=scopes.get(str(scope), str(scope)) if scope else None,
        files=_names(record, "files", where),
        ts=_moment(record.get("ts")),
    )


def _names(record: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    """Return the names under a key: those of a list, or the one that stands there; of an object, those not judged 0."""
    given = record.get(key)
    if given is None:
        return ()
    if isinstance(given, Mapping):
        return tuple(name for name, grade in given.items() if grade)
    if isinstance(given, str | int):
        return (str(given),)
    if not isinstance(given, list) or not all(isinstance(name, str | int) for name in given):
        raise InvalidInputError(f"{where}: {key!r} is not a list of names", hint='such as ["one", "two"]')
    return tuple(map(str, given))


def _moment(value: object) -> datetime | None:
    """Return a time in ISO's form, UTC where it names no zone; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _haystacks(folder: Path, places: Mapping[str, int]) -> dict[str, list[int]]:
    found = {}
    for record, where in _records(folder, "haystacks", needed=False):
        if record.get("query_id") is None or record.get("doc_ids") is None:
            raise InvalidInputError(f"{where}: a haystack has a `query_id` and `doc_ids`")
        found[str(record["query_id"])] = list(dict.fromkeys(_known(_names(record, "doc_ids", where), places)))
    return found


def _known(ids: Iterable[str], places: Mapping[str, int]) -> Iterator[int]:
    return (places[name] for name in ids if name in places)


def _dated(questions: Sequence[Judged], drafts: Mapping[str, EpisodeDraft]) -> Given:
    """Return whether times are given: by then, all but LATER_SHARE of the evidence was there."""
    pairs = [
        (question.ts, drafts[name].occurred_at)
        for question in questions
        if question.ts is not None
        for name in question.relevant & drafts.keys()
    ]
    if not pairs:
        return Given(used=False, why="rule: no question with evidence has a time")
    # What has no time of its own is known from the import on, and so later than any question of the set.
    later = sum(known is None or known > asked for asked, known in pairs)
    why = f"rule: {later} of {len(pairs)} pieces of evidence are later than their question, or have no time"
    return Given(used=later <= LATER_SHARE * len(pairs), why=why)


def _filed(questions: Sequence[Judged], drafts: Mapping[str, EpisodeDraft]) -> Given:
    """Return whether files are given: for enough questions, evidence is not all there was, in scope, of their files."""
    holders: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name, draft in drafts.items():
        for file in draft.files:
            holders[draft.scope, file].add(name)

    def sharing(question: Judged) -> set[str]:
        names = set().union(*(holders[question.scope or "", file] for file in question.files))
        times = ((name, drafts[name].occurred_at) for name in names)
        return {name for name, time in times if question.ts is None or time is None or time <= question.ts}

    having = [question for question in questions if question.files]
    if not having:
        return Given(used=False, why="rule: no question has files")
    same = sum(sharing(question) == question.relevant for question in having)
    why = f"rule: for {same} of {len(having)} questions with files the evidence is exactly what shares a file with them"
    return Given(used=same < SHARING_SHARE * len(having), why=why)
