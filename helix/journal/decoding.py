"""Decoding: what stands in the tables of the state, read as what it should be; anything else is damage.

SQLite holds any type in any column, and a damaged page may hold any bytes. So nothing is believed here: whoever reads
a row of the state reads it by these functions, and meets StoreCorruptError where it is not what Helix writes.
"""

from __future__ import annotations

import json
import math
import zlib
from array import array
from collections.abc import Sequence
from typing import Any

from helix.errors import StoreCorruptError
from helix.model.edge import Ref, Relation
from helix.model.operations import MOST_NUMBERS, Props, PutEdge, PutNode, PutPassage, passage_number
from helix.model.records import Node, node_from

_FLOAT = 4
_LENGTH_MARGIN = 0.01
MOST_INFLATED = 1 << 30
"""Bytes of a change at most: SQLite takes no larger value, and a few kilobytes can be packed from as many gigabytes."""


def damaged(what: object) -> StoreCorruptError:
    """Return the error for a row of the journal's state that is not what Helix writes."""
    return StoreCorruptError(
        f"a row of the journal's state is damaged: {what}", hint="`helix rebuild` makes the state anew from the log"
    )


def inflated(payload: bytes, most: int = MOST_INFLATED) -> bytes:
    """Return a payload of the journal's log unpacked; raises zlib.error for one of more than `most` bytes."""
    opener = zlib.decompressobj()
    text = opener.decompress(payload, most)
    if not opener.eof:
        raise zlib.error("the payload is cut, or holds more than any change")
    return text


def text_of(value: object) -> str:
    """Return a text column of a journal row, decoded; anything else is damage."""
    if isinstance(value, str):
        return value
    raise damaged("a text is none")


def props_of(value: object) -> Props:
    """Return the properties of a node or an edge, decoded from its row of the journal."""
    try:
        said = json.loads(text_of(value))
    except (ValueError, RecursionError) as error:
        raise damaged(error) from error
    if not isinstance(said, dict):
        raise damaged("its properties are not a JSON object")
    return said


def ref_of(label: object, node_id: object) -> Ref:
    """Return the reference to a node that the label and id of a journal row make."""
    try:
        return Ref.of(text_of(label), text_of(node_id))
    except ValueError as error:
        raise damaged(error) from error


def stored_relation(value: object) -> Relation:
    """Return the type of an edge, as a row of the journal has it."""
    try:
        return Relation(text_of(value))
    except ValueError as error:
        raise damaged(error) from error


def node_of(ref: Ref, props: Props) -> Node:
    """Decode a row of the journal: the domain object of a node's properties as it keeps them."""
    try:
        return node_from(ref.label, ref.id, props)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise damaged(f"{type(error).__name__} in {ref.label.value} {ref.id}") from error


def put_node(row: Sequence[Any]) -> PutNode:
    """Return the node of a journal row (label, id, props)."""
    ref = ref_of(row[0], row[1])
    return PutNode(label=ref.label, id=ref.id, props=props_of(row[2]))


def put_edge(row: Sequence[Any]) -> PutEdge:
    """Return the edge of a journal row (type, source_label, source, target_label, target, props)."""
    return PutEdge(
        type=stored_relation(row[0]),
        source=ref_of(row[1], row[2]),
        target=ref_of(row[3], row[4]),
        props=props_of(row[5]),
    )


def put_passage(row: Sequence[Any]) -> PutPassage:
    """Return the passage of a journal row (number, id, owner_label, owner, text, vector)."""
    number, passage_id, label, owner, text, vector = row
    try:
        passage_number(number)
    except ValueError as error:
        raise damaged(error) from error
    if vector is not None and (not isinstance(vector, bytes) or len(vector) % _FLOAT):
        raise damaged(f"the vector of passage {number} is none")
    owned = ref_of(label, owner)
    return PutPassage(id=text_of(passage_id), number=number, owner=owned, text=text_of(text), vector=vector)


def dimension_of(value: object) -> int:
    """Return the dimension of the vectors of an embedding space that the journal keeps."""
    if isinstance(value, int) and 0 < value <= MOST_NUMBERS:
        return value
    raise damaged("the dimension of an embedding space is not a whole number above 0")


def is_vector(value: object, dimension: object) -> bool:
    """Return whether bytes in the journal are a vector of a space: float32 of unit length, so many numbers."""
    if not isinstance(value, bytes) or not isinstance(dimension, int) or len(value) != _FLOAT * dimension:
        return False
    numbers = array("f", value)
    length = math.sqrt(sum(number * number for number in numbers))
    return math.isfinite(length) and abs(length - 1) <= _LENGTH_MARGIN
