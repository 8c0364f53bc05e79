"""Facets: each dimension is counted with every filter but its own, and a filter means the same in a list."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from helix.errors import InvalidInputError
from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.remember.request import StoreRequest
from helix.model.memory import Kind, MemoryOrder, Status, TimeKind
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


def test_times_are_those_of_recording_or_of_what_happened(week: Helix) -> None:
    old = datetime(2019, 5, 4, tzinfo=UTC)
    asked = StoreRequest(trigger="perl runs the billing", resolution="", kind=Kind.FACT, scope="app", valid_from=old)
    name = memories.store(week, asked).name
    capture.record_episode(week, EpisodeRequest(content="perl was chosen", scope="app", occurred_at=old))
    until = old + timedelta(days=1)
    for time, found in ((TimeKind.RECORDED, []), (TimeKind.HAPPENED, [name])):
        wanted = MemoryFilter(scope="app", until=until, time=time)
        assert [one.name for one in memories.memories(week, wanted).items] == found
        days = memories.facets(week, wanted).days
        assert [(one.day, one.memories, one.episodes) for one in days if one.day < "2026"] == [
            ("2019-05-04", 1, 2)
            for _ in found  # a memory has an episode of its own
        ]
        assert len(capture.episodes(week, until=until, time=time).items) == 2 * len(found)


@pytest.mark.parametrize("order", [MemoryOrder.NEWEST, MemoryOrder.OLDEST])
def test_pages_by_when_things_happened_hold_each_once(week: Helix, order: MemoryOrder) -> None:
    for year in (2021, 2019, 2020):
        asked = StoreRequest(
            trigger=f"the office of {year} was elsewhere",
            resolution="",
            kind=Kind.FACT,
            scope="past",
            valid_from=datetime(year, 1, 1, tzinfo=UTC),
        )
        memories.store(week, asked)
    wanted, found, after = MemoryFilter(scope="past", time=TimeKind.HAPPENED), [], None
    while True:
        page = memories.memories(week, wanted, order=order, first=1, after=after)
        found += [one.valid_from.year for one in page.items if one.valid_from]
        if (after := page.next_cursor) is None:
            break
    assert found == sorted(found, reverse=order is MemoryOrder.NEWEST) and len(found) == 3


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
        ({"status": [Status.FORGOTTEN]}, ["lint runs twice in the pipeline"]),
        ({"status": [Status.FORGOTTEN, Status.ARCHIVED]}, ["lint runs twice in the pipeline"]),
        (
            {"status": [Status.ACTIVE, Status.FORGOTTEN], "trust": [Trust.USER_ASSERTED], "scope": "app"},
            ["lint runs twice in the pipeline", "Straße names are folded"],
        ),
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
