"""Writing an import: slices of a source become changes, a batch at a time, each slice whole and never twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import datetime
from functools import partial

from helix.errors import ConflictError, PausedError
from helix.ingest.draft import (
    AlreadyHere,
    EpisodeDraft,
    Item,
    LinkDraft,
    MemoryDraft,
    Slice,
    WholeReading,
    name_of,
    told_name,
    without_secret_names,
)
from helix.ingest.earlier import GONE, words_of
from helix.ingest.erased_text import without_erased
from helix.ingest.letting_go import Reread, let_go
from helix.ingest.linking import ImportTally, Writing, draw, link, memory_ref
from helix.ingest.preparing import Cleaned, PreparedSlice, VectorAt, clean, prepare_slices, spoken_for
from helix.ingest.preprocess_process import Beside
from helix.ingest.rereading import PlacesReadAgain, Standing, statement_of
from helix.ingest.vouching import vouch
from helix.memory.capture.sessions import PrivateSessions, private_sessions
from helix.memory.change.compose import Composer, Prepared
from helix.memory.change.versions import files_of, take_place
from helix.memory.contradiction.classify import same_words
from helix.memory.extraction.excluded import erased
from helix.memory.scores import bounded_confidence, count_sighting, half_life_of, importance_of
from helix.model.edge import Label, Ref, Relation
from helix.model.entity import Mention
from helix.model.episode import Episode
from helix.model.memory import Memory, Status, body
from helix.model.operations import Change
from helix.model.provenance import STRANGERS, Provenance, Trust
from helix.model.reports import IngestProblem, IngestReport
from helix.store.store import Store
from helix.store.writer import Decision

BATCH = 48
HEAVIEST = 1 << 18
"""Characters that are written in one transaction, about: everybody who writes waits for it, half a second here."""
Progress = Callable[[int], None]


class Importer:
    """Takes the slices of one source into a store, `batch` of them in one transaction.

    A vector of `vector_at` is taken where the slice has one passage with nothing redacted; the rest is embedded here.
    `vouched`: a person stands for the slices now, also for those that were ingested before with less trust.
    """

    def __init__(
        self,
        store: Store,
        *,
        source: str,
        scope: str,
        batch: int = BATCH,
        vector_at: VectorAt | None = None,
        beside: Beside | None = None,
        vouched: bool = False,
    ) -> None:
        store.check_space()
        self._store = store
        self._scope = scope
        self._batch = batch
        self._vector_at = vector_at
        self._beside = beside
        self._vouched = vouched
        self._tally = ImportTally(source)
        self._last_of_session: dict[tuple[str, str], Ref] = {}
        self._planned = False
        self._later: list[LinkDraft] = []
        self._generation = store.index.generation
        self._read: list[Reread] = []
        self._again = PlacesReadAgain(store, source, scope)
        self._erased = erased(store.index)  # an import and an erasure exclude each other

    def run(self, slices: Iterable[Item], progress: Progress, cancelled: Callable[[], bool]) -> IngestReport:
        """Import what is not there yet; stops between two batches when `cancelled` says so.

        Raises ForbiddenError before a batch for which there is no room: what came before stays.

        A batch is embedded while the one before it is being written.
        """
        writing: Future[Writing] | None = None
        done = 0
        for batch in self._cleaned(self._batches(slices, cancelled)):
            ready = prepare_slices(self._store, batch, self._vector_at)
            if writing is not None:
                self._count_in(writing.result())
                progress(done)
                writing = None
            if cancelled() or self._store.paused:
                break
            self._store.runtime.check_room(f": {self._tally.episodes} went in, and the rest did not")
            writing, done = self._store.writer.begin(self._decision(ready)), batch[-1].slice.position
            if self._vector_at is not None:
                # Without a model at work, two threads would only take the interpreter away from each other.
                wait([writing])
        if writing is not None:
            self._count_in(writing.result())
            progress(done)
        self._check_generation()
        if not cancelled() and not self._store.paused:
            self._let_go()
            self._draw()
        if self._store.paused:
            hint = "`helix pause --off`, then the same command: it goes on where it stopped"
            raise PausedError(f"capture was paused after {self._tally.episodes} episodes", hint=hint)
        return self._tally.report()

    def plan(
        self, slices: Iterable[Item], show: Callable[[Slice], object], cancelled: Callable[[], bool]
    ) -> IngestReport:
        """Return what `run` would come to, and write nothing; `show` is given each slice that would come in.

        What comes twice in one import, and what would be redacted or held, is not known before it is written.
        """
        self._planned = True
        for batch in self._batches(slices, cancelled):
            for item in batch:
                show(item)
                self._tally.episodes += 1
                self._tally.memories += len(item.memories)
                self._tally.edges += len(item.links)
        self._tally.edges += len(self._later)
        return self._tally.report()

    def _batches(self, slices: Iterable[Item], cancelled: Callable[[], bool]) -> Iterator[list[Slice]]:
        batch: list[Slice] = []
        heavy = 0
        for item in slices:
            if cancelled() or self._store.paused:
                break
            if not batch:
                hidden = private_sessions(self._store.journal)
            if isinstance(item, IngestProblem):
                self._tally.problems.append(item)
                continue
            if isinstance(item, LinkDraft):
                self._later.append(replace(item, relation=told_name(item.relation)))
                continue
            if isinstance(item, AlreadyHere):
                self._tally.skipped += 1
                continue
            for one in self._again.gone(item) if isinstance(item, WholeReading) else (item,):
                if (new := self._new(one, hidden)) is None:
                    continue
                batch.append(new)
                heavy += _weight(new)
                if len(batch) == self._batch or heavy >= HEAVIEST:
                    yield batch
                    batch, heavy = [], 0
        if batch:
            yield batch

    def _new(self, item: Slice, hidden: PrivateSessions) -> Slice | None:
        """Return a slice that is to be written; None for one that is known, which a person may stand for now."""
        item = without_secret_names(item)
        self._again.meet(item)
        if _is_hidden(item.episode, hidden):
            self._tally.skipped += 1
            return None
        if self._vouched and not self._planned:
            scope = item.episode.scope or self._scope
            self._tally.vouched += vouch(self._store, item, scope, self._again)
        if (known := self._again.known(item)) is None:
            return item
        self._tally.skipped += not item.episode.source.endswith(GONE)
        self._remember_last(item.episode, known)
        if item.supersedes:
            self._read.append(Reread.of(item))  # an import that was stopped, or that nobody stood for, let nothing go
        return None

    def _let_go(self) -> None:
        """Let go of what the places that were read say no more, once all is in: what moved stands in its new place."""
        for start in range(0, len(self._read), self._batch):
            read = self._read[start : start + self._batch]
            decide = partial(let_go, self._store, self._again, read, self._scope)
            # Of what was known most often nothing is; what is gets looked at again where nobody else writes.
            if any(one.successor for one in read) or decide().changes:
                self._store.writer.submit(decide)

    def _draw(self) -> None:
        """Draw the links that were told by themselves, where both their ends are there and the edge is not."""
        for start in range(0, len(self._later), self._batch):
            self._tally.edges += self._store.writer.submit(
                partial(draw, self._store, self._later[start : start + self._batch], self._scope, self._tally.source)
            )

    def _check_generation(self) -> None:
        """Raise ConflictError where the store has become another one since: what was prepared refers to the former."""
        if self._store.index.generation != self._generation:
            raise ConflictError(
                "the store was replaced while the import was at work: a backup was restored, or the model was changed",
                hint="the same command ingests what is missing now",
            )

    def _cleaned(self, batches: Iterator[list[Slice]]) -> Iterator[list[Cleaned]]:
        """Yield what can be ingested, cleaned; a process beside this one works a batch ahead."""
        if self._beside is None:
            for batch in batches:
                yield from self._acceptable(clean(batch, self._store.runtime.settings.text_limit))
            return
        with ThreadPoolExecutor(1, thread_name_prefix="helix-beside") as waiting:
            ahead: Future[list[Cleaned | IngestProblem]] | None = None
            for batch in batches:
                before, ahead = ahead, waiting.submit(self._beside.clean, batch)
                if before is not None:
                    yield from self._acceptable(before.result())
            if ahead is not None:
                yield from self._acceptable(ahead.result())

    def _acceptable(self, outcomes: Sequence[Cleaned | IngestProblem]) -> Iterator[list[Cleaned]]:
        """Yield the slices among the outcomes as a batch, if there are any; the problems go into the report."""
        left = [kept for outcome in outcomes if (kept := self._not_erased(outcome)) is not None]
        self._tally.problems += [outcome for outcome in left if isinstance(outcome, IngestProblem)]
        batch = [outcome for outcome in left if isinstance(outcome, Cleaned)]
        self._tally.redacted += sum(one.redacted for one in batch)
        if batch:
            yield batch

    def _not_erased(self, outcome: Cleaned | IngestProblem) -> Cleaned | IngestProblem | None:
        """Return what came of cleaning a slice without what a person has erased; None where that is all of it."""
        if isinstance(outcome, IngestProblem):
            return outcome
        left = without_erased(outcome.slice, self._erased)
        if left is None:
            self._tally.skipped += 1
            self._read += [Reread.of(outcome.slice)] if outcome.slice.supersedes else []
            return None
        if left is outcome.slice:
            return outcome
        (cleaned,) = clean([left], self._store.runtime.settings.text_limit)
        return cleaned

    def _count_in(self, written: Writing) -> None:
        """Count what a batch came to, once it is in."""
        self._tally.add(written.tally)
        self._last_of_session.update(written.last)
        self._read += written.read

    def _decision(self, batch: Sequence[PreparedSlice]) -> Callable[[], Decision[Writing]]:
        def decide() -> Decision[Writing]:
            self._check_generation()
            writing = Writing(Composer(self._store, self._store.runtime.clock()), self._scope)
            changes: list[Change] = []
            hidden = private_sessions(self._store.journal)
            for ready in batch:
                episode = ready.slice.episode
                if _is_hidden(episode, hidden):  # it became private while the batch was made ready
                    writing.tally.skipped += 1
                    continue
                key = (episode.scope or self._scope, episode.source)
                # Twice, or another import came first.
                if key in writing.episodes or self._again.known(ready.slice) is not None:
                    writing.tally.skipped += 1
                    writing.read.append(Reread.of(ready.slice))
                    continue
                writing.episodes[key] = None
                self._write(writing, _by_now(ready, writing.composer.now))
                changes.append(writing.composer.change("ingest", source=episode.source))
            return Decision(tuple(changes), writing)

        return decide

    def _write(self, writing: Writing, ready: PreparedSlice) -> None:
        item, written = ready.slice, writing.written
        episode = self._write_episode(writing, ready)
        writing.episodes[(item.episode.scope or self._scope, item.episode.source)] = episode
        status = _status(ready)
        for memory, prepared in zip(item.memories, ready.memories, strict=True):
            found = None if ready.held else self._standing(writing, memory)
            if ready.held:
                ref = memory_ref(self._store.index, memory.source, memory.scope or self._scope)
                ref = ref or self._write_memory(writing, memory, prepared, episode, status, None)
            elif found is not None and found.is_own:
                ref = self._meet_own(writing, memory.trust, found.memory, item.supersedes, episode)
            elif found is not None and not found.gives_way(memory):
                ref = self._count(writing, memory, found.memory, ready, episode)
            else:
                former = None if found is None else found.memory
                ref = self._write_memory(writing, memory, prepared, episode, status, former)
            written[memory.source] = ref
        writing.tally.quarantined += ready.held
        if item.supersedes:
            fresh = (ref for one in item.memories if (ref := written.get(one.source)) in writing.fresh)
            writing.read.append(Reread.of(item, next(fresh, None)))
        writing.tally.edges += link(self._store.index, writing, item, held=ready.held)

    def _write_episode(self, writing: Writing, ready: PreparedSlice) -> Ref:
        composer, draft = writing.composer, ready.slice.episode
        now = composer.now
        scope = draft.scope or self._scope
        episode = Episode(
            id=self._store.runtime.make_id(now),
            content=draft.content,
            recorded_at=now,
            occurred_at=draft.occurred_at or now,
            session=draft.session,
            scope=scope,
            agent=draft.agent,
            role=draft.role,
            importance=importance_of(draft.content, ready.episode.mentions),
            source=draft.source,
            status=_status(ready),
            provenance=Provenance(
                slice=draft.source, extractor=self._tally.source, agent=draft.agent, trust=draft.trust
            ),
        )
        ref = composer.node(episode)
        for told in self._store.index.all_from_source(Label.EPISODE, STRANGERS + draft.source, scope):
            composer.silence(told)  # a stranger said it before it was read here
        composer.passages(ref, ready.episode)
        if not spoken_for(ready.slice):
            found = _with(ready.episode, draft.entities)
            composer.mentions(ref, scope, found, episode.provenance, opening=draft.content)
            composer.touches(ref, scope, draft.files, episode.provenance)
        if draft.session:
            key = (scope, draft.session)
            composer.join(episode, ref, writing.last.get(key) or self._last_of_session.get(key))
            writing.last[key] = ref
        writing.tally.episodes += 1
        return ref

    def _remember_last(self, draft: EpisodeDraft, ref: Ref) -> None:
        if draft.session:
            self._last_of_session[(draft.scope or self._scope, draft.session)] = ref

    def _write_memory(
        self,
        writing: Writing,
        draft: MemoryDraft,
        prepared: Prepared,
        episode: Ref,
        status: Status,
        former: Memory | None,
    ) -> Ref:
        """Write a memory; `former` is a weaker voice's that says the very same, whose place it takes."""
        composer, scope = writing.composer, draft.scope or self._scope
        text = body(draft.trigger, draft.resolution)
        name = name_of(draft)
        memory = Memory(
            id=composer.new_id(),
            # Only what is active takes a name: what is quarantined must not take one from what comes after it.
            name=composer.name(scope, name) if status is Status.ACTIVE and former is None else name,
            kind=draft.kind,
            trigger=draft.trigger,
            resolution=draft.resolution,
            recorded_at=composer.now,
            scope=scope,
            status=status,
            confidence=bounded_confidence(draft.confidence, draft.trust),
            importance=draft.importance or importance_of(text, prepared.mentions, draft.kind),
            half_life_days=half_life_of(draft.kind),
            valid_from=draft.valid_from,
            valid_to=draft.valid_to,
            source=draft.source,
            attributes=draft.attributes,
            provenance=Provenance(
                slice=draft.source, extractor=self._tally.source, agent=draft.agent, trust=draft.trust
            ),
        )
        ref = composer.node(memory)
        if status is Status.ACTIVE:
            writing.named[(scope, memory.name)] = memory
            if words := words_of(draft.source):
                writing.worded[(scope, words)] = memory
        composer.passages(ref, prepared)
        opening = f"{draft.trigger}\n{draft.resolution}"
        composer.mentions(ref, scope, _with(prepared, draft.entities), memory.provenance, opening=opening)
        composer.touches(ref, scope, draft.files, memory.provenance)
        composer.edge(Relation.GROUNDED_IN, ref, episode, provenance=memory.provenance)
        if former is not None:
            take_place(composer, self._store.records, former, memory)
        writing.tally.memories += 1
        writing.fresh.add(ref)
        return ref

    def _standing(self, writing: Writing, draft: MemoryDraft) -> Standing | None:
        """Return what stands for a draft, by this batch too."""
        found, scope = self._again.standing(draft), draft.scope or self._scope
        if found is None or not found.is_own:
            keys = (writing.named.get((scope, name_of(draft))), writing.worded.get((scope, words_of(draft.source))))
            for one in filter(None, keys):
                met = found is not None and found.memory.id == one.id
                if met or same_words(one, statement_of(draft)):
                    found = Standing(one, is_own=False)
        return found

    def _meet_own(self, writing: Writing, trust: Trust, own: Memory, place: str, episode: Ref) -> Ref:
        """Ground a memory that a place was read as before in what says it now, where nothing there does as well."""
        if place and not self._again.is_held(own, place, trust):
            writing.composer.edge(Relation.GROUNDED_IN, own.ref, episode)
        return own.ref

    def _count(self, writing: Writing, draft: MemoryDraft, known: Memory, ready: PreparedSlice, episode: Ref) -> Ref:
        """Count a memory that is met again once more, and ground it in what says it again."""
        # A session, or the file or history that a slice is named by, speaks with one voice.
        voice = ready.slice.episode.session or draft.source.partition("#")[0].rpartition(":")[0]
        writing.named[(known.scope, known.name)] = count_sighting(writing.composer, known, draft.trust, voice)
        ref = known.ref
        writing.composer.edge(Relation.GROUNDED_IN, ref, episode)
        place = ready.slice.supersedes
        own = place and known.source.startswith(place) and not self._again.places(ref).keys() - {place}
        if own and draft.files and draft.files != files_of(self._store.records, known):
            for edge in self._store.records.edges_at(ref):
                if edge.type is Relation.TOUCHES and edge.source == ref:
                    writing.composer.drop_edge(Relation.TOUCHES, ref, edge.target)
            writing.composer.touches(ref, known.scope, draft.files, known.provenance)
        return ref


def _by_now(ready: PreparedSlice, now: datetime) -> PreparedSlice:
    """Return a prepared slice that has happened by now: a commit's clock may be wrong, or set to have the last word."""
    item, at = ready.slice, ready.slice.episode.occurred_at
    if at is None or at <= now:
        return ready
    memories = tuple(replace(one, valid_from=now) if one.valid_from == at else one for one in item.memories)
    return replace(ready, slice=replace(item, episode=replace(item.episode, occurred_at=now), memories=memories))


def _weight(item: Slice) -> int:
    said = (len(one.trigger) + len(one.resolution) + len(one.found_by) for one in item.memories)
    return len(item.episode.content) + len(item.episode.found_by) + sum(said)


def _status(ready: PreparedSlice) -> Status:
    return Status.QUARANTINED if ready.held else Status.ACTIVE


def _with(prepared: Prepared, more: Sequence[Mention]) -> list[Mention]:
    return list(dict.fromkeys((*prepared.mentions, *more)))


def _is_hidden(episode: EpisodeDraft, private: PrivateSessions) -> bool:
    return any(private.hold(name) for name in (episode.session, episode.forked_from))
