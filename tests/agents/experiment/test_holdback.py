"""Which tasks are held back is drawn at random, once, and recorded with the share it was drawn from."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix import settings as configuration
from helix.agents.experiment.holdback import SHARE, drawn, treatment, was_drawn
from helix.agents.tasks.board import TaskSighting, find_task, mirror
from helix.errors import ConfigError
from helix.memory.capture.sessions import SessionRequest
from helix.operations import capture, upkeep
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store.store import Store
from tests.waiting import UNHURRIED


def task(store: Store, key: str) -> str:
    return mirror(store, TaskSighting(session="s", key=key, objective="do it")).id


def test_about_the_share_that_is_set_is_held_back_and_nothing_changes_that(living: Helix, store: Store) -> None:
    ids = [task(store, str(number)) for number in range(200)]
    expected = [drawn(store, one) for one in ids]
    first = [treatment(store, one) for one in ids]
    assert first == expected
    assert 5 <= first.count("held_back") <= 35, "a tenth of 200, within 3.7 standard deviations"
    store.runtime.settings = configuration.load(
        {"home": store.runtime.settings.home, "holdback": 1.0}, environ=UNHURRIED
    )
    assert [treatment(store, one) for one in ids] == first
    kept = find_task(store.index, ids[0])
    assert kept is not None
    assert (kept.treatment, kept.attributes[SHARE], was_drawn(kept)) == (first[0], 0.1, True)
    assert treatment(store, task(store, "later")) == "held_back"


def test_another_store_draws_others_and_the_same_store_the_same_after_a_restart(settings: Settings) -> None:
    draws = []
    for home in ("one", "one", "other"):
        chosen = configuration.load({"home": settings.home / home, "holdback": 0.5}, environ=UNHURRIED)
        with Helix.open(chosen, embedder=HashEmbedder()) as helix:
            draws.append([drawn(helix.store, f"task {number}") for number in range(64)])
    assert draws[0] == draws[1]
    assert draws[0] != draws[2]


def test_switched_off_every_task_gets_memory_and_proves_nothing(settings: Settings) -> None:
    off = configuration.load({"home": settings.home, "holdback": 0.0}, environ=UNHURRIED)
    with Helix.open(off, embedder=HashEmbedder()) as helix:
        assert upkeep.status(helix).holdback == 0.0
        ids = [task(helix.store, str(number)) for number in range(30)]
        assert {treatment(helix.store, one) for one in ids} == {"memory"}
        kept = find_task(helix.store.index, ids[0])
        assert kept is not None and not was_drawn(kept)


def test_a_task_that_is_not_kept_is_shown_memories(living: Helix, store: Store) -> None:
    capture.open_session(living, SessionRequest(name="hidden", private=True))
    hidden = mirror(store, TaskSighting(session="hidden", key="1"))
    assert treatment(store, hidden.id) == "memory"
    assert find_task(store.index, hidden.id) is None


@pytest.mark.parametrize(("name", "value"), [("holdback", 1.5), ("holdback", -0.1), ("unused_penalty", 0.2)])
def test_a_share_or_penalty_out_of_bounds_is_refused(settings: Settings, name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=name):
        configuration.load({"home": settings.home, name: value}, environ=UNHURRIED)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(min_size=1, max_size=40), st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_who_is_held_back_at_a_share_is_so_at_any_greater_one(
    living: Helix, store: Store, ident: str, shares: list[float]
) -> None:
    def held_back(share: float) -> bool:
        store.runtime.settings = configuration.load(
            {"home": store.runtime.settings.home, "holdback": share}, environ=UNHURRIED
        )
        return drawn(store, ident) == "held_back"

    held = [held_back(share) for share in (0.0, *sorted(shares), 1.0)]
    assert held == sorted(held)
    assert (held[0], held[-1]) == (False, True)
