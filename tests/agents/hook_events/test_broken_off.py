"""Work whose end nobody tells: an agent that was interrupted, a client that was closed, a task left in progress."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.agents.tasks.board import find_task, inject, injections, task_id
from helix.identity import folder_identity
from helix.memory.remember.request import StoreRequest
from helix.model.task import Shown, Task
from helix.operations import memories
from tests.agents.hook_events.agent_client import AgentSession
from tests.sampling import draws

BUILDER = "helix:builder"
CHECK = "sh check.sh"
_NUMBERS = count()


def begun(session: AgentSession, key: str = "1", verify: str = CHECK) -> str:
    """Have a task of the client's list in progress in the main thread; return its id."""
    session.task(key, "in_progress", verify=verify)
    session.settled()
    return task_id(folder_identity(session.project).scope, session.name, key)


def kept(session: AgentSession, task: str) -> Task:
    found = find_task(session.settled().store.index, task)
    assert found is not None
    return found


def shown(session: AgentSession, task: str, word: str) -> str:
    """Have a memory shown to a task that bids to run `make WORD`; return its id."""
    memory = memories.store(
        session.helix,
        StoreRequest(trigger=f"changing the {word} kiln", resolution=f"run `make {word}` first", kind="pattern"),
    ).id
    inject(
        session.helix.store,
        task,
        [Shown(memory_id=memory, name="", kind="", rank=1, score=1, tokens=9)],
        held_back=False,
    )
    return memory


def worth(session: AgentSession, memory: str) -> tuple[float, float]:
    held = memories.get(session.settled(), memory)
    return held.helped, held.failed


@pytest.mark.parametrize("ends", [("Stop",), ("SessionEnd",), ("Stop", "SessionEnd")])
@pytest.mark.parametrize(
    ("statuses", "outcome", "given"), [((2, 0), "delivered", (0.5, 0)), ((2,), "blocked", (0, 0.3))]
)
def test_a_task_that_the_main_thread_leaves_in_progress_is_settled_by_its_evidence(
    session: AgentSession, ends: Sequence[str], statuses: Sequence[int], outcome: str, given: tuple[float, float]
) -> None:
    task = begun(session)
    memory = shown(session, task, "tarragon")
    session.run("make tarragon")
    for status in statuses:
        session.run(CHECK, status, "bad")
    for end in ends:
        session.tell(end, **({"reason": "other"} if end == "SessionEnd" else {"stop_hook_active": False}))
    found = kept(session, task)
    assert (found.status, found.outcome) == ("in_progress", outcome)
    assert worth(session, memory) == given


def test_without_evidence_nothing_is_said_of_a_task_that_was_left(session: AgentSession) -> None:
    task = begun(session)
    memory = shown(session, task, "tarragon")
    session.run("make tarragon")
    session.tell("SessionEnd", reason="other")
    assert (kept(session, task).outcome, kept(session, task).verification) == ("", "")
    assert worth(session, memory) == (0, 0)


def test_an_agent_that_never_stopped_is_settled_with_its_session_and_again_when_it_goes_on(
    session: AgentSession,
) -> None:
    session.agent_call(f"TASK_ID: 1\nTASK: the kiln\nOBJECTIVE: fire the kiln\nVERIFY: {CHECK}")
    session.tell("SubagentStart", "a1", BUILDER)
    session.settled()
    task = task_id(folder_identity(session.project).scope, session.name, "1")
    memory = shown(session, task, "lovage")
    session.run("make lovage", agent="a1")
    session.run(CHECK, agent="a1")
    session.tell("Stop", stop_hook_active=False)
    assert kept(session, task).outcome == "", "it may be at work beside the main thread"
    session.tell("SessionEnd", reason="other")
    assert (kept(session, task).status, kept(session, task).outcome) == ("in_progress", "delivered")
    assert worth(session, memory) == (0.5, 0)
    session.tell("SessionStart", source="resume")
    session.tell("SubagentStart", "a1", BUILDER)
    session.run(CHECK, 1, "bad", agent="a1")
    session.agent_ends("a1", "DELIVERED: it fires")
    assert (kept(session, task).outcome, worth(session, memory)) == ("blocked", (0, 0.3))


_DEEDS = st.lists(st.sampled_from(["pass", "fail", "edit", "use"]), max_size=6)
_ENDS = st.lists(st.sampled_from(["", "", "Stop", "SessionEnd"]), min_size=6, max_size=6)


@pytest.mark.soak
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=draws(7))
@given(_DEEDS, _ENDS, st.sampled_from(["", "delivered", "blocked"]))
def test_a_session_that_ends_without_a_word_and_is_resumed_comes_to_what_one_without_a_break_does(
    session: AgentSession, deeds: list[str], ends: list[str], claim: str
) -> None:
    """Against a session without a break, and against reading the outcome off what was done."""
    found = _history(session, deeds, ends, claim)
    assert found == _history(session, deeds, [""] * len(ends), claim)
    edited = max((place for place, deed in enumerate(deeds) if deed == "edit"), default=-1)
    runs = [deed for place, deed in enumerate(deeds) if deed == "fail" or (deed == "pass" and place > edited)]
    verified = {"pass": "delivered", "fail": "blocked"}.get(runs[-1] if runs else "", "")
    said = claim if claim == "blocked" or verified != "blocked" else ""
    assert found[0] == (said or verified)


def _history(first: AgentSession, deeds: Sequence[str], ends: Sequence[str], claim: str) -> Any:
    number = next(_NUMBERS)
    session = AgentSession(first.helix, first.project, f"history-{number}")
    word, check = f"sorrel{number}", f"sh check-{number}.sh"
    task = begun(session, verify=check)
    memory = shown(session, task, word)
    for deed, end in zip(deeds, ends, strict=False):
        match deed:
            case "edit":
                session.edit(f"src/{word}.py")
            case "use":
                session.run(f"make {word}")
            case _:
                session.run(check, 0 if deed == "pass" else 1, "bad")
        if end == "Stop":
            session.tell("Stop", stop_hook_active=False)
        elif end:
            session.tell("SessionEnd", reason="other")
            session.settled()
            session.tell("SessionStart", source="resume")
            session.task("1", "in_progress")
    if claim:
        session.task("1", helix_outcome=claim)
    session.tell("SessionEnd", reason="other")
    found = kept(session, task)
    with session.helix.worker.standing_still():  # it writes by itself what follows on the session's episodes
        seq = session.helix.store.journal.last_seq
        session.tell("SessionEnd", reason="other")
        assert kept(session, task) == found and session.settled().store.journal.last_seq == seq, "settled once"
    (one,) = [one for one in injections(session.helix.store.index, task) if one.memory_id == memory]
    held = memories.get(session.helix, memory)
    return found.outcome, found.verification, one.outcome, held.helped, held.failed, held.uses
