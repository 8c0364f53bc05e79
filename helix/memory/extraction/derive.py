"""Derivation: what memories a set of episodes gives. Pure: the same episodes give the same, in whatever order."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType

from helix.memory.capture.quarantine import screen
from helix.memory.contradiction.classify import can_contradict
from helix.memory.extraction.cluster import Bars, Links, Rivals, clusters, go_on, rank_of, trust_of, turns
from helix.memory.extraction.statements import ComparedCandidate
from helix.memory.scores import bounded_confidence, importance_of
from helix.model.memory import Kind, Status
from helix.model.provenance import Trust, weakest_trust
from helix.store.whole_numbers import Rest

RECURRENCES = 3
"""How often a thing has to be said that nobody said in so many words; the setting `recurrences`."""
LEAST_CONFIDENCE = 0.5
"""Confidence below which a memory is quarantined until more speaks for it; the setting `derived_confidence`."""
_SIGHTING = 0.1
_EXPLICIT = 0.5
_MOST_FILES = 20
_CENTRAL = 0.5
"""Share of a cluster, from its middle, among which its wording is chosen."""
_OCCASION = re.compile(
    r"\b(?:i|i'm|i've|me|you|he|she|user|again|forgot(?:ten)?|had to|told|asked|failed|crashed|broke|complained"
    r"|needed)\b|->|\?",
    re.IGNORECASE,
)
_RELIANCE = {
    Trust.USER_ASSERTED: 1.0,
    Trust.VERIFIED_OUTCOME: 1.0,
    Trust.AGENT_INFERRED: 0.95,
    Trust.TOOL_OUTPUT: 0.75,
    Trust.WEB: 0.5,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What decides what is derived beside the episodes: see the settings of the same names."""

    bars: Bars
    recurrences: int = RECURRENCES
    least_confidence: float = LEAST_CONFIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Desired:
    """A memory that the episodes of a scope ask for.

    `key` names it by the earliest thing said in it. `grounding` are ids of episodes, ordered by when they happened.
    `support` is how often it was said, repetitions within a session counted once.
    """

    key: str
    kind: Kind
    trigger: str
    resolution: str
    confidence: float
    importance: float
    trust: Trust
    status: Status
    grounding: tuple[str, ...]
    support: int
    since: datetime
    files: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    by_model: bool = False
    """Whether the words are a language model's."""

    @property
    def words(self) -> str:
        """A digest of kind, trigger and resolution: equal where two say the same in the same words."""
        return digest(self.kind.value, self.trigger, self.resolution)


def derive(
    items: Sequence[ComparedCandidate],
    links: Links,
    rules: Rules,
    rest: Rest = go_on,
    rivals: Rivals = MappingProxyType({}),
) -> list[Desired]:
    """Derive memories from candidates, the links between them and their rivals; ordered by key."""
    found: list[tuple[Sequence[ComparedCandidate], Desired]] = []
    for cluster in clusters(items, links, rules.bars, rest):
        rest()
        if (one := _of_cluster(cluster, rules)) is not None:
            found.append((cluster, one))
    return sorted(_in_turns(found, rivals, rules, rest), key=lambda one: (one.key, one.trigger))


def _in_turns(
    found: Sequence[tuple[Sequence[ComparedCandidate], Desired]], rivals: Rivals, rules: Rules, rest: Rest
) -> Iterator[Desired]:
    """Yield a memory for each time that a claim held: what ended it was told between one time and the next."""
    home = {item.same: place for place, (cluster, _) in enumerate(found) for item in cluster}
    for place, (cluster, one) in enumerate(found):
        against = {home[other] for item in cluster for other in rivals.get(item.same, ()) if other in home} - {place}
        rivals_of = (found[other][0] for other in against if _may_end(found[other][1], one))
        enders = [said for rival in rivals_of for said in rival if rank_of(said) <= one.trust.rank]
        if not enders:
            yield one
            continue
        rest()
        held = (_of_cluster(turn, rules) for turn in turns(cluster, enders))
        yield from (turn for turn in held if turn is not None)


def _may_end(rival: Desired, one: Desired) -> bool:
    """Return whether a claim that contradicts another one may end it: it is in use, and no weaker founded."""
    return rival.status is Status.ACTIVE and can_contradict(rival.kind) and rival.trust.rank <= one.trust.rank


def _of_cluster(cluster: Sequence[ComparedCandidate], rules: Rules) -> Desired | None:
    """Return the memory of those who say it and are trusted most, where they suffice for one; all are its grounding.

    What a weaker voice says too takes nothing from it: neither the words nor the class of trust.
    """
    found: Desired | None = None
    for rank in sorted({rank_of(item) for item in cluster}):
        found = _of_voices([item for item in cluster if rank_of(item) <= rank], rules)
        if found is not None and found.status is Status.ACTIVE:
            break
    if found is None:
        return None
    ordered = sorted(cluster, key=lambda item: item.order)
    grounding = tuple(dict.fromkeys(item.episode.id for item in ordered))
    return replace(found, grounding=grounding)


def _of_voices(cluster: Sequence[ComparedCandidate], rules: Rules) -> Desired | None:
    support = _support(cluster)
    explicit = any(item.candidate.explicit for item in cluster)
    if support < (1 if explicit else rules.recurrences):
        return None
    kind = _kind(cluster)
    own = [item for item in cluster if item.candidate.kind is kind]
    medoid = _plainest([item for item in own if item.candidate.explicit] or own)
    candidate = medoid.candidate
    ordered = sorted(cluster, key=lambda item: item.order)
    trust = weakest_trust(*map(trust_of, cluster))
    confidence = _confidence(max(item.candidate.confidence for item in own), trust, support)
    told = (item.candidate.resolution for item in (medoid, *own))
    resolution = next((text for text in told if text and text != candidate.trigger), "")
    text = f"{candidate.trigger}\n{resolution}" if resolution else candidate.trigger
    return Desired(
        key=digest(*ordered[0].order[:4]),
        kind=kind,
        trigger=candidate.trigger,
        resolution=resolution,
        confidence=confidence,
        importance=_importance(importance_of(text, candidate.entities, kind), support),
        trust=trust,
        status=screen(trust, text).status if confidence >= rules.least_confidence else Status.QUARANTINED,
        grounding=tuple(dict.fromkeys(item.episode.id for item in ordered)),
        support=support,
        since=ordered[0].episode.occurred_at,
        files=_files(ordered),
        steps=candidate.steps,
        by_model=candidate.by_model,
    )


def _plainest(items: Sequence[ComparedCandidate]) -> ComparedCandidate:
    """Return the most central item that states the matter plainly, else the most central one.

    What tells of an occasion ("I forgot to", "again", "it failed") is worded for that occasion.
    """
    central = items[: max(1, math.ceil(_CENTRAL * len(items)))]
    return next((item for item in central if not _OCCASION.search(item.candidate.trigger)), items[0])


def _support(cluster: Sequence[ComparedCandidate]) -> int:
    """Return how often a thing was said: what one session repeats word for word counts once.

    A language model's words of what an episode says itself are no further time.
    """
    said = {item.episode.id for item in cluster if not item.candidate.by_model}
    told = (item for item in cluster if not item.candidate.by_model or item.episode.id not in said)
    return len({(item.episode.session or item.episode.id, item.candidate.trigger.casefold()) for item in told})


def _kind(cluster: Sequence[ComparedCandidate]) -> Kind:
    """Return the kind that most speaks for: how sure each is, and more where it was said in so many words."""
    votes: Counter[Kind] = Counter()
    for item in cluster:
        votes[item.candidate.kind] += round(1000 * (item.candidate.confidence + _EXPLICIT * item.candidate.explicit))
    return max(votes, key=lambda kind: (votes[kind], -list(Kind).index(kind)))


def _confidence(sure: float, trust: Trust, support: int) -> float:
    """Return how sure a memory is: each further time it is said closes a tenth of the distance to certainty.

    Never above what its class of trust allows, however often it is said.
    """
    doubt = (1.0 - sure * _RELIANCE[trust]) * (1.0 - _SIGHTING) ** (support - 1)
    return bounded_confidence(round(1.0 - doubt, 6), trust)


def _importance(alone: float, support: int) -> float:
    return min(10.0, round(2 * (alone + 0.5 * math.log2(support))) / 2)


def _files(ordered: Sequence[ComparedCandidate]) -> tuple[str, ...]:
    counted = Counter(file for item in ordered for file in dict.fromkeys(item.candidate.files))
    return tuple(file for file, _ in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))[:_MOST_FILES]


def digest(*parts: str) -> str:
    """Return 24 hex digits that stand for the parts of a derived memory."""
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]
