"""Parquet: the file that Kuzu copies rows from, written without a library.

One row group, pages of plain values, no compression: what `COPY ... FROM` reads fastest, and the one format of files
that Kuzu 0.11.3 reads exactly (its CSV takes an empty text for a null). A library that writes it takes 170 MB on disk.
The format is that of the Apache Parquet specification; its footer is a struct in Thrift's compact protocol.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

TEXT, INTEGER, NUMBER = "STRING", "INT64", "DOUBLE"
"""Types of columns, by their names in Kuzu. None is a null in each."""

_MAGIC = b"PAR1"
_PAGE_ROWS = 2_048
_INT64, _FLOAT, _DOUBLE, _BYTES = 2, 4, 5, 6
_REQUIRED, _OPTIONAL, _REPEATED = 0, 1, 2
_UTF8, _LIST = 0, 3
_PLAIN, _RLE = 0, 3
_PHYSICAL = {TEXT: _BYTES, INTEGER: _INT64, NUMBER: _DOUBLE}


@dataclass(frozen=True, slots=True)
class Vectors:
    """A column of float32 vectors of one dimension, as the bytes of each."""

    dimension: int
    rows: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of values of a type, or None for a null."""

    kind: str
    rows: Sequence[Any]


Columns = Mapping[str, Column | Vectors]


def write(file: IO[bytes], columns: Columns) -> None:
    """Write a table to an empty Parquet file for Kuzu, all columns of one length. Texts are written as UTF-8.

    Raises one of the errors of `batch.MISFITS` for a value that is not of its column's type.
    """
    lengths = {len(column.rows) for column in columns.values()}
    assert len(lengths) == 1, "columns of one length"
    count = lengths.pop()
    at = file.write(_MAGIC)
    schema = [_struct({4: b"schema", 5: len(columns)})]
    chunks: list[bytes] = []
    for name, column in columns.items():
        begin, values = at, 0
        for page, held in _pages(column):
            at += file.write(page)
            values += held
        chunks.append(_chunk(name, column, values, begin, at - begin))
        schema += _schema(name, column)
    group = _struct({1: _structs(chunks), 2: _Long(at), 3: _Long(count)})
    footer = _struct({1: 1, 2: _structs(schema), 3: _Long(count), 4: _structs([group])})
    file.write(footer + len(footer).to_bytes(4, "little") + _MAGIC)


def _pages(column: Column | Vectors) -> Iterator[tuple[bytes, int]]:
    """Yield each page with the number of values in it."""
    for start in range(0, len(column.rows), _PAGE_ROWS):
        rows = column.rows[start : start + _PAGE_ROWS]
        if isinstance(column, Vectors):
            if odd := [len(row) for row in rows if len(row) != 4 * column.dimension]:
                raise ValueError(f"a vector of {odd[0]} bytes, where {4 * column.dimension} belong")
            held = len(rows) * column.dimension
            # A value begins a row (0) or goes on with it (1); each is there (1).
            begins = _run(1, 0) + (_run(column.dimension - 1, 1) if column.dimension > 1 else b"")
            body = _sized(begins * len(rows)) + _sized(_run(held, 1)) + b"".join(rows)
        else:
            held = len(rows)
            body = _sized(_present(rows)) + _plain(column.kind, [value for value in rows if value is not None])
        header = _struct(
            {1: 0, 2: len(body), 3: len(body), 5: _Struct(_struct({1: held, 2: _PLAIN, 3: _RLE, 4: _RLE}))}
        )
        yield header + body, held


def _plain(kind: str, values: Sequence[Any]) -> bytes:
    if kind == TEXT:
        parts: list[bytes] = []
        for value in values:
            text = value.encode("utf-8")
            parts += (len(text).to_bytes(4, "little"), text)
        return b"".join(parts)
    return _little(array("q" if kind == INTEGER else "d", values))


def _little(numbers: array[Any]) -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _present(rows: Sequence[Any]) -> bytes:
    """Return which rows hold a value, as levels of one bit."""
    if None not in rows:
        return _run(len(rows), 1)
    bits = sum(1 << place for place, value in enumerate(rows) if value is not None)
    groups = -(-len(rows) // 8)
    return _varint(groups << 1 | 1) + bits.to_bytes(groups, "little")


def _run(count: int, level: int) -> bytes:
    return _varint(count << 1) + bytes((level,))


def _sized(levels: bytes) -> bytes:
    return len(levels).to_bytes(4, "little") + levels


def _schema(name: str, column: Column | Vectors) -> list[bytes]:
    if isinstance(column, Column):
        fields: dict[int, Any] = {1: _PHYSICAL[column.kind], 3: _OPTIONAL, 4: name.encode()}
        return [_struct(fields | ({6: _UTF8} if column.kind == TEXT else {}))]
    return [
        _struct({3: _REQUIRED, 4: name.encode(), 5: 1, 6: _LIST}),
        _struct({3: _REPEATED, 4: b"list", 5: 1}),
        _struct({1: _FLOAT, 3: _REQUIRED, 4: b"element"}),
    ]


def _chunk(name: str, column: Column | Vectors, values: int, begin: int, size: int) -> bytes:
    vectors = isinstance(column, Vectors)
    path = [name.encode(), b"list", b"element"] if vectors else [name.encode()]
    told = {
        1: _FLOAT if isinstance(column, Vectors) else _PHYSICAL[column.kind],
        2: _List(5, [_zigzag(_PLAIN), _zigzag(_RLE)]),
        3: _List(8, [_bytes(part) for part in path]),
        4: 0,
        5: _Long(values),
        6: _Long(size),
        7: _Long(size),
        9: _Long(begin),
    }
    return _struct({2: _Long(begin), 3: _Struct(_struct(told))})


class _Long(int):
    """A number that Thrift writes as i64."""


class _Struct(bytes):
    """A struct as it is written."""


@dataclass(frozen=True, slots=True)
class _List:
    kind: int
    items: Sequence[bytes]


def _structs(items: Sequence[bytes]) -> _List:
    return _List(12, items)


def _struct(fields: Mapping[int, Any]) -> bytes:
    """Return a struct in Thrift's compact protocol: fields by their numbers, which rise by less than 16."""
    out, before = bytearray(), 0
    for number, value in fields.items():
        kind, written = _field(value)
        out += bytes(((number - before) << 4 | kind,)) + written
        before = number
    return bytes(out) + b"\0"


def _field(value: Any) -> tuple[int, bytes]:
    match value:
        case _Long():
            return 6, _zigzag(value)
        case int():
            return 5, _zigzag(value)
        case _Struct():
            return 12, value
        case _List():
            count = len(value.items)
            head = bytes((count << 4 | value.kind,)) if count < 15 else bytes((0xF0 | value.kind,)) + _varint(count)
            return 9, head + b"".join(value.items)
        case _:
            return 8, _bytes(value)


def _bytes(text: bytes) -> bytes:
    return _varint(len(text)) + text


def _zigzag(number: int) -> bytes:
    return _varint(number << 1 if number >= 0 else ~number << 1 | 1)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
