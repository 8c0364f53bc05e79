"""The values of a journal's file from elsewhere: each property holds what the model says of it.

Whoever wrote such a file can have made its log and its state agree, so that nothing tells later that they are wrong.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from helix.errors import InvalidInputError, StoreCorruptError
from helix.journal.backend import DatabaseConnection
from helix.journal.decoding import put_edge, put_node
from helix.journal.log import proved
from helix.model.operations import Put
from helix.model.records import check_put

_SPEND = "SELECT month, provider, calls, failures, tokens_in, tokens_out, cost FROM model_spend"
_MONTH = re.compile(r"\d{4}-\d\d", re.ASCII)
_MOST_COUNTED = (1 << 31) - 1
_MOST_BYTES, _MOST_VALUES = 1 << 28, 5_000_000
"""What a row of a log may say: a thousand times what any that Helix wrote was seen to."""


def values_in(text: bytes) -> int:
    """Return about how many values JSON holds, in a journal or a strand: counted before any of them is made."""
    return sum(map(text.count, (b",", b"[", b"{")))


def check_values(connection: DatabaseConnection, called: Path) -> None:
    """Raise InvalidInputError where a row of a journal's file, of its log or its state, says what cannot be.

    Rows that cannot be read are damage, which is found and made good as in any journal.
    """
    try:
        for op in _puts(connection, called):
            check_put(op)
        _check_spend(connection)
    except ValueError as error:
        raise InvalidInputError(
            f"{called} holds what Helix does not write: {error}",
            hint="name one that Helix wrote and nobody changed",
        ) from error


def _check_spend(connection: DatabaseConnection) -> None:
    """Raise ValueError for a count of what language models took that is none: a budget would no longer hold."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'model_spend'").fetchone() is None:
        return  # an early journal
    for month, provider, *counts, cost in connection.execute(_SPEND):
        named = isinstance(month, str) and _MONTH.fullmatch(month) and isinstance(provider, str)
        counted = all(isinstance(count, int) and 0 <= count <= _MOST_COUNTED for count in counts)
        if not (named and counted and isinstance(cost, int | float) and 0 <= cost < math.inf):
            raise ValueError("the use of a language model in one month is not a count")


def _puts(connection: DatabaseConnection, called: Path) -> Iterator[Put]:
    for row in connection.execute("SELECT CAST(payload AS BLOB), CAST(salt AS BLOB), CAST(digest AS BLOB) FROM log"):
        _check_size(row[0], called)
        said = proved(*row)
        if said is not None:
            yield from (op for op in said.operations if isinstance(op, Put))
    for query, read in (
        ("SELECT label, id, props FROM node", put_node),
        ("SELECT type, source_label, source, target_label, target, props FROM edge", put_edge),
    ):
        for row in connection.execute(query):
            try:
                op = read(row)
            except StoreCorruptError:
                continue
            yield op


def _check_size(payload: bytes | None, called: Path) -> None:
    """Refuse a row of a log that is small and takes gigabytes to read, as 90 kB can say 30 million empty lists."""
    try:
        text = zlib.decompressobj().decompress(payload or b"", _MOST_BYTES)
    except zlib.error:
        return  # damage
    if len(text) == _MOST_BYTES or values_in(text) > _MOST_VALUES:
        raise InvalidInputError(
            f"{called} holds a row that says more than Helix writes into one",
            hint="name one that Helix wrote and nobody changed",
        )
