"""Every background job finds nothing left to do when it is run again over the same store."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from benchmarks.histories import history_of, make_repository
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix import settings as configuration
from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.job_run.run import Run
from helix.memory.remember.request import StoreRequest
from helix.memory.worker.kinds import KINDS, ROUND
from helix.model.memory import Kind
from helix.operations import background_work, capture, ingest, memories, upkeep
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store.listing import MemoryFilter
from tests.memory.conftest import START, Moment
from tests.waiting import UNHURRIED, finished

WORDS = ("upload", "proxy", "times out", "config", "cache", "port 8410", "port 9410", "retry", "never", "always", "zod")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=3, max_size=6).map(" ".join)
NOTED = st.tuples(TEXTS, st.sampled_from(["failure", "failure", "decision", "convention", "fact"]), TEXTS)
TOLD = st.tuples(TEXTS, st.sampled_from(["", "monday", "tuesday"]), st.sampled_from(["tool", "user", "assistant"]))
ALWAYS_NEW = {"decay", "decay_edges"}
"""What fades goes on fading with time, whoever looks."""


def fill(helix: Helix, moment: Moment, notes: list[tuple[str, str, str]], told: list[tuple[str, str, str]]) -> None:
    for trigger, kind, resolution in notes:
        command = f"npm run {trigger.split()[0]}"
        attributes = {"command": command, "error": f"Error: {resolution}"} if "zod" in trigger else {}
        memories.store(helix, StoreRequest(trigger=trigger, resolution=resolution, kind=kind, attributes=attributes))
        moment.forward(hours=7)
    for number, (text, session, role) in enumerate(told):
        content = f"We {text} because {text} failed {number % 3} times."
        capture.record_episode(helix, EpisodeRequest(content=content, session=session, role=role))
        moment.forward(hours=5)
    lines = [
        {"text": f"commit {number}: {text}", "ts": (START - timedelta(days=number)).isoformat()}
        for number, (text, _, _) in enumerate(told)
    ]
    ingest.ingest_jsonl(helix, [json.dumps(line) for line in lines])


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(notes=st.lists(NOTED, min_size=4, max_size=9), told=st.lists(TOLD, min_size=4, max_size=12))
def test_nothing_is_changed_by_a_job_that_is_run_again(
    put_empty_store: Callable[[Settings, HashEmbedder], None],
    notes: list[tuple[str, str, str]],
    told: list[tuple[str, str, str]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        chosen = configuration.load({"home": Path(folder) / "home"}, environ=UNHURRIED, cwd=Path(folder))
        embedder, moment = HashEmbedder(64), Moment()
        put_empty_store(chosen, embedder)
        with Helix.open(chosen, embedder=embedder, clock=moment) as helix:
            background_work.pause_worker(helix, True)
            fill(helix, moment, notes, told)
            for kind in (*ROUND, *sorted(KINDS.keys() - set(ROUND) - ALWAYS_NEW)):
                _run(helix, kind)
                after = _state(helix)
                for _ in range(2):
                    _run(helix, kind)
                    assert _state(helix) == after, kind


@pytest.mark.soak
@pytest.mark.parametrize("name", ["starlette", "sqlite-utils", "graphiti"])
def test_flushes_of_a_real_history_change_nothing_after_the_first(
    helix: Helix, evaluation_data: Path, tmp_path: Path, name: str
) -> None:
    path = evaluation_data / "histories" / f"{name}.jsonl.gz"
    make_repository(history_of(path), repository := tmp_path / "repository")
    _ingest(helix, repository)
    for text in ("upload job times out", "upload job times out again", "upload job times out today"):
        memories.store(
            helix, StoreRequest(trigger=f"{text} on a large file behind the proxy", resolution="", kind="failure")
        )
        capture.record_episode(
            helix, EpisodeRequest(content=f"We decided to retry because the {text}.", session="monday")
        )
    found = []
    for _ in range(3):
        helix.worker.flush()
        assert helix.worker.settle(300)
        found.append(_state(helix))
    assert found[1:] == found[:1] * 2
    (systemic,) = memories.memories(helix, MemoryFilter(kinds=["systemic"], any_status=True)).items
    assert "upload" in systemic.trigger
    _ingest(helix, repository)
    assert _state(helix) == found[0]


def _ingest(helix: Helix, repository: Path) -> None:
    finished(helix, ingest.ingest_git(helix, str(repository)))


def _run(helix: Helix, kind: str) -> None:
    store = helix.store
    KINDS[kind](Run(store, store.runtime.make_id(store.runtime.clock()), kind), {})


def _state(helix: Helix) -> tuple[object, ...]:
    status = upkeep.status(helix)
    kinds = {
        kind: len(memories.memories(helix, MemoryFilter(kinds=[kind], any_status=True), first=200).items)
        for kind in Kind
    }
    return status.journal_rows, status.nodes, kinds
