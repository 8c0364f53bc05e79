"""Adapter: what a reader of another memory's files is, and how what it finds becomes slices.

An adapter says of each thing what a line of Helix's own JSON lines would say of it (`helix.ingest.jsonl`). Everything
else is done here and behind: the source, the trust, the bounds. A source names the adapter and what the thing is called
there, and the file where only that tells it from another; what comes again in the same words counts once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from helix.errors import InvalidInputError
from helix.files import real_path
from helix.identity import Identity
from helix.ingest.draft import AlreadyHere, Item, LinkDraft, Slice, WholeReading, told_key
from helix.ingest.jsonl import record_slice, short_label
from helix.ingest.other_memories.peek import Peek
from helix.model.edge import Ref, Relation, relation_to_draw
from helix.model.provenance import JSON_LINES, Trust
from helix.model.reports import IngestProblem
from helix.text.client_ids import short_digest

_NO_WORD = re.compile(r"[^a-z]+")
_LONGEST_WORD = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedItem:
    """One thing that another memory keeps. `key` is what it is called there, and nothing else is.

    With `changes`, it may say something else the next time: what it said before is then retired.
    """

    key: str
    says: Mapping[str, Any]
    changes: bool = False

    def source(self, adapter: str) -> str:
        """Return the source of what an import makes of it."""
        return f"{self.place(adapter)}{self._own()}"

    def place(self, adapter: str) -> str:
        """Return how the sources of all that is imported from here begin."""
        key = key_of(self.key)
        return f"{adapter}:{key}@" if self.changes else f"{adapter}:{key}"

    def _own(self) -> str:
        lasting = {name: value for name, value in self.says.items() if name != "ts"}  # a file may just be touched
        return short_digest(json.dumps(lasting, sort_keys=True, default=str)) if self.changes else ""

    def slice(self, adapter: str, position: int, *, mine: bool) -> Slice:
        """Return it as a slice; raises InvalidInputError where it says nothing, or what cannot be."""
        item = record_slice({**self.says, "id": "x"}, adapter, position)
        source = self.source(adapter)
        trust = Trust.USER_ASSERTED if mine else item.episode.trust
        return replace(
            item,
            episode=replace(item.episode, source=source, trust=trust),
            memories=tuple(replace(one, source=source, trust=trust) for one in item.memories),
            supersedes=self.place(adapter) if self.changes else "",
        )


Told = ImportedItem | LinkDraft | IngestProblem | Slice | AlreadyHere | WholeReading


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an import is asked for: a file or folder, the scope (empty: none said), and if a person stands for it."""

    path: Path
    scope: str
    mine: bool
    place_of: Callable[[Path], Identity]
    """Returns the project of what was done in a folder, which may be gone by now."""
    is_here: Callable[[Ref], bool]
    """Returns whether the store has a node already, by its own id."""

    @property
    def place(self) -> str:
        """What tells a path that an adapter imports from another one of its name.

        What changes in one says nothing of the other.
        """
        real = real_path(self.path)
        return f"{real.name}~{short_digest(str(real))[:8]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """A kind of file or folder that can be ingested: `fits` says whether a path is one, `looks_for` by what."""

    name: str
    looks_for: str
    fits: Callable[[Peek], bool]
    read: Callable[[Asked], Iterable[Told]]
    extractor: str = JSON_LINES
    """What its memories are said to be drawn by, which decides whether they count as imported."""


def key_of(name: str) -> str:
    """Return the key that another memory's import gives a thing of that name."""
    return told_key(short_label(name)) or short_digest(name)


def items(adapter: Adapter, asked: Asked) -> Iterator[Item]:
    """Yield what an import's adapter reads as slices; what cannot be ingested is named, and the rest goes on."""
    position = count(1)
    for one in adapter.read(asked):
        if not isinstance(one, ImportedItem):
            yield one
            continue
        try:
            yield one.slice(adapter.name, next(position), mine=asked.mine)
        except InvalidInputError as error:
            yield IngestProblem(where=told_key(short_label(one.key)), why=str(error))


def relation_for_word(word: str) -> tuple[Relation, str]:
    """Return the edge type for an imported relation's word, and the word of a RELATED edge; a sentence is no word."""
    plain = _NO_WORD.sub("_", word.lower()).strip("_")
    if len(plain) > _LONGEST_WORD:
        return Relation.RELATED, "linked"
    try:
        return relation_to_draw(plain)
    except InvalidInputError:  # a word of Helix's own, or of letters that no relation has
        return Relation.RELATED, "linked"
