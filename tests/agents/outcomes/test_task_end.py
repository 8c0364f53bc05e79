"""Settling a task gives every memory its due exactly once, in any order, and takes back what was too early."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import islice, permutations
from typing import Any, cast

import pytest

from helix.agents.outcomes.noting import note_evidence, note_repeats, note_use
from helix.agents.outcomes.task_end import override, settle_task, tell_outcome
from helix.agents.outcomes.verdicts import Use, verdict
from helix.agents.tasks.board import TaskSighting, find_task, inject, injections, learn, mirror
from helix.errors import InvalidInputError, NotFoundError
from helix.memory.failures.systemic import OCCURRENCES
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.links import link
from helix.memory.remember.request import StoreRequest
from helix.model.edge import Edge
from helix.model.evidence import Evidence, EvidenceKind, Verification
from helix.model.memory import Memory, Status
from helix.model.task import COMPLETED, ON_ERROR, RECALL, Shown, Task
from helix.model.task_answers import Gain
from helix.operations import graph, memories
from helix.service import Helix
from helix.store.listing import MemoryFilter
from helix.store.store import Store
from tests.memory.conftest import START, Moment

USING = "uv sync --frozen"


def lesson(helix: Helix, trigger: str = "modules are missing", kind: str = "pattern", **more: Any) -> str:
    return memories.store(
        helix,
        StoreRequest(trigger=trigger, resolution=more.pop("resolution", f"run `{USING}` first"), kind=kind, **more),
    ).id


def begun(store: Store, key: str = "1", *, shown: Sequence[str] = (), arm: str = RECALL, **more: Any) -> str:
    task = mirror(store, TaskSighting(session="s", key=key, objective=more.pop("objective", "fix the import"), **more))
    show(store, task.id, shown, arm)
    return task.id


def show(store: Store, task: str, ids: Sequence[str], arm: str = RECALL, *, held_back: bool = False) -> None:
    shown = [
        Shown(memory_id=one, name="", kind="", rank=n, score=0.5, arm=arm, tokens=9) for n, one in enumerate(ids, 1)
    ]
    inject(store, task, shown, held_back=held_back)


def ran(passed: bool, minute: int = 1, kind: EvidenceKind = EvidenceKind.TEST, **more: Any) -> Evidence:
    at = START + timedelta(hours=1, minutes=minute)
    return Evidence(kind=kind, command="pytest", passed=passed, id=f"{kind}{minute}", exit_status=0, at=at, **more)


def kept(store: Store, task: str) -> Task:
    found = find_task(store.index, task)
    assert found is not None
    return found


def worth(helix: Helix, ident: str) -> tuple[float, float, int]:
    memory = memories.get(helix, ident)
    return memory.helped, memory.failed, memory.uses


def bonds(helix: Helix, ident: str, relation: str) -> list[tuple[str, str, float]]:
    edges: list[Edge] = [*memories.edges(helix, ident, relation)]
    return [(edge.source.id, edge.target.id, edge.weight) for edge in edges]


def test_a_memory_that_was_used_gets_its_half_once_and_the_edge_says_so(living: Helix, store: Store) -> None:
    used, idle = lesson(living), lesson(living, "colours look odd", resolution="ask Mira for the palette")
    task = begun(store, shown=[used, idle])
    note_use(store, task, commands=[USING], text="done")
    note_evidence(store, task, ran(True, tests_passed=7))
    assert worth(living, used) == (0, 0, 0), "nothing is given before the task has ended"
    settled = settle_task(store, task, outcome="delivered")
    assert settled.changed
    assert [(gain.outcome, gain.use, gain.quality) for gain in settled.gains] == [
        ("helped", "evidence", 5),
        ("unused", "unused", None),
    ]
    assert settled.gains[0].signs[0] == "ran uv sync"
    assert (worth(living, used), worth(living, idle)) == ((0.5, 0, 1), (0, 0.1, 0))
    before = store.journal.last_seq
    for _ in range(3):
        assert not settle_task(store, task).changed
        note_evidence(store, task, ran(True, tests_passed=7))
        note_use(store, task, commands=[USING], text="done")
    assert store.journal.last_seq == before
    first, second = injections(store.index, task)
    assert (first.outcome, second.outcome) == ("helped", "unused")
    assert first.credited is not None
    assert (first.credited.helped, first.credited.quality) == (0.5, 5)
    node = kept(store, task)
    assert (node.outcome, node.verification) == ("delivered", "passed")
    rows = graph.cypher(
        living, "MATCH (t:Task)-[i:INJECTED]->(m:Memory) RETURN t.outcome, i.outcome, m.helped ORDER BY i.rank"
    ).rows
    assert [list(row) for row in rows] == [["delivered", "helped", 0.5], ["delivered", "unused", 0.0]]


def test_evidence_is_kept_as_evidence_and_claims_as_claims(living: Helix, store: Store) -> None:
    memory = lesson(living)
    task = begun(store, shown=[memory])
    note_use(store, task, utilized=[memories.get(living, memory).name], files=["a.py"])
    claimed = settle_task(store, task, outcome="delivered")
    assert [(gain.outcome, gain.use) for gain in claimed.gains] == [("claimed", "claimed")]
    assert worth(living, memory) == (0.25, 0, 1)
    assert memories.get(living, memory).easiness == 2.5, "a claim reinforces nothing"
    note_evidence(store, task, ran(False, tests_failed=2))
    node = kept(store, task)
    (row,) = cast(list[dict[str, object]], node.attributes["helix:evidence"])
    assert (row["command"], row["passed"], row["tests_failed"]) == ("pytest", False, 2)
    again = settle_task(store, task)
    assert (node.outcome, again.claimed, again.verification) == ("blocked", "delivered", Verification.FAILED)
    assert worth(living, memory) == (0, 0.3, 1)


def test_a_better_verdict_takes_back_exactly_and_so_does_a_revert(living: Helix, store: Store, moment: Moment) -> None:
    memory = lesson(living)
    fresh = memories.get(living, memory)
    task = begun(store, shown=[memory])
    note_use(store, task, commands=[USING])
    settle_task(store, task, outcome="delivered")
    moment.forward(hours=2)
    note_evidence(store, task, ran(True, 1, commit="abc1234"))
    assert worth(living, memory) == (0.5, 0, 1)
    assert memories.get(living, memory).half_life_days == pytest.approx(90 * 2.6)
    other = begun(store, "2", objective="undo the import")
    note_evidence(store, other, ran(False, 9, EvidenceKind.REVERT, commit="abc1234def"))
    assert worth(living, memory) == (0, 0.3, 1)
    assert kept(store, task).outcome == "blocked"
    assert kept(store, other).verification == "", "to revert is no failure of whoever does it"
    settle_task(store, task, outcome="skipped")
    assert memories.get(living, memory) == fresh


Step = Callable[[Store, str], object]
STEPS: tuple[Step, ...] = (
    lambda store, task: note_evidence(store, task, ran(False, 1)),
    lambda store, task: note_evidence(store, task, ran(True, 2)),
    lambda store, task: note_use(store, task, commands=[USING]),
    lambda store, task: settle_task(store, task, outcome="delivered"),
    lambda store, task: settle_task(store, task),
)


def test_in_whatever_order_the_end_is_the_same(living: Helix, store: Store) -> None:
    ends = set()
    for number, order in enumerate(islice(permutations(STEPS), 0, None, 7)):  # any order: test_settle_orders draws them
        memory = lesson(living, f"part {number} of the modules is missing", scope=f"scope-{number}")
        task = begun(store, f"task {number}", shown=[memory])
        for step in order:
            step(store, task)
        settle_task(store, task)
        node = kept(store, task)
        ends.add((worth(living, memory), node.outcome, node.verification))
        settle_task(store, task, outcome="skipped")
        assert worth(living, memory) == (0, 0, 0)
    assert ends == {((0.5, 0, 1), "delivered", "passed")}


def test_tasks_that_share_a_memory_give_and_take_their_own(living: Helix, store: Store) -> None:
    memory = lesson(living)
    tasks = [begun(store, str(number), shown=[memory]) for number in range(4)]
    for task, passed in zip(tasks, (True, False, True, True), strict=True):
        note_use(store, task, commands=[USING])
        note_evidence(store, task, ran(passed))
        settle_task(store, task)
    assert worth(living, memory) == (1.5, 0.3, 4)
    for task in tasks[1:]:
        settle_task(store, task, outcome="skipped")
    assert worth(living, memory) == (0.5, 0, 1)
    assert memories.get(living, memory).easiness == pytest.approx(2.6)
    assert memories.get(living, memory).half_life_days == pytest.approx(90 * 2.6)


@pytest.mark.soak
def test_counters_are_what_the_last_word_on_every_task_comes_to_whatever_came_before(
    living: Helix, store: Store
) -> None:
    """Against the obvious way: forget all history, and add up what the table says of each task as it ends."""
    memories = [lesson(living, f"modules are missing in {part}", resolution=part) for part in ("kiwi", "plum", "pear")]
    draw = random.Random(5)
    tasks = [begun(store, str(number), shown=draw.sample(memories, 2)) for number in range(4)]
    said = dict.fromkeys(tasks, "")
    last: dict[str, Verification] = dict.fromkeys(tasks, Verification.NONE)
    used: dict[str, set[str]] = {task: set() for task in tasks}
    for minute in range(120):
        task = draw.choice(tasks)
        step = draw.randrange(4)
        if step == 0:
            said[task] = draw.choice(["", "delivered", "blocked", "skipped"])
            settle_task(store, task, outcome=said[task])
        elif step == 1:
            passed = draw.random() < 0.5
            last[task] = Verification.PASSED if passed else Verification.FAILED
            note_evidence(store, task, ran(passed, minute))
        elif step == 2:
            memory = draw.choice(memories)
            used[task].add(memory)
            note_use(store, task, utilized=[memory])
        else:
            settle_task(store, task)
    expected = {memory: [0.0, 0.0, 0] for memory in memories}
    for task in tasks:
        settle_task(store, task)
        for shown in injections(store.index, task):
            use = Use.CLAIMED if shown.memory_id in used[task] else Use.UNUSED if used[task] else Use.UNKNOWN
            found = verdict(last[task], use, outcome=said[task])
            for place, amount in enumerate((found.helped, found.failed, int(found.is_use))):
                expected[shown.memory_id][place] += amount
    assert {memory: worth(living, memory) for memory in memories} == {
        memory: pytest.approx(tuple(counts)) for memory, counts in expected.items()
    }
    for task in tasks:
        settle_task(store, task, outcome="skipped")
    assert {worth(living, memory) for memory in memories} == {(0, 0, 0)}


def test_what_was_held_back_quarantined_or_shown_to_no_one_gets_nothing(living: Helix, store: Store) -> None:
    withheld, hidden = lesson(living), lesson(living, "ports are taken")
    task = begun(store)
    show(store, task, [withheld], held_back=True)
    show(store, task, [hidden])
    store.writer.submit(lambda: _status(store, hidden, Status.QUARANTINED))
    note_use(store, task, commands=[USING], utilized=[memories.get(living, withheld).name])
    note_evidence(store, task, ran(True))
    assert settle_task(store, task, outcome="delivered").gains == ()
    assert worth(living, withheld) == worth(living, hidden) == (0, 0, 0)
    assert settle_task(store, "nobody", outcome="delivered").gains == ()
    with pytest.raises(InvalidInputError, match="not an outcome"):
        settle_task(store, task, outcome="fine")


def _status(store: Store, ident: str, status: Status) -> Any:
    from helix.memory.change.compose import Composer
    from helix.model.edge import Ref
    from helix.store.writer import Decision

    composer = Composer(store, store.runtime.clock())
    composer.patch(Ref.memory(ident), status=status)
    return Decision((composer.change("test"),), None)


def test_an_edited_memory_is_credited_in_its_newest_version(living: Helix, store: Store) -> None:
    memory = lesson(living)
    task = begun(store, shown=[memory])
    note_use(store, task, commands=[USING])
    note_evidence(store, task, ran(True))
    settle_task(store, task)
    newer = memories.edit(living, memory, EditRequest(resolution=f"run `{USING}` before anything else"))
    assert (newer.id != memory, newer.helped) == (True, 0.5)
    other = lesson(living, "a parsnip is late", resolution="wait for it")
    link(store, other, memory, "supersedes", 1.0, agent="a")  # what an agent says of it makes no version of it
    note_evidence(store, task, ran(False, 5))
    assert worth(living, newer.id) == (0, 0.3, 1)


def test_what_a_person_says_of_a_memory_in_a_task_stands(living: Helix, store: Store) -> None:
    memory = lesson(living)
    name = memories.get(living, memory).name
    task = begun(store, shown=[memory])
    note_use(store, task, commands=[USING])
    note_evidence(store, task, ran(True))
    settle_task(store, task)
    assert [one.failed for one in override(store, task, [name], -1.0)] == [1.0]
    assert worth(living, memory) == (0, 1.0, 1)
    note_evidence(store, task, ran(True, 5))
    (gain,) = settle_task(store, task, outcome="delivered").gains
    assert isinstance(gain, Gain)
    assert (gain.overridden, gain.outcome, worth(living, memory)) == (True, "failed", (0, 1.0, 1))
    override(store, task, [name], 0.5, 5)
    assert worth(living, memory) == (0.5, 0, 1), "said again, it replaces what was said"
    with pytest.raises(InvalidInputError, match="was not shown"):
        override(store, task, [lesson(living, "another thing entirely")], 1.0)
    with pytest.raises(NotFoundError):
        override(store, "nobody", [name], 1.0)


def test_memories_that_helped_one_task_grow_together_and_apart_again(living: Helix, store: Store) -> None:
    one, other = lesson(living), lesson(living, "lock files differ", resolution=f"`{USING}` again")
    low, high = sorted((one, other))
    for number in range(2):
        task = begun(store, str(number), shown=[one, other])
        note_use(store, task, commands=[USING])
        note_evidence(store, task, ran(True))
        settle_task(store, task)
        assert bonds(living, one, "co_occurs") == [(low, high, number + 1.0)]
    note_evidence(store, task, ran(False, 5))
    assert bonds(living, one, "co_occurs") == [(low, high, 1.0)]
    settle_task(store, begun(store, "0"), outcome="skipped")
    assert bonds(living, one, "co_occurs") == []


def test_an_edge_that_a_person_drew_outlives_what_tasks_add_to_it(living: Helix, store: Store) -> None:
    one, other = sorted((lesson(living), lesson(living, "lock files differ", resolution=f"`{USING}` again")))
    memories.edge(living, one, other, "co_occurs", 2.0)
    task = begun(store, shown=[one, other])
    note_use(store, task, commands=[USING])
    note_evidence(store, task, ran(True))
    settle_task(store, task)
    assert bonds(living, one, "co_occurs") == [(one, other, 3.0)]
    settle_task(store, task, outcome="skipped")
    assert bonds(living, one, "co_occurs") == [(one, other, 2.0)]


def test_a_pattern_solves_the_failure_whose_error_came_up_and_only_that(living: Helix, store: Store) -> None:
    pattern = lesson(living)
    met = lesson(living, "ImportError in CI", "failure", resolution="")
    unmet = lesson(living, "disk full in CI", "failure", resolution="")
    task = begun(store, shown=[pattern, unmet])
    show(store, task, [met], ON_ERROR)
    note_use(store, task, commands=[USING])
    note_evidence(store, task, ran(True))
    settle_task(store, task)
    assert bonds(living, pattern, "solves") == [(pattern, met, 1.0)]
    learned = lesson(living, "CI needs the lock file", resolution="commit uv.lock")
    learn(store, task, learned)
    settle_task(store, task)
    assert bonds(living, learned, "solves") == [(learned, met, 1.0)]
    note_evidence(store, task, ran(False, 5))
    assert bonds(living, met, "solves") == []


def test_a_pattern_that_is_only_claimed_solves_nothing(living: Helix, store: Store) -> None:
    pattern, met = lesson(living), lesson(living, "ImportError in CI", "failure", resolution="")
    task = begun(store, shown=[pattern])
    show(store, task, [met], ON_ERROR)
    note_use(store, task, utilized=[memories.get(living, pattern).name])
    note_evidence(store, task, ran(True))
    settle_task(store, task)
    assert bonds(living, pattern, "solves") == []


def test_a_failure_that_led_to_another_one_causes_it(living: Helix, store: Store) -> None:
    met = lesson(living, "ImportError in CI", "failure", resolution="")
    task = begun(store)
    show(store, task, [met], ON_ERROR)
    new = lesson(living, "the lock file is ignored in CI", "failure", resolution="")
    learn(store, task, new)
    settle_task(store, task, outcome="blocked")
    assert bonds(living, met, "causes") == [(met, new, 1.0)]
    settle_task(store, task, outcome="delivered")
    assert bonds(living, met, "causes") == []


def test_three_similar_failures_learned_by_tasks_are_systemic(living: Helix, store: Store, moment: Moment) -> None:
    for number, words in enumerate(("on a large file", "with a large file again", "for one large file today")):
        task = begun(store, str(number))
        failure = lesson(living, f"upload job times out {words} behind the proxy", "failure", resolution="")
        learn(store, task, failure)
        settle_task(store, task, outcome="blocked")
        moment.forward(days=1)
    (systemic,) = memories.memories(living, MemoryFilter(kinds=["systemic"])).items
    assert isinstance(systemic, Memory)
    assert systemic.attributes[OCCURRENCES] == 3
    failures = {memory.id for memory in memories.memories(living, MemoryFilter(kinds=["failure"])).items}
    assert {edge.source.id for edge in memories.edges(living, systemic.id, "causes")} == failures, (
        "each once, as it is now"
    )


def test_failures_that_were_known_and_came_again_are_counted_with_the_task(
    living: Helix, store: Store, moment: Moment
) -> None:
    known = lesson(living, "ImportError in CI", "failure")
    pattern = lesson(living)
    moment.forward(minutes=1)
    task = begun(store)
    later = lesson(living, "disk full in CI", "failure")
    note_repeats(store, task, [known, pattern, later, "nobody"])
    note_repeats(store, task, [known])
    assert kept(store, task).attributes["helix:repeated"] == [known]


def test_nothing_secret_and_nothing_long_is_kept_with_a_task(living: Helix, store: Store) -> None:
    secret = "ghp_x7Kq2LmZp9RtVw4Ys8BnHc3Df6GjQ1eTuXaW"
    task = begun(store)
    evidence = ran(True)
    note_evidence(store, task, Evidence(kind=evidence.kind, command=f"GH_TOKEN={secret} pytest", passed=True))
    note_use(store, task, commands=[f"curl -H 'Authorization: Bearer {secret}' x", "y" * 5000], text=secret * 9)
    written = str(kept(store, task).attributes)
    assert secret not in written
    assert len(written) < 2_000


def test_a_task_that_the_client_reports_on_again_is_judged_by_the_new_word(living: Helix, store: Store) -> None:
    memory = lesson(living)
    task = begun(store, shown=[memory])
    note_use(store, task, commands=[USING])
    settle_task(store, task, outcome="delivered")
    mirror(store, TaskSighting(session="s", key="1", status=COMPLETED, outcome="blocked"))
    assert settle_task(store, task).claimed == "blocked"
    assert worth(living, memory) == (0, 0.3, 1)


def test_what_a_person_says_of_a_task_goes_before_every_command(living: Helix, store: Store) -> None:
    memory = lesson(living)
    task = begun(store, shown=[memory])
    note_use(store, task, commands=[USING])
    note_evidence(store, task, ran(False))
    settle_task(store, task)
    assert tell_outcome(store, task, "delivered").verification is Verification.PASSED
    assert worth(living, memory) == (0.5, 0, 1)
    note_evidence(store, task, ran(False, 5))
    assert worth(living, memory) == (0.5, 0, 1)
    assert tell_outcome(store, task, "", claimed=False).verification is Verification.FAILED
    assert worth(living, memory) == (0, 0.3, 1)
    with pytest.raises(NotFoundError):
        tell_outcome(store, "nobody", "delivered")


def test_an_edit_after_the_tests_leaves_the_claim_alone(living: Helix, store: Store) -> None:
    memory = lesson(living)
    task = begun(store, shown=[memory])
    note_evidence(store, task, ran(True, 1))
    edited: datetime = START + timedelta(hours=1, minutes=5)
    note_use(store, task, commands=[USING], files=["a.py"], edited_at=edited)
    assert settle_task(store, task, outcome="delivered").verification is Verification.NONE
    assert worth(living, memory) == (0.25, 0, 1)


def test_a_persons_word_that_is_worth_what_the_agents_was_takes_its_place(living: Helix, store: Store) -> None:
    memory = lesson(living)
    task = begun(store, shown=[memory])
    note_use(store, task, commands=[USING])
    settle_task(store, task, outcome="delivered")
    override(store, task, [memory], 0.25)
    assert worth(living, memory) == (0.25, 0, 1)
