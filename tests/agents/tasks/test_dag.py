"""What the order of tasks allows, held against definitions that are obvious and slow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from helix.agents.answers.cycles import detect_cycles
from helix.agents.tasks.dag import (
    cascade_status,
    check_stalled,
    clear_checkpoints,
    get_blocked_task_ids,
    get_completed_task_ids,
    get_ready_tasks,
)
from helix.model.task_answers import Progress

IDS = tuple("abcdefgh")
Tasks = list[dict[str, Any]]


@st.composite
def task_lists(draw: st.DrawFn) -> Tasks:
    """Lists of tasks in whatever state, waiting for each other in whatever way, for missing ones too."""
    ids = draw(st.permutations(IDS).map(lambda some: some[: draw(st.integers(0, len(IDS)))]))
    outcomes = st.sampled_from(["delivered", "blocked", "skipped", None])
    statuses = st.sampled_from(["pending", "pending", "in_progress", "completed", "completed", "deleted"])
    return [
        {
            "id": ident,
            "status": draw(statuses),
            "blockedBy": draw(st.lists(st.sampled_from(IDS), max_size=3)),
            "metadata": {"helix_outcome": draw(outcomes)},
        }
        for ident in ids
    ]


dependencies = st.dictionaries(st.sampled_from(IDS), st.lists(st.sampled_from(IDS), max_size=3))


def reaches(graph: Mapping[str, Sequence[str]]) -> set[tuple[str, str]]:
    """Every pair of which the first waits for the second, by whatever way."""
    pairs = {(task, other) for task, others in graph.items() for other in others}
    while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs |= more
    return pairs


def delivered(task: Mapping[str, Any]) -> bool:
    return task["status"] == "completed" and task["metadata"]["helix_outcome"] == "delivered"


def may_begin(task: Mapping[str, Any], tasks: Tasks) -> bool:
    done = [other["id"] for other in tasks if delivered(other)]
    return task["status"] == "pending" and not [one for one in task["blockedBy"] if one not in done]


def what_could_ever_begin(tasks: Tasks) -> set[str]:
    """Play it out: whatever can begin is delivered, again and again; the rest never can."""
    world = [{**task, "metadata": {**task["metadata"]}} for task in tasks]
    for task in world:
        if task["status"] == "in_progress":
            task["status"], task["metadata"]["helix_outcome"] = "completed", "delivered"
    begun: set[str] = set()
    while started := [task for task in world if may_begin(task, world)]:
        for task in started:
            begun.add(task["id"])
            task["status"], task["metadata"]["helix_outcome"] = "completed", "delivered"
    return begun


@given(dependencies)
def test_there_is_a_cycle_exactly_where_a_task_waits_for_itself(graph: dict[str, list[str]]) -> None:
    pairs = reaches(graph)
    knots = {frozenset(b for b in IDS if (a, b) in pairs and (b, a) in pairs) for a in IDS if (a, a) in pairs}
    found = detect_cycles(graph)
    assert sorted(circle[0] for circle in found) == sorted(min(knot) for knot in knots)
    for circle in found:
        assert len(set(circle)) == len(circle)
        assert all(after in graph[before] for before, after in zip(circle, (*circle[1:], circle[0]), strict=True))


@given(dependencies)
def test_a_cycle_is_as_short_as_one_through_its_first_task_can_be(graph: dict[str, list[str]]) -> None:
    for circle in detect_cycles(graph):
        steps, at = 1, set(graph[circle[0]])
        while circle[0] not in at:
            at = {other for task in at for other in graph.get(task, ())}
            steps += 1
        assert len(circle) == steps


def test_a_chain_of_many_thousand_tasks_is_searched_without_recursion() -> None:
    chain = {str(number): [str(number + 1)] for number in range(20_000)}
    assert detect_cycles(chain) == []
    assert len(detect_cycles({**chain, "20000": ["0"]})[0]) == 20_001


@given(task_lists())
def test_ready_completed_and_blocked_are_what_their_definitions_say(tasks: Tasks) -> None:
    assert get_ready_tasks(tasks) == [task["id"] for task in tasks if may_begin(task, tasks)]
    assert get_completed_task_ids(tasks) == [task["id"] for task in tasks if delivered(task)]
    blocked = [t["id"] for t in tasks if t["status"] == "completed" and t["metadata"]["helix_outcome"] == "blocked"]
    assert get_blocked_task_ids(tasks) == blocked


@given(task_lists())
def test_it_is_stalled_exactly_when_tasks_are_left_and_none_is_or_can_be_at_work(tasks: Tasks) -> None:
    left = [task for task in tasks if task["status"] == "pending"]
    idle = not any(task["status"] == "in_progress" or may_begin(task, tasks) for task in tasks)
    stalled, why = check_stalled(tasks)
    assert stalled == bool(left and idle)
    if why is not None:
        assert list(why.pending) == [task["id"] for task in left]
        assert all(why.waiting[ident] for ident in why.pending), "whoever waits, waits for something"
        assert bool(why.blocked or why.missing or why.cycles), "a stall has a cause"


@given(task_lists())
def test_unreachable_is_what_stays_when_everything_that_can_begin_is_delivered(tasks: Tasks) -> None:
    left = {task["id"] for task in tasks if task["status"] == "pending"}
    assert set(cascade_status(tasks).unreachable) == left - what_could_ever_begin(tasks)


@given(task_lists())
def test_a_plan_is_in_exactly_one_state_and_a_stuck_one_has_unreachable_tasks(tasks: Tasks) -> None:
    cascade = cascade_status(tasks)
    going = any(task["status"] == "in_progress" or may_begin(task, tasks) for task in tasks)
    assert (cascade.status is Progress.IN_PROGRESS) == going
    if cascade.status is Progress.COMPLETE:
        assert not [task for task in tasks if task["status"] == "pending"]
    if cascade.status is Progress.STUCK:
        assert cascade.unreachable
    if cascade.status is Progress.ALL_BLOCKED:
        assert cascade.blocked
        assert not cascade.delivered


@given(task_lists())
def test_clearing_gives_back_what_was_left_in_progress_and_nothing_else(tasks: Tasks) -> None:
    cleared, ids = clear_checkpoints(tasks)
    assert ids == [task["id"] for task in tasks if task["status"] == "in_progress"]
    for before, after in zip(tasks, cleared, strict=True):
        assert after == ({**before, "status": "pending"} if before["id"] in ids else before)
    assert clear_checkpoints(cleared)[1] == []


def test_clearing_leaves_the_tasks_of_the_session_that_goes_on() -> None:
    tasks = [{"id": name, "status": "in_progress", "session": name} for name in ("dead", "alive")]
    assert clear_checkpoints(tasks, session="alive")[1] == ["dead"]


def test_a_blocked_task_holds_up_its_own_branch_alone() -> None:
    over = {"status": "completed", "metadata": {"helix_outcome": "blocked"}}
    tasks = [{"id": "1", **over}, {"id": "2", "blockedBy": ["1"]}, {"id": "3", "blockedBy": ["2"]}, {"id": "4"}]
    cascade = cascade_status(tasks)
    assert (cascade.status, cascade.ready, cascade.unreachable) == (Progress.IN_PROGRESS, ("4",), ("2", "3"))


@given(task_lists())
def test_a_stall_names_exactly_the_wanted_tasks_that_are_not_there(tasks: Tasks) -> None:
    stalled, stall = check_stalled(tasks)
    if not stalled or stall is None:
        return
    there = {task["id"] for task in tasks if task["status"] != "deleted"}
    wanted = {blocker for task in tasks if task["status"] == "pending" for blocker in task["blockedBy"]}
    assert stall.missing == tuple(sorted(wanted - there))


def test_a_task_that_waits_for_one_that_is_not_there_says_which() -> None:
    stalled, stall = check_stalled([{"id": "a", "blockedBy": ["z", "y"]}, {"id": "y", "status": "deleted"}])
    assert stalled
    assert stall is not None
    assert stall.missing == ("y", "z")
