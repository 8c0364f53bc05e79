"""What is written is the same however often it was decided. `scripts/test --twice` holds that in all tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from helix import settings as configuration
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.model.operations import PutEdge, PutNode
from helix.operations import ingest, memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from tests.deciding import twice_decided
from tests.waiting import UNHURRIED, at_rest


@pytest.fixture
def stores(tmp_path: Path) -> Callable[[str], Helix]:
    """Opens an empty store of a name."""

    def opened(name: str) -> Helix:
        home = tmp_path / name
        return Helix.open(configuration.load({"home": home}, environ=UNHURRIED, cwd=tmp_path), embedder=HashEmbedder())

    return opened


def lines() -> list[str]:
    """Turns of two sessions, two of them told twice, and facts, one of which is met again."""
    turns = [{"id": f"u{n % 6}", "content": f"turn {n % 6} about the proxy", "session": f"s{n % 2}"} for n in range(8)]
    told = {"resolution": "stop the old server", "kind": "fact"}
    facts = [{"id": f"x{n}", "trigger": f"port 80{n % 3} is taken", **told} for n in range(4)]
    return [json.dumps(line) for line in (*turns, *facts)]


def live(helix: Helix) -> tuple[Any, ...]:
    """Do what writes; return what was answered, and what there is, by names."""
    report = ingest.ingest_jsonl(helix, lines())
    one = memories.store(helix, StoreRequest(trigger="the cart", resolution="is kept in Redis", kind="decision"))
    two = memories.store(helix, StoreRequest(trigger="deploys", resolution="run on Friday", kind="convention"))
    memories.edit(helix, one.id, EditRequest(resolution="is kept in Postgres"))
    memories.edge(helix, two.name, one.name, "depends_on")
    memories.forget(helix, two.name)
    at_rest(helix)
    nodes = {op.id: f"{op.label} {op.props.get('name') or op.props.get('content') or op.id}" for op in _state(helix)[0]}
    held = sorted((nodes[op.id], str(op.props.get("status")), str(op.props.get("uses"))) for op in _state(helix)[0])
    edges = sorted((op.type, nodes[op.source.id], nodes[op.target.id]) for op in _state(helix)[1])
    return report, held, edges


def _state(helix: Helix) -> tuple[list[PutNode], list[PutEdge]]:
    with helix.store.journal.snapshot() as (_, state):
        return list(state.nodes()), list(state.edges())


def test_what_is_written_is_the_same_however_often_it_was_decided(stores: Callable[[str], Helix]) -> None:
    with stores("once") as helix:
        once = live(helix)
    with stores("twice") as helix:
        helix.store.writer.decided = partial(twice_decided, helix.store.writer)  # type: ignore[method-assign]
        twice = live(helix)
    assert once[0].episodes and not once[0].problems, once[0]
    assert once == twice
    assert sum("turn" in name for name, *_ in once[1]) == 6
