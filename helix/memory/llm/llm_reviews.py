"""Reviews by a language model: the jobs that have it look again, for contradictions and at how important episodes are.

The words alone do not show every contradiction; what it finds is flagged and never settled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from helix.journal.state import Records
from helix.memory.change.compose import Composer
from helix.memory.contradiction.classify import can_contradict, hold_at_once, thresholds_of
from helix.memory.contradiction.detect import Contradiction, Statement, contradiction
from helix.memory.contradiction.resolve import oppose
from helix.memory.job_run.run import Run
from helix.memory.llm.ask import CONTRADICTION, IMPORTANCE, CountingModel, importances, opposed
from helix.memory.neighbours import nearest_active
from helix.memory.scores import importance_of
from helix.model.edge import Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import Memory, Status
from helix.model.provenance import Trust, weakest_trust
from helix.store.store import Store

_MOST_MEMORIES, _NEAREST = 60, 4
_TOLD = frozenset({Relation.CONTRADICTS, Relation.SUPERSEDES})


def find_contradictions(run: Run, payload: Mapping[str, Any]) -> Mapping[str, int]:
    """Have the store's language model compare the newest memories with what is near to them; return what it found.

    `payload`: `scope` (None: every scope). It is asked about pairs of active memories that claim to hold at one
    time, are as near as a refinement, and have nothing settled between them. What it finds is flagged and never
    settled: both are less sure until a person decides. Without a model, or an answer that holds, nothing changes.
    `asked` counts the pairs that were sent to a provider, `unanswered` those without an answer.
    """
    model = None if run.language_model is None else CountingModel(run.language_model)
    pairs = _pairs(run.store, payload.get("scope")) if model is not None else []
    found = 0
    for start in range(0, len(pairs), CONTRADICTION.batch):
        if run.cancelled or model is None:
            break
        batch = pairs[start : start + CONTRADICTION.batch]
        trusts = [weakest_trust(newer.provenance.trust, known.provenance.trust) for newer, known in batch]
        verdicts = opposed(model, [(_statement(newer), _statement(known)) for newer, known in batch], trusts)
        for (newer, known), why in zip(batch, verdicts, strict=True):
            if why is not None and run.write(f"{newer.id} against {known.id}", _opposing(run.store, newer, known, why)):
                found += 1
                run.say(f"contradiction: {newer.name} and {known.name}")
        run.progress(start + len(batch), len(pairs), "memories compared")
    run.count("contradictions found", found)
    asked, unanswered = (model.asked, model.unanswered) if model is not None else (0, 0)
    return {"asked": asked, "unanswered": unanswered, "found": found}


def _pairs(store: Store, scope: str | None) -> list[tuple[Memory, Memory]]:
    """Return the pairs to ask about, the later one first in each, each pair once, the newest first."""
    held = [memory for memory in store.index.memories(Status.ACTIVE, scope) if can_contradict(memory.kind)]
    newest = sorted(held, key=lambda memory: (memory.recorded_at, memory.id), reverse=True)[:_MOST_MEMORIES]
    least = thresholds_of(store.runtime).update
    pairs: dict[tuple[str, str], tuple[Memory, Memory]] = {}
    for memory in newest:
        own = store.index.vectors_of(memory.ref)
        near = nearest_active(store, own[0], memory.scope, _NEAREST + 1) if own else []
        for other, cosine in near:
            newer, known = sorted((memory, other), key=lambda each: (each.recorded_at, each.id), reverse=True)
            if other.id != memory.id and cosine >= least and _open(store.records, newer, known):
                pairs.setdefault((newer.id, known.id), (newer, known))
    return list(pairs.values())


def _open(records: Records, newer: Memory, known: Memory) -> bool:
    """Return whether the two might contradict each other and nothing says so yet, neither an edge nor their words."""
    return (
        can_contradict(known.kind)
        and hold_at_once(newer, known)
        and contradiction(_statement(newer), _statement(known)) is None
        and not _is_linked(records, newer, known)
    )


def _is_linked(records: Records, newer: Memory, known: Memory) -> bool:
    edges = (op for op in records.edges_at(_ref(newer)) if op.type in _TOLD)
    return any(known.id in (op.source.id, op.target.id) for op in edges)


def _opposing(store: Store, newer: Memory, known: Memory, why: Contradiction) -> Callable[[Composer], bool]:
    def compose(composer: Composer) -> bool:
        one, other = (cast(Memory, node) for node in store.records.nodes([_ref(newer), _ref(known)]))
        unchanged = (_statement(one), _statement(other)) == (_statement(newer), _statement(known))
        standing = one.status is Status.ACTIVE and other.status is Status.ACTIVE and hold_at_once(one, other)
        if not unchanged or not standing or _is_linked(store.records, one, other):
            return False
        oppose(composer, store.index, one, other, why)
        return True

    return compose


def _statement(memory: Memory) -> Statement:
    return Statement(trigger=memory.trigger, resolution=memory.resolution)


def _ref(memory: Memory) -> Ref:
    return memory.ref


_MOST_EPISODES = 200
_FURTHEST = 3.0
"""How far a model moves what the rules found: it may be talked into anything by a text, and must not drown the rest."""
_LONGEST = 1_500
_BELIEVED = Trust.AGENT_INFERRED.rank


def upgrade_importance(run: Run, payload: Mapping[str, Any]) -> Mapping[str, int]:
    """Have the store's language model rate the newest episodes; return what came of it.

    `payload`: `scope` (None: every scope), `limit` (200). What was consolidated is not new. Only importance that Helix
    found by rules is changed, by 3 at most, once: what somebody gave, and what was upgraded before, stays. A text of a
    tool or of the web is never rated up. Where the model has no answer, everything stays as it is. `asked` counts the
    episodes that a provider was sent, `unanswered` those without an answer.
    """
    changed = 0
    model = None if run.language_model is None else CountingModel(run.language_model)
    episodes = (
        _ruled(run, payload.get("scope"), int(payload.get("limit") or _MOST_EPISODES)) if model is not None else []
    )
    for start in range(0, len(episodes), IMPORTANCE.batch):
        if run.cancelled or model is None:
            break
        batch = episodes[start : start + IMPORTANCE.batch]
        trusts = [episode.provenance.trust for episode in batch]
        ratings = importances(model, [episode.content[:_LONGEST] for episode in batch], trusts)
        if not any(rating is not None for rating in ratings):
            break  # nobody answers now; the next run asks again
        better = {
            episode.id: value
            for episode, rating in zip(batch, ratings, strict=True)
            if rating is not None and (value := _bounded(episode, rating)) != episode.importance
        }
        if better:
            read = {episode.id: episode.importance for episode in batch}
            changed += run.write(f"importance {min(better)}", _rating(run, read, better)) or 0
        run.progress(start + len(batch), len(episodes), "rating episodes")
    run.count("episodes rated", changed)
    asked, unanswered = (model.asked, model.unanswered) if model is not None else (0, 0)
    return {"asked": asked, "unanswered": unanswered, "changed": changed}


def _ruled(run: Run, scope: str | None, limit: int) -> list[Episode]:
    """Return the newest episodes not consolidated yet, those of them whose importance is what the rules make of it."""
    index = run.store.index
    rows = index.newest(index.findable_episodes(scope) - index.consolidated(), limit)
    episodes = [cast(Episode, node) for node in index.nodes(rows)]
    return [
        episode
        for episode, mentions in zip(episodes, index.mentions_of(rows), strict=True)
        if episode.importance == importance_of(episode.content, mentions)
    ]


def _bounded(episode: Episode, rating: float) -> float:
    highest = 10.0 if episode.provenance.trust.rank <= _BELIEVED else episode.importance
    return min(highest, episode.importance + _FURTHEST, max(episode.importance - _FURTHEST, rating))


def _rating(run: Run, read: Mapping[str, float], better: Mapping[str, float]) -> Callable[[Composer], int]:
    def compose(composer: Composer) -> int:
        refs = [Ref.episode(episode) for episode in better]
        untouched = [
            ref
            for ref, node in zip(refs, run.store.records.nodes(refs), strict=True)
            if cast(Episode, node).importance == read[ref.id]  # nobody has rated it since it was read
        ]
        for ref in untouched:
            composer.patch(ref, importance=better[ref.id])
        return len(untouched)

    return compose
