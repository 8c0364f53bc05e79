"""Reading: the lines of a strand become rows again, each checked before anything is believed of it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from helix.errors import InvalidInputError
from helix.model.edge import Label, Relation
from helix.store.matrix import is_unit
from helix.strands.rows import Key, StrandRow, Tree, read_json, read_row, row_digest, schema_number

_CHANGE = b'{"change":'
"""How a line begins that is a change of the log, and it alone: passed over, it need not be read."""
_OF_VECTORS = {"id", "label", "t", "v"}


@dataclass(frozen=True, slots=True)
class StrandEntry:
    """A row of the other side with its digest, and the vectors of its texts where they count; no row: it is gone."""

    key: Key
    row: StrandRow | None = None
    digest: bytes | None = None
    vectors: tuple[bytes | None, ...] = ()


@dataclass(slots=True)
class StrandReading:
    """Reads the lines of a strand of one schema; what it has read is in `tree`.

    `partial`: the strand says only what changed since a version. `dimension` is that of the vectors, 0 where they do
    not count: they are made anew then.
    """

    schema: int
    partial: bool = False
    dimension: int = 0
    tree: Tree = field(default_factory=Tree)

    def entries(self, lines: Iterable[bytes]) -> Iterator[StrandEntry]:
        """Yield what each line says, in the order of keys; raises InvalidInputError for what is no strand's content."""
        held: StrandEntry | None = None
        last: Key = ()
        for line in lines:
            if line.startswith(_CHANGE):
                continue
            said = _object(line)
            kind = said.get("t")
            if kind == "vec" and held is not None and held.row is not None:
                held = replace(held, vectors=self._vectors(said, held.row))
                continue
            if held is not None:
                yield held
                held = None
            held = self._entry(kind, said, line)
            if held.key <= last:
                raise InvalidInputError("the rows of the strand are not in the order of their keys")
            last = held.key
        if held is not None:
            yield held

    def _entry(self, kind: object, said: Mapping[str, Any], line: bytes) -> StrandEntry:
        if kind == "gone" and self.partial:
            return StrandEntry(_key(said.get("key")))
        if kind not in ("node", "edge"):
            raise InvalidInputError(f"the strand has a line of an unknown kind: {kind!r}")
        row = read_row(said)
        try:
            own = row.line()
        except UnicodeEncodeError as error:
            raise InvalidInputError("the strand has a row with half a character") from error
        if said.keys() != row.said().keys() or (own != line and self.schema == schema_number()):
            raise InvalidInputError("the strand has a row that is not in canonical form")
        self.tree.add(row, row_digest(line))
        return StrandEntry(row.key, row, row_digest(own))

    def _vectors(self, said: Mapping[str, Any], row: StrandRow) -> tuple[bytes | None, ...]:
        """Return the vectors of a row's texts, but for those that are none of length 1, which are made anew."""
        told = said.get("v")
        if said.keys() != _OF_VECTORS or not isinstance(told, list) or len(told) != len(row.texts):
            raise InvalidInputError("the strand has vectors that do not fit their texts")
        if not self.dimension:
            return ()
        try:
            vectors = tuple(None if one is None else base64.b64decode(one, validate=True) for one in told)
        except (binascii.Error, TypeError, ValueError) as error:
            raise InvalidInputError(f"the strand has a vector that is none: {error}") from error
        if any(one is not None and len(one) != 4 * self.dimension for one in vectors):
            raise InvalidInputError("the strand has vectors that do not fit their texts")
        return tuple(one if one is not None and is_unit(one) else None for one in vectors)


def _key(told: object) -> Key:
    """Return the key of a row that is gone; raises InvalidInputError for what is no key."""
    parts = told if isinstance(told, list) and all(isinstance(part, str) for part in told) else []
    try:
        if len(parts) == 3 and parts[0] == "0":
            return ("0", Label(parts[1]).value, parts[2])
        if len(parts) == 6 and parts[0] == "1":
            ends = (Label(parts[2]).value, parts[3], Label(parts[4]).value, parts[5])
            return ("1", Relation(parts[1]).value, *ends)
    except ValueError as error:
        raise InvalidInputError(f"the strand says that something is gone which is nothing: {error}") from error
    raise InvalidInputError("the strand says that something is gone which has no key")


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        said = read_json(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"the strand has a line that is not JSON: {error}") from error
    if not isinstance(said, dict):
        raise InvalidInputError("the strand has a line that is not a JSON object")
    return said
