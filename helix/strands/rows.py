"""Rows: what a strand holds of a store, as canonical lines in the order of their keys, and the digests over them.

docs/strand-format.md specifies all of it. Two stores that hold the same have the same lines, whatever way they came to
it: a property that is nothing, or at its default, is omitted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Protocol, TypeVar

from helix import resources
from helix.errors import InvalidInputError
from helix.journal.state import Snapshot
from helix.journal.value_check import values_in
from helix.model.edge import Edge, Label, Ref, Relation
from helix.model.operations import Props, PutEdge, PutNode, Scalar
from helix.model.provenance import Provenance, Trust
from helix.model.records import CLASS_OF, EDGE_DEFAULTS, NODE_DEFAULTS, property_types
from helix.model.tombstone import is_tombstone

Key = tuple[str, ...]
"""What a row is known by and sorted by: `0`, label and id of a node; `1`, type, and label and id of both ends."""
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)
_MOST_TEXTS = 10_000
_MOST_VALUES = 1_000_000
"""Values that one line of a strand, its manifest or the attributes of one row may say, five times what any was seen to;
commas and brackets in texts count too."""
_LONGEST_ID = 1_000
BATCH = 1_000
"""Rows that are looked at, and written in one transaction, at once."""
BATCH_BYTES = 32 << 20
"""About how much they take in memory, but for one that takes more alone: a small file can hold large rows."""
WRITTEN_BYTES = 1 << 19
"""About how much of them is written in one transaction: everybody who writes waits for it, half a second here."""
_OVERHEAD = 64


@dataclass(frozen=True, slots=True)
class StrandRow:
    """A node with the texts that it is found by, or an edge; `scope` is the node's, and of an edge its source's."""

    put: PutNode | PutEdge
    texts: tuple[str, ...] = ()
    scope: str = ""

    @property
    def key(self) -> Key:
        """What the row of a strand is known by."""
        return key_of(self.put)

    @property
    def owner(self) -> str:
        """The id of the node, or of the edge's source: by it and its scope a row belongs to a strand's selection."""
        return self.put.id if isinstance(self.put, PutNode) else self.put.source.id

    @property
    def table(self) -> str:
        """The table that a strand counts the row under: the label of a node, the type of an edge."""
        return (self.put.label if isinstance(self.put, PutNode) else self.put.type).value

    @property
    def provenance(self) -> Provenance:
        """Of the row's provenance its slice and its trust: who told it, and how far it is believed."""
        trust = Trust(str(self.put.props.get("trust", Provenance().trust)))
        return Provenance(slice=str(self.put.props.get("slice") or ""), trust=trust)

    @property
    def is_erased(self) -> bool:
        """Whether it is the tombstone of a node."""
        return isinstance(self.put, PutNode) and is_tombstone(self.put.props)

    @property
    def weight(self) -> int:
        """About how many bytes it takes in memory."""
        held = (*self.put.props, *self.put.props.values(), *self.texts)
        return sum(_OVERHEAD + (len(one) if isinstance(one, str) else 0) for one in held)

    def said(self) -> dict[str, Any]:
        """Return what a strand's line says of the row; `read_row` makes it a row again."""
        put = self.put
        if isinstance(put, PutNode):
            return {"id": put.id, "label": put.label.value, "props": put.props, "t": "node", "texts": list(self.texts)}
        ends = {"from": [put.source.label.value, put.source.id], "to": [put.target.label.value, put.target.id]}
        return {**ends, "props": put.props, "scope": self.scope, "t": "edge", "type": put.type.value}

    def line(self) -> bytes:
        """Return the row as a strand's line: canonical JSON."""
        return canonical_json(self.said())


class Keyed(Protocol):
    """What is known by a key."""

    @property
    def key(self) -> Key:
        """What a row of a strand is known by, and sorted by."""


A = TypeVar("A", bound=Keyed)
B = TypeVar("B", bound=Keyed)
T = TypeVar("T")


def paired_rows(one: Iterable[A], other: Iterable[B]) -> Iterator[tuple[A | None, B | None]]:
    """Yield the rows of two strands that have the same key, None where a side has none; both in the order of keys."""
    left, right = iter(one), iter(other)
    a, b = next(left, None), next(right, None)
    while a is not None or b is not None:
        if b is None or (a is not None and a.key < b.key):
            yield a, None
            a = next(left, None)
        elif a is None or b.key < a.key:
            yield None, b
            b = next(right, None)
        else:
            yield a, b
            a, b = next(left, None), next(right, None)


def in_batches(
    rows: Iterable[T], weight: Callable[[T], int], most: int = BATCH, heaviest: int | None = None
) -> Iterator[list[T]]:
    """Yield strand rows in their order, `most` at once, and no more than `heaviest` where there is more than one.

    `weight` tells each one's; together they have no more than BATCH_BYTES in any case.
    """
    limit = min(heaviest or BATCH_BYTES, BATCH_BYTES)
    batch, held = list[T](), 0
    for row in rows:
        heavy = weight(row)
        if batch and (len(batch) == most or held + heavy > limit):
            yield batch
            batch, held = [], 0
        batch.append(row)
        held += heavy
    if batch:
        yield batch


def canonical_json(value: object) -> bytes:
    """Return a strand's row as canonical JSON: sorted keys, no blanks, in UTF-8."""
    return _ENCODER.encode(value).encode()


def read_json(text: bytes) -> Any:
    """Return what JSON of a strand says; raises ValueError or RecursionError for none, or one of too many values.

    They are counted before any is made: in 600 kB there is room for 20 lines of 16 MB of empty objects, each of which
    takes a gigabyte, and no other thread goes on meanwhile.
    """
    if values_in(text) > _MOST_VALUES:
        raise ValueError(f"it says more than {_MOST_VALUES:,} values")
    return json.loads(text)


def row_digest(line: bytes) -> bytes:
    """Return the digest of a strand's row, 32 bytes."""
    return hashlib.sha256(line).digest()


def node_key(label: Label, ident: str) -> Key:
    """Return the key of a strand's row for a node."""
    return ("0", label.value, ident)


def key_of(put: PutNode | PutEdge) -> Key:
    """Return the key of a strand's row for a node or an edge."""
    if isinstance(put, PutNode):
        return node_key(put.label, put.id)
    return ("1", put.type.value, put.source.label.value, put.source.id, put.target.label.value, put.target.id)


def row_of(put: PutNode | PutEdge, texts: Iterable[str] = (), scope: str = "") -> StrandRow:
    """Return the strand row of a node or an edge of the store."""
    if isinstance(put, PutNode):
        props = _plain_props({**NODE_DEFAULTS.get(put.label, {}), **put.props}, put.label)
        return StrandRow(replace(put, props=props), tuple(texts), str(props.get("scope", "")))
    said = {name: value for name, value in _plain_props(put.props, None).items() if value != EDGE_DEFAULTS.get(name)}
    return StrandRow(replace(put, props=said), scope=scope)


def _plain_props(props: Props, of: Label | None) -> dict[str, Scalar]:
    """Return the properties that are something, each number as it is always written: never `0` for `0.0`."""
    said: dict[str, Scalar] = {name: value for name, value in props.items() if value is not None}
    for name, number in _numbers(of):
        value = said.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value == number(value):
            said[name] = number(value) + number(0)  # of two zeros the one without a sign
    return said


@cache
def _numbers(of: Label | None) -> tuple[tuple[str, type[Any]], ...]:
    """Return which properties of a label, or (None) of an edge, are numbers, and of which type."""
    types = property_types(Edge if of is None else CLASS_OF[of])
    return tuple((name, number) for name, number in types.items() if number is not str)


def read_row(data: Mapping[str, Any]) -> StrandRow:
    """Return the strand row that a line of JSON says; raises InvalidInputError for a line that says none."""
    try:
        props = _props(data["props"])
        if data["t"] == "node":
            texts = data["texts"]
            if not isinstance(texts, list) or len(texts) > _MOST_TEXTS or not all(isinstance(t, str) for t in texts):
                raise ValueError("the texts are not a list of texts")
            return row_of(PutNode(label=Label(data["label"]), id=_id(data["id"]), props=props), texts)
        source, target = _end(data["from"]), _end(data["to"])
        edge = PutEdge(type=Relation(data["type"]), source=source, target=target, props=props)
        return row_of(edge, scope=_text(data["scope"]))
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise InvalidInputError(f"the strand has a row that is none: {error}") from error


def _props(value: Any) -> Props:
    if not isinstance(value, dict) or not all(
        isinstance(one, str | int | float | bool | None) for one in value.values()
    ):
        raise ValueError("the properties are not plain values")
    return value


def _end(value: Any) -> Ref:
    label, ident = value
    return Ref.of(label, _id(ident))


def _id(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_ID:
        raise ValueError("an id is none")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a scope is none")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What of a store a strand holds: some scopes (None: all of them), and there only these nodes (None: all)."""

    scopes: tuple[str, ...] | None = None
    ids: frozenset[str] | None = None

    @staticmethod
    def of(scopes: Iterable[str] | None, ids: frozenset[str] | None = None) -> Selection:
        """Return a strand's selection of some scopes in any order, or (None) of all, and there of these nodes alone."""
        return Selection(scopes=None if scopes is None else tuple(sorted(set(scopes))), ids=ids)

    @property
    def named(self) -> str:
        """The words by which versions of the same selection are known to be of one line."""
        return canonical_json({"ids": None if self.ids is None else sorted(self.ids), "scopes": self.scopes}).decode()

    @property
    def is_all(self) -> bool:
        """Whether it is the whole store."""
        return self.scopes is None and self.ids is None

    @staticmethod
    def from_name(named: str) -> Selection:
        """Return the strand selection that `named` names; raises InvalidInputError for what names none."""
        try:
            said = json.loads(named)
            ids, scopes = said["ids"], said["scopes"]
            made = Selection(
                scopes=None if scopes is None else tuple(map(str, scopes)),
                ids=None if ids is None else frozenset(map(str, ids)),
            )
            if made.named != named:
                raise ValueError("it is not in canonical form")
            return made
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InvalidInputError(f"the strand does not say what it holds: {error}") from error

    def holds(self, node_id: str, scope: str) -> bool:
        """Return whether a node belongs to it."""
        return (self.scopes is None or scope in self.scopes) and (self.ids is None or node_id in self.ids)

    def rows(self, state: Snapshot) -> Iterator[StrandRow]:
        """Yield a strand's rows in the order of their keys: nodes, and the edges between two of them."""
        for node in state.nodes_in_order():
            if self.holds(node.id, str(node.props.get("scope") or "")):
                yield row_of(node, state.texts_of(Ref(label=node.label, id=node.id)))
        for edge, source_scope, target_scope in state.edges_in_order():
            if self.holds(edge.source.id, source_scope) and self.holds(edge.target.id, target_scope):
                yield row_of(edge, scope=source_scope)


class Tree:
    """The digests of rows as they come, by scope and table, and the root over them."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str], _Group] = {}
        self.nodes = self.edges = self.texts = 0

    def add(self, row: StrandRow, of_row: bytes) -> None:
        """Take in a strand's row by its digest; rows come in the order of their keys."""
        group = self._groups.setdefault((row.scope, row.table), _Group())
        group.rows += 1
        group.digest.update(of_row)
        if isinstance(row.put, PutNode):
            self.nodes += 1
            self.texts += len(row.texts)
        else:
            self.edges += 1

    @property
    def groups(self) -> dict[str, dict[str, dict[str, object]]]:
        """Rows and digest of each table of each scope of a strand."""
        told: dict[str, dict[str, dict[str, object]]] = {}
        for (scope, table), group in sorted(self._groups.items()):
            told.setdefault(scope, {})[table] = {"digest": group.digest.hexdigest(), "rows": group.rows}
        return told

    @property
    def root(self) -> str:
        """The digest over all rows of a strand, in hexadecimal digits: equal for two stores that hold the same."""
        return hashlib.sha256(canonical_json(self.groups)).hexdigest()


@dataclass(slots=True)
class _Group:
    rows: int = 0
    digest: Any = field(default_factory=hashlib.sha256)


def schema_number() -> int:
    """Return the number of the newest migration of the graph: by it a strand says which properties it may have."""
    return max(int(file.name[:4]) for file in (resources.directory("schema") / "graph").glob("[0-9]*.cypher"))
