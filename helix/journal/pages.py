"""Pages: everything that is stored, some at a time, for whoever has to look at all of it beside the daily work."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, TypeVar

from helix.journal.backend import DatabaseConnection
from helix.journal.decoding import inflated, put_edge, put_node, put_passage
from helix.journal.log import Journal
from helix.model.edge import Label, Ref
from helix.model.operations import Props, PutEdge, PutNode, PutPassage

T = TypeVar("T")

PAGE = 500
_EDGE = "type, source_label, source, target_label, target"


def nodes(journal: Journal) -> Iterator[list[PutNode]]:
    """Yield every node of the journal's state, page by page, by label and id.

    What changes meanwhile is seen as its page is read.
    """
    statement = "SELECT label, id, props FROM node WHERE (label, id) > (?, ?) ORDER BY label, id LIMIT ?"
    return _pages(journal, statement, ("", ""), put_node)


def edges(journal: Journal) -> Iterator[list[PutEdge]]:
    """Yield every edge of the journal, by type and ends, page by page as `nodes` does."""
    statement = f"SELECT {_EDGE}, props FROM edge WHERE ({_EDGE}) > (?, ?, ?, ?, ?) ORDER BY {_EDGE} LIMIT ?"
    return _pages(journal, statement, ("",) * 5, put_edge)


def passages(journal: Journal) -> Iterator[list[PutPassage]]:
    """Yield every passage of the journal without its vector, by number, page by page as `nodes` does."""
    statement = (
        "SELECT number, id, owner_label, owner, text, NULL FROM passage WHERE number > ? ORDER BY number LIMIT ?"
    )
    return _pages(journal, statement, (-1,), put_passage)


def _pages(
    journal: Journal, statement: str, after: tuple[Any, ...], decoded: Callable[[tuple[Any, ...]], T]
) -> Iterator[list[T]]:
    """Yield what a statement finds behind `after`, a page at a time; a row begins with the columns of its key."""
    width = len(after)

    def page(connection: DatabaseConnection) -> list[tuple[tuple[Any, ...], T]]:
        return [(row[:width], decoded(row)) for row in connection.execute(statement, (*after, PAGE))]

    while found := journal.read(page):
        after = found[-1][0]
        yield [held for _, held in found]


def log_rows(journal: Journal) -> Iterator[list[tuple[int, Mapping[str, Any]]]]:
    """Yield each readable row of the journal's log by number, as `helix.model.operations.encode` writes it."""
    for page in _payloads(journal):
        yield [(seq, data) for seq, payload in page if (data := opened(payload)) is not None]


def _payloads(journal: Journal) -> Iterator[list[tuple[int, bytes]]]:
    after = 0
    while True:
        with journal.database.reading() as connection:
            rows = connection.execute(
                "SELECT seq, CAST(payload AS BLOB) FROM log WHERE seq > ? AND payload IS NOT NULL ORDER BY seq LIMIT ?",
                (after, PAGE),
            ).fetchall()
        if not rows:
            return
        after = rows[-1][0]
        yield rows


def log_nodes(journal: Journal, labels: Collection[Label]) -> Iterator[tuple[Ref, Props]]:
    """Yield each node of these labels that a readable row of the journal's log writes, overwritten ones included."""
    marks = [json.dumps(label.value).encode() for label in labels]
    for page in _payloads(journal):
        for _, payload in page:
            data = opened(payload, marks)
            for op in () if data is None else data.get("ops", ()):
                if op["op"] == "node" and op["label"] in labels:
                    yield Ref.of(op["label"], op["id"]), op["props"]


def sizes(journal: Journal) -> dict[str, int]:
    """Return how many nodes, edges and passages the journal has, and how many rows its log (`log`)."""
    with journal.database.reading() as connection:
        return {
            name: int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
            for name, table in (("nodes", "node"), ("edges", "edge"), ("passages", "passage"), ("log", "log"))
        }


def next_passage_number(journal: Journal) -> int:
    """Return a number above that of every passage in the journal."""
    with journal.database.reading() as connection:
        return int(connection.execute("SELECT coalesce(max(number), 0) + 1 FROM passage").fetchone()[0])


def opened(payload: bytes, marks: Collection[bytes] = ()) -> Mapping[str, Any] | None:
    """Return what a payload of the journal's log says, or None for one that cannot be read; its digest is not checked.

    With `marks`, None too for one that holds none of them: reading all of them takes several times as long.
    """
    try:
        text = inflated(payload)
        if marks and not any(mark in text for mark in marks):
            return None
        data = json.loads(text)
    except (zlib.error, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None
