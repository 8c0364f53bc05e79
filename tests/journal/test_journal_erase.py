"""Erasing rows of the log changes nothing else, whatever was written before, and leaves a chain that verifies."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.journal import erase
from helix.journal.database import Database
from helix.journal.log import Journal
from helix.model.clock import from_micros
from helix.model.edge import Label, Ref, Relation
from helix.model.operations import (
    Change,
    DropEdge,
    DropNode,
    DropPassage,
    Operation,
    Props,
    PutEdge,
    PutNode,
    PutPassage,
)
from helix.model.tombstone import is_tombstone
from tests.journal.conftest import Opened
from tests.sampling import draws

AT = from_micros(1_700_000_000_000_000)
IDS = tuple("abcde")
ENTITIES = ("x", "y")


def ref(node_id: str) -> Ref:
    return Ref(label=Label.ENTITY if node_id in ENTITIES else Label.MEMORY, id=node_id)


def said(node_id: str, number: int) -> str:
    """Return words that are said of one node alone."""
    return f"word-of-{node_id}-{number}"


def put_node(node_id: str, number: int) -> PutNode:
    words = said(node_id, number)
    if node_id in ENTITIES:
        return PutNode(label=Label.ENTITY, id=node_id, props={"name": words, "kind": "file", "scope": "global"})
    props: Props = {
        "name": words,
        "kind": "fact",
        "trigger": words,
        "resolution": "",
        "recorded_at": 1,
        "old_field": words,
    }
    return PutNode(label=Label.MEMORY, id=node_id, props=props)


def put_passage(number: int, node_id: str, index: int) -> PutPassage:
    return PutPassage(id=f"{node_id}#{index}", number=number, owner=ref(node_id), text=said(node_id, number))


def edge_of(source: str, target: str) -> DropEdge:
    kind = Relation.MENTIONS if target in ENTITIES else Relation.RELATED
    return DropEdge(type=kind, source=ref(source), target=ref(target))


nodes = st.sampled_from(IDS + ENTITIES)
memories = st.sampled_from(IDS)
steps = st.one_of(
    st.tuples(st.just("node"), nodes, nodes),
    st.tuples(st.just("patch"), memories, nodes),
    st.tuples(st.just("edge"), memories, nodes),
    st.tuples(st.just("passage"), memories, nodes),
    st.tuples(st.sampled_from(["drop_node", "drop_edge", "drop_passage"]), memories, nodes),
)


def operations(plan: list[list[tuple[str, str, str]]]) -> Iterator[Change]:
    """Yield the changes of a plan: each step becomes an operation that fits what kinds of node there are."""
    number, there = 0, set[str]()
    for row in plan:
        made: list[Operation] = []
        for what, one, other in row:
            number += 1
            edge = edge_of(one, other) if one not in ENTITIES else edge_of("a", "x")
            match what:
                case "node":
                    made.append(put_node(one, number))
                    there.add(one)
                case "patch" if one in there:
                    made.append(PutNode(label=Label.MEMORY, id=one, props={"resolution": said(one, number)}))
                case "edge" if {edge.source.id, edge.target.id} <= there:  # as in any store
                    props: Props = {"created_at": 1, "relation": said(one, number)}
                    made.append(PutEdge(type=edge.type, source=edge.source, target=edge.target, props=props))
                case "passage" if one in there:
                    made.append(put_passage(number, one, number % 2))
                case "drop_node":
                    made.append(DropNode(label=Label.MEMORY, id=one))
                    there.discard(one)
                case "drop_edge":
                    made.append(edge)
                case _:
                    made.append(DropPassage(id=f"{one}#{number % 2}"))
        yield Change(kind="test", operations=tuple(made), note={"memory": row[0][1]})


def state_of(path: Path) -> dict[str, Any]:
    with closing(sqlite3.connect(path)) as connection:
        said = {
            f"{label} {node_id}": json.loads(props)
            for label, node_id, props in connection.execute("SELECT * FROM node")
        }
        said |= {" ".join(key): json.loads(props) for *key, props in connection.execute("SELECT * FROM edge")}
        passages = "SELECT p.id, p.number, p.owner, p.text, t.tokens FROM passage p JOIN token t ON t.number = p.number"
        return said | {passage: rest for passage, *rest in connection.execute(passages)}


def bytes_of(path: Path) -> bytes:
    held = b"".join(file.read_bytes() for file in path.parent.iterdir())
    with closing(sqlite3.connect(path)) as connection:
        return held + b"".join(
            zlib.decompress(payload)
            for (payload,) in connection.execute("SELECT payload FROM log WHERE payload NOT NULL")
        )


@settings(max_examples=draws(12), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    plan=st.lists(st.lists(steps, min_size=1, max_size=5), min_size=1, max_size=12),
    doomed=st.sets(memories, min_size=1, max_size=3),
)
def test_what_is_erased_is_nowhere_and_all_else_as_it_was(
    plan: list[list[tuple[str, str, str]]], doomed: set[str]
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "journal.db"
        with closing(Journal(Database(path), tokenise=str.split)) as journal:
            for change in operations(plan):
                journal.append([change], 1)
            refs = [ref(each) for each in sorted(doomed)]
            refs += erase.names_left(journal, refs)
            before = state_of(path)
            ids = {each.id for each in refs}

            if entombing := erase.entombing(journal, refs, AT):
                journal.append([Change(kind="erase", operations=tuple(entombing))], 2)
            erase.erase_rows(journal, ids, "erase", 3)
            assert journal.database.write_anew()

            after = state_of(path)
            assert {key for key in after if touches(key, after, ids)} <= {f"Memory {each}" for each in doomed}
            assert all(is_tombstone(after[f"Memory {each}"]) for each in doomed if f"Memory {each}" in before)
            rest = {key: value for key, value in before.items() if not touches(key, before, ids)}
            assert {key: value for key, value in after.items() if not touches(key, after, ids)} == rest
            held = bytes_of(path)
            assert not [each for each in ids if f"word-of-{each}-".encode() in held]
            assert journal.verify_chain().damaged == ()
            journal.restate()
            assert state_of(path) == after


def touches(key: str, state: dict[str, Any], ids: set[str]) -> bool:
    """Return whether a row of the state is about one of the nodes: it, an edge at it, or a passage of it."""
    return bool(ids & set(key.replace("#", " ").split()))


@pytest.fixture
def journal(tables: Opened) -> Iterator[Journal]:
    opened = Journal(tables(), tokenise=str.split)
    yield opened
    opened.close()


def test_a_second_look_adds_only_what_came_since(journal: Journal) -> None:
    for node_id in "abab":
        journal.append([Change(kind="test", operations=(put_node(node_id, 1),))], 1)
    first = erase.rows_naming(journal, {"a"})
    assert (first.upto, first.rows) == (4, (1, 3))
    journal.append([Change(kind="test", operations=(), note={"memory": "a"})], 1)
    journal.append([Change(kind="test", operations=(DropPassage(id="a#7"),))], 1)
    assert erase.rows_naming(journal, {"a"}, since=first).rows == (1, 3, 5, 6)


def test_an_id_within_another_or_in_a_text_names_nothing(journal: Journal) -> None:
    journal.append([Change(kind="test", operations=(put_node("ab", 1),))], 1)
    quoting = PutNode(label=Label.MEMORY, id="b", props={"trigger": 'the id "a" and ["Memory","a"]'})
    journal.append([Change(kind="test", operations=(quoting,))], 1)
    assert erase.rows_naming(journal, {"a"}).rows == ()


def test_a_row_that_cannot_be_read_is_named(journal: Journal) -> None:
    journal.append([Change(kind="test", operations=(put_node("a", 1),))], 1)
    with journal.database.transaction() as connection:
        connection.execute("UPDATE log SET payload = ?", (b"\x00\x11\x22\x33",))
    found = erase.rows_naming(journal, {"a"})
    assert (found.rows, found.unreadable) == ((), (1,))


def test_a_name_that_something_else_speaks_of_stays(journal: Journal) -> None:
    mention = [PutEdge(type=Relation.MENTIONS, source=ref(m), target=ref("x"), props={"created_at": 1}) for m in "ab"]
    journal.append([Change(kind="test", operations=(*(put_node(n, 1) for n in "abx"), *mention))], 1)
    assert erase.names_left(journal, [ref("a")]) == ()
    assert erase.names_left(journal, [ref("a"), ref("b")]) == (ref("x"),)
    journal.append([Change(kind="erase", operations=tuple(erase.entombing(journal, [ref("a"), ref("x")], AT)))], 1)
    assert erase.standing(journal, [ref("a"), ref("b"), ref("x")]) == {ref("b"), ref("x")}
