"""The graph's follower loses no row: what it missed, for whatever reason, comes from the journal with the next rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from helix.errors import GraphUnavailableError
from helix.graph.kuzu_engine import KuzuEngine, KuzuOptions
from helix.journal.log import Journal
from helix.journal.state import Records
from helix.model.clock import system_clock
from helix.model.edge import Label
from helix.model.operations import Change, Operation, PutNode, Row
from helix.model.reports import JobState
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store.replay import GraphFollower
from helix.text.tokens import lexical_tokens

SMALL = KuzuOptions(buffer_pool_bytes=64 << 20, max_db_bytes=1 << 30)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened = Journal(tmp_path / "journal.db", tokenise=lexical_tokens)
    yield opened
    opened.close()


@pytest.fixture
def follower(journal: Journal, tmp_path: Path) -> Iterator[GraphFollower]:
    records = Records(journal.database, lambda: None)
    follower = GraphFollower(tmp_path / "graph.kuzu", journal, records, options=SMALL, clock=system_clock)
    follower.swap(follower.build(lambda stage, done, total: None))
    yield follower
    follower.close()


def written(journal: Journal, node_id: str) -> list[Row]:
    props = {"name": node_id, "kind": "fact"}
    return journal.append([Change(kind="test", operations=(PutNode(label=Label.MEMORY, id=node_id, props=props),))], 1)


def held(follower: GraphFollower) -> list[str]:
    return [str(node["id"]) for node in follower.engine.export("Memory")]


def failing_once(monkeypatch: pytest.MonkeyPatch) -> None:
    apply: Callable[[KuzuEngine, Sequence[Operation], int], None] = KuzuEngine.apply

    def fail(engine: KuzuEngine, operations: Sequence[Operation], seq: int) -> None:
        monkeypatch.setattr(KuzuEngine, "apply", apply)
        raise RuntimeError("unforeseen")

    monkeypatch.setattr(KuzuEngine, "apply", fail)


def test_rows_that_were_never_handed_over_are_read_from_the_journal(journal: Journal, follower: GraphFollower) -> None:
    written(journal, "a")
    follower.follow(written(journal, "b"))
    assert follower.settle()
    assert held(follower) == ["a", "b"]
    assert (follower.trouble, follower.engine.applied_seq()) == ("", 2)


def test_an_error_leaves_nothing_behind_for_the_next_rows_bring_what_was_missed(
    journal: Journal, follower: GraphFollower, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing_once(monkeypatch)
    follower.follow(written(journal, "a"))
    assert follower.settle()
    assert "unforeseen" in follower.trouble
    assert held(follower) == []
    follower.follow(written(journal, "b"))
    assert follower.settle()
    assert held(follower) == ["a", "b"]
    assert follower.trouble == ""


def test_cypher_is_refused_rather_than_answered_from_a_graph_that_is_behind(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        failing_once(monkeypatch)
        helix.store(trigger="what the graph missed", resolution="x", kind="fact")
        with pytest.raises(GraphUnavailableError, match="behind"):
            helix.cypher("MATCH (m:Memory) RETURN count(*)")
        helix.store(trigger="something else altogether", resolution="y", kind="fact")
        assert helix.cypher("MATCH (m:Memory) RETURN count(*)").rows == ((2,),)


def test_a_build_that_fails_is_told_as_failed(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        store = helix._store
        store.writer.call(lambda: store.graph.drop("the graph is being rebuilt"))
        failing_once(monkeypatch)
        job = helix.rebuild()
        while helix.job(job.id).state is JobState.RUNNING:
            time.sleep(0.01)
        with pytest.raises(GraphUnavailableError, match="could not be rebuilt: unforeseen"):
            helix.cypher("MATCH (m:Memory) RETURN count(*)")


def test_a_graph_that_takes_none_of_what_it_lacks_is_put_aside_and_built_anew(
    journal: Journal, follower: GraphFollower, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where an unreadable log held the last tables too."""
    follower.drop("closed")
    for node_id in ("a", "b"):
        written(journal, node_id)
    apply: Callable[[KuzuEngine, Sequence[Operation], int], None] = KuzuEngine.apply

    def refuse(engine: KuzuEngine, operations: Sequence[Operation], seq: int) -> None:
        if operations:
            raise GraphUnavailableError("there is no such table")
        apply(engine, operations, seq)

    monkeypatch.setattr(KuzuEngine, "apply", refuse)
    assert not follower.open()
    assert "refuses all" in follower.trouble and not follower.available
    monkeypatch.undo()
    follower.swap(follower.build(lambda stage, done, total: None))
    assert held(follower) == ["a", "b"]
    assert journal.poison() == []
