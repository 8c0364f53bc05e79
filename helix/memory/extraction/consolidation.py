"""Consolidation: brings the derived memories of a scope to what its surviving episodes ask for, and nothing else.

What is wanted is a pure function of the episodes (`helix.memory.extraction.derive`); a run writes the difference to
what is there. So it does not matter in which order episodes came, in how many runs they were seen, or whether a run was
broken off: the next one ends in the same memories. Only what new episodes reach is looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, cast

from helix.journal.state import Records
from helix.memory.change.compose import Composer, Prepared, ReadText, prepare
from helix.memory.change.versions import take_place
from helix.memory.contradiction.classify import ContradictionVerdict, thresholds_of
from helix.memory.contradiction.rivals import set_against_all
from helix.memory.extraction import derived, excluded
from helix.memory.extraction.cluster import Bars
from helix.memory.extraction.derive import Desired, Rules, derive, digest
from helix.memory.extraction.derived import Existing, compared, sight, speaks_for, statement_wanted, twin_of
from helix.memory.extraction.episodes_seen import EpisodeEvidence, Stopped
from helix.memory.extraction.extract import Extractor
from helix.memory.extraction.llm_extract import extractor_of
from helix.memory.job_run.run import Run
from helix.model.edge import Label, Ref
from helix.model.episode import Episode
from helix.model.memory import DERIVED_SOURCE, Memory, Status, body
from helix.model.tombstone import KeptOut
from helix.model.work_item import EPISODES_HELD_BACK, EPISODES_READ
from helix.text.sentences import cut_at_word

_STRENGTHENED, _UNCHANGED = "stored memories strengthened", "stored memories unchanged"
_LEFT = "memories left as people or rules put them"
_TRIES = 3
"""How often what is wanted is derived again because something was changed meanwhile; after that, by the next run."""
_MARKED_AT_ONCE = 200
_LOOKS_AGAIN = 0.2
"""Seconds after which a run that waits for another one looks whether it is to stop."""
_SHOWN = 120
_NEAR_IN_WORDS = 0.35
"""Cosine of bags of words that stands for `cluster_threshold` where there is no model."""
_AROUND = 0.1
"""How much further apart than what they say two episodes may be, as a cosine."""


def consolidate(run: Run, payload: Mapping[str, Any], extractor: Extractor | None = None) -> Mapping[str, int]:
    """Derive memories from the episodes that no run has seen; `payload` names one `scope`, or (None) all of them.

    Returns what was counted. `extractor` None: by rules, with the store's language model where it has one.
    """
    extractor = extractor or extractor_of(run)
    with suppress(Stopped), _alone(run):
        for scope in _scopes(run, payload.get("scope")):
            _Scope(run, scope, extractor).bring_up()
    return dict(run.counts)


def rederive(run: Run, payload: Mapping[str, Any], extractor: Extractor | None = None) -> Mapping[str, int]:
    """Derive the memories of a `scope` (None: of all) from every episode there is, and bring what is there to that.

    What was retired or damaged comes back, with the feedback, clocks, links and words of a person that it had; what a
    person forgot stays forgotten, and what was erased stays away; what was undone comes back. Nothing changes where
    nothing differs.
    """
    extractor = extractor or extractor_of(run)
    with suppress(Stopped), _alone(run):
        for scope in _scopes(run, payload.get("scope"), seen=True):
            _Scope(run, scope, extractor).bring_up(everything=True)
    return dict(run.counts)


@contextmanager
def _alone(run: Run) -> Iterator[None]:
    """Wait until no other run derives memories in the store, and keep it so; raises Stopped where told to stop first.

    Two at once would each write what the other one does. A dry run waits for nobody, as it writes nothing.
    """
    if run.dry_run:
        yield
        return
    while not run.store.deriving.acquire(timeout=_LOOKS_AGAIN):
        if run.cancelled:
            raise Stopped
    try:
        yield
    finally:
        run.store.deriving.release()


def _scopes(run: Run, scope: str | None, *, seen: bool = False) -> list[str]:
    """Return the scope named, or all with a derived memory or an episode that no run has seen (`seen`: or has)."""
    if scope is not None:
        return [scope]
    index = run.store.index
    episodes = index.findable_episodes() if seen else index.findable_episodes() - index.consolidated()
    derived_ones = index.from_sources(Label.MEMORY, DERIVED_SOURCE)
    return sorted(index.scopes_of(episodes) | index.scopes_of(derived_ones))


def _matched(
    wanted: Sequence[Desired], live: Sequence[Existing], retired: Sequence[Existing]
) -> tuple[list[tuple[Desired, Existing | None]], list[Existing]]:
    """Return what is wanted, each with the memory it goes on from, and the live memories that nothing goes on from.

    That is the memory of its key; else the live one that shares most of its grounding, where that is more than half of
    what either has: a memory whose earliest episode came late goes on under another key. One that a stored memory took
    over counts as live here: what its episodes ask for stands already.
    """
    held = {one.key: one for one in (*retired, *live)}
    pairs: dict[str, Existing] = {one.key: held[one.key] for one in wanted if one.key in held}
    taken = {known.memory.id for known in pairs.values()}
    over = [one for one in retired if one.stored]
    free = [one for one in (*live, *over) if one.memory.id not in taken]
    for one in wanted:
        if one.key in pairs and pairs[one.key].live:
            continue
        ids = set(one.grounding)
        shares = [(len(ids & other.grounding), other) for other in free]
        near = [(n, other) for n, other in shares if 2 * n > min(len(ids), len(other.grounding))]
        if near:
            _, best = min(near, key=lambda pair: (-pair[0], not pair[1].live, pair[1].key))
            pairs[one.key] = best
            free.remove(best)
    return [(one, pairs.get(one.key)) for one in wanted], [one for one in free if one.live]


def _render_wanted(wanted: Desired) -> str:
    """Return a desired memory in a line for people."""
    words = f"{wanted.trigger} => {wanted.resolution}" if wanted.resolution else wanted.trigger
    return f"{wanted.kind} {cut_at_word(words, _SHOWN)!r} ({len(wanted.grounding)} episodes)"


def _is_forgotten(known: Existing | None, wanted: Desired) -> bool:
    """Return whether a memory stays forgotten: nobody says it now who is better founded than what was forgotten."""
    if known is None or known.memory.status is not Status.FORGOTTEN:
        return False
    return not derived.is_outranked(known, wanted)


def _step(wanted: Desired) -> str:
    """Return a name for a write that no other outcome of the same job has."""
    return f"derive:{wanted.key}:{digest(wanted.words, str(wanted.confidence), *wanted.grounding)}"


def _seen(composer: Composer, records: Records, ids: Sequence[str]) -> None:
    refs = [Ref.episode(episode) for episode in ids]
    for ref, held in zip(refs, records.present(refs), strict=True):
        if held is not None:
            composer.patch(ref, consolidated_at=composer.now)


class _Scope:
    """The work of one run in one scope."""

    def __init__(self, run: Run, scope: str, extractor: Extractor) -> None:
        self._run, self._store, self._scope, self._extractor = run, run.store, scope, extractor
        self._overtaken = False
        self._kept_out = KeptOut({})
        settings = run.store.runtime.settings
        self._thresholds = thresholds_of(run.store.runtime)
        near = settings.cluster_threshold if run.store.runtime.embedder is not None else _NEAR_IN_WORDS
        self._rules = Rules(
            bars=Bars(near=near, alike=max(near, self._thresholds.update), around=near - _AROUND),
            recurrences=settings.recurrences,
            least_confidence=settings.derived_confidence,
        )

    def bring_up(self, *, everything: bool = False) -> None:
        """Take in the episodes that no run has seen and what they reach, or all there are.

        Where a memory or an episode was changed meanwhile, what is wanted is derived again from what stands now.
        """
        if everything and not self._run.dry_run:
            self._store.writer.call(partial(excluded.lift, self._store.journal, self._scope))
        for _ in range(_TRIES):
            self._overtaken = False
            evidence = EpisodeEvidence(self._run, self._scope, self._extractor, self._rules.bars, anew=everything)
            evidence.give_way()
            there = derived.existing(self._store.index, self._scope, evidence.give_way)
            evidence.give_way()
            self._kept_out = excluded.held(self._store, self._scope, anew=everything)
            fresh = evidence.fresh
            orphaned = [one for one in there if one.live and not all(map(evidence.survives, one.grounding))]
            shaken = (*orphaned, *derived.rejoining(self._store.records, there, orphaned))
            near = (evidence.row_of(episode) for one in shaken for episode in one.grounding)
            touched = {*fresh, *(row for row in near if row is not None)}
            self._write_difference(evidence, there, evidence.rows if everything else touched, orphaned)
            if not self._overtaken:
                self._mark(evidence, fresh)
                return

    def _write_difference(
        self, evidence: EpisodeEvidence, there: Sequence[Existing], touched: Iterable[int], orphaned: Sequence[Existing]
    ) -> None:
        """Write the difference between what the touched episodes ask for and what is there."""
        items, links, rivals, reached = evidence.reached(touched)
        wanted = derive(items, links, self._rules, evidence.give_way, rivals)
        ids = {evidence.episode_of(row) for row in reached}
        concerned = [one for one in there if one.live and (one.grounding & ids or one in orphaned)]
        pairs, left = _matched(wanted, concerned, [one for one in there if not one.live])
        for done, (one, known) in enumerate(pairs):
            self._run.progress(done, len(pairs), self._scope)
            evidence.give_way()
            self._carry_out(one, known)
        for known in left:
            if not known.edited and known.memory.status is not Status.FORGOTTEN:
                self._run.say(f"retire {known.memory.name}: its grounding is gone")
                self._write(f"retire:{known.memory.id}", "memories retired", known, None, derived.retire)
        # After all is written, as each memory may end another one: what holds until when follows from what is there.
        held = derived.held_by(self._store.index, self._scope, {one.key for one in wanted})
        self._overtaken |= not set_against_all(self._run, held, evidence.give_way)

    def _carry_out(self, wanted: Desired, known: Existing | None) -> None:
        forgotten = _is_forgotten(known, wanted)
        if self._is_kept_out(wanted, known):
            self._run.count("memories kept out: erased or undone")
        elif known is None:
            self._add(wanted)
        elif known.stored and not forgotten:
            self._pass_on(wanted, cast(Memory, known.heir))
        elif forgotten or known.heir is not None:
            self._run.count(_LEFT)
        elif known.live and derived.agrees_with(known, wanted):
            self._run.count("memories unchanged")
        elif known.memory.status is Status.ACTIVE and derived.reads_the_same(known, wanted):
            fresh = len(set(wanted.grounding) - known.grounding)
            self._run.say(f"strengthen {known.memory.name}: {fresh} more episodes")
            self._write(
                _step(wanted), "memories strengthened", known, wanted, lambda c, now: derived.strengthen(c, now, wanted)
            )
        else:
            self._renew(wanted, known)

    def _renew(self, wanted: Desired, known: Existing) -> None:
        """Write what comes (back) into use, or says something else from now on: not beside the same, stored."""
        words = known.memory if known.edited else wanted
        prepared = self._prepared(words.trigger, words.resolution, wanted.files)
        same = known.live and derived.reads_the_same(known, wanted)

        def change(composer: Composer, now: Existing) -> None:
            twin = twin_of(self._store, self._scope, statement_wanted(wanted), prepared, self._thresholds)
            if twin is not None and not known.edited:
                sight(composer, self._store.records, twin, wanted)
                take_place(composer, self._store.records, now.memory, twin)
            elif same:
                derived.strengthen(composer, now, wanted)
            else:
                derived.renew(composer, self._store.records, now, wanted, prepared)

        self._run.say(f"{'strengthen' if same else 'renew'} {known.memory.name}: {_render_wanted(wanted)}")
        self._write(_step(wanted), f"memories {'strengthened' if same else 'renewed'}", known, wanted, change)

    def _pass_on(self, wanted: Desired, heir: Memory) -> None:
        """Ground the stored memory that took a derived one over in what else says it, as long as it says it still."""
        prepared = self._prepared(wanted.trigger, wanted.resolution, wanted.files)

        def compose(composer: Composer) -> str | None:
            (now,) = self._store.records.present([heir.ref])
            if not isinstance(now, Memory) or now.status is not heir.status or not self._stand(wanted.grounding):
                self._overtaken = True
                return None
            if not speaks_for(self._store, now, statement_wanted(wanted), prepared, self._thresholds):
                return _LEFT
            return _STRENGTHENED if sight(composer, self._store.records, now, wanted) else _UNCHANGED

        self._tell(wanted, self._run.write(_step(wanted), compose) if heir.status is Status.ACTIVE else _LEFT)

    def _tell(self, wanted: Desired, outcome: str | None) -> None:
        if outcome is not None:
            self._run.count(outcome)
            self._run.say(f"{outcome}: {_render_wanted(wanted)}")

    def _is_kept_out(self, wanted: Desired, known: Existing | None) -> bool:
        """Return whether a memory would come (back), or be put into words, that somebody had erased or undone."""
        if known is not None and known.live:
            same = derived.reads_the_same(known, wanted)
            return not same and self._kept_out.holds(wanted.trigger, wanted.resolution)
        return self._kept_out.holds(wanted.trigger, wanted.resolution, wanted.key)

    def _add(self, wanted: Desired) -> None:
        """Write a memory that is not there, or strengthen one that people stored and that says the same."""
        prepared = self._prepared(wanted.trigger, wanted.resolution, wanted.files)
        said = statement_wanted(wanted)

        def compose(composer: Composer) -> str | None:
            if not self._stand(wanted.grounding):
                self._overtaken = True
                return None
            verdict, other = compared(self._store, self._scope, said, prepared, self._thresholds)
            if verdict is ContradictionVerdict.NOOP and other is not None and not other.is_derived:
                if wanted.trust.rank >= other.provenance.trust.rank or wanted.status is not Status.ACTIVE:
                    return _STRENGTHENED if sight(composer, self._store.records, other, wanted) else _UNCHANGED
                # What better founded voices say stands on their own words, not on a weaker one's.
                derived.add(composer, self._store.records, self._scope, wanted, prepared, former=other)
                return "stored memories taken over"
            derived.add(composer, self._store.records, self._scope, wanted, prepared)
            return "memories added" if wanted.status is Status.ACTIVE else "memories quarantined"

        self._tell(wanted, self._run.write(_step(wanted), compose))

    def _prepared(self, trigger: str, resolution: str, files: Sequence[str]) -> Prepared:
        return prepare(self._store, [ReadText.of(body(trigger, resolution), files)])[0]

    def _mark(self, evidence: EpisodeEvidence, fresh: Sequence[int]) -> None:
        """Note that the episodes were seen; not before all that they ask for is written."""
        evidence.give_way()
        self._run.counts.update({EPISODES_READ: len(fresh), EPISODES_HELD_BACK: len(evidence.held_back & set(fresh))})
        for start in range(0, len(fresh), _MARKED_AT_ONCE):
            ids = [evidence.episode_of(row) for row in fresh[start : start + _MARKED_AT_ONCE]]
            self._run.write(f"seen:{ids[0]}:{len(ids)}", partial(_seen, records=self._store.records, ids=ids))

    def _write(
        self,
        step: str,
        counted: str,
        known: Existing,
        wanted: Desired | None,
        change: Callable[[Composer, Existing], object],
    ) -> None:
        """Change a memory as it is now; not at all where it, or what it is to be grounded in, is no longer in place."""

        def compose(composer: Composer) -> bool:
            (memory,) = self._store.records.present([known.ref])
            same = isinstance(memory, Memory) and memory.status is known.memory.status
            if not same or (wanted is not None and not self._stand(wanted.grounding)):
                return False
            change(composer, replace(known, memory=cast(Memory, memory)))
            return True

        if self._run.write(step, compose) is False:
            self._overtaken = True
        else:
            self._run.count(counted)

    def _stand(self, episodes: Sequence[str]) -> bool:
        """Return whether every one of the episodes is evidence, looked up on the writer's thread."""
        held = self._store.records.present([Ref.episode(episode) for episode in episodes])
        return all(isinstance(one, Episode) and one.status in (Status.ACTIVE, Status.ARCHIVED) for one in held)
