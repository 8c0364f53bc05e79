"""Episodes for the tests of consolidation: pure ones, and ones recorded in a store with their vectors."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from helix.memory.capture.episodes import EpisodeRequest, record
from helix.memory.contradiction.disputes import contradictions
from helix.memory.extraction.derived import DERIVED, existing
from helix.memory.job_run.run import Run
from helix.memory.upkeep.reembed import fill_in
from helix.model.edge import Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import Memory, Status
from helix.model.provenance import Provenance, Trust
from helix.store.store import Store

PROJECT = "project"
LONG_AGO = datetime(2026, 1, 5, 12, tzinfo=UTC)
VENV = (
    "Activate the venv first, otherwise pytest cannot find the package.",
    "Had to activate the virtual environment before running the tests.",
    "pytest failed with ModuleNotFoundError until I ran source .venv/bin/activate.",
    "Remember to source the venv before you run anything.",
    "Forgot to activate the venv again; imports broke.",
    "Before running the test suite, activate the virtualenv.",
    "You need the venv active first or the imports fail.",
    "Always run source .venv/bin/activate first.",
    "The commands only work with the venv activated.",
    "First step: activate the venv, then run pytest.",
)


def episode(content: str, number: int = 0, *, role: str = "user", session: str = "", agent: str = "") -> Episode:
    """An episode that is in no store."""
    at = LONG_AGO + timedelta(hours=number)
    return Episode(
        id=f"episode-{number}",
        content=content,
        recorded_at=at,
        occurred_at=at,
        role=role,
        session=session,
        agent=agent,
        provenance=Provenance(trust=Trust.USER_ASSERTED),
    )


def say(
    store: Store,
    *contents: str,
    first: int = 0,
    role: str = "user",
    trust: Trust = Trust.USER_ASSERTED,
    scope: str = PROJECT,
) -> list[str]:
    """Record episodes an hour apart, embed them, and return their ids."""
    ids = []
    for number, content in enumerate(contents, first):
        request = EpisodeRequest(
            content=content, scope=scope, role=role, occurred_at=LONG_AGO + timedelta(hours=number), trust=trust
        )
        recorded = record(store, request).episode
        assert recorded is not None
        ids.append(recorded.id)
    embed(store)
    return ids


def embed(store: Store) -> None:
    """Make the vectors that are lacking."""
    while fill_in(store, lambda: False):
        pass


def job(store: Store, name: str, *, dry_run: bool = False) -> Run:
    """A run of consolidation under a job id of its own."""
    return Run(store, name, "consolidate", dry_run=dry_run)


def learned(store: Store, scope: str = PROJECT) -> list[Memory]:
    """The live derived memories, by key."""
    return [one.memory for one in existing(store.index, scope) if one.live]


def shown(store: Store, scope: str = PROJECT) -> set[tuple[str, str, str, str, frozenset[str]]]:
    """What derived memories say and stand on, without ids and names: words, status, times and texts of the evidence."""
    return {
        (
            one.memory.kind.value,
            one.memory.trigger,
            one.memory.resolution,
            f"{one.memory.status.value} {one.memory.importance} {_support(one.memory)} "
            f"{one.memory.valid_from} {one.memory.valid_to}",
            frozenset(said_in(store, one.memory)),
        )
        for one in existing(store.index, scope)
        if one.live
    }


def disputed(store: Store, scope: str = PROJECT) -> set[tuple[str, ...]]:
    """What contradicts what, how that stands and who has won.

    A settled pair has the later claim first. Of an open one the order says nothing: it is in which the two were met.
    """
    return {
        (
            *(
                sorted((one.first.trigger, one.second.trigger))
                if one.outcome is None
                else (one.first.trigger, one.second.trigger)
            ),
            one.status.value,
            one.outcome.value if one.outcome else "",
        )
        for one in contradictions(store.index, scope, status=None)
        if one.first.status is Status.ACTIVE and one.second.status is Status.ACTIVE
    }


def said_in(store: Store, memory: Memory) -> list[str]:
    """The texts of the episodes that a memory is grounded in, each with its time."""
    ref = Ref.memory(memory.id)
    ends = [op.target for op in store.records.edges_at(ref) if op.type is Relation.GROUNDED_IN and op.source == ref]
    episodes = [node for node in store.records.nodes(ends) if isinstance(node, Episode)]
    return sorted(f"{one.occurred_at:%j %H} {one.content}" for one in episodes)


def _support(memory: Memory) -> tuple[object, object]:
    """How sure a memory was derived to be and how often it was said; disputes may have taken from its confidence."""
    noted = memory.attributes[DERIVED]
    assert isinstance(noted, dict)
    return noted["confidence"], noted["support"]
