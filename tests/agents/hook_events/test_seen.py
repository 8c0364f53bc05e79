"""Shown means seen: what reached no agent is not shown, and what was done before a memory came is not its doing."""

from __future__ import annotations

from helix.operations import memories
from tests.agents.hook_events.agent_client import AgentSession
from tests.agents.hook_events.test_hooks_evidence import build, keep

ERROR = "E   AssertionError: zorro 'x' is not masked\n1 failed in 0.1s"
TEST = "pytest tests/test_zorro.py"


def test_a_fix_shown_after_its_command_failed_is_not_blamed_for_what_the_agent_did_by_itself(
    session: AgentSession,
) -> None:
    memory = keep(session, "AssertionError: zorro 'x' is not masked", "edit `src/zorro.py`, it makes the masks")
    build(session, "1", "sharpen the claws", TEST, "\nMEMORY_LIMIT: 0")
    session.tell("SubagentStart", "a1", "helix:builder")
    session.edit("src/zorro.py", agent="a1")
    told = [session.run(TEST, 1, ERROR, "a1")[1] for _ in range(3)]
    session.agent_ends("a1", "BLOCKED: it is not masked\nERROR: AssertionError: zorro 'x' is not masked")
    held = memories.get(session.settled(), memory)
    assert [held.name in text for text in told] == [True, False, False]
    assert (held.helped, held.failed, held.label) == (0, 0, "")
