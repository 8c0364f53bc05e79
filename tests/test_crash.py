"""A writer killed at any moment loses nothing that it had acknowledged: not in graph, vectors or words."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import time
from pathlib import Path

import numpy as np
import pytest

from helix import settings as configuration
from helix.errors import HelixError
from helix.memory.remember.request import StoreRequest
from helix.model.edge import Ref, Relation
from helix.model.operations import Change, PutEdge
from helix.model.recall import Expand, RecallQuery
from helix.operations import graph as graph_operations
from helix.operations import memories, upkeep
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.store.engine import GRAPH_NAME, JOURNAL_NAME
from helix.store.writer import Decision
from tests.sampling import some
from tests.victims import Victims
from tests.waiting import UNHURRIED, finished

PLACES = (
    "before the journal",
    "between journal and graph",
    "while the graph opens",
    "while the graph applies",
    "behind the graph's answer",
    "with the graph's process",
)
SHORT = ("between journal and graph", "while the graph applies", "with the graph's process")
"""Where an ordinary run kills: before a write is in the graph, in the midst of that, and together with the graph."""
MANY_KILLS = 100
"""Kills at no place in particular, in a soak."""


def run_victim(victims: Victims, home: Path, first: int, moment: str, seconds: float) -> dict[int, str]:
    """Run a writer that is killed; return what it acknowledged (number to id)."""
    pipe = home / "words"
    if not pipe.exists():
        os.mkfifo(pipe)
    pid = victims.start("victim", home, first, moment)
    first_line = ""
    with pipe.open("r", encoding="utf-8") as words:
        if moment == "none":
            assert words.readline() == "ready\n", (home / "errors").read_text("utf-8")
            first_line = words.readline()
            time.sleep(seconds)
            os.kill(pid, signal.SIGKILL)
        output = words.read()
    assert victims.exit_code() == -signal.SIGKILL, (home / "errors").read_text("utf-8")
    lines = [line.split() for line in (first_line + output).splitlines() if line != "ready"]
    # A line cut short by the kill was not read by anybody: nothing was acknowledged by it.
    return {int(line[0]): line[1] for line in lines if len(line) == 2 and len(line[1]) == 36}


def open_store(home: Path) -> Helix:
    settings = configuration.load({"home": home, "reopen_after": 4}, environ=UNHURRIED, cwd=home)
    return Helix.open(settings, embedder=HashEmbedder())


def wait_for_jobs(helix: Helix) -> None:
    helix.store.graph.settle()
    for job in helix.jobs.all():
        finished(helix, job)


def check_everything_is_there(helix: Helix, acknowledged: dict[int, str]) -> None:
    store = helix.store
    served = {row[0] for row in graph_operations.cypher(helix, "MATCH (m:Memory) RETURN m.id", limit=100_000).rows}
    missing = {number for number, memory_id in acknowledged.items() if memory_id not in served}
    assert not missing, f"not in the graph: {missing}"
    indexed = {row[0] for row in graph_operations.cypher(helix, "MATCH (p:Passage) RETURN p.id", limit=100_000).rows}
    near = 0
    for number, memory_id in acknowledged.items():
        passages, _ = store.catalogue.view.words.search([f"unique{number}"])
        assert passages.size == 1, f"not found by its words: {number}"
        assert f"{memory_id}#0" in indexed, f"no vector in the graph: {number}"
        memory = memories.get(helix, memory_id)
        (vector,) = store.embed([f"{memory.trigger}\n{memory.resolution}"])
        assert vector is not None
        nearest = store.graph.vector_search(np.frombuffer(vector, np.float32).tolist(), 3)
        near += f"{memory_id}#0" in [found for found, _ in nearest]
    assert near >= 0.9 * len(acknowledged), "the index, which is approximate, finds them by their vectors"
    assert upkeep.doctor(helix).healthy, [finding for finding in upkeep.doctor(helix).findings if not finding.ok]


def test_kills_at_any_moment_lose_no_acknowledged_write(
    victims: Victims, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    acknowledged: dict[int, str] = {}
    rng = random.Random(7)
    moments = [*PLACES, *["none"] * MANY_KILLS] if pytestconfig.getoption("--soak") else [*SHORT, "none"]
    for round_number, moment in enumerate(moments):
        fresh = run_victim(victims, tmp_path, 1_000 * round_number, moment, rng.uniform(0.0, 0.6))
        acknowledged.update(fresh)
    with open_store(tmp_path) as helix:
        wait_for_jobs(helix)
        check_everything_is_there(helix, acknowledged)
    assert len(acknowledged) > len(moments), "the writers wrote between their deaths"


@pytest.mark.parametrize("damage", some(["garbage", "truncated", "empty", "log"], 1))
def test_a_damaged_graph_file_is_rebuilt_without_loss(victims: Victims, tmp_path: Path, damage: str) -> None:
    acknowledged = run_victim(victims, tmp_path, 0, "none", 0.5)
    with open_store(tmp_path) as helix:
        assert helix.store.graph.settle()
    graph = tmp_path / "store" / GRAPH_NAME
    match damage:
        case "garbage":
            graph.write_bytes(random.Random(1).randbytes(50_000))
        case "truncated":
            graph.write_bytes(graph.read_bytes()[: graph.stat().st_size // 2])
        case "empty":
            graph.write_bytes(b"")
        case "log":
            graph.with_name(f"{GRAPH_NAME}.wal").write_bytes(random.Random(2).randbytes(5_000))
    with open_store(tmp_path) as helix:
        number = next(iter(acknowledged))
        answer = helix.recall(RecallQuery(query=f"unique{number}", expand=Expand.NONE))
        assert answer.items[0].node.id == acknowledged[number], "recall answers while the graph is rebuilt"
        wait_for_jobs(helix)
        check_everything_is_there(helix, acknowledged)
    if damage != "log":  # Kuzu's log is not read at all: what it held is replayed from the journal
        assert list((tmp_path / "store").glob(f"{GRAPH_NAME}.aside-*")), "the damaged file is kept"


def test_a_locked_graph_is_not_taken_for_a_damaged_one(tmp_path: Path) -> None:
    with open_store(tmp_path) as helix:
        memories.store(helix, StoreRequest(trigger="a", resolution="b", kind="fact"))
        with pytest.raises(HelixError) as caught:
            open_store(tmp_path)
        assert caught.value.code == "STORE_LOCKED"
        assert str(helix.store.path) in str(caught.value)
    assert not list((tmp_path / "store").glob("*.aside-*"))
    with open_store(tmp_path) as again:
        assert upkeep.stats(again).total == 1


@pytest.mark.soak
def test_a_row_that_the_graph_refuses_is_set_aside_loudly(tmp_path: Path) -> None:
    with open_store(tmp_path) as helix:
        kept = memories.store(helix, StoreRequest(trigger="before", resolution="x", kind="fact"))
        store = helix.store
        assert store.graph.settle()
        here = Ref.memory(kept.id)
        nowhere = PutEdge(type=Relation.BLOCKED_BY, source=here, target=here, props={"weight": 1.0})
        store.writer.submit(lambda: Decision((Change(kind="test", operations=(nowhere,)),), None))
        after = memories.store(helix, StoreRequest(trigger="after", resolution="y", kind="fact"))
        store.graph.settle()
        (refused,) = store.graph.refused
        assert refused.startswith("row 2: ")
        assert any("set aside" in warning for warning in upkeep.status(helix).warnings)
        assert not upkeep.doctor(helix).healthy
    with open_store(tmp_path) as helix:
        served = {row[0] for row in graph_operations.cypher(helix, "MATCH (m:Memory) RETURN m.id").rows}
        assert served == {kept.id, after.id}
        assert upkeep.status(helix).refused == 1


def test_a_damaged_journal_row_costs_nothing(tmp_path: Path) -> None:
    with open_store(tmp_path) as helix:
        stored = [
            memories.store(helix, StoreRequest(trigger=f"fact {n} kappa{n}", resolution=f"r{n}", kind="fact"))
            for n in range(3)
        ]
        assert helix.store.graph.settle()
    with sqlite3.connect(tmp_path / "store" / JOURNAL_NAME) as raw:
        raw.execute("UPDATE log SET payload = x'00' WHERE seq = 2")
    raw.close()
    (tmp_path / "store" / GRAPH_NAME).unlink()
    with open_store(tmp_path) as helix:
        wait_for_jobs(helix)
        served = {row[0] for row in graph_operations.cypher(helix, "MATCH (m:Memory) RETURN m.id").rows}
        assert served == {one.id for one in stored}
        (chain,) = (finding for finding in upkeep.doctor(helix).findings if finding.check == "journal chain")
        assert "2" in chain.detail
        assert not chain.ok


@pytest.mark.soak
def test_a_store_of_little_memory_keeps_vectors_out_of_the_graph_and_finds_by_them(tmp_path: Path) -> None:
    def little(on: bool) -> Helix:
        settings = configuration.load({"home": tmp_path, "low_memory": on}, environ=UNHURRIED, cwd=tmp_path)
        return Helix.open(settings, embedder=HashEmbedder())

    with little(False) as helix:
        stored = [
            memories.store(helix, StoreRequest(trigger=f"fact {n} about tau{n}", resolution="x", kind="fact"))
            for n in range(3)
        ]
    for on, passages in ((True, []), (True, []), (False, [[4]])):  # the sentinel row is one of the four
        with little(on) as helix:
            wait_for_jobs(helix)
            tables = {table.name for table in graph_operations.graph_schema(helix)}
            counted = (
                graph_operations.cypher(helix, "MATCH (p:Passage) RETURN count(*)").rows if "Passage" in tables else []
            )
            assert [list(row) for row in counted] == passages
            assert (
                helix.recall(RecallQuery(query="fact about tau1", expand=Expand.NONE)).items[0].node.id == stored[1].id
            )
            assert upkeep.doctor(helix).healthy
