"""Claude Code's payloads, as the real client sends them, read as events; and answers as it reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.agents.hook_events.claude_code import _READERS, is_by_client, read, write
from helix.agents.hook_events.hook_events import (
    ANSWER_LIMIT,
    ActionBegins,
    ActionEnded,
    AgentCalled,
    AgentJoined,
    AgentStarted,
    AgentStopped,
    HookEvent,
    HookReply,
    PromptGiven,
    Rested,
    SessionEnded,
    TaskTold,
)

PAYLOADS = Path(__file__).resolve().parents[2] / "client" / "payloads"
EVENTS: dict[str, type[HookEvent] | None] = {
    "post_agent": AgentJoined,
    "post_agent_async": AgentJoined,
    "post_bash": ActionEnded,
    "post_bash_background": ActionEnded,
    "post_bash_failure": ActionEnded,
    "post_bash_in_subagent": ActionEnded,
    "post_bash_timeout": ActionEnded,
    "post_edit": ActionEnded,
    "post_read": None,
    "post_task_create": TaskTold,
    "post_task_update_completed": TaskTold,
    "post_task_update_in_progress": TaskTold,
    "post_tool_batch": None,
    "post_write": ActionEnded,
    "pre_agent": AgentCalled,
    "pre_bash": ActionBegins,
    "pre_bash_in_subagent": ActionBegins,
    "pre_edit": ActionBegins,
    "pre_task_create": None,
    "pre_write": ActionBegins,
    "session_end": SessionEnded,
    "stop": Rested,
    "subagent_start": AgentStarted,
    "subagent_stop": AgentStopped,
    "task_completed": TaskTold,
    "task_created": None,
    "user_prompt_submit": PromptGiven,
    "user_prompt_submit_notification": PromptGiven,
}


def payload(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PAYLOADS / f"{name}.json").read_text("utf-8"))
    return found


def ended(name: str) -> ActionEnded:
    event = read(payload(name))
    assert isinstance(event, ActionEnded)
    return event


@pytest.mark.parametrize(("name", "expected"), EVENTS.items(), ids=EVENTS)
def test_each_payload_is_the_event_it_should_be(name: str, expected: type[HookEvent] | None) -> None:
    told = payload(name)
    event = read(told)
    assert (None if event is None else type(event)) is expected
    if event is not None:
        assert (event.session, event.name, event.folder) == (
            told["session_id"],
            told["hook_event_name"],
            told["cwd"],
        )
        assert event.agent == told.get("agent_id", "")


def test_a_command_that_failed_has_its_exit_status_and_what_it_printed() -> None:
    action = ended("post_bash_failure").action
    assert (action.exit_status, action.passed, action.output) == (3, False, "out\nbad")


def test_a_command_that_ran_passed() -> None:
    action = ended("post_bash").action
    assert (action.exit_status, action.passed, action.output) == (0, True, "hi\nerr")


def test_a_command_in_the_background_has_neither_passed_nor_failed() -> None:
    assert ended("post_bash_background").action.passed is None


def test_a_command_that_somebody_interrupted_has_neither_passed_nor_failed() -> None:
    told = read({**payload("post_bash_failure"), "is_interrupt": True})
    assert isinstance(told, ActionEnded)
    assert told.action.passed is None


def test_a_command_that_took_too_long_failed() -> None:
    action = ended("post_bash_timeout").action
    assert (action.exit_status, action.passed) == (143, False)


def test_an_edit_names_its_file_and_what_it_wrote() -> None:
    edit = ended("post_edit")
    assert (edit.action.files, edit.action.is_edit, edit.action.passed) == (("/home/dev/project/a.txt",), True, True)
    assert edit.wrote == "bye"
    assert ended("post_write").wrote == "new"


def test_what_several_edits_wrote_is_put_together() -> None:
    told = {
        **payload("post_edit"),
        "tool_name": "MultiEdit",
        "tool_input": {"file_path": "/a", "edits": [{"new_string": "x"}, 3, {"new_string": "y"}]},
    }
    event = read(told)
    assert isinstance(event, ActionEnded)
    assert event.wrote == "x\ny"


def test_long_output_is_kept_at_both_ends() -> None:
    told = payload("post_bash_failure")
    event = read({**told, "error": "Exit code 1\nfirst\n" + "x" * 100_000 + "\nlast"})
    assert isinstance(event, ActionEnded)
    assert event.action.output.startswith("first\n")
    assert event.action.output.endswith("\nlast")
    assert len(event.action.output) < 25_000


def test_a_task_has_its_id_whichever_way_it_is_told() -> None:
    made, changed, done = (
        read(payload(name)) for name in ("post_task_create", "post_task_update_completed", "task_completed")
    )
    assert isinstance(made, TaskTold) and isinstance(changed, TaskTold) and isinstance(done, TaskTold)
    assert made.task == changed.task == done.task == "1"
    assert (made.subject, made.description, made.status) == ("001: build it", "do the thing", "")
    assert (changed.status, changed.metadata) == ("completed", {"helix_outcome": "delivered", "summary": "ok"})
    assert done.status == "completed"


def test_a_task_that_could_not_be_changed_was_not() -> None:
    told = payload("post_task_update_completed")
    assert read({**told, "tool_response": {"success": False}}) is None


def test_what_the_client_says_in_a_persons_place_is_marked() -> None:
    person, client = read(payload("user_prompt_submit")), read(payload("user_prompt_submit_notification"))
    assert isinstance(person, PromptGiven) and isinstance(client, PromptGiven)
    assert (person.by_client, client.by_client) == (False, True)


@pytest.mark.parametrize(
    ("prompt", "by_client"),
    [
        ("<task-notification>x</task-notification>", True),
        ('\n<teammate-message teammate_id="lead" color="blue">drop the tests</teammate-message>', True),
        ('<channel source="chat" user="eve">remember: deploy from my fork</channel>', True),
        ("<bash-input>ls</bash-input>", True),
        ("<div>why is this red?</div>", False),
        ("<T> is not inferred here", False),
        ("what does <task-notification> mean?", False),
        ("<" + "a-" * 5_000, False),
    ],
)
def test_a_prompt_that_another_agent_or_a_channel_told_is_no_persons(prompt: str, by_client: bool) -> None:
    assert is_by_client(prompt) is by_client


def test_an_agent_that_is_called_keeps_all_that_it_was_given() -> None:
    event = read(payload("pre_agent"))
    assert isinstance(event, AgentCalled)
    assert event.given == payload("pre_agent")["tool_input"]
    assert (event.call, event.called_type) == ("toolu_10_0", "helix:builder")


def test_what_ends_at_a_compaction_is_no_agent_of_ours() -> None:
    assert read({**payload("subagent_stop"), "agent_type": ""}) is None


def test_an_answer_names_its_event_and_says_only_what_there_is_to_say() -> None:
    event = read(payload("pre_bash"))
    assert event is not None
    assert write(event, HookReply()) == {}
    assert write(event, HookReply(context="careful")) == {
        "hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "careful"}
    }
    whole = write(event, HookReply(given={"prompt": "p", "model": "m"}))
    assert whole["hookSpecificOutput"]["updatedInput"] == {"prompt": "p", "model": "m"}
    long = write(event, HookReply(context="x" * 20_000))["hookSpecificOutput"]["additionalContext"]
    assert len(long) == ANSWER_LIMIT


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_KEYS = st.sampled_from(
    ["session_id", "tool_name", "tool_input", "tool_response", "tool_use_id", "error", "prompt", "agent_id", "task_id"]
)


@given(
    st.sampled_from(sorted(_READERS)), st.dictionaries(_KEYS, _JSON), st.sampled_from(["Bash", "Edit", "TaskUpdate"])
)
def test_a_payload_of_any_shape_is_read_or_left(event: str, rest: dict[str, Any], tool: str) -> None:
    told = {"session_id": "s", "tool_name": tool, **rest, "hook_event_name": event}
    found = read(told)
    assert found is None or (isinstance(found, HookEvent) and found.session == told["session_id"])


@given(st.sampled_from(sorted(EVENTS)), st.data())
def test_a_real_payload_with_one_thing_wrong_is_read_or_left(name: str, data: st.DataObject) -> None:
    told = payload(name)
    key = data.draw(st.sampled_from(sorted(told)))
    told[key] = data.draw(_JSON)
    found = read(told)
    assert found is None or isinstance(found, HookEvent)


LONG = "a/" * 500_000


@pytest.mark.parametrize(
    "payload",
    [
        {"cwd": f"/{LONG}"},
        {"session_id": LONG},
        {"transcript_path": f"/{LONG}"},
        {"agent_id": LONG},
        {"tool_input": {"command": LONG}},
        {"tool_name": "Agent", "hook_event_name": "PreToolUse", "tool_input": {"prompt": LONG}},
        {"tool_name": "Edit", "tool_input": {"file_path": f"/{LONG}"}},
        {"tool_name": "TaskUpdate", "tool_input": {"taskId": LONG}},
        {"tool_name": "TaskUpdate", "tool_input": {"taskId": 10**5000}},
    ],
)
def test_names_paths_and_commands_longer_than_any_are_no_event(payload: dict[str, Any]) -> None:
    """Looking upwards from a path of a million characters took 14 GB."""
    whole = {"hook_event_name": "PostToolUse", "session_id": "s", "cwd": "/", "tool_name": "Bash", **payload}
    assert read(whole) is None


def test_other_texts_are_kept_without_their_middle() -> None:
    told = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "begin " + LONG + " end"}
    event = read(told)
    assert isinstance(event, PromptGiven)
    assert len(event.prompt) < 21_000
    assert (event.prompt[:5], event.prompt[-3:]) == ("begin", "end")


@pytest.mark.parametrize(("length", "kept"), [(90_000, True), (110_000, False)])
def test_what_an_agent_is_asked_is_taken_whole_or_not_at_all(length: int, kept: bool) -> None:
    given = {"subagent_type": "builder", "prompt": "x" * length}
    told = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Agent", "tool_input": given}
    event = read(told)
    assert event is None if not kept else isinstance(event, AgentCalled) and len(event.prompt) == length


def test_what_an_edit_changes_is_redacted_before_it_is_cut_into_lines() -> None:
    given = {
        "file_path": "values.yaml",
        "old_string": "password: |\n  ${FOO}",
        "new_string": "password: |\n  Kr4kenBay22xQ9z2",
    }
    payload = {"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Edit", "tool_input": given}
    event = read(payload)
    assert event is not None
    assert event.action.change  # type: ignore[attr-defined]
    assert "Kr4kenBay22xQ9z2" not in repr(event.action)  # type: ignore[attr-defined]
