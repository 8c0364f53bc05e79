"""Evaluation sets: passages and judged questions read from a folder, by the form of its lines and never by its name."""

from __future__ import annotations

import gzip
import json
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
class EvaluationSet:
    """One set. `lines` are those of the corpus, untouched; `ids` maps the source of an answer to a passage's id.

    `haystacks` maps a question's id to the places, in `lines`, of the passages it is searched in. `dated` says whether
    the questions' times are given as `as_of`: in a set where some evidence is later than its question, they are not.
    `filed` says the same of their files: where what is relevant is just what shares a file, they would be the answer.
    """

    name: str
    lines: Sequence[str]
    ids: Mapping[str, str]
    questions: Sequence[Judged]
    haystacks: Mapping[str, Sequence[int]]
    dated: bool
    filed: bool

    @property
    def scoped(self) -> bool:
        """Whether questions are searched in a part of the set."""
        return bool(self.haystacks) or any(question.scope for question in self.questions)


def read_set(folder: Path) -> EvaluationSet:
    """Read a folder with `corpus` and `queries` (and perhaps `haystacks`), each `.jsonl` or `.jsonl.gz`.

    Raises InvalidInputError where one of the two is missing or no question has anything relevant.
    """
    lines = [line for line in _lines(folder, "corpus") if line.strip()]
    records = list(map(_record, lines))
    slices = [item for item in read_lines(lines, source=SOURCE) if isinstance(item, Slice)]
    drafts = {_id_of(records[item.position - 1]): item.episode for item in slices}
    scopes = {_scope_of(records[item.position - 1]): item.episode.scope for item in slices}
    questions = [_judged(record, scopes) for record in map(_record, _lines(folder, "queries"))]
    questions = [question for question in questions if question.relevant and question.text.strip()]
    if not lines or not questions:
        raise InvalidInputError(f"{folder} has no passages, or no questions with anything relevant")
    places = {_id_of(record): place for place, record in enumerate(records)}
    return EvaluationSet(
        name=folder.resolve().name,
        lines=lines,
        ids={draft.source: name for name, draft in drafts.items()},
        questions=questions,
        haystacks=_haystacks(folder, places),
        dated=_dated(questions, drafts),
        filed=_filed(questions, drafts),
    )


def in_scope(line: str, scope: str) -> str:
    """Return a corpus line that says it is of that scope, and is otherwise as it was."""
    return json.dumps({**_record(line), "scope": scope})


def _lines(folder: Path, name: str, *, needed: bool = True) -> list[str]:
    plain, packed = folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz"
    if plain.is_file():
        return plain.read_text("utf-8").split("\n")
    if packed.is_file():
        return gzip.decompress(packed.read_bytes()).decode("utf-8").split("\n")
    if needed:
        raise InvalidInputError(f"there is no {name}.jsonl or {name}.jsonl.gz in {folder}")
    return []


def _record(line: str) -> Mapping[str, Any]:
    record = json.loads(line) if line.strip() else {}
    if not isinstance(record, Mapping):
        raise InvalidInputError(f"not a JSON object: {line[:80]}")
    return record


def _id_of(record: Mapping[str, Any]) -> str:
    return str(record.get("id", ""))


def _scope_of(record: Mapping[str, Any]) -> str | None:
    meta = record.get("meta")
    scope = record.get("scope") or (meta.get("scope") if isinstance(meta, Mapping) else None)
    return None if scope is None else str(scope)


def _judged(record: Mapping[str, Any], scopes: Mapping[str | None, str]) -> Judged:
    scope = record.get("scope")
    files = record.get("files") or ()
    return Judged(
        id=_id_of(record),
        text=str(record.get("query") or ""),
        relevant=frozenset(map(str, record.get("relevant") or ())),
        category=str(record.get("category") or ""),
        scope=scopes.get(str(scope), str(scope)) if scope else None,
        files=(files,) if isinstance(files, str) else tuple(map(str, files)),
        ts=_moment(record.get("ts")),
    )


def _moment(value: object) -> datetime | None:
    if not isinstance(value, str) or not value.strip():
        return None
    moment = datetime.fromisoformat(value.strip())
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _haystacks(folder: Path, places: Mapping[str, int]) -> dict[str, list[int]]:
    records = [_record(line) for line in _lines(folder, "haystacks", needed=False) if line.strip()]
    return {
        str(record["query_id"]): list(dict.fromkeys(_known(map(str, record["doc_ids"]), places))) for record in records
    }


def _known(ids: Iterable[str], places: Mapping[str, int]) -> Iterator[int]:
    return (places[name] for name in ids if name in places)


def _dated(questions: Sequence[Judged], drafts: Mapping[str, EpisodeDraft]) -> bool:
    """Return whether all evidence with a time is there by the time of its question, and most of it has one."""
    pairs = [
        (question.ts, drafts[name].occurred_at)
        for question in questions
        if question.ts is not None
        for name in question.relevant & drafts.keys()
    ]
    both = [(asked, known) for asked, known in pairs if known is not None]
    return 2 * len(both) > len(pairs) and all(known <= asked for asked, known in both)


def _filed(questions: Sequence[Judged], drafts: Mapping[str, EpisodeDraft]) -> bool:
    """Return whether some question with files has other evidence than all there was, in its scope, of its files."""
    holders: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name, draft in drafts.items():
        for file in draft.files:
            holders[draft.scope, file].add(name)

    def sharing(question: Judged) -> set[str]:
        names = set().union(*(holders[question.scope or "", file] for file in question.files))
        times = ((name, drafts[name].occurred_at) for name in names)
        return {name for name, time in times if question.ts is None or time is None or time <= question.ts}

    return any(question.files and sharing(question) != question.relevant for question in questions)
