"""Facets: each dimension is counted with every filter but its own, and a filter means the same in a list."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from helix.errors import InvalidInputError
from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.remember.request import StoreRequest
from helix.model.memory import Kind, Status
from helix.model.provenance import Trust
from helix.operations import capture, memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store.listing import MemoryFilter

MONDAY = datetime(2026, 9, 28, 12, tzinfo=UTC)


class Time:
    now = MONDAY

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now


@pytest.fixture
def week(settings: Settings) -> Any:
    """A store with four memories of two scopes and two days, one of them forgotten, and an episode."""
    time = Time()
    with Helix.open(settings, embedder=HashEmbedder(), clock=time) as helix:

        def keep(trigger: str, resolution: str, kind: Kind, scope: str, trust: Trust) -> str:
            asked = StoreRequest(trigger=trigger, resolution=resolution, kind=kind, scope=scope, trust=trust)
            return memories.store(helix, asked).name

        keep("uploads time out behind the proxy", "raise the read timeout", Kind.FAILURE, "app", Trust.AGENT_INFERRED)
        keep("Straße names are folded", "case folding is done by the store", Kind.FACT, "app", Trust.USER_ASSERTED)
        time.now = MONDAY + timedelta(days=1)
        keep("release notes are written by hand", "", Kind.CONVENTION, "docs", Trust.USER_ASSERTED)
        memories.forget(helix, keep("lint runs twice in the pipeline", "", Kind.FACT, "app", Trust.USER_ASSERTED))
        capture.record_episode(helix, EpisodeRequest(content="the proxy gave up on an upload", scope="app"))
        yield helix


def counts(facets: Any) -> dict[str, int]:
    return {facet.value: facet.count for facet in facets}


def test_each_dimension_is_counted_without_its_own_filter(week: Helix) -> None:
    found = memories.facets(week, MemoryFilter(scope="app", kinds=[Kind.FAILURE]))
    assert found.total == 1
    assert counts(found.kinds) == {"failure": 1, "fact": 1}
    assert counts(found.scopes) == {"app": 1}
    assert counts(found.statuses) == {"active": 1}
    assert counts(memories.facets(week, MemoryFilter(scope="app")).statuses) == {"active": 2, "forgotten": 1}
    assert counts(found.trusts) == {"agent_inferred": 1}


def test_days_count_memories_and_episodes_and_stay_when_a_day_is_chosen(week: Helix) -> None:
    found = memories.facets(week, MemoryFilter(any_status=True, since=MONDAY + timedelta(hours=20)))
    assert found.total == 2
    assert [(day.day, day.memories, day.episodes) for day in found.days] == [
        ("2026-09-28", 2, 2),
        ("2026-09-29", 2, 3),
    ]  # one stands behind each


@pytest.mark.parametrize(
    ("asked", "triggers"),
    [
        ({"text": "TIMEOUT proxy"}, ["uploads time out behind the proxy"]),
        ({"text": "strasse folding"}, ["Straße names are folded"]),
        ({"text": "releas"}, ["release notes are written by hand"]),
        ({"text": "proxy notes"}, []),
        ({"text": "lint", "any_status": True}, ["lint runs twice in the pipeline"]),
        ({"trust": [Trust.USER_ASSERTED]}, ["release notes are written by hand", "Straße names are folded"]),
        ({"until": MONDAY + timedelta(hours=1), "kinds": ["fact"]}, ["Straße names are folded"]),
        ({"since": MONDAY + timedelta(hours=1)}, ["release notes are written by hand"]),
        ({"status": Status.FORGOTTEN}, ["lint runs twice in the pipeline"]),
    ],
)
def test_a_list_and_its_facets_have_one_filter(week: Helix, asked: dict[str, Any], triggers: list[str]) -> None:
    wanted = MemoryFilter(**asked)
    assert [one.trigger for one in memories.memories(week, wanted).items] == triggers
    assert memories.facets(week, wanted).total == len(triggers)


def test_a_text_of_too_many_words_is_refused(week: Helix) -> None:
    with pytest.raises(InvalidInputError, match="32 words"):
        memories.facets(week, MemoryFilter(text=" ".join(map(str, range(33)))))


def test_an_empty_store_has_no_facets(helix: Helix) -> None:
    found = memories.facets(helix)
    assert (found.total, found.kinds, found.days) == (0, (), ())
