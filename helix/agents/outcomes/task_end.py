"""Task end: brings memories, edges and the task itself to what a task's evidence says, exactly once, in one change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from helix.agents.outcomes.bonds import Bond, Part, bonds_of, redraw_bonds
from helix.agents.outcomes.credit import CreditEntry, give_credit, take_back_credit
from helix.agents.outcomes.ledger import TaskLedger, ledger_of, with_ledger
from helix.agents.outcomes.verdicts import OutcomeVerdict, Use, leaves_a_trace, outcome_of, verdict
from helix.agents.tasks.board import SESSION_KEY, find_task, injections, put_injection, task_id
from helix.command_outcome.command_evidence import first_verified, seen_since, verification_of
from helix.errors import InvalidInputError, NotFoundError
from helix.journal.state import Records
from helix.memory.change.compose import Composer
from helix.memory.change.find import standing_memory_of
from helix.memory.change.versions import present_version
from helix.memory.scores import Quality
from helix.memory.upkeep.maintenance import check_feedback
from helix.model.edge import Ref, Relation
from helix.model.evidence import Evidence, EvidenceKind, Verification
from helix.model.memory import Kind, Memory, Status
from helix.model.task import ACTION, BLOCKED, BRIEF, DELIVERED, ON_ERROR, SKIPPED, Injection, Task
from helix.model.task_answers import Gain, Settlement
from helix.model.tombstone import is_erased
from helix.store.store import Store
from helix.store.writer import Decision

OUTCOMES = (DELIVERED, BLOCKED, SKIPPED)
_WARNINGS = (Kind.FAILURE, Kind.SYSTEMIC)
Update = Callable[[TaskLedger], TaskLedger]


def settle_task(store: Store, ident: str, *, outcome: str | None = None) -> Settlement:
    """Settle a task: give every memory shown to it what its outcome says, and take back what an earlier one gave.

    `outcome` is the agent's word: delivered, blocked, skipped, or nothing; None where it is what was said before, as it
    is where a person has spoken.
    Settling again what has not changed writes nothing, and in whatever order evidence comes in, the end is the same.
    A task that is not kept settles to nothing. Raises InvalidInputError for an outcome that is none.
    """
    _check_outcome(outcome or "")

    def said(task: Task, ledger: TaskLedger) -> TaskLedger:
        told = any(one.kind is EvidenceKind.PERSON for one in ledger.evidence)
        return replace(ledger, claimed=ledger.said(task) if told or outcome is None else outcome, settled=task.outcome)

    return _change(store, ident, "settle", said)


def tell_outcome(store: Store, ident: str, outcome: str, *, claimed: bool = False) -> Settlement:
    """Settle a task by what a person says came of it, which goes before every command; said again, it is replaced.

    `claimed` marks an agent's own word, which `settle_task` takes: what a person said stays. Raises NotFoundError or
    InvalidInputError.
    """
    if find_task(store.index, ident) is None:
        raise NotFoundError(f"no task {ident!r}", hint="`helix report` counts tasks, Cypher lists them")
    if claimed:
        return settle_task(store, ident, outcome=outcome)
    _check_outcome(outcome)

    def said(task: Task, ledger: TaskLedger) -> TaskLedger:
        evidence = [one for one in ledger.evidence if one.kind is not EvidenceKind.PERSON]
        if outcome in (DELIVERED, BLOCKED):
            passed = outcome == DELIVERED
            evidence.append(Evidence(kind=EvidenceKind.PERSON, command="", passed=passed, at=store.runtime.clock()))
        return replace(ledger, claimed=outcome, settled=task.outcome, evidence=tuple(evidence))

    return _change(store, ident, "outcome", said)


def amend(store: Store, ident: str, update: Update) -> None:
    """Change the ledger of a task's outcome; one that was settled before is settled again, in the same change."""
    _change(store, ident, "outcome", lambda task, ledger: update(replace(ledger, claimed=ledger.said(task))))


def override(store: Store, ident: str, names: Sequence[str], delta: float, quality: int | None = None) -> list[Memory]:
    """Have a person say what memories were worth to a task's outcome, in place of what evidence gave them, for good.

    Above 0 it is added to `helped`, below to `failed`; said again for the same task, it replaces what was said before.
    Raises NotFoundError for an unknown task or memory, InvalidInputError for a memory that the task was not shown.
    """
    check_feedback(names, delta, quality)
    said = (max(0.0, delta), max(0.0, -delta), quality)

    def judged(task: Task, ledger: TaskLedger) -> TaskLedger:
        shown = {one.memory_id: one for one in injections(store.index, ident) if not one.held_back}
        standing = {_standing(store.records, memory_id).id: memory_id for memory_id in shown}
        named = [present_version(store.records, standing_memory_of(store.index, name)) for name in names]
        for memory in named:
            if memory.id not in standing:
                raise InvalidInputError(
                    f"{memory.name!r} was not shown to that task", hint="leave the task out to judge it in general"
                )
        overrides = {**ledger.overrides, **{standing[memory.id]: said for memory in named}}
        settled = ledger.settled if ledger.settled is not None else task.outcome
        return replace(ledger, claimed=ledger.said(task), settled=settled, overrides=overrides)

    if find_task(store.index, ident) is None:
        raise NotFoundError(f"no task {ident!r}", hint="leave the task out to judge the memories in general")
    _change(store, ident, "feedback", judged)
    return [present_version(store.records, standing_memory_of(store.index, name)) for name in names]


def _check_outcome(outcome: str) -> None:
    if outcome not in ("", *OUTCOMES):
        raise InvalidInputError(f"{outcome!r} is not an outcome of a task", hint="one of: " + ", ".join(OUTCOMES))


def _change(store: Store, ident: str, kind: str, update: Callable[[Task, TaskLedger], TaskLedger]) -> Settlement:
    def decision() -> Decision[Settlement]:
        task = find_task(store.index, ident)
        if task is None or is_erased(task):
            return Decision((), Settlement(task=ident, outcome="", claimed="", verification=Verification.NONE))
        ledger = update(task, ledger_of(task))
        composer = Composer(store, store.runtime.clock())
        verification = verification_of(ledger.evidence, ledger.edited_at)
        after, gains = task, tuple[Gain, ...]()
        if ledger.settled is not None:
            outcome = outcome_of(verification, ledger.claimed)
            ledger, gains = _Settling(store, composer, task, ledger, verification).done()
            ledger = replace(ledger, settled=outcome)
            after = replace(task, outcome=outcome, verification=verification.value)
        after = with_ledger(after, ledger)
        if after != task:
            composer.node(after)
        change = composer.change(kind, task=ident)
        settlement = Settlement(
            task=ident,
            outcome=after.outcome,
            claimed=ledger.claimed,
            verification=verification,
            evidence=ledger.evidence,
            gains=gains,
            changed=bool(change.operations),
        )
        return Decision((change,) if change.operations else (), settlement)

    return store.writer.submit(decision, once=kind)


@dataclass(slots=True)
class _Settling:
    """One settling under way, on the writer's thread. `memories` are those that change, as they stand by now."""

    store: Store
    composer: Composer
    task: Task
    ledger: TaskLedger
    verification: Verification

    def done(self) -> tuple[TaskLedger, tuple[Gain, ...]]:
        """Compose all that a task's outcome changes; return the account as it is then, and what each memory has got."""
        memories: dict[str, Memory] = {}
        entries: dict[str, CreditEntry] = dict(self.ledger.entries)
        gains: list[Gain] = []
        parts: list[Part] = []
        for shown in injections(self.store.index, self.task.id):
            if shown.held_back:
                continue
            memory = _standing(self.store.records, shown.memory_id)
            memory = memories.get(memory.id, memory)
            if is_erased(memory) or memory.status is Status.QUARANTINED:
                continue
            came_to = self._came_to(shown)
            use = self._use(shown, memory, came_to)
            found = self._verdict(shown, memory, use, came_to)
            known = entries.get(shown.memory_id)
            if not known.same_as(found) if known is not None else found != OutcomeVerdict():
                self._give(shown, found, memories, entries)
            gains.append(self._gain(shown, use, found, entries.get(shown.memory_id)))
            parts.append(_part(shown, memory, use, found, met=self._met(shown)))
        for memory in memories.values():
            self.composer.node(memory)
        bonds = self._bonds(parts)
        redraw_bonds(self.composer, self.store.index, self.ledger.bonds, bonds)
        return replace(self.ledger, entries=entries, bonds=bonds), tuple(gains)

    def _came_to(self, shown: Injection) -> Verification:
        """Return what the evidence says that came up once a memory was shown: nothing before that is its doing."""
        if not self._is_session:
            return verification_of(seen_since(self.ledger.evidence, shown.at), self.ledger.edited_at)
        since = max(shown.at, self.ledger.used_at.get(shown.memory_id, shown.at))
        found = first_verified(seen_since(self.ledger.evidence, since), self.ledger.edited_at)
        # Nothing says that what failed in a session without a task is what the memory was used for, but its own error.
        unrelated = found is Verification.FAILED and not self._came_again(shown)
        return Verification.NONE if unrelated and not self._told_by_person else found

    @property
    def _is_session(self) -> bool:
        return self.task.id == task_id(self.task.scope, self.task.session, SESSION_KEY)

    @property
    def _told_by_person(self) -> bool:
        return any(one.kind is EvidenceKind.PERSON for one in self.ledger.evidence)

    def _came_again(self, shown: Injection) -> bool:
        """Return whether what a memory is about came up after it was shown."""
        at = self.ledger.again.get(shown.memory_id)
        return at is not None and at > shown.at

    def _use(self, shown: Injection, memory: Memory, came_to: Verification) -> Use:
        if self.ledger.signs.get(shown.memory_id):
            return Use.EVIDENCE
        names = {word.strip().casefold() for word in self.ledger.utilized}
        if names & {shown.name.casefold(), memory.name.casefold(), shown.memory_id, memory.id}:
            return Use.CLAIMED
        mended = came_to is Verification.PASSED and shown.arm != ACTION and self._met(shown)
        worked = self.ledger.worked_at is not None and self.ledger.worked_at >= shown.at
        if not worked or mended or self._averted(shown, memory, came_to):
            return Use.UNKNOWN
        return Use.UNUSED

    def _met(self, shown: Injection) -> bool:
        """Return whether what a memory is about came up in the task: it was shown for that, or was known already."""
        return shown.arm == ON_ERROR or shown.memory_id in self.ledger.repeated

    def _averted(self, shown: Injection, memory: Memory, came_to: Verification) -> bool:
        """Return whether a warning was shown at the very thing it warns of, and all was well: heeded or not needed."""
        warned = shown.arm == ACTION and memory.kind in _WARNINGS
        return warned and came_to is Verification.PASSED and not self._came_again(shown)

    def _verdict(self, shown: Injection, memory: Memory, use: Use, came_to: Verification) -> OutcomeVerdict:
        said = self.ledger.overrides.get(shown.memory_id)
        if said is not None:
            helped, failed, quality = said
            sure = None if quality is None else Quality(quality)
            return OutcomeVerdict(
                helped=helped, failed=failed, quality=sure, outcome="helped" if helped > 0 else "failed"
            )
        # A brief is for the whole session, whatever is done in it: that it was not needed speaks against nothing.
        charged = shown.arm != BRIEF and leaves_a_trace(memory)
        penalty = self.store.runtime.settings.unused_penalty if charged else 0.0
        return verdict(came_to, use, outcome=self.ledger.claimed, unused_penalty=penalty)

    def _give(
        self, shown: Injection, found: OutcomeVerdict, memories: dict[str, Memory], entries: dict[str, CreditEntry]
    ) -> None:
        """Take back what the memory got before, from whatever stands for it now, and give it what it gets."""
        before = entries.pop(shown.memory_id, None)
        if before is not None and Ref.memory(before.memory) in self.store.index:
            held = _standing(self.store.records, before.memory)
            memories[held.id] = take_back_credit(memories.get(held.id, held), before)
        memory = _standing(self.store.records, shown.memory_id)
        after, entry = give_credit(memories.get(memory.id, memory), found, self.composer.now)
        # Also where it is what it was: what was taken back before stands here otherwise.
        if after != memory or memory.id in memories:
            memories[memory.id] = after
        if found != OutcomeVerdict():
            entries[shown.memory_id] = entry
        credited = entry.shown() if found.helped or found.failed or found.quality is not None else None
        put_injection(self.composer, self.task.id, replace(shown, outcome=found.outcome, credited=credited))

    def _gain(self, shown: Injection, use: Use, found: OutcomeVerdict, given: CreditEntry | None) -> Gain:
        return Gain(
            memory_id=shown.memory_id,
            name=shown.name,
            use=use.value,
            outcome=found.outcome,
            helped=found.helped,
            failed=found.failed if given is None else given.added,
            quality=None if found.quality is None else int(found.quality),
            signs=tuple(self.ledger.signs.get(shown.memory_id, ())),
            overridden=shown.memory_id in self.ledger.overrides,
        )

    def _bonds(self, parts: Sequence[Part]) -> tuple[Bond, ...]:
        passed = self.verification is Verification.PASSED and self.ledger.claimed not in (BLOCKED, SKIPPED)
        failed = (self.verification is Verification.FAILED or self.ledger.claimed == BLOCKED) and (
            self.ledger.claimed != SKIPPED
        )
        return bonds_of([*parts, *self._learned()], passed=passed, failed=failed)

    def _learned(self) -> list[Part]:
        here = self.task.ref
        ids = [op.target.id for op in self.store.records.edges_at(here) if op.type is Relation.LEARNED]
        held = [_standing(self.store.records, ident) for ident in sorted(ids)]
        return [Part(memory=one.id, kind=one.kind, learned=True) for one in held if one.status is Status.ACTIVE]


def _part(shown: Injection, memory: Memory, use: Use, found: OutcomeVerdict, *, met: bool) -> Part:
    return Part(
        memory=memory.id,
        kind=memory.kind,
        at_error=met,
        by_evidence=use is Use.EVIDENCE,
        outcome=found.outcome,
        rank=shown.rank,
    )


def _standing(records: Records, memory_id: str) -> Memory:
    return present_version(records, cast(Memory, records.node(Ref.memory(memory_id))))
