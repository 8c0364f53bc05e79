"""Consolidation: brings the derived memories of a scope to what its surviving episodes ask for, and nothing else.

What is wanted is a pure function of the episodes (`helix.lifecycle.knowledge.derive`); a run writes the difference to
what is there. So it does not matter in which order episodes came, in how many runs they were seen, or whether a run was
broken off: the next one ends in the same memories. Only what new episodes reach is looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from helix.lifecycle.compose import Composer, Prepared, prepare, read
from helix.lifecycle.insight.support import findable_episodes
from helix.lifecycle.knowledge import derived
from helix.lifecycle.knowledge.cluster import Bars
from helix.lifecycle.knowledge.derive import Desired, Rules, derive, digest
from helix.lifecycle.knowledge.derived import Existing
from helix.lifecycle.knowledge.evidence import Evidence
from helix.lifecycle.knowledge.extract import Extractor
from helix.lifecycle.neighbours import nearest_active
from helix.lifecycle.remember import body, count_sighting
from helix.lifecycle.thinking.model_extract import extractor_of
from helix.lifecycle.truth.consolidate import Newcomer, Verdict, against, decide
from helix.lifecycle.truth.disputes import oppose
from helix.lifecycle.truth.thresholds import thresholds_of
from helix.lifecycle.work.run import Run
from helix.model.edge import Label, Ref, Relation
from helix.model.memory import Memory, Status
from helix.store.columns import LABEL_CODE
from helix.text.sentences import shortened

_NEAREST = 20
_MARKED_AT_ONCE = 200
_SHOWN = 120
_NEAR_IN_WORDS = 0.35
"""Cosine of bags of words that stands for `cluster_threshold` where there is no model."""
_AROUND = 0.1
"""How much further apart than what they say two episodes may be, as a cosine."""


def consolidate(run: Run, payload: Mapping[str, Any], extractor: Extractor | None = None) -> Mapping[str, Any]:
    """Derive memories from the episodes that no run has seen; `payload` names one `scope`, or (None) all of them.

    Returns what was counted. `extractor` None: by rules, with the store's language model where it has one.
    """
    extractor = extractor or extractor_of(run.store)
    for scope in _scopes(run, payload.get("scope")):
        if not run.cancelled:
            _Scope(run, scope, extractor).bring_up()
    return dict(run.counts)


def rederive(run: Run, payload: Mapping[str, Any], extractor: Extractor | None = None) -> Mapping[str, Any]:
    """Derive the memories of a `scope` (None: of all) from every episode there is, and bring what is there to that.

    What was retired or damaged comes back, with the feedback, clocks, links and words of a person that it had; what a
    person forgot stays forgotten. Nothing changes where nothing differs.
    """
    extractor = extractor or extractor_of(run.store)
    for scope in _scopes(run, payload.get("scope"), seen=True):
        if not run.cancelled:
            _Scope(run, scope, extractor).bring_up(everything=True)
    return dict(run.counts)


def _scopes(run: Run, scope: str | None, *, seen: bool = False) -> list[str]:
    """Return the scope named, or all with a derived memory or an episode that no run has seen (`seen`: or has)."""
    if scope is not None:
        return [scope]
    view = run.store.catalogue.view
    mask = findable_episodes(view, None)
    if not seen:
        mask &= ~view.columns.consolidated
    derived_ones = (
        rows
        for source, rows in view.lookups.sources[LABEL_CODE[Label.MEMORY]].items()
        if source.startswith(derived.SOURCE)
    )
    codes = {int(code) for code in np.unique(view.columns.scope[mask])}
    codes.update(int(view.columns.scope[row]) for rows in derived_ones for row in rows if row < view.count)
    return sorted(view.lookups.scopes.word(code) for code in codes)


def _matched(
    wanted: Sequence[Desired], live: Sequence[Existing], retired: Sequence[Existing]
) -> tuple[list[tuple[Desired, Existing | None]], list[Existing]]:
    """Return what is wanted, each with the memory it goes on from, and the live memories that nothing goes on from.

    That is the memory of its key; else the live one that shares most of its grounding, where that is more than half of
    what either has: a memory whose earliest episode came late goes on under another key.
    """
    held = {one.key: one for one in (*retired, *live)}
    pairs: dict[str, Existing] = {one.key: held[one.key] for one in wanted if one.key in held}
    taken = {known.memory.id for known in pairs.values()}
    free = [one for one in live if one.memory.id not in taken]
    for one in wanted:
        if one.key in pairs and pairs[one.key].live:
            continue
        ids = set(one.grounding)
        shares = [(len(ids & other.grounding), other) for other in free]
        near = [(n, other) for n, other in shares if 2 * n > min(len(ids), len(other.grounding))]
        if near:
            _, best = min(near, key=lambda pair: (-pair[0], pair[1].key))
            pairs[one.key] = best
            free.remove(best)
    return [(one, pairs.get(one.key)) for one in wanted], free


def _told(wanted: Desired) -> str:
    """Return a desired memory in a line for people."""
    words = f"{wanted.trigger} => {wanted.resolution}" if wanted.resolution else wanted.trigger
    return f"{wanted.kind} {shortened(words, _SHOWN)!r} ({len(wanted.grounding)} episodes)"


def _step(wanted: Desired) -> str:
    """Return a name for a write that no other outcome of the same job has."""
    return f"derive:{wanted.key}:{digest(wanted.words, str(wanted.confidence), *wanted.grounding)}"


def _seen(composer: Composer, ids: Sequence[str]) -> None:
    for episode in ids:
        composer.patch(Ref(label=Label.EPISODE, id=episode), consolidated_at=composer.now)


class _Scope:
    """The work of one run in one scope."""

    def __init__(self, run: Run, scope: str, extractor: Extractor) -> None:
        self._run, self._store, self._scope, self._extractor = run, run.store, scope, extractor
        settings = run.store.settings
        self._thresholds = thresholds_of(run.store)
        near = settings.cluster_threshold if run.store.embedder is not None else _NEAR_IN_WORDS
        self._rules = Rules(
            bars=Bars(near=near, alike=max(near, self._thresholds.update), around=near - _AROUND),
            recurrences=settings.recurrences,
            least_confidence=settings.derived_confidence,
        )

    def bring_up(self, *, everything: bool = False) -> None:
        """Take in the episodes that no run has seen and what they reach, or all there are."""
        evidence = Evidence(self._run, self._scope, self._extractor, self._rules.bars)
        there = derived.existing(self._store, self._scope)
        fresh = evidence.fresh
        orphaned = [one for one in there if one.live and not all(map(evidence.survives, one.grounding))]
        near = (evidence.row_of(episode) for one in orphaned for episode in one.grounding)
        touched = {*fresh, *(row for row in near if row is not None)}
        self._settle(evidence, there, evidence.rows.tolist() if everything else touched, orphaned)
        self._mark(evidence, fresh)

    def _settle(
        self, evidence: Evidence, there: Sequence[Existing], touched: Iterable[int], orphaned: Sequence[Existing]
    ) -> None:
        """Write the difference between what the touched episodes ask for and what is there."""
        items, links, reached = evidence.reached(touched)
        wanted = derive(items, links, self._rules)
        ids = {evidence.episode_of(row) for row in reached}
        concerned = [one for one in there if one.live and (one.grounding & ids or one in orphaned)]
        pairs, left = _matched(wanted, concerned, [one for one in there if not one.live])
        for done, (one, known) in enumerate(pairs):
            if self._run.cancelled:
                return
            self._run.progress(done, len(pairs), self._scope)
            self._carry_out(one, known)
        for known in left:
            if not known.edited and known.memory.status is not Status.FORGOTTEN:
                self._run.say(f"retire {known.memory.name}: its grounding is gone")
                self._write(f"retire:{known.memory.id}", "memories retired", partial(derived.retire, known=known))

    def _carry_out(self, wanted: Desired, known: Existing | None) -> None:
        if known is None:
            self._add(wanted)
        elif known.memory.status is Status.FORGOTTEN or known.replaced:
            self._run.count("memories left as people or rules put them")
        elif known.live and derived.agrees_with(known, wanted):
            self._run.count("memories unchanged")
        elif known.live and derived.same_words(known, wanted):
            fresh = len(set(wanted.grounding) - known.grounding)
            self._run.say(f"strengthen {known.memory.name}: {fresh} more episodes")
            self._write(_step(wanted), "memories strengthened", lambda c: derived.strengthen(c, known, wanted))
        else:
            words = known.memory if known.edited else wanted
            prepared = self._prepared(words.trigger, words.resolution, wanted.files)
            self._run.say(f"renew {known.memory.name}: {_told(wanted)}")
            self._write(
                _step(wanted), "memories renewed", lambda c: derived.renew(c, self._store, known, wanted, prepared)
            )

    def _add(self, wanted: Desired) -> None:
        """Write a memory that is not there, or strengthen one that people stored and that says the same."""
        prepared = self._prepared(wanted.trigger, wanted.resolution, wanted.files)
        newcomer = Newcomer(kind=wanted.kind, trigger=wanted.trigger, resolution=wanted.resolution, trust=wanted.trust)

        def compose(composer: Composer) -> str:
            verdict, other = self._verdict(newcomer, prepared)
            if verdict is Verdict.NOOP and other is not None and not other.source.startswith(derived.SOURCE):
                return self._sighted(composer, other, wanted)
            memory = derived.add(composer, self._store, self._scope, wanted, prepared)
            why = None if other is None or verdict is not Verdict.SUPERSEDE else against(other, newcomer)
            if other is not None and why is not None and wanted.status is Status.ACTIVE:
                oppose(composer, self._store, memory, other, why)
            return "memories added" if wanted.status is Status.ACTIVE else "memories quarantined"

        outcome = self._run.write(_step(wanted), compose)
        if outcome is not None:
            self._run.count(outcome)
            self._run.say(f"{outcome}: {_told(wanted)}")

    def _sighted(self, composer: Composer, known: Memory, wanted: Desired) -> str:
        """Count a stored memory once for each episode that says it too, and ground it in those."""
        ref = Ref(label=Label.MEMORY, id=known.id)
        grounded = {op.target.id for op in self._store.records.edges_at(ref) if op.type is Relation.GROUNDED_IN}
        fresh = [episode for episode in wanted.grounding if episode not in grounded]
        for _ in fresh:
            known = count_sighting(composer, known, wanted.trust)
        derived.ground(composer, known, fresh)
        return "stored memories strengthened" if fresh else "stored memories unchanged"

    def _verdict(self, newcomer: Newcomer, prepared: Prepared) -> tuple[Verdict, Memory | None]:
        vector = prepared.vectors[0]
        if vector is None:
            return Verdict.ADD, None
        return decide(newcomer, nearest_active(self._store, vector, self._scope, _NEAREST), self._thresholds)

    def _prepared(self, trigger: str, resolution: str, files: Sequence[str]) -> Prepared:
        return prepare(self._store, [read(body(trigger, resolution), files)])[0]

    def _mark(self, evidence: Evidence, fresh: Sequence[int]) -> None:
        """Note that the episodes were seen; not before all that they ask for is written."""
        if self._run.cancelled:
            return
        self._run.count("episodes read", len(fresh))
        self._run.count("episodes held back by the gate", len(evidence.held_back.intersection(fresh)))
        for start in range(0, len(fresh), _MARKED_AT_ONCE):
            ids = [evidence.episode_of(row) for row in fresh[start : start + _MARKED_AT_ONCE]]
            self._run.write(f"seen:{ids[0]}:{len(ids)}", partial(_seen, ids=ids))

    def _write(self, step: str, counted: str, change: Callable[[Composer], object]) -> None:
        self._run.write(step, change)
        self._run.count(counted)
