"""Effect: counts tasks with and without memory, and says what the difference is worth.

It also says how precisely a share, or the difference of two, is known from so many cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import sqrt
from typing import cast

from helix.agents.experiment.holdback import was_drawn
from helix.agents.outcomes.ledger import REPEATED, ledger_of
from helix.agents.tasks.board import injections, tasks_of
from helix.journal.state import Records
from helix.model.edge import Ref
from helix.model.memory import Memory
from helix.model.proof import Arm, Harm, Leader, Lift, Period, Report, Share
from helix.model.task import (
    BLOCKED,
    BRIEF,
    DELIVERED,
    FAILED,
    HELD_BACK,
    PENDING,
    SKIPPED,
    TOKENS_INJECTED,
    WITH_MEMORY,
    Injection,
    Task,
)
from helix.store.store import Store

LEAST_PER_ARM = 30
"""Tasks that have to have ended in each arm before they are compared."""
_LEADERS = 20
_LONGEST_IN_DAYS = 42
_ENDED = (DELIVERED, BLOCKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A task as it counts: with the memories it was shown and those held back from it."""

    task: Task
    shown: tuple[Injection, ...] = ()
    withheld: tuple[Injection, ...] = ()

    @property
    def begun(self) -> bool:
        """Whether a task in the experiment was begun: one that only stands in a plan did not do without memory."""
        task = self.task
        return bool(task.status != PENDING or task.outcome or task.treatment or self.shown or self.withheld)

    @property
    def only_briefed(self) -> bool:
        """Whether a case of the experiment is a session's main thread that had its brief, and did no known work.

        It has no outcome to come, and could not meet a failure: what agents did in that session are other tasks.
        """
        shown = (*self.shown, *self.withheld)
        account = ledger_of(self.task)
        idle = not (self.task.outcome or account.worked_at or account.evidence or account.repeated)
        return idle and bool(shown) and all(one.arm == BRIEF for one in shown)

    @property
    def ended(self) -> bool:
        """Whether a task in the experiment has an outcome that counts."""
        return self.task.outcome in _ENDED

    @property
    def tokens(self) -> int:
        """Tokens of the memories that a task in the experiment was shown."""
        return int(cast(int, self.task.attributes.get(TOKENS_INJECTED, 0)))

    @property
    def with_memory(self) -> bool:
        """Whether it belongs to the experiment's tasks that were shown something."""
        return self.task.treatment != HELD_BACK and bool(self.shown)

    @property
    def drawn_to_memory(self) -> bool:
        """Whether the experiment drew it to be shown memories, and could have held it out."""
        return self.task.treatment == WITH_MEMORY and was_drawn(self.task)

    @property
    def held_back(self) -> bool:
        """Whether it is one of the experiment's tasks held back: what it was shown later on request changes nothing."""
        return self.task.treatment == HELD_BACK and bool(self.withheld)


def report(store: Store, since: datetime | None = None, scope: str | None = None) -> Report:
    """Report the experiment: tasks with and without memory since a moment (None: all) in this scope (None: any)."""
    cases = []
    for task in tasks_of(store.index, scope=scope, since=since):
        held = injections(store.index, task.id)
        shown, withheld = ([one for one in held if one.held_back is back] for back in (False, True))
        case = Case(task=task, shown=tuple(shown), withheld=tuple(withheld))
        cases += [case] if case.begun else []
    found = compared(
        cases, now=store.runtime.clock(), since=since, scope=scope, holdback=store.runtime.settings.holdback
    )
    return _with_kinds(store.records, found)


def compared(
    cases: Sequence[Case], *, now: datetime, since: datetime | None, scope: str | None, holdback: float
) -> Report:
    """Compare tasks with and without memory in the experiment's report; their order makes no difference.

    Main threads that were only briefed are no cases: what they were shown counts among the tokens, and nowhere else.
    """
    briefed = [case for case in cases if case.only_briefed]
    cases = [case for case in cases if not case.only_briefed]
    shown = [case for case in cases if case.with_memory]
    drawn = [case for case in shown if case.drawn_to_memory]
    held = [case for case in cases if case.held_back]
    undrawn = [case for case in shown if not case.drawn_to_memory]
    with_memory = _arm(drawn, [case for case in briefed if case.drawn_to_memory])
    held_back = _arm(held)
    enough = min(with_memory.delivered.cases, held_back.delivered.cases) >= LEAST_PER_ARM
    delivered = _lift(with_memory.delivered, held_back.delivered) if enough else None
    repeated = _lift(with_memory.repeated, held_back.repeated) if enough else None
    harm = _harm(shown)
    days, periods = _periods(drawn, held)
    return Report(
        at=now,
        since=since,
        scope=scope,
        holdback=holdback,
        least=LEAST_PER_ARM,
        enough=enough,
        with_memory=with_memory,
        held_back=held_back,
        undrawn=_arm(undrawn, [case for case in briefed if not case.drawn_to_memory]),
        neither=len(cases) - len(shown) - len(held),
        delivered=delivered,
        repeated=repeated,
        harm=harm,
        days=days,
        periods=periods,
        leaders=_leaders(cases),
        says=_remarks(with_memory, held_back, delivered, repeated, holdback),
    )


def _arm(cases: Sequence[Case], briefed: Sequence[Case] = ()) -> Arm:
    outcomes = Counter(case.task.outcome for case in cases)
    tokens = sum(case.tokens for case in cases)
    return Arm(
        tasks=len(cases),
        blocked=outcomes[BLOCKED],
        skipped=outcomes[SKIPPED],
        open=len(cases) - sum(outcomes[word] for word in (*_ENDED, SKIPPED)),
        failed_checks=sum(case.task.verification == FAILED for case in cases),
        delivered=_share(outcomes[DELIVERED], outcomes[DELIVERED] + outcomes[BLOCKED]),
        repeated=_repeated(cases),
        tokens=tokens + sum(case.tokens for case in briefed),
        tokens_per_task=tokens / len(cases) if cases else 0.0,
    )


def _share(hits: int, cases: int) -> Share:
    low, high = wilson(hits, cases)
    return Share(hits=hits, cases=cases, value=hits / cases if cases else None, low=low, high=high)


def _lift(here: Share, there: Share) -> Lift:
    low, high = newcombe(here.hits, here.cases, there.hits, there.cases)
    return Lift(value=(here.value or 0.0) - (there.value or 0.0), low=low, high=high, sure=not low <= 0.0 <= high)


def _harm(shown: Sequence[Case]) -> Harm:
    outcomes = Counter(one.outcome for case in shown for one in case.shown)
    return Harm(
        blocked=sum(case.task.outcome == BLOCKED for case in shown),
        shown=sum(outcomes.values()),
        failed=outcomes["failed"],
        unused=outcomes["unused"],
        failed_share=_share(outcomes["failed"], sum(outcomes.values())),
    )


def _periods(drawn: Sequence[Case], held: Sequence[Case]) -> tuple[int, tuple[Period, ...]]:
    """Return how many days a period has, and those from the first task that ended to the last, empty ones too."""
    ended = [case for case in (*drawn, *held) if case.ended]
    if not ended:
        return 1, ()
    first, last = (pick(_day(case) for case in ended) for pick in (min, max))
    days = 1 if (last - first).days < _LONGEST_IN_DAYS else 7
    first -= timedelta(days=first.weekday()) if days == 7 else timedelta()
    count = (last - first).days // days + 1

    def within(cases: Iterable[Case], start: datetime) -> list[Case]:
        return [case for case in cases if case.ended and start <= _day(case) < start + timedelta(days=days)]

    starts = [first + timedelta(days=days * number) for number in range(count)]
    return days, tuple(_period(start, within(drawn, start), within(held, start)) for start in starts)


def _period(start: datetime, drawn: Sequence[Case], held: Sequence[Case]) -> Period:
    with_memory, without = (_share(_delivered(cases), len(cases)) for cases in (drawn, held))
    return Period(
        start=start,
        with_ended=with_memory.cases,
        with_delivered=with_memory.hits,
        without_ended=without.cases,
        without_delivered=without.hits,
        with_delivered_share=with_memory,
        without_delivered_share=without,
        with_repeated_share=_repeated(drawn),
        without_repeated_share=_repeated(held),
        tokens=sum(case.tokens for case in drawn),
    )


def _repeated(cases: Sequence[Case]) -> Share:
    return _share(sum(bool(case.task.attributes.get(REPEATED)) for case in cases), len(cases))


def _delivered(cases: Iterable[Case]) -> int:
    return sum(case.task.outcome == DELIVERED for case in cases)


def _day(case: Case) -> datetime:
    moment = (case.task.ended_at or case.task.recorded_at).astimezone(UTC)
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _leaders(cases: Iterable[Case]) -> tuple[Leader, ...]:
    """Return the memories shown, those that helped most first; of several alike those that failed least."""
    outcomes: dict[str, Counter[str]] = {}
    names: dict[str, str] = {}
    for case in cases:
        for one in (*case.shown, *case.withheld):
            counts = outcomes.setdefault(one.memory_id, Counter())
            counts.update(["withheld"] if one.held_back else ["shown", one.outcome])
            names[one.memory_id] = one.name
    found = [
        Leader(
            memory_id=ident,
            name=names[ident],
            kind="",
            shown=counts["shown"],
            helped=counts["helped"],
            failed=counts["failed"],
            unused=counts["unused"],
            claimed=counts["claimed"],
            withheld=counts["withheld"],
        )
        for ident, counts in outcomes.items()
        if counts["shown"]
    ]
    found.sort(key=lambda one: (one.failed - one.helped, -one.helped, one.unused, -one.shown, one.memory_id))
    # The last ones are those to look at: what only fails or takes room.
    return tuple(found if len(found) <= _LEADERS else [*found[: _LEADERS // 2], *found[-_LEADERS // 2 :]])


def _with_kinds(records: Records, found: Report) -> Report:
    refs = [Ref.memory(one.memory_id) for one in found.leaders]
    kinds = {node.id: node.kind.value for node in records.present(refs) if isinstance(node, Memory)}
    leaders = tuple(replace(one, kind=kinds.get(one.memory_id, "")) for one in found.leaders)
    return replace(found, leaders=leaders)


def _remarks(
    with_memory: Arm, held_back: Arm, delivered: Lift | None, repeated: Lift | None, holdback: float
) -> tuple[str, ...]:
    says = []
    if holdback == 0:
        says.append("Nothing is held back now (setting holdback is 0): new tasks add nothing to the comparison.")
    if delivered is None or repeated is None:
        here, there = with_memory.delivered.cases, held_back.delivered.cases
        says.append(
            f"Too little to compare: {here} tasks with memory and {there} without have ended; "
            f"{LEAST_PER_ARM} of each are needed."
        )
        return tuple(says)
    says.append(_sentence(delivered, "tasks were delivered", good=delivered.value > 0))
    says.append(_sentence(repeated, "tasks met a failure that was known before", good=repeated.value < 0))
    if not delivered.sure:
        says.append("More tasks narrow the interval; until it leaves out 0, neither help nor harm is shown.")
    return tuple(says)


def _sentence(lift: Lift, what: str, *, good: bool) -> str:
    span = f"95 % interval {100 * lift.low:+.1f} to {100 * lift.high:+.1f} points"
    if not lift.sure:
        return f"No difference is shown in how many {what}: {100 * lift.value:+.1f} points, {span}, which includes 0."
    side = "more" if lift.value > 0 else "fewer"
    word = "better" if good else "WORSE"
    return f"With memory {side} {what}, {word}: {100 * lift.value:+.1f} points, {span}."


Z95 = 1.959963984540054
"""Standard normal quantile of a two-sided interval of 95 %."""


def wilson(hits: int, cases: int, z: float = Z95) -> tuple[float, float]:
    """Return Wilson's score interval of a share of the experiment's tasks, within 0..1; (0, 1) where there are none.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference, J. Am. Stat. Assoc. 22 (1927).
    """
    if cases == 0:
        return 0.0, 1.0
    share, spread = hits / cases, z * z / cases
    middle = (share + spread / 2) / (1 + spread)
    half = z * sqrt(share * (1 - share) / cases + spread / (4 * cases)) / (1 + spread)
    # At the ends the bound is the share itself; rounding must not put it a hair off.
    return 0.0 if hits == 0 else max(0.0, middle - half), 1.0 if hits == cases else min(1.0, middle + half)


def newcombe(hits: int, cases: int, other_hits: int, other_cases: int, z: float = Z95) -> tuple[float, float]:
    """Return Newcombe's interval of one share of the experiment's tasks less another; (-1, 1) where one has no cases.

    R. G. Newcombe, Interval estimation for the difference between independent proportions: comparison of eleven
    methods, Stat. Med. 17 (1998), method 10: the two score intervals, without continuity correction, put together.
    """
    if cases == 0 or other_cases == 0:
        return -1.0, 1.0
    here, there = hits / cases, other_hits / other_cases
    low, high = wilson(hits, cases, z)
    other_low, other_high = wilson(other_hits, other_cases, z)
    below = sqrt((here - low) ** 2 + (other_high - there) ** 2)
    above = sqrt((high - here) ** 2 + (there - other_low) ** 2)
    return here - there - below, here - there + above
