"""Memory: one thing learned, with its kind, its worth and its two time lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Any

from helix.model.edge import Ref
from helix.model.provenance import QUOTED, Provenance, provenance_word
from helix.model.worded import Worded

GLOBAL_SCOPE = "global"
SUMMARY_SOURCE = "rollup:"
"""How the source of a summary begins: a memory that speaks for faded episodes and is found by their words."""

DERIVED_SOURCE = "derived:"
"""How the source of a memory begins that consolidation made, and looks after."""

_MOST_COUNTED = 2**31 - 1
"""The largest whole number of GraphQL, and of the columns in memory."""


class Kind(Worded):
    """Kinds of memory."""

    FAILURE = "failure", "Something went wrong, and what mends it, where that is known."
    PATTERN = "pattern", "A way of doing something that worked."
    SYSTEMIC = "systemic", "A failure that comes back on different changes."
    FACT = "fact", "Something that is so."
    CONVENTION = "convention", "How things are done here."
    DECISION = "decision", "What was decided, and why."
    EVOLUTION = "evolution", "How something changed: a move, a deprecation, a removal."
    IDENTITY = "identity", "Who somebody is."
    PREFERENCE = "preference", "What somebody likes better."
    PROJECT = "project", "What a project is about."
    ENTITY = "entity", "What a thing with a name is."
    SNIPPET = "snippet", "A piece of code or a command to use again."
    GAP = "gap", "A question that nothing here answers."


class MemoryOrder(Worded):
    """In which order memories are listed. LEAST_EFFECTIVE draws towards one half what has little feedback."""

    NEWEST = "newest", "The newest first."
    OLDEST = "oldest", "The oldest first."
    MOST_USED = "most_used", "Those first that were recalled most often."
    LEAST_EFFECTIVE = "least_effective", "Those first that helped least, by their feedback."
    NAME = "name", "By name."


class TimeKind(Worded):
    """Which time counts: when the store learned of something, or when it happened or began to hold in the world.

    Of what says nothing of the world's time, the one stands for the other.
    """

    RECORDED = "recorded", "When the store learned of it."
    HAPPENED = "happened", "When it happened, or began to hold."


class Status(Worded):
    """Where a memory stands. Only `active` is recalled by default; `archived` with `deep`."""

    ACTIVE = "active", "It is recalled."
    ARCHIVED = "archived", "It has faded, and is recalled with `deep` alone."
    FORGOTTEN = "forgotten", "A person took it out of recall; it can be restored."
    QUARANTINED = "quarantined", "It waits for a person, and is not recalled."
    RETIRED = "retired", "A newer version stands in its place, or it no longer holds."


class Tier(Worded):
    """Tiers of salience: how fast a memory leaves default recall when nothing reinforces it."""

    EPISODIC = "episodic", "It fades soonest."
    PROCEDURAL = "procedural", "It fades slowly."
    SEMANTIC = "semantic", "It fades slowest."


_EPISODIC = frozenset({Kind.EVOLUTION})
_PROCEDURAL = frozenset({Kind.FAILURE, Kind.PATTERN, Kind.SYSTEMIC, Kind.SNIPPET})

RECENCY_HALF_LIFE_DAYS: Mapping[Kind, float] = MappingProxyType(
    {
        Kind.FAILURE: 7.0,
        Kind.PATTERN: 7.0,
        Kind.SYSTEMIC: 14.0,
        Kind.FACT: 30.0,
        Kind.CONVENTION: 14.0,
        Kind.DECISION: 30.0,
        Kind.EVOLUTION: 7.0,
        Kind.IDENTITY: 30.0,
        Kind.PREFERENCE: 30.0,
        Kind.PROJECT: 30.0,
        Kind.ENTITY: 30.0,
        Kind.SNIPPET: 30.0,
        Kind.GAP: 14.0,
    }
)
"""Days after which a kind's recency (a ranking factor) has halved."""

TIER_HALF_LIFE_DAYS: Mapping[Tier, float] = MappingProxyType(
    {Tier.EPISODIC: 7.0, Tier.PROCEDURAL: 90.0, Tier.SEMANTIC: float("inf")}
)
"""Days after which a tier's salience (eligibility) has halved; semantic memories fade only when contradicted."""


_LONGEST_SCOPE = 1_000


def scopes_seen(scope: str) -> tuple[str, ...]:
    """Return the scopes whose memories are seen from a scope: itself, those it lies in by its slashes, and `global`."""
    if len(scope) > _LONGEST_SCOPE:
        return (GLOBAL_SCOPE,)  # nothing is stored in such a scope, and listing those around it takes their square
    parts = scope.split("/")
    around = ("/".join(parts[:length]) for length in range(len(parts), 0, -1))
    return tuple(dict.fromkeys((*(one for one in around if one), GLOBAL_SCOPE)))


def tier_of(kind: Kind) -> Tier:
    """Return the salience tier of a kind of memory."""
    if kind in _EPISODIC:
        return Tier.EPISODIC
    return Tier.PROCEDURAL if kind in _PROCEDURAL else Tier.SEMANTIC


ROOM = "helix:room"
"""Attribute of a memory: in how many tasks that passed it took room in vain, and what that has added to `failed`."""
CLAIMED = "helix:claimed"
"""Attribute of a memory: what of `helped` rests on the word of agents alone, in tasks that nothing verified."""
FEEDBACK = "helix:feedback"
"""Attribute of a memory: what was said of it without a task, so that it can be bounded and taken back."""
CLAIM = "claimed"
"""The outcome of what an agent said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One thing learned. `trigger` says when it matters, `resolution` what to know or do then.

    `valid_from`/`valid_to` are the time in the world, `recorded_at`/`retired_at` the time in the store.
    `importance` (1..10) is weight, `confidence` (0..1) is truth. `half_life_days` is the salience half-life, which
    grows when verified use reinforces the memory; 0 stands for "never fades".
    """

    id: str
    name: Annotated[str, "A readable name, unique among the active memories of its scope."]
    kind: Kind
    trigger: str
    resolution: str
    recorded_at: datetime
    scope: str = GLOBAL_SCOPE
    status: Annotated[Status, "Where it stands; only an active memory is recalled by default."] = Status.ACTIVE
    confidence: float = 0.7
    importance: float = 5.0
    helped: Annotated[float, "How much evidence says that it helped."] = 0.0
    failed: Annotated[float, "How much evidence says that it did not."] = 0.0
    uses: Annotated[int, "How often it was used and verified."] = 0
    easiness: Annotated[float, "How much each verified use lengthens its half-life (SM-2), at least 1.3."] = 2.5
    half_life_days: Annotated[float, "Days after which its salience has halved; 0 for never."] = 0.0
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    retired_at: datetime | None = None
    last_used_at: datetime | None = None
    source: Annotated[str, "Where it came from, such as a commit or a file."] = ""
    attributes: Mapping[str, object] = field(default_factory=dict)
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def effectiveness(self) -> float | None:
        """helped / (helped + failed), without room that it took; null before any feedback."""
        total = self.helped + spoken_against(self)
        return self.helped / total if total > 0 else None

    @property
    def is_summary(self) -> bool:
        """Whether it sums up episodes, whose passages are its own, rather than says something else."""
        return self.source.startswith(SUMMARY_SOURCE)

    @property
    def is_derived(self) -> bool:
        """Whether consolidation looks after it; where somebody stored the same, it no longer does."""
        return self.source.startswith(DERIVED_SOURCE)

    @property
    def said_by(self) -> str:
        """Where it comes from, in a word; see `provenance_word`."""
        return provenance_word(self.provenance)

    @property
    def label(self) -> str:
        """`[75% of 4]` by verified use and people, not agents' claims; empty below one use and for hearsay.

        That is `effectiveness` without what agents only claimed, and the weight of evidence that it rests on. Empty
        where that is less than one: nothing is said of how well a memory works on half a use. Empty too where nobody
        here stands for the memory: who writes a repository writes its notes and its checks, and would prove himself.
        """
        if self.said_by in QUOTED:
            return ""
        helped = max(0.0, round(self.helped - claimed_of(self), 9))
        total = helped + spoken_against(self)
        return f"[{round(100 * helped / total)}% of {total:.3g}]" if total >= 1 else ""

    @property
    def ref(self) -> Ref:
        """Where it stands in the graph."""
        return Ref.memory(self.id)


def room_of(memory: Memory) -> tuple[int, float]:
    """Return by a memory's record how many tasks left it unused when shown, and what of `failed` that has cost."""
    kept = memory.attributes.get(ROOM)
    return (int(kept[0]), float(kept[1])) if isinstance(kept, list | tuple) and len(kept) == 2 else (0, 0.0)


def claimed_of(memory: Memory) -> float:
    """Return how much of the `helped` in a memory's record rests on the word of agents alone."""
    kept = memory.attributes.get(CLAIMED, 0.0)
    return float(kept) if isinstance(kept, int | float) else 0.0


def unproven_of(memory: Memory) -> float:
    """Return how much of a memory's `helped` proves nothing: agents' claims, or all where nobody stands for it."""
    return memory.helped if memory.said_by in QUOTED else claimed_of(memory)


def agents_said(memory: Memory) -> tuple[float, float]:
    """Return what agents have said for a memory, and against it, as the feedback in its record tells."""
    kept = memory.attributes.get(FEEDBACK)
    claims = [one for one in kept if isinstance(one, Mapping)] if isinstance(kept, list | tuple) else []
    claims = [one for one in claims if one.get("outcome") == CLAIM]
    return sum(float(one["helped"]) for one in claims), sum(float(one["failed"]) for one in claims)


def with_claimed(attributes: Mapping[str, object], claimed: float) -> dict[str, object]:
    """Return a memory's attributes with so much of `helped` as claimed; where that is nothing, without a word of it."""
    kept = {name: value for name, value in attributes.items() if name != CLAIMED}
    return {**kept, CLAIMED: round(claimed, 9)} if round(claimed, 9) > 0 else kept


def spoken_against(memory: Memory) -> float:
    """Return how much of a memory's `failed` comes from outcomes and people: not from room it took, nor from claims."""
    return max(0.0, round(memory.failed - room_of(memory)[1] - agents_said(memory)[1], 9))


def counted(told: Any) -> int:
    """Return a whole number of a node's record.

    What another store or a file says may be larger than any that comes about.
    """
    return max(-_MOST_COUNTED, min(int(told), _MOST_COUNTED))


def body(trigger: str, resolution: str) -> str:
    """Return the text of a memory, by which it is found: trigger and resolution."""
    return f"{trigger}\n{resolution}" if resolution else trigger
