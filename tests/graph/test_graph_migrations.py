"""A graph of an earlier Helix is brought up to date when it is opened, with everything that is in it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from helix.agents.tasks.board import inject, injections
from helix.explorer import graph_questions
from helix.graph import migrate
from helix.graph.build import build
from helix.graph.kuzu_engine import KuzuEngine, KuzuOptions
from helix.memory.remember.remember import remember
from helix.memory.remember.request import StoreRequest
from helix.model.edge import Label, Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import Status
from helix.model.operations import Change, PutEdge, PutNode
from helix.model.records import node_from, put_record
from helix.model.task import Shown, Task
from helix.providers.fakes import HashEmbedder
from helix.settings import Settings
from helix.store import doctor
from helix.store.store import Store

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def write_old(connection: Any) -> None:
    connection.execute("CREATE (:Episode {id: 'old', content: 'it rained'})")


def statuses(engine: KuzuEngine) -> dict[str, str]:
    return {str(row["id"]): str(row["status"]) for row in engine.export("Episode")}


def up_to(last: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have graphs made with the first migrations alone, as an earlier Helix did."""
    every = migrate.pending

    def first(folder: Path, applied: Mapping[int, str]) -> list[tuple[int, str, str, list[str]]]:
        return [script for script in every(folder, applied) if script[0] <= last]

    monkeypatch.setattr(migrate, "pending", first)


def test_episodes_of_a_graph_from_before_their_status_are_active(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        up_to(1, before)
        engine = KuzuEngine(tmp_path / "graph.kuzu", dimension=None)
        engine.fill(write_old)
        engine.close()
    engine = KuzuEngine(tmp_path / "graph.kuzu", dimension=None)
    assert statuses(engine) == {"old": "active"}
    new = Episode(id="new", content="c", recorded_at=NOW, occurred_at=NOW, status=Status.QUARANTINED)
    engine.apply([put_record(new)], 1)
    engine.close()
    engine = KuzuEngine(tmp_path / "graph.kuzu", dimension=None)
    assert statuses(engine) == {"old": "active", "new": "quarantined"}
    engine.close()


def test_an_episode_journalled_before_there_was_a_status_is_active_everywhere(tmp_path: Path) -> None:
    props = {name: value for name, value in put_record(episode()).props.items() if name != "status"}
    old = PutNode(label=Label.EPISODE, id="old", props=props)
    read = node_from(old.label, old.id, old.props)
    assert isinstance(read, Episode)
    assert read.status is Status.ACTIVE
    engine = KuzuEngine(tmp_path / "graph.kuzu", dimension=None)
    engine.apply([old], 1)
    assert statuses(engine) == {"old": "active"}
    engine.close()


def episode() -> Episode:
    return Episode(id="old", content="it rained", recorded_at=NOW, occurred_at=NOW)


OLD_TASK = PutNode(
    label=Label.TASK,
    id="t",
    props={
        "objective": "Fix the login",
        "recorded_at": 5,
        "scope": "global",
        "status": "completed",
        "outcome": "delivered",
        "attributes": '{"seq": "001"}',
    },
)
OLD_PLAN = PutNode(
    label=Label.PLAN,
    id="p",
    props={"objective": "Log in", "recorded_at": 5, "scope": "global", "status": "open", "attributes": "{}"},
)


def test_a_store_from_before_the_learning_loop_is_brought_up_to_date(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_task = PutEdge(
        type=Relation.HAS_TASK,
        source=Ref.plan("p"),
        target=Ref.task("t"),
        props={"created_at": 5},
    )
    with monkeypatch.context() as before:
        store = Store(settings, embedder=HashEmbedder(8))
        store.journal.append([Change(kind="test", operations=(OLD_PLAN, OLD_TASK, has_task))], 5)
        store.close()
        up_to(2, before)
        path, store_id = store.graph.path, store.journal.store_id
        build(path, (), seq=0, store_id=store_id, dimension=8, total=0, options=KuzuOptions(), progress=lambda *_: None)
        engine = KuzuEngine(path, dimension=8)
        assert "Candidate" not in {name for name, _, _ in engine.tables()}
        engine.fill(write_old_work)
        engine.apply((), 1)
        engine.close()
    store = Store(settings, embedder=HashEmbedder(8))
    try:
        assert "Candidate" in {name for name, _, _ in store.graph.ask("tables", 30)}
        assert store.graph.path.stat().st_ino == path.stat().st_ino, "the graph was brought up to date, not built anew"
        task = node_from(Label.TASK, "t", OLD_TASK.props)
        assert isinstance(task, Task)
        assert (task.session, task.treatment, task.ended_at) == ("", "", None)
        asked = "MATCH (:Plan)-[:HAS_TASK]->(t:Task) RETURN t.outcome, t.session, t.treatment, t.ended_at"
        assert graph_questions.cypher(store, asked, None, None, None).rows == (("delivered", "", "", None),)
        memory = remember(store, StoreRequest(trigger="the login", resolution="ask twice", kind="pattern")).id
        inject(store, "t", [Shown(memory_id=memory, name="m", kind="pattern", rank=1, score=1.0)], held_back=True)
        assert [one.held_back for one in injections(store.index, "t")] == [True]
        asked = "MATCH (t:Task)-[:WITHHELD]->(m:Memory) RETURN t.objective, m.trigger"
        assert graph_questions.cypher(store, asked, None, None, None).rows == (("Fix the login", "the login"),)
        assert [finding for finding in doctor.examine(store).findings if not finding.ok] == []
    finally:
        store.close()


def write_old_work(connection: Any) -> None:
    connection.execute(
        "CREATE (p:Plan {id: 'p', objective: 'Log in', recorded_at: 5, scope: 'global', status: 'open',"
        " attributes: '{}'})-[:HAS_TASK]->(:Task {id: 't', objective: 'Fix the login', recorded_at: 5,"
        " scope: 'global', status: 'completed', outcome: 'delivered', attributes: '{\"seq\": \"001\"}'})"
    )
