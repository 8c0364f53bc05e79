"""A decision that reverses another one, and a correction, is a memory itself and ends or flags what it takes back."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from saying import disputed, embed, job, said_in, shown

from helix.memory.capture.episodes import EpisodeRequest, record
from helix.memory.extraction.consolidation import consolidate, rederive
from helix.model.memory import Kind, Memory, Status
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.operations import background_work
from helix.service import Helix
from helix.settings import Settings
from helix.store.store import Store

OCTOBER = datetime(2025, 10, 2, 10, tzinfo=UTC)
MONTH = timedelta(days=33)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Settings with which the background worker consolidates nothing by itself."""
    return dataclasses.replace(settings, consolidation_budget=0.0)


@pytest.fixture
def store(living: Helix) -> Store:
    background_work.pause_worker(living, True)
    return living.store


def hear(store: Store, scope: str, told: Sequence[tuple[int, str]], *, agents: Sequence[str] = ()) -> None:
    """Record what somebody said in some month, and consolidate after each of them."""
    for number, (month, content) in enumerate(told):
        record(
            store,
            EpisodeRequest(
                content=content,
                scope=scope,
                role="user",
                agent=agents[number] if agents else "",
                session=f"{scope}-{month}",
                occurred_at=OCTOBER + month * MONTH,
                trust=Trust.USER_ASSERTED,
            ),
        )
        embed(store)
        consolidate(job(store, f"{scope}-{number}"), {"scope": scope})


def held(store: Store, scope: str) -> list[Memory]:
    """What is known of a scope, the older claim first."""
    active = [one for one in store.index.memories(Status.ACTIVE) if one.scope == scope]
    return sorted(active, key=lambda one: (one.valid_from or one.recorded_at, one.trigger))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("older", "newer", "closed"),
    [
        ("We decided to host the API on Heroku.", "We decided to host the API on Fly.io instead of Heroku.", True),
        ("We decided to use Postgres 15 for billing.", "We decided to move billing from Postgres 15 to 16.", True),
        ("We decided to keep the monorepo.", "We decided to abandon the monorepo.", True),
        ("We decided against Kubernetes for the edge.", "We decided to use Kubernetes for the edge.", True),
        ("We decided to use flags from LaunchDarkly.", "We decided to drop LaunchDarkly.", False),
        ("Remember: the mail service uses port 2525.", "Correction: the mail service uses port 2626, not 2525.", True),
        ("Remember: the payment port is 8410.", "Remember: the payment port is now 9410.", True),
        ("Remember: invoices are numbered per year.", "Invoices are no longer numbered per year.", True),
    ],
)
def test_what_reverses_a_claim_is_a_memory_itself_and_ends_or_flags_the_older_one(
    store: Store, older: str, newer: str, closed: bool, turned: bool
) -> None:
    told = [(0, older), (1, newer)]
    hear(store, "x", told[::-1] if turned else told)

    first, second = held(store, "x")
    assert [len(said_in(store, one)) for one in (first, second)] == [1, 1]
    assert second.valid_from == OCTOBER + MONTH and second.valid_to is None
    assert first.valid_to == (second.valid_from if closed else None)
    ((*_, status, outcome),) = disputed(store, "x")
    assert (status, outcome) == (("settled", "first") if closed else ("open", ""))
    before = shown(store, "x"), disputed(store, "x")
    rederive(job(store, "again"), {"scope": "x"})
    assert (shown(store, "x"), disputed(store, "x")) == before


def test_what_was_reversed_answers_only_for_the_time_that_it_held(living: Helix, store: Store) -> None:
    hear(store, "x", [(0, "We decided to host the API on Heroku."), (1, "We moved the API from Heroku to Fly.io.")])

    def answered(as_of: datetime | None) -> list[str]:
        found = living.recall(
            RecallQuery(query="where do we host the API", scope="x", kinds=(Kind.DECISION,), as_of=as_of)
        )
        return sorted(item.text for item in found.items)

    assert any("Fly.io" in text for text in answered(None))
    assert answered(OCTOBER + MONTH / 2) == ["We decided to host the API on Heroku."]


CHAIN = (
    (0, "We decided to host the API on Heroku."),
    (1, "We decided to host the API on Fly.io instead of Heroku."),
    (2, "We decided to host the API on Hetzner instead of Fly.io."),
)


@pytest.mark.parametrize("order", list(itertools.permutations(range(len(CHAIN)))))
def test_each_of_several_reversals_ends_the_one_before_in_whatever_order_they_are_heard(
    store: Store, order: tuple[int, ...]
) -> None:
    hear(store, "x", [CHAIN[place] for place in order])

    assert [one.trigger for one in held(store, "x")] == [content for _, content in CHAIN]
    assert [one.valid_to for one in held(store, "x")] == [OCTOBER + MONTH, OCTOBER + 2 * MONTH, None]


def test_two_people_who_disagree_are_shown_and_neither_is_ended(store: Store) -> None:
    told = [(0, "We decided to indent with tabs."), (1, "We decided to indent with spaces.")]

    hear(store, "x", told, agents=["mira", "jonas"])

    assert [one.valid_to for one in held(store, "x")] == [None, None]
    assert [one[2:] for one in disputed(store, "x")] == [("open", "")]
