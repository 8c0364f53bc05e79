"""What the graph does not take is noted in it and told, nothing waits for it, and a new graph is given it once more."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from helix.graph.build import build
from helix.graph.graph_files import Place
from helix.graph.graph_follower import GraphFollower
from helix.graph.kuzu_engine import KuzuEngine, KuzuOptions
from helix.graph.on_disk import remove
from helix.journal.database import Database
from helix.journal.log import Journal
from helix.model.clock import system_clock
from helix.model.edge import Label, Ref, Relation
from helix.model.operations import Change, Operation, PutEdge, PutNode, PutPassage
from helix.text.tokens import lexical_tokens
from tests.sampling import some

A, TASK = Ref.memory("a"), Ref(label=Label.TASK, id="t")
OPTIONS = KuzuOptions(buffer_pool_bytes=64 << 20, max_db_bytes=1 << 30)
DIMENSION = 8


def node(name: str, **props: object) -> PutNode:
    return PutNode(label=Label.MEMORY, id=name, props={"name": name, **props})  # type: ignore[dict-item]


def edge(kind: Relation, source: Ref, target: Ref, **props: str | float) -> PutEdge:
    return PutEdge(type=kind, source=source, target=target, props=props)


def passage(vector: bytes) -> PutPassage:
    return PutPassage(id="a#0", number=1, owner=A, text="a", vector=vector)


UNCONNECTED = edge(Relation.BLOCKED_BY, A, A)
MISFITS: dict[str, tuple[Operation, str]] = {
    "an edge between labels that are not connected": (UNCONNECTED, "BLOCKED_BY from Memory a to Memory a"),
    "attributes that are no JSON": (
        edge(Relation.INJECTED, TASK, A, attributes="none"),
        "INJECTED from Task t to Memory a",
    ),
    "a text for a number": (edge(Relation.SOLVES, A, A, weight="much"), "SOLVES from Memory a to Memory a"),
    "a text for a count": (node("b", uses="many"), "Memory b"),
    "a number of more than 64 bits": (node("b", uses=1 << 70), "Memory b"),
    "a text that is none": (node("b", scope="\ud800"), "Memory b"),
    "a vector of another model": (passage(b"\0\0\x80?" * 4), "passage a#0"),
    "a vector that is cut off": (passage(b"\0\0\x80"), "passage a#0"),
}


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal(Database(tmp_path / "journal.db"), tokenise=lexical_tokens)) as opened:
        yield opened


def following(journal: Journal, folder: Path) -> closing[GraphFollower]:
    files = {name: str(folder / file) for name, file in FILES.items()}
    limits = {"buffer_pool_bytes": 64 << 20, "max_db_bytes": 1 << 30, "reopen_after": 200, "heap_bytes": 256 << 20}
    place = Place(**files, **limits, vectors=True, threads=1)  # type: ignore[arg-type]
    return closing(GraphFollower(journal, place, clock=system_clock))


FILES = {"graph": "graph.kuzu", "journal": "journal.db", "lock": "graph.lock"}


def written(journal: Journal, *operations: Operation) -> None:
    journal.append([Change(kind="test", operations=operations)], 1)


def held(follower: GraphFollower) -> list[str]:
    _, rows, _ = follower.ask("cypher", 30, text="MATCH (m:Memory) RETURN m.id", params={}, limit=100)
    return sorted(row[0] for row in rows)


@pytest.mark.parametrize("name", MISFITS)
def test_a_graph_is_built_without_what_does_not_fit_and_says_what(tmp_path: Path, name: str) -> None:
    misfit, what = MISFITS[name]
    fits = (
        node("a"),
        node("c"),
        PutNode(label=Label.TASK, id="t", props={}),
        edge(Relation.SOLVES, A, Ref.memory("c")),
    )
    build(
        tmp_path / "graph",
        sorted((*fits, misfit), key=lambda put: (not isinstance(put, PutNode), isinstance(put, PutPassage))),
        seq=7,
        store_id="s",
        dimension=DIMENSION,
        total=5,
        options=OPTIONS,
        progress=lambda *_: None,
    )
    with closing(KuzuEngine(tmp_path / "graph", dimension=DIMENSION, options=OPTIONS)) as engine:
        (refused,) = engine.refusals()
        counts = engine.counts()
        assert engine.applied_seq() == 7
    assert refused.startswith(f"{what}: ")
    assert {kind: count for kind, count in counts.items() if count} == {"Memory": 2, "Task": 1, "SOLVES": 1}


def test_a_row_that_is_refused_is_told_once_whatever_ends_the_process(journal: Journal, tmp_path: Path) -> None:
    written(journal, node("a"))
    with following(journal, tmp_path) as follower:
        assert held(follower) == ["a"]
        written(journal, node("b"), UNCONNECTED)
        for names in ("ac", "acd", "acde"):
            written(journal, node(names[-1]))
            assert held(follower) == [*names]
            (refused,) = follower.refused
            assert refused.startswith("row 2: ")
            assert follower.pid is not None
            os.kill(follower.pid, signal.SIGKILL)
    with following(journal, tmp_path) as follower:
        assert held(follower) == ["a", "c", "d", "e"]
        assert follower.refused == (refused,)
        assert follower.warning, "the counts differ by it, which is no reason to build the graph anew"


@pytest.mark.soak
def test_a_new_graph_is_given_a_refused_row_once_more(journal: Journal, tmp_path: Path) -> None:
    written(journal, node("a"))
    with following(journal, tmp_path) as follower:
        assert held(follower) == ["a"]
        written(journal, node("b"), UNCONNECTED)
        assert held(follower) == ["a"]
        follower.swap(follower.build(lambda *_: None))
        assert held(follower) == ["a", "b"]
        (refused,) = follower.refused
        assert refused.startswith("BLOCKED_BY from Memory a to Memory a: ")
        with journal.database.transaction() as connection:
            connection.execute("DELETE FROM edge")
        follower.swap(follower.build(lambda *_: None))
        assert follower.refused == ()


@pytest.mark.parametrize(
    "name", some(["a number of more than 64 bits", "attributes that are no JSON", "a text for a count"], 1)
)
def test_values_that_do_not_fit_cost_one_row_and_no_process(journal: Journal, tmp_path: Path, name: str) -> None:
    written(journal, node("a"), PutNode(label=Label.TASK, id="t", props={}))
    with following(journal, tmp_path) as follower:
        assert held(follower) == ["a"]
        process = follower.pid
        written(journal, MISFITS[name][0])
        written(journal, node("c"))
        assert held(follower) == ["a", "c"]
        assert (len(follower.refused), follower.pid) == (1, process)


@pytest.mark.soak
def test_a_graph_without_a_note_of_what_it_lacks_is_built_anew_and_has_one(journal: Journal, tmp_path: Path) -> None:
    """As after a Helix that kept the note in the journal."""
    written(journal, node("a"), UNCONNECTED)
    written(journal, node("b"))
    with following(journal, tmp_path) as follower:
        assert held(follower) == ["a", "b"]
    remove(tmp_path / "graph.kuzu")
    state = (node("b"),)
    build(
        tmp_path / "graph.kuzu",
        state,
        seq=2,
        store_id=journal.store_id,
        dimension=None,
        total=1,
        options=OPTIONS,
        progress=lambda *_: None,
    )
    with following(journal, tmp_path) as follower:
        assert held(follower) == ["a", "b"]
        assert len(follower.refused) == 1
