"""What was erased comes back by nothing that the hooks hold in memory of a session under way."""

from __future__ import annotations

from pathlib import Path

from helix.identity import folder_identity
from helix.memory.remember.request import StoreRequest
from helix.operations import capture, erasure, memories
from helix.service import Helix
from helix.store.listing import MemoryFilter
from tests.agents.hook_events.agent_client import AgentSession
from tests.agents.hook_events.native_clients import Gemini
from tests.waiting import finished

ERROR = "E   ModuleNotFoundError: No module named 'quokka'\n1 failed in 0.1s"


def erase(helix: Helix, ident: str) -> None:
    finished(helix, erasure.hard_forget(helix, ident, erasure.erase_plan(helix, ident).root.id))


def test_an_error_that_was_erased_is_remembered_by_no_fix_of_it(session: AgentSession) -> None:
    session.tell("SessionStart", source="startup")
    session.run("pytest tests", 1, ERROR)
    helix = session.settled()
    (failure,) = capture.episodes(helix).items
    assert "quokka" in failure.content
    erase(helix, failure.id)
    session.run("pip install animals")
    session.run("pytest tests", 0, "1 passed in 0.1s")
    held = memories.memories(session.settled(), MemoryFilter(any_status=True)).items
    assert [one for one in held if "quokka" in f"{one.trigger} {one.attributes}"] == []


def test_what_was_erased_is_not_shown_where_it_waited(helix: Helix, project: Path) -> None:
    scope = folder_identity(project).scope
    request = StoreRequest(trigger="`make all` fails", resolution="install quokka", kind="failure", scope=scope)
    known = memories.store(helix, request).id
    session = Gemini(helix, project, "one")
    session.begin()
    tool = {"tool_name": "run_shell_command", "tool_input": {"command": "make all"}}
    assert session.ask({**session.base("BeforeTool"), **tool}) == ""
    erase(helix, known)
    assert "quokka" not in session.run("ls")
