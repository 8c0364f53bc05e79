"""The journal as an outsider reads it: with SQLite alone, its chain walked and its state made anew from the log.

Nothing of Helix's own reading is used here: a fault in it must not hide itself.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TOKEN = re.compile(r"soak\d+q")
NodeKey = tuple[str, str]
EdgeKey = tuple[str, str, str, str, str]


@dataclass(slots=True)
class State:
    """What a journal comes to: nodes and edges with their properties, passages by id with number, owner and text."""

    nodes: dict[NodeKey, dict[str, Any]] = field(default_factory=dict)
    edges: dict[EdgeKey, dict[str, Any]] = field(default_factory=dict)
    passages: dict[str, tuple[int, str, str, str]] = field(default_factory=dict)

    def apply(self, op: Mapping[str, Any]) -> None:
        """Take one operation of the log in."""
        match op["op"]:
            case "node":
                key = (op["label"], op["id"])
                self.nodes[key] = {**self.nodes.get(key, {}), **op["props"]}
            case "drop_node":
                self.nodes.pop((op["label"], op["id"]), None)
            case "edge":
                self.edges[_edge_key(op)] = dict(op["props"])
            case "drop_edge":
                self.edges.pop(_edge_key(op), None)
            case "passage":
                self.passages[op["id"]] = (op["number"], *op["owner"], op["text"])
            case "drop_passage":
                self.passages.pop(op["id"], None)
            case other:
                raise ValueError(f"an operation {other!r} that nobody knows")

    def differences(self, other: State) -> list[str]:
        """Return, in words, what the two do not share; at most a few of each sort."""
        found = []
        for name in ("nodes", "edges", "passages"):
            one, two = getattr(self, name), getattr(other, name)
            for key in sorted(one.keys() ^ two.keys())[:3]:
                found.append(f"{name}: {key} is {'only in the log' if key in one else 'not in the log'}")
            changed = sorted(key for key in one.keys() & two.keys() if one[key] != two[key])
            found.extend(f"{name}: {key} differs: log {one[key]}, state {two[key]}" for key in changed[:3])
        return found


def _edge_key(op: Mapping[str, Any]) -> EdgeKey:
    return (op["type"], *op["from"], *op["to"])


@dataclass(slots=True)
class Picture:
    """One moment of a journal: its last row, its state, numbers of passages with tokens and vectors, and its faults."""

    seq: int
    state: State
    tokens: set[int]
    vectors: set[int]
    erased: int
    store_id: str
    faults: list[str] = field(default_factory=list)

    def texts(self) -> Iterator[tuple[NodeKey, dict[str, Any], set[str]]]:
        """Yield every node whose words hold a token of the soak, with the tokens."""
        for key, props in self.state.nodes.items():
            words = " ".join(str(props.get(name, "")) for name in ("trigger", "resolution", "content", "objective"))
            if found := set(TOKEN.findall(words)):
                yield key, props, found


def read(path: Path) -> Picture:
    """Read a journal whole, log and state; raises sqlite3.DatabaseError where SQLite cannot."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as connection:
        connection.execute("BEGIN")
        state, faults, erased = _replayed(connection)
        stated = State(
            nodes={(label, key): json.loads(props) for label, key, props in _all(connection, "node")},
            edges={tuple(row[:5]): json.loads(row[5]) for row in _all(connection, "edge")},
            passages={row[1]: (row[0], *row[2:5]) for row in _all(connection, "passage")},
        )
        faults += state.differences(stated)
        (seq,) = connection.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()
        (store_id,) = connection.execute("SELECT value FROM meta WHERE key = 'store_id'").fetchone()
        tokens = {number for (number,) in connection.execute("SELECT number FROM token")}
        active = "SELECT number FROM vector WHERE space = (SELECT id FROM space WHERE active)"
        vectors = {number for (number,) in connection.execute(active)}
        numbers = {row[0] for row in stated.passages.values()}
        if numbers != tokens:
            faults.append(f"words: {len(numbers - tokens)} passages without, {len(tokens - numbers)} without a passage")
        if stray := vectors - numbers:
            faults.append(f"vectors: {len(stray)} without a passage")
        odd = connection.execute("SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view')").fetchall()
        faults += [f"the file holds a {kind} {name}" for kind, name in odd]
    return Picture(seq, stated, tokens, vectors, erased, store_id, faults)


def _all(connection: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    columns = {"node": "label, id, props", "edge": "type, source_label, source, target_label, target, props"}
    columns["passage"] = "number, id, owner_label, owner, text"
    return connection.execute(f"SELECT {columns[table]} FROM {table}").fetchall()


def _replayed(connection: sqlite3.Connection) -> tuple[State, list[str], int]:
    state, faults, erased, chain, last = State(), [], 0, b"\0" * 32, 0
    rows = connection.execute("SELECT seq, at, payload, salt, digest, chain FROM log ORDER BY seq")
    for seq, at, payload, salt, digest, linked in rows:
        if seq != last + 1:
            faults.append(f"rows {last + 1} to {seq - 1} of the log are missing")
        last = seq
        moment = seq.to_bytes(8, "big") + at.to_bytes(8, "big", signed=True)
        chain = hashlib.sha256(chain + moment + digest).digest()
        if chain != linked:
            faults.append(f"row {seq} of the log does not follow from the one before")
            chain = linked
        if payload is None:
            erased += 1
            continue
        try:
            if hashlib.sha256(salt + payload).digest() != digest:
                raise ValueError("its digest is another")
            for op in json.loads(zlib.decompress(payload))["ops"]:
                state.apply(op)
        except (ValueError, KeyError, TypeError, zlib.error) as error:
            faults.append(f"row {seq} of the log is damaged: {error}")
    return state, faults, erased


def holds(path: Path, words: set[str]) -> set[str]:
    """Return which of the words lie in a file: in its bytes, or packed in a row of a log."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:  # a graph being built, or SQLite's log: gone since it was listed
        return set()
    found = {word for word in words if word.encode() in data}
    if data[:16] == b"SQLite format 3\0" and words - found:
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
                for (payload,) in connection.execute("SELECT payload FROM log WHERE payload IS NOT NULL"):
                    text = zlib.decompress(payload)
                    found |= {word for word in words - found if word.encode() in text}
        except (sqlite3.Error, zlib.error):
            pass  # a file that cannot be read is judged by whoever opens it; its bytes were looked through
    return found
