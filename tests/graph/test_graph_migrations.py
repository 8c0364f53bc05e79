"""A graph of an earlier Helix is brought up to date when it is opened, with everything that is in it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from helix.graph import migrate
from helix.graph.kuzu_engine import KuzuEngine
from helix.model.edge import Label
from helix.model.episode import Episode
from helix.model.memory import Status
from helix.model.operations import PutNode
from helix.model.records import node_from, put

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def write_old(connection: Any) -> None:
    connection.execute("CREATE (:Episode {id: 'old', content: 'it rained'})")


def statuses(engine: KuzuEngine) -> dict[str, str]:
    return {str(row["id"]): str(row["status"]) for row in engine.export("Episode")}


def test_episodes_of_a_graph_from_before_their_status_are_active(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = migrate.pending

    def first(folder: Path, applied: Mapping[int, str]) -> list[tuple[int, str, str, list[str]]]:
        return [script for script in every(folder, applied) if script[0] == 1]

    with monkeypatch.context() as before:
        before.setattr(migrate, "pending", first)
        engine = KuzuEngine(tmp_path / "graph.kuzu", dimension=None)
        engine.fill(write_old)
        engine.close()
    engine = KuzuEngine(tmp_path / "graph.kuzu", dimension=None)
    assert statuses(engine) == {"old": "active"}
    new = Episode(id="new", content="c", recorded_at=NOW, occurred_at=NOW, status=Status.QUARANTINED)
    engine.apply([put(new)], 1)
    engine.close()
    engine = KuzuEngine(tmp_path / "graph.kuzu", dimension=None)
    assert statuses(engine) == {"old": "active", "new": "quarantined"}
    engine.close()


def test_an_episode_journalled_before_there_was_a_status_is_active_everywhere(tmp_path: Path) -> None:
    props = {name: value for name, value in put(episode()).props.items() if name != "status"}
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
