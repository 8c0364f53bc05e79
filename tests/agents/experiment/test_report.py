"""The report counts tasks by what was drawn for them, compares them when there is enough, and says so when not."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.agents.experiment.effect import LEAST_PER_ARM, Case, compared
from helix.agents.experiment.holdback import SHARE
from helix.agents.experiment.report_page import page
from helix.agents.outcomes.ledger import REPEATED, ledger_of, with_ledger
from helix.agents.outcomes.noting import note_evidence, note_repeats, note_use
from helix.agents.outcomes.task_end import settle_task
from helix.agents.tasks.board import TaskSighting, inject, mirror
from helix.memory.remember.request import StoreRequest
from helix.model.evidence import Evidence, EvidenceKind
from helix.model.proof import Report
from helix.model.task import ACTION, BRIEF, TOKENS_INJECTED, Injection, Shown, Task
from helix.operations import learning, memories
from helix.service import Helix
from helix.store.store import Store
from tests.memory.conftest import Moment

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
_NUMBERS = count()


def case(
    outcome: str,
    *,
    held: bool = False,
    share: float = 0.1,
    nothing: bool = False,
    day: float = 0,
    repeated: bool = False,
    came: Sequence[str] = ("helped",),
    name: str = "a memory",
) -> Case:
    at = START + timedelta(days=day)
    memories = (
        ()
        if nothing
        else tuple(
            Injection(
                memory_id=f"m{n}",
                name=name,
                arm="recall",
                rank=n,
                score=0.5,
                at=at,
                outcome="" if held else word,
                held_back=held,
            )
            for n, word in enumerate(came, 1)
        )
    )
    attributes: dict[str, object] = {SHARE: share, TOKENS_INJECTED: 0 if held else 100}
    if repeated:
        attributes[REPEATED] = ["f"]
    task = Task(
        id=f"t{next(_NUMBERS)}",
        objective="",
        recorded_at=at,
        ended_at=at,
        outcome=outcome,
        treatment="held_back" if held else "memory",
        attributes=attributes,
    )
    return Case(task=task, shown=() if held else memories, withheld=memories if held else ())


def told(cases: Sequence[Case], holdback: float = 0.1) -> Report:
    return compared(cases, now=START + timedelta(days=30), since=None, scope=None, holdback=holdback)


def many(delivered: int, blocked: int, **more: object) -> list[Case]:
    return [case("delivered", **more) for _ in range(delivered)] + [case("blocked", **more) for _ in range(blocked)]  # type: ignore[arg-type]


def test_a_clear_difference_is_said_with_its_interval() -> None:
    found = told([*many(80, 20), *many(15, 25, held=True)])
    assert found.enough
    assert found.delivered is not None
    assert found.delivered.value == pytest.approx(0.8 - 0.375)
    assert found.delivered.sure
    assert found.says[0].startswith("With memory more tasks were delivered, better: +42.5 points, 95 % interval +")
    assert "No difference is shown in how many tasks met a failure" in found.says[1]


def test_harm_is_said_as_plainly_as_help() -> None:
    found = told([*many(20, 80, came=("failed", "unused", "helped")), *many(38, 2, held=True)])
    assert "WORSE" in found.says[0]
    assert (found.harm.blocked, found.harm.shown, found.harm.failed, found.harm.unused) == (80, 300, 100, 100)


def test_an_interval_that_includes_0_is_no_difference() -> None:
    found = told([*many(70, 30), *many(25, 15, held=True)])
    assert found.delivered is not None and not found.delivered.sure
    assert found.says[0].startswith("No difference is shown")
    assert "until it leaves out 0" in found.says[-1]


def test_too_little_is_said_and_nothing_is_compared() -> None:
    found = told([*many(100, 0), *many(0, LEAST_PER_ARM - 1, held=True)])
    assert (found.enough, found.delivered, found.repeated) == (False, None, None)
    assert found.says == (
        f"Too little to compare: 100 tasks with memory and 29 without have ended; {LEAST_PER_ARM} of each are needed.",
    )
    assert "holdback is 0" in told([], holdback=0.0).says[0]


def test_who_had_nothing_to_be_shown_or_was_never_drawn_is_in_neither_arm() -> None:
    found = told(
        [
            *many(2, 1),
            *many(1, 1, held=True),
            *many(5, 0, nothing=True),
            *many(4, 0, held=True, nothing=True),
            *many(7, 0, share=0.0),
            case("skipped"),
            case(""),
        ]
    )
    assert (found.with_memory.tasks, found.held_back.tasks, found.undrawn.tasks, found.neither) == (5, 2, 7, 9)
    arm = found.with_memory
    assert (arm.delivered.hits, arm.delivered.cases, arm.blocked, arm.skipped, arm.open) == (2, 3, 1, 1, 1)
    assert (arm.tokens, arm.tokens_per_task) == (500, 100)


def test_repeated_failures_are_counted_of_all_tasks_of_an_arm() -> None:
    found = told(
        [*many(36, 0), *many(4, 0, repeated=True), *many(20, 0, held=True), *many(20, 0, held=True, repeated=True)]
    )
    assert found.repeated is not None
    assert found.repeated.value == pytest.approx(0.1 - 0.5)
    assert found.says[1].startswith("With memory fewer tasks met a failure that was known before, better: -40.0")


def test_memories_are_listed_from_the_most_helpful_to_the_most_harmful() -> None:
    cases = [
        *many(3, 0, came=("helped", "unused", "failed")),
        *many(1, 0, came=("helped", "helped", "")),
        *many(2, 0, held=True, came=("", "", "")),
    ]
    found = told(cases).leaders
    assert [one.memory_id for one in found] == ["m1", "m2", "m3"]
    assert [(one.shown, one.helped, one.failed, one.unused, one.withheld) for one in found] == [
        (4, 4, 0, 0, 2),
        (4, 1, 0, 3, 2),
        (4, 0, 3, 0, 2),
    ]


def test_what_only_stands_in_a_plan_is_counted_nowhere(living: Helix, store: Store) -> None:
    mirror(store, TaskSighting(session="s", key="planned"))
    assert learning.report(living).neither == 0
    mirror(store, TaskSighting(session="s", key="begun", status="in_progress"))
    mirror(store, TaskSighting(session="s", key="over", status="completed", outcome="skipped"))
    assert learning.report(living).neither == 2


def test_a_session_that_was_briefed_and_did_nothing_itself_is_no_task(
    living: Helix, store: Store, moment: Moment
) -> None:
    memory = memories.store(
        living, StoreRequest(trigger="colours look odd", resolution="ask Mira", kind="convention")
    ).id
    failure = memories.store(living, StoreRequest(trigger="ImportError in CI", resolution="", kind="failure")).id
    moment.forward(minutes=1)

    def session(name: str, arm: str = BRIEF, *, held: bool = False) -> str:
        seen = TaskSighting(
            session=name, key="session", status="completed", treatment="held_back" if held else "memory"
        )
        task = mirror(store, seen).id
        inject(
            store,
            task,
            [Shown(memory_id=memory, name="", kind="", rank=1, score=1, arm=arm, tokens=30)],
            held_back=held,
        )
        settle_task(store, task)
        return task

    session("idle"), session("idle and held back", held=True)
    found = learning.report(living)
    assert (found.undrawn.tasks, found.held_back.tasks, found.neither, found.harm.shown) == (0, 0, 0, 0)
    assert (found.undrawn.tokens, found.undrawn.tokens_per_task) == (30, 0)
    session("warned at a command", ACTION)
    note_use(store, session("edited"), files=["a.py"])
    note_evidence(store, session("verified"), Evidence(kind=EvidenceKind.TEST, command="pytest", passed=True, id="1"))
    note_repeats(store, session("failed again"), [failure])
    settle_task(store, session("told"), outcome="skipped")
    found = learning.report(living)
    assert (found.undrawn.tasks, found.undrawn.open, found.undrawn.tokens) == (5, 3, 180)
    assert found.undrawn.tokens_per_task == 30


_HISTORY = st.fixed_dictionaries(
    {
        "outcome": st.sampled_from(["", "", "", "delivered", "blocked", "skipped"]),
        "treatment": st.sampled_from(["memory", "held_back", ""]),
        "drawn": st.booleans(),
        "arms": st.just([BRIEF]) | st.lists(st.sampled_from([BRIEF, "recall", ACTION]), max_size=3),
        "worked": st.sampled_from([False, False, True]),
        "repeated": st.sampled_from([False, False, True]),
        "tokens": st.integers(0, 50),
    }
)


@given(st.lists(_HISTORY, max_size=40))
def test_the_counts_are_what_counting_by_hand_comes_to(histories: list[dict[str, Any]]) -> None:
    """Against sorting each task, as it was told, into the one place where it counts."""
    places: dict[str, list[dict[str, Any]]] = {"with": [], "held": [], "undrawn": [], "neither": []}
    tokens = {"with": 0, "held": 0, "undrawn": 0, "neither": 0}
    for one in histories:
        held = one["treatment"] == "held_back"
        where = "neither" if not one["arms"] else "held" if held else "undrawn"
        if where == "undrawn" and one["treatment"] == "memory" and one["drawn"]:
            where = "with"
        tokens[where] += 0 if held else one["tokens"]
        did = one["worked"] or one["repeated"] or one["outcome"]
        if did or not one["arms"] or any(arm != BRIEF for arm in one["arms"]):
            places[where].append(one)
    found = told([_case_of(one) for one in histories])
    assert found.neither == len(places["neither"])
    for where, arm in (("with", found.with_memory), ("held", found.held_back), ("undrawn", found.undrawn)):
        outcomes = Counter(one["outcome"] for one in places[where])
        own = sum(one["tokens"] for one in places[where] if where != "held")
        assert (arm.tasks, arm.skipped, arm.open, arm.blocked) == (
            len(places[where]),
            outcomes["skipped"],
            outcomes[""],
            outcomes["blocked"],
        )
        assert (arm.delivered.hits, arm.delivered.cases) == (
            outcomes["delivered"],
            outcomes["delivered"] + outcomes["blocked"],
        )
        assert (arm.repeated.hits, arm.repeated.cases) == (sum(one["repeated"] for one in places[where]), arm.tasks)
        assert (arm.tokens, arm.tokens_per_task) == (tokens[where], own / arm.tasks if arm.tasks else 0)


def _case_of(one: dict[str, Any]) -> Case:
    """Return the task of such a history as the store would hold it."""
    held = one["treatment"] == "held_back"
    memories = tuple(
        Injection(memory_id=f"m{rank}", name="", arm=arm, rank=rank, score=1.0, at=START, held_back=held)
        for rank, arm in enumerate(one["arms"], 1)
    )
    attributes: dict[str, object] = {SHARE: 0.1 if one["drawn"] else 0.0}
    attributes |= {} if held or not memories else {TOKENS_INJECTED: one["tokens"]}
    attributes |= {REPEATED: ["f"]} if one["repeated"] else {}
    task = Task(
        id=f"t{next(_NUMBERS)}",
        objective="",
        recorded_at=START,
        status="completed",
        outcome=one["outcome"],
        treatment=one["treatment"],
        attributes=attributes,
    )
    task = with_ledger(task, replace(ledger_of(task), worked_at=START if one["worked"] else None))
    return Case(task=task, shown=() if held else memories, withheld=memories if held else ())


def test_a_page_of_one_day_draws_the_intervals_that_it_speaks_of_and_tells_the_harm() -> None:
    html = page(told([*many(8, 3, came=("unused",)), *many(4, 1, held=True)]))
    assert "polygon" not in html
    plot = html[html.index("Share of tasks delivered over time") :].split("</svg>")[0]
    for colour in ("--with", "--without"):
        assert len(re.findall(rf"<line [^>]*stroke:var\({colour}\);stroke-width:2", plot)) == 3
    assert "<b class=''>3</b>tasks blocked with memory" in html
    assert "0 of 11 showings failed, 11 were not used" in html
    assert "polygon" in page(told([*many(8, 3), *many(4, 1, day=1)]))


def test_a_page_of_tasks_that_were_never_drawn_says_what_came_of_them() -> None:
    html = page(told(many(9, 6, share=0.0), holdback=0.0))
    assert "No task that was drawn has ended yet. 15 that were not drawn have" in html
    assert "<b class=''>60%</b>delivered with memory, not drawn" in html
    assert "<b class=''>100</b>tokens a task" in html
    assert "not drawn have" not in page(told([]))


def test_time_goes_by_days_and_by_weeks_where_there_are_many_with_no_gap() -> None:
    found = told([case("delivered"), case("blocked", day=3, held=True)])
    assert (found.days, [(one.with_ended, one.without_ended) for one in found.periods]) == (
        1,
        [(1, 0), (0, 0), (0, 0), (0, 1)],
    )
    weekly = told([case("delivered", day=2), case("delivered", day=80)])
    assert (weekly.days, len(weekly.periods), weekly.periods[0].start.weekday()) == (7, 12, 0)
    assert sum(one.with_ended for one in weekly.periods) == 2


@given(st.randoms(use_true_random=False), st.integers(0, 40))
def test_the_order_of_tasks_makes_no_difference_and_none_is_lost(draw: random.Random, size: int) -> None:
    cases = [
        case(draw.choice(["delivered", "blocked", "skipped", ""]), held=draw.random() < 0.4, day=draw.randrange(90))
        for _ in range(size)
    ]
    shuffled = draw.sample(cases, len(cases))
    found = told(cases)
    assert told(shuffled) == found
    assert found.with_memory.tasks + found.held_back.tasks + found.undrawn.tasks + found.neither == size
    ended = sum(one.with_ended + one.without_ended for one in found.periods)
    assert ended == found.with_memory.delivered.cases + found.held_back.delivered.cases


class Reader(HTMLParser):
    """Collects what a page would load or run, and checks that what is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.reaching: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.reaching += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href") or name.startswith("on")]
        if tag not in ("meta", "circle", "rect", "line", "polygon", "polyline"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("circle", "rect", "line", "polygon", "polyline"):
            assert self.open.pop() == tag


@pytest.mark.parametrize("size", [0, 3, 60])
def test_the_page_is_whole_by_itself_and_what_is_stored_cannot_run_in_it(size: int) -> None:
    bad = "<script>alert(1)</script>' onload='x"
    cases = [*many(size, size // 2, name=bad), *many(size // 2, size, held=True, name=bad)]
    found = compared(cases, now=START, since=START, scope=bad, holdback=0.1)
    html = page(found)
    reader = Reader()
    reader.feed(html)
    assert reader.open == []
    assert reader.reaching == []
    assert "script" not in reader.tags
    assert not re.search(r"https?://|url\(|@import", html)
    assert ("svg" in reader.tags) is (size > 0)
    assert "prefers-color-scheme: dark" in html
    assert all(line in html for line in found.says)


def test_from_tasks_to_report_and_what_was_known_before_comes_again(
    living: Helix, store: Store, moment: Moment
) -> None:
    pattern = memories.store(
        living, StoreRequest(trigger="modules are missing", resolution="run `uv sync --frozen`", kind="pattern")
    ).id
    failure = memories.store(living, StoreRequest(trigger="ImportError in CI", resolution="", kind="failure")).id
    moment.forward(hours=1)
    for number, held in enumerate((False, False, True)):
        seen = TaskSighting(session="s", key=str(number), treatment="held_back" if held else "memory", attributes={})
        task = mirror(store, seen).id
        inject(store, task, [Shown(memory_id=pattern, name="", kind="", rank=1, score=1, tokens=20)], held_back=held)
        note_use(store, task, commands=["uv sync --frozen"])
        note_evidence(store, task, Evidence(kind=EvidenceKind.TEST, command="pytest", passed=not held, at=moment()))
        if held:
            note_repeats(store, task, [failure])
        settle_task(store, task, outcome="delivered")
    found = learning.report(living)
    assert (found.undrawn.tasks, found.undrawn.delivered.hits, found.undrawn.tokens) == (2, 2, 40)
    assert (found.held_back.tasks, found.held_back.blocked, found.held_back.repeated.hits) == (1, 1, 1)
    (leader,) = found.leaders
    assert (leader.memory_id, leader.kind, leader.shown, leader.helped, leader.withheld) == (
        pattern,
        "pattern",
        2,
        2,
        1,
    )
    assert learning.report(living, since=moment.forward(days=1)).neither == 0
    assert learning.report(living, scope="elsewhere").undrawn.tasks == 0
    assert leader.name in learning.report_page(living)
