"""Classify: decides whether a new memory is a known one, a refinement, the contrary of one, or news.

How near two texts must be depends on the store's embedding model: thresholds are measured for it, or set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from helix.memory.change.versions import OWN_WORD
from helix.memory.contradiction.detect import Contradiction, Statement, contradiction
from helix.model.episode import Episode
from helix.model.memory import Kind, Memory, Tier, tier_of
from helix.model.provenance import Trust
from helix.providers.model_catalogue import UNMEASURED, likeness_of
from helix.store.runtime import Runtime
from helix.text.about import own_commands
from helix.text.statement.subsumption import adds
from helix.text.statement.wording import (
    adds_code,
    exchanged,
    in_latin_script,
    may_add_signs,
    negated,
    numbers,
    opposites,
    overlap,
    reordered,
    signs_agree,
    spelling,
)
from helix.text.tokens import query_terms

# Triggers that share this much of their words speak of the same subject.
_SAME_SUBJECT = 0.7
# Within these, neither the time nor the certainty of two claims decides between them.
CLOSE_IN_TIME = timedelta(days=1)
CLOSE_IN_CONFIDENCE = 0.1


class ContradictionVerdict(StrEnum):
    """What a candidate is against what is stored."""

    NOOP = "noop"
    UPDATE = "update"
    SUPERSEDE = "supersede"
    ADD = "add"


class Ruling(StrEnum):
    """Which of two claims that contradict each other holds from now on; OPEN leaves it to a person."""

    FIRST = "first"
    SECOND = "second"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Cosines of one embedding space: from `duplicate` on the same thing, from `update` on perhaps a refinement.

    From `related` on two texts are near enough for what their words contradict to count; from `similar` on two failures
    are repetitions of one.
    """

    duplicate: float
    update: float
    related: float = 0.0
    similar: float = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class NewStatement:
    """The part of a new memory that the decision looks at."""

    kind: Kind
    trigger: str
    resolution: str
    trust: Trust
    attributes: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, memory: Memory) -> NewStatement:
        """Return what a memory that there is says, as if it were new."""
        return cls(
            kind=memory.kind,
            trigger=memory.trigger,
            resolution=memory.resolution,
            trust=memory.provenance.trust,
            attributes=memory.attributes,
        )

    @property
    def statement(self) -> Statement:
        """What it says."""
        return Statement(trigger=self.trigger, resolution=self.resolution)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What decides between two memories that contradict each other: since when each holds, how sure, from whom.

    `derived`: nobody stated how sure it is, it follows from the episodes.
    """

    since: datetime
    confidence: float
    trust: Trust
    derived: bool = False


def decide(
    said: NewStatement, nearest: Iterable[tuple[Memory, float]], thresholds: Thresholds
) -> tuple[ContradictionVerdict, Memory | None]:
    """Decide how a new memory stands to stored ones, and to which; `nearest` are (active memory, cosine).

    The same words are the same thing whatever the cosine. A similar text that differs in a negation, a number or a
    version, or is of another command, says something else, however near its vector is. A weaker source never replaces a
    stronger one's words.
    """
    ranked = sorted(nearest, key=lambda pair: (-pair[1], pair[0].id))
    contrary: Memory | None = None
    for memory, cosine in ranked:
        if cosine >= thresholds.related and why_contrary(memory, said) is not None:
            contrary = contrary or memory
            continue
        if memory.kind is not said.kind:
            continue
        if same_words(memory, said):
            return ContradictionVerdict.NOOP, memory
        if cosine >= thresholds.duplicate and says_the_same(memory, said):
            return ContradictionVerdict.NOOP, memory
        if contrary is None and cosine >= thresholds.update and _refines(said, memory):
            return ContradictionVerdict.UPDATE, memory
    return (ContradictionVerdict.ADD, None) if contrary is None else (ContradictionVerdict.SUPERSEDE, contrary)


def _refines(said: NewStatement, memory: Memory) -> bool:
    """Return whether a statement may take a memory's place: it is of one subject, and loses nothing that was told."""
    outranked = said.trust.rank > memory.provenance.trust.rank or reworded_for(memory, said.trust)
    alike = same_subject(memory.trigger, said.trigger) and not other_commands(memory, said)
    return (
        alike
        and may_add_signs(memory.trigger, said.trigger)
        and not outranked
        and not reordered(memory.trigger, said.trigger)
        and not _loses(said, memory)
    )


def _loses(said: NewStatement, memory: Memory) -> bool:
    """Return whether a statement leaves out what a memory tells: all in all, or in its resolution.

    Of a topic, which is no sentence, the later word holds: "Deploy window: Mondays".
    """
    if said.resolution and memory.resolution and memory.trigger.rstrip()[-1:] not in ".!?":
        return adds(said.trigger, f"{said.trigger}\n{memory.trigger}")
    told = f"{said.trigger}\n{said.resolution}", said.resolution
    known = f"{memory.trigger}\n{memory.resolution}", memory.resolution
    return any(one and adds(one, f"{one}\n{other}") for one, other in zip(told, known, strict=True))


def rule(first: Claim, second: Claim) -> Ruling:
    """Rule which of two contradicting memories holds: the later, else the surer, else the better founded one.

    OPEN where they are close in all three, where a weaker class of trust would win over a stronger one, and where what
    the user said before, being surer, would win over what they say now. How sure what was derived is and how sure what
    was stored is are two scales: of one class, neither is the surer one.
    """
    comparable = first.derived is second.derived or first.trust is not second.trust
    if abs(first.since - second.since) >= CLOSE_IN_TIME:
        wins = first.since > second.since
    elif comparable and abs(first.confidence - second.confidence) >= CLOSE_IN_CONFIDENCE:
        wins = first.confidence > second.confidence
    elif first.trust is not second.trust:
        wins = first.trust.rank < second.trust.rank
    else:
        return Ruling.OPEN
    winner, loser = (first, second) if wins else (second, first)
    taken_back = winner.trust is Trust.USER_ASSERTED and winner.trust is loser.trust and winner.since < loser.since
    if winner.trust.rank > loser.trust.rank or taken_back:
        return Ruling.OPEN
    return Ruling.FIRST if wins else Ruling.SECOND


def outranks(one: Memory | Episode, other: Memory | Episode) -> bool:
    """Return whether one outranks another that says otherwise: its class of source is better founded."""
    return one.provenance.trust.rank < other.provenance.trust.rank


def reworded_for(memory: Memory, trust: Trust) -> bool:
    """Return whether a memory's words are a person's, for which none of anybody else are put, whatever its source."""
    return OWN_WORD in memory.attributes and trust is not Trust.USER_ASSERTED


def came_later(memory: Memory, known: Memory) -> bool:
    """Return whether a contradicting memory says since when it holds, and the known one held before that."""
    return memory.valid_from is not None and (known.valid_from is None or known.valid_from < memory.valid_from)


def hold_at_once(one: Memory, other: Memory) -> bool:
    """Return whether two claims may contradict by their times: there is one for which both are said to hold."""
    return _begins_within(one, other) and _begins_within(other, one)


def _begins_within(one: Memory, other: Memory) -> bool:
    return one.valid_from is None or other.valid_to is None or one.valid_from < other.valid_to


def can_contradict(kind: Kind) -> bool:
    """Return whether memories of a kind can contradict others: they claim something that goes on holding."""
    return tier_of(kind) is Tier.SEMANTIC and kind is not Kind.GAP


def why_contrary(memory: Memory, said: NewStatement) -> Contradiction | None:
    """Return why a stored memory and a new statement contradict each other by their words, or None.

    Only what claims to hold on can be contradicted: events, failures and fixes in other numbers are other ones.
    """
    if not can_contradict(memory.kind) or not can_contradict(said.kind):
        return None
    return contradiction(Statement(trigger=memory.trigger, resolution=memory.resolution), said.statement)


def contraries(
    said: NewStatement, nearest: Iterable[tuple[Memory, float]], thresholds: Thresholds
) -> list[tuple[Memory, Contradiction]]:
    """Return the near memories that contradict a new statement, and why; the nearest first."""
    ranked = sorted(nearest, key=lambda pair: (-pair[1], pair[0].id))
    found = ((memory, why_contrary(memory, said)) for memory, cosine in ranked if cosine >= thresholds.related)
    return [(memory, why) for memory, why in found if why is not None]


def same_words(memory: Memory, said: NewStatement) -> bool:
    """Return whether two memories are of one kind and say the same, but for case (not of options) and white space."""
    if memory.kind is not said.kind or other_commands(memory, said):
        return False
    if plain_words(memory.trigger, memory.resolution) != plain_words(said.trigger, said.resolution):
        return False
    return signs_agree(f"{memory.trigger}\n{memory.resolution}", f"{said.trigger}\n{said.resolution}")


def says_the_same(memory: Memory, said: NewStatement) -> bool:
    """Return whether a near text agrees with a memory's in negations, numbers and names, and adds nothing to it."""
    known, told = f"{memory.trigger}\n{memory.resolution}", f"{said.trigger}\n{said.resolution}"
    # A failure is told by its command, however that is written.
    more = adds(known, told) or (memory.kind is not Kind.FAILURE and adds_code(known, told))
    return not other_commands(memory, said) and agrees(known, told) and not more


def agrees(left: str, right: str) -> bool:
    """Return whether no negation, number, sign, name, word or order tells two near texts apart.

    How near two texts of one meaning are was measured in English. In Thai, Korean, Greek and other scripts the default
    model has texts of one subject for the same (cosines of 0.95 to 1.0): there only the same words say the same.
    """
    if not in_latin_script(left) or not in_latin_script(right):
        return spelling(left) == spelling(right) and signs_agree(left, right)
    return (
        negated(left) == negated(right)
        and numbers(left) == numbers(right)
        and signs_agree(left, right)
        and not opposites(left, right)
        and not exchanged(left, right)
        and not reordered(left, right)
    )


def other_commands(memory: Memory, other: Memory | NewStatement) -> bool:
    """Return whether two memories belong to different commands: their fixes are not each other's."""
    one, two = (own_commands(each.trigger, each.attributes) for each in (memory, other))
    return bool(one and two) and one.isdisjoint(two)


def same_subject(left: str, right: str) -> bool:
    """Return whether two memories' triggers share most words (Jaccard), and neither names what the other does not."""
    a, b = (frozenset(query_terms(text, None)) for text in (left, right))
    return overlap(a, b) >= _SAME_SUBJECT and (a <= b or b <= a)


def plain_words(trigger: str, resolution: str) -> str:
    """Return what a memory says, but for case and white space."""
    return " ".join(f"{trigger}\n{resolution}".casefold().split())


def thresholds_of(runtime: Runtime) -> Thresholds:
    """Return from which cosines on two memories may say the same, refine or contradict each other."""
    settings, embedder = runtime.settings, runtime.embedder
    measured = UNMEASURED if embedder is None else likeness_of(embedder.space.model)
    return Thresholds(
        duplicate=settings.duplicate_threshold or measured.duplicate,
        update=settings.update_threshold or measured.update,
        related=measured.related,
        similar=measured.similar,
    )
