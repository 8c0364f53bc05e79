"""Recall goes on answering, and answers right, while episodes come in and the worker makes memories of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.remember.request import StoreRequest
from helix.model.edge import Label
from helix.model.recall import Expand, RecallQuery
from helix.model.reports import JobState
from helix.model.work_item import WorkState
from helix.operations import background_work, capture, memories, upkeep
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from tests.waiting import MOST_SECONDS

SESSIONS, EPISODES, MANY_EPISODES = 4, 6, 30
"""How many sessions, and episodes in each: in an ordinary run, and in a soak."""
SAID = (
    "always activate the venv before you run pytest in project {n}",
    "remember: the staging database of project {n} is read-only",
    "the build of project {n} crashed with a linker error; the fix was to install zstd",
)


def tell(helix: Helix, episodes: int) -> None:
    """Tell of so many episodes in each session, and close it."""
    for session in range(SESSIONS):
        for number in range(episodes):
            text = SAID[number % len(SAID)].format(n=session)
            capture.record_episode(
                helix,
                EpisodeRequest(content=f"{text}. it was number{session}x{number}", session=f"s{session}", role="user"),
            )
        helix.worker.close_session(f"s{session}")


def ask(helix: Helix, stored: str, over: threading.Event) -> int:
    """Ask until told for what was stored before; return how often it was the first answer."""
    answered = 0
    while not over.is_set():
        answer = helix.recall(RecallQuery(query="where does the quagga graze", expand=Expand.NONE))
        assert answer.items, "an answer was empty"
        assert answer.items[0].node.id == stored
        answered += 1
        over.wait(0.05)
    return answered


def watch(helix: Helix, over: threading.Event) -> int:
    """Look at the status until told; return how often."""
    looks = 0
    while not over.wait(0.02):
        status = background_work.background(helix, limit=50)
        assert sum(item.state is WorkState.RUNNING for item in status.items) <= 1
        looks += 1
    return looks


def test_recall_is_right_while_the_worker_is_at_work(settings: Settings, pytestconfig: pytest.Config) -> None:
    episodes = MANY_EPISODES if pytestconfig.getoption("--soak") else EPISODES
    eager = replace(settings, consolidation_budget=60.0)
    with Helix.open(eager, embedder=HashEmbedder()) as helix, ThreadPoolExecutor(4) as pool:
        stored = memories.store(
            helix, StoreRequest(trigger="where the quagga grazes", resolution="on the southern meadow", kind="fact")
        ).id
        over = threading.Event()
        beside: tuple[Callable[[], int], ...] = (
            lambda: ask(helix, stored, over),
            lambda: ask(helix, stored, over),
            lambda: watch(helix, over),
        )
        running = [pool.submit(work) for work in beside]
        try:
            pool.submit(tell, helix, episodes).result()
            helix.worker.flush()
            assert helix.worker.settle(MOST_SECONDS)
        finally:
            over.set()
        assert all(future.result() > 0 for future in running)
        status = background_work.background(helix, limit=50)
        assert {item.state for item in status.items} == {WorkState.DONE}
        assert {"consolidate"} <= {item.kind for item in status.items}
        assert (status.importance, status.lacking_vectors) == (0.0, 0)
        assert capture.episodes(helix).total == SESSIONS * episodes + 1
        for session in range(SESSIONS):
            found = helix.recall(RecallQuery(query=f"number{session}x5", labels=(Label.EPISODE,), expand=Expand.NONE))
            assert f"number{session}x5" in found.items[0].node.content  # type: ignore[union-attr]
        assert not [job for job in helix.jobs.all() if job.state is not JobState.DONE]
        assert upkeep.doctor(helix).healthy
