"""The loop through clients other than Claude Code: each in its own words learns, and is shown what was learned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.agents.hook_events.dispatcher import CLIENTS
from helix.agents.hook_events.hook_events import ActionBegins, ActionEnded, HookReply, PromptGiven, Rested
from helix.agents.tasks.board import injections, task_id
from helix.identity import folder_identity
from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.capture.sessions import SessionRequest
from helix.memory.remember.request import StoreRequest
from helix.operations import capture, memories
from helix.service import Helix
from helix.text.client_ids import short_digest
from tests.agents.hook_events.agent_client import AgentSession
from tests.agents.hook_events.native_clients import (
    SESSIONS,
    Cline,
    ClineExtension,
    Codex,
    Continue,
    Cursor,
    Gemini,
    NativeSession,
    Opencode,
    VSCode,
)
from tests.waiting import MOST_SECONDS

ERROR = "E   ModuleNotFoundError: No module named 'yaml'\n1 failed in 0.1s"
EACH = pytest.mark.parametrize("kind", SESSIONS, ids=[kind.__name__ for kind in SESSIONS])


def ending(client: str, payload: dict[str, Any]) -> tuple[int | None, bool | None]:
    ended = CLIENTS[client].read(payload)
    assert isinstance(ended, ActionEnded)
    return ended.action.exit_status, ended.action.passed


def keep(helix: Helix, project: Path, trigger: str, resolution: str, kind: str = "failure", **more: Any) -> None:
    scope = folder_identity(project).scope
    memories.store(helix, StoreRequest(trigger=trigger, resolution=resolution, kind=kind, scope=scope, **more))


@EACH
def test_a_failure_is_shown_at_its_command_and_nowhere_else(
    helix: Helix, project: Path, kind: type[NativeSession]
) -> None:
    keep(helix, project, "`pytest tests/test_pay.py` fails without a database", "run `make db` first")
    session = kind(helix, project)
    session.begin()
    assert session.run("make build") == ""
    assert "make db" in session.run("pytest tests/test_pay.py -q")
    assert "make db" not in session.run("pytest tests/test_pay.py -q")
    assert helix.hooks.settle(MOST_SECONDS)
    name = f"ses_{short_digest(session.name)}" if kind is Opencode else session.name
    shown = injections(helix.store.index, task_id(folder_identity(project).scope, name, "session"))
    assert len(shown) == 1


@pytest.mark.parametrize(
    "kind", [kind for kind in SESSIONS if kind not in (Continue, VSCode)], ids=lambda kind: kind.__name__
)
def test_what_failed_and_was_mended_here_is_shown_in_the_next_session_of_another_client(
    helix: Helix, project: Path, kind: type[NativeSession]
) -> None:
    session = kind(helix, project)
    session.prompt("have the tests pass")
    session.run("pytest tests", 1, ERROR)
    session.run("pip install pyyaml")
    session.run("pytest tests", 0, "1 passed in 0.1s")
    assert helix.hooks.settle(MOST_SECONDS)
    other = AgentSession(helix, project, "another")
    assert "pip install pyyaml" in "".join(other.run("pytest tests", 1, ERROR))


@EACH
def test_a_session_is_briefed_as_it_begins(helix: Helix, project: Path, kind: type[NativeSession]) -> None:
    keep(helix, project, "which database the shop uses", "Postgres, as payments need row locks", kind="decision")
    assert "Postgres" in kind(helix, project).begin()


@EACH
def test_an_edit_is_told_of_by_its_file(helix: Helix, project: Path, kind: type[NativeSession]) -> None:
    keep(helix, project, "editing the ledger breaks rounding", "use Decimal there", files=["src/ledger.py"])
    session = kind(helix, project)
    session.prompt("tidy up")
    assert session.edit("src/other.py") == ""
    assert "Decimal" in session.edit("src/ledger.py")


def test_codex_tells_how_a_command_ended_in_its_history_alone(helix: Helix, project: Path) -> None:
    read = CLIENTS["codex"].read
    session = Codex(helix, project)
    session.run("pytest", 3, "boom")
    payload = {
        **session.base("PostToolUse"),
        "tool_name": "Bash",
        "tool_input": {"command": "pytest"},
        "tool_use_id": "call_1",
        "tool_response": "boom",
        "transcript_path": str(project.parent / "rollout-s-1.jsonl"),
    }
    known = read(payload)
    assert isinstance(known, ActionEnded)
    assert (known.action.exit_status, known.action.passed, known.action.output) == (3, False, "boom")
    for path in ("", "relative.jsonl", str(project), "/dev/zero", str(project / "none")):
        unknown = read({**payload, "transcript_path": path})
        assert isinstance(unknown, ActionEnded)
        assert (unknown.action.exit_status, unknown.action.passed) == (None, None)


def test_gemini_says_the_status_of_what_failed_alone(helix: Helix, project: Path) -> None:
    read = CLIENTS["gemini"].read
    base = {**Gemini(helix, project).base("AfterTool"), "tool_name": "run_shell_command"}
    failed = read(
        {
            **base,
            "tool_input": {"command": "x"},
            "tool_response": {"llmContent": "Output: a\nExit Code: 0\nExit Code: 2\n"},
        }
    )
    assert isinstance(failed, ActionEnded)
    assert (failed.action.exit_status, failed.action.passed) == (2, False)
    background = {"command": "x", "is_background": True}
    begun = read({**base, "tool_input": background, "tool_response": {"llmContent": "Output: a\n"}})
    assert isinstance(begun, ActionEnded)
    assert begun.action.passed is None
    prompt = read({**base, "hook_event_name": "BeforeAgent", "prompt": "<hook_context>a\nb</hook_context>\n\ndo it"})
    assert isinstance(prompt, PromptGiven)
    assert prompt.prompt == "do it"


@pytest.mark.parametrize(
    "told",
    [
        "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output.",
        "Command was cancelled by user before it could complete. Below is the output:\nExit Code: 0",
        "Command moved to background (PID: 17). Output hidden. Press Ctrl+B to view.",
        "Output: 3 passed\nSignal: 9\nProcess Group PGID: 17",
        "Command: x\nOutput: 3 passed\nExit Code: (none)\nSignal: SIGKILL",
        "",
    ],
)
def test_what_was_cut_short_in_gemini_has_not_passed(helix: Helix, project: Path, told: str) -> None:
    base = {**Gemini(helix, project).base("AfterTool"), "tool_name": "run_shell_command"}
    for said in (told, f"<untrusted_context>\n{told}\n</untrusted_context>" if told else told):
        answer = {"tool_input": {"command": "pytest"}, "tool_response": {"llmContent": said}}
        ended = CLIENTS["gemini"].read({**base, **answer})
        assert isinstance(ended, ActionEnded) and ended.action.passed is None


def test_cursor_says_what_failed_in_an_event_of_its_own(helix: Helix, project: Path) -> None:
    read = CLIENTS["cursor"].read
    base = {**Cursor(helix, project).base("postToolUseFailure"), "tool_name": "Shell", "tool_input": {"command": "x"}}
    failed = read({**base, "error_message": "boom", "failure_type": "error"})
    assert isinstance(failed, ActionEnded)
    assert (failed.action.passed, failed.action.output) == (False, "boom")
    assert read({**base, "error_message": "no", "failure_type": "permission_denied"}) is None
    unknown = read({**base, "hook_event_name": "postToolUse", "tool_output": "some text"})
    assert isinstance(unknown, ActionEnded)
    assert (unknown.action.passed, unknown.action.output) == (None, "some text")


def test_windsurf_tells_and_is_told_nothing(helix: Helix, project: Path) -> None:
    keep(helix, project, "`make all` fails without a compiler", "install gcc")
    base = {"trajectory_id": "w-1", "execution_id": "e", "model_name": "m"}

    def tell(event: str, **info: object) -> object:
        payload = {**base, "agent_action_name": event, "tool_info": info}
        assert helix.hooks.tell("windsurf", payload) == {}
        return CLIENTS["windsurf"].read(payload)

    assert isinstance(tell("pre_user_prompt", user_prompt="build it"), PromptGiven)
    ran = tell("post_run_command", command_line="make all", cwd=str(project))
    assert isinstance(ran, ActionEnded)
    assert (ran.action.command, ran.action.folder, ran.action.passed) == ("make all", str(project), None)
    edits = [{"old_string": "a", "new_string": "b"}]
    wrote = tell("post_write_code", file_path=str(project / "a.py"), edits=edits)
    assert isinstance(wrote, ActionEnded)
    assert (wrote.action.files, wrote.wrote) == ((str(project / "a.py"),), "b")
    assert isinstance(tell("post_cascade_response", response="done"), Rested)
    assert tell("pre_read_code", file_path="a") is None


def test_goose_tells_what_failed_and_is_told_nothing(helix: Helix, project: Path) -> None:
    keep(helix, project, "`make all` fails without a compiler", "install gcc")

    def tell(event: str, answer: object = None, **more: object) -> Any:
        payload = {"event": event, "session_id": "g-1", "matcher_context": "x", **more}
        assert helix.hooks.tell("goose", payload) == (answer or {})
        return CLIENTS["goose"].read(payload)

    assert tell("SessionStart") is not None
    assert tell("UserPromptSubmit", message="build it").prompt == "build it"
    called = {"working_dir": str(project), "tool_call_id": "c-1"}
    shell = {"tool_name": "developer__shell", "tool_input": {"command": "make all"}, **called}
    for event, passed in (("PostToolUseFailure", False), ("PostToolUse", True)):
        ran = tell(event, **shell)
        assert (ran.action.command, ran.action.folder, ran.action.passed) == ("make all", str(project), passed)
    given = {"path": str(project / "a.py"), "before": "a", "after": "b"}
    wrote = tell("PostToolUse", tool_name="developer__edit", tool_input=given, **called)
    assert (wrote.action.files, wrote.wrote) == ((str(project / "a.py"),), "b")
    assert tell("PostToolUse", tool_name="developer__tree", tool_input={"path": "."}, **called) is None
    assert isinstance(tell("Stop", {"decision": "allow"}), Rested)  # what it reads at the end of a turn


def test_cline_runs_several_commands_at_once_and_one_that_failed_is_told(helix: Helix, project: Path) -> None:
    read, session = CLIENTS["cline"].read, Cline(helix, project)
    given = {"commands": ["make db", {"command": "pytest", "args": ["-q", 1]}]}
    results = [
        {"query": "make db", "result": "made", "success": True},
        {"query": "pytest -q 1", "result": "boom", "error": "Command exited with code 3", "success": False},
    ]
    call = {"id": "c", "name": "run_commands", "input": given, "output": results}
    ended = read({**session.base("tool_result"), "tool_result": call})
    assert isinstance(ended, ActionEnded)
    assert (ended.action.command, ended.action.exit_status) == ("make db; pytest -q 1", 3)
    assert "boom" in ended.action.output
    older = {"toolName": "execute_command", "parameters": {"command": "[ -f x ]"}, "result": "nothing", "success": True}
    unknown = read({**session.base("PostToolUse"), "postToolUse": older})
    assert isinstance(unknown, ActionEnded)
    assert (unknown.action.command, unknown.action.passed) == ("[ -f x ]", None)
    patch = {"name": "apply_patch", "input": {"input": "*** Update File: src/a.py\n-old\n+new"}}
    edit = read({**session.base("tool_call"), "tool_call": patch})
    assert isinstance(edit, ActionBegins)
    assert edit.action.files == (str(project / "src/a.py"),)


def test_what_a_command_printed_of_a_status_is_none_of_its_own(helix: Helix, project: Path) -> None:
    printed, own = "a worker exited with code 0", "Command exited with code 2"
    terminal = {"tool_name": "run_in_terminal", "tool_use_id": "c", "tool_input": {"command": "pytest"}}
    for answer, status in (
        (f"{printed}\n\n{own}", 2),
        (printed, None),  # it still runs, or nobody knows how it ended
        (f"a worker exited with code 1\n{own}\n3 passed", None),
    ):
        told = {**VSCode(helix, project).base("PostToolUse"), **terminal, "tool_response": answer}
        assert ending("vscode", told) == (status, False if status else None)
    older = {"toolName": "execute_command", "parameters": {"command": "pytest"}, "success": True}
    base = Cline(helix, project).base("PostToolUse")
    for answer, status in ((f"Command executed.\n{printed}", None), (f"Command failed (exit code 3)\n{printed}", 3)):
        assert ending("cline", {**base, "postToolUse": {**older, "result": answer}})[0] == status
    shell = {"tool_name": "Bash", "tool_input": {"command": "pytest"}, "tool_use_id": "c"}
    killed = {**Continue(helix, project).base("PostToolUseFailure"), **shell}
    assert ending("continue", {**killed, "error": f"Error (exit code null): {printed}"}) == (None, False)


@pytest.mark.parametrize(
    "result",
    [
        {"result": "[Command is still running. Output will continue in /tmp/output.log]\nboom", "success": True},
        {"result": "", "error": "Command was aborted", "success": False},
    ],
)
def test_what_has_not_ended_in_cline_has_neither_passed_nor_failed(
    helix: Helix, project: Path, result: dict[str, Any]
) -> None:
    call = {"id": "c", "name": "run_commands", "input": "make all", "output": [{"query": "make all", **result}]}
    assert ending("cline", {**Cline(helix, project).base("tool_result"), "tool_result": call}) == (None, None)


def test_clines_sub_agents_are_told_apart_from_its_agent(helix: Helix, project: Path) -> None:
    read, session = CLIENTS["cline"].read, Cline(helix, project)
    call = {"tool_call": {"id": "c", "name": "run_commands", "input": "ls"}}
    told = [read({**session.base("tool_call"), **call, "parent_agent_id": parent}) for parent in (None, "agent_0")]
    assert [event.agent for event in told if event is not None] == ["", "agent_1"]


def test_a_brief_that_waits_comes_once(helix: Helix, project: Path) -> None:
    keep(helix, project, "which database the shop uses", "Postgres, as payments need row locks", kind="decision")
    for session in (Cline(helix, project, "c-1"), Continue(helix, project, "c-2")):
        session.prompt("add a table")
        assert session.begin().count("Postgres") == 1
        assert "Postgres" not in session.run("ls")


def test_continue_takes_silence_for_no_failure(helix: Helix, project: Path) -> None:
    read, session = CLIENTS["continue"].read, Continue(helix, project)
    call = {"tool_name": "Bash", "tool_input": {"command": "test -f x"}, "tool_use_id": "c"}
    quiet = read({**session.base("PostToolUse"), **call, "tool_response": "no exit code 1 here"})
    assert isinstance(quiet, ActionEnded)
    assert quiet.action.passed is None
    assert read({**session.base("PostToolUseFailure"), **call, "error": "x", "is_interrupt": True}) is None


def test_what_waits_for_one_agent_is_not_shown_to_another(helix: Helix, project: Path) -> None:
    keep(helix, project, "`make all` fails without a compiler", "install gcc")
    one, other = Gemini(helix, project, "one"), Gemini(helix, project, "other")
    for session in (one, other):
        session.begin()
    tool = {"tool_name": "run_shell_command", "tool_input": {"command": "make all"}}
    assert one.ask({**one.base("BeforeTool"), **tool}) == ""
    assert other.run("ls") == ""
    assert "gcc" in one.run("ls")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NAMES = (
    *("session_id", "sessionId", "conversation_id", "trajectory_id", "hook_event_name", "hookEventName"),
    *("agent_action_name", "tool_info", "tool_name", "tool_input", "tool_response", "tool_output", "tool_use_id"),
    *("event", "working_dir", "hookName", "taskId", "workspaceRoots", "tool_call", "tool_result", "postToolUse"),
    *("cwd", "workspace_roots", "prompt", "transcript_path", "timestamp", "exit", "output", "error_message"),
)
WORDS = (
    "PostToolUse",
    "AfterTool",
    "postToolUse",
    "tool.execute.after",
    "post_run_command",
    "BeforeTool",
    "Stop",
    "tool_result",
)
TOOLS = ("Bash", "Shell", "bash", "run_shell_command", "apply_patch", "run_in_terminal", "write_file")
PAYLOADS = st.dictionaries(st.sampled_from(NAMES), JSON | st.sampled_from(WORDS) | st.sampled_from(TOOLS), max_size=12)


@given(st.sampled_from(sorted(CLIENTS)), PAYLOADS)
def test_whatever_a_payload_holds_it_is_an_event_or_none_and_can_be_answered(
    client: str, payload: dict[str, object]
) -> None:
    shape = CLIENTS[client]
    assert isinstance(shape.delivery(payload), str)
    event = shape.read(payload)
    if event is not None:
        json.dumps(shape.write(event, HookReply(context="a note")))
        if isinstance(event, ActionBegins | ActionEnded):
            assert event.action.command or event.action.files


@pytest.mark.parametrize("ident", ["ses_68a1f2c3dffeXk29PqLm0VtR7a", "ses_0000000000000000000000000a"])
def test_an_opencode_session_is_private_by_the_id_that_opencode_tells(helix: Helix, project: Path, ident: str) -> None:
    assert capture.open_session(helix, SessionRequest(name=ident, private=True)).private
    before = helix.store.journal.last_seq
    session = Opencode(helix, project, ident)
    session.begin()
    session.run("make all", 2, "error: no compiler")
    assert helix.hooks.settle(MOST_SECONDS)
    assert helix.store.journal.last_seq == before
    other = EpisodeRequest(content="said elsewhere", session="Zw7htNlWZjk12zjCAI0Chw")
    assert capture.record_episode(helix, other).episode is not None, "its name looks like a key too, and is not private"
    assert capture.episodes(helix, session=other.session).total == 1


def test_a_private_session_of_cursor_has_no_sub_agent_of_whom_something_is_kept(helix: Helix, project: Path) -> None:
    """Cursor 3.18 gives each a conversation of its own, in whose hooks nothing names the one that called it."""
    old, private = Cursor(helix, project, "old"), Cursor(helix, project, "private")
    old.prompt("have the tests pass")
    old.run("make old", 2, ERROR)
    assert helix.hooks.settle(MOST_SECONDS)
    capture.open_session(helix, SessionRequest(name=private.name, private=True))
    before = helix.store.journal.last_seq
    private.prompt("look into it")
    for name in ("agent", "another"):
        Cursor(helix, project, name).run("make all", 2, ERROR)
        Cursor(helix, project, name).run("make all")
    assert helix.hooks.settle(MOST_SECONDS)
    assert helix.store.journal.last_seq == before
    new = Cursor(helix, project, "new")
    new.begin()
    new.prompt("have the docs built")
    for session in (old, new):
        session.run("make docs", 2, ERROR)
    assert helix.hooks.settle(MOST_SECONDS)
    assert [capture.episodes(helix, session=one.name).total for one in (old, new)] == [2, 1]


def _goose(helix: Helix, session: str, event: str, **more: object) -> None:
    helix.hooks.tell("goose", {"event": event, "session_id": session, **more})


def _goose_fixes(helix: Helix, session: str, project: Path) -> None:
    """Goose names the folder with a tool alone."""
    for number, event in enumerate(("PostToolUseFailure", "PostToolUse", "PostToolUse")):
        tool: tuple[str, Any] = ("developer__shell", {"command": "make all"})
        if number == 1:
            tool = ("developer__edit", {"path": str(project / "a.py"), "before": "a", "after": "b"})
        told = {"tool_name": tool[0], "tool_input": tool[1], "tool_call_id": f"c-{number}"}
        _goose(helix, session, event, working_dir=str(project), **told)


@pytest.mark.parametrize("client", ["goose", "windsurf"])
def test_what_is_learned_where_a_prompt_names_no_folder_stays_in_its_project(
    helix: Helix, project: Path, client: str
) -> None:
    if client == "goose":
        _goose(helix, "g-1", "SessionStart")
        _goose(helix, "g-1", "UserPromptSubmit", message="build it")
        _goose_fixes(helix, "g-1", project)
        _goose(helix, "g-1", "SessionEnd")
    else:
        for event, info in (
            ("pre_user_prompt", {}),
            ("post_run_command", {"command_line": "ls", "cwd": "/"}),
            ("post_run_command", {"command_line": "make", "cwd": str(project)}),
        ):
            payload = {"trajectory_id": "w-1", "agent_action_name": event, "tool_info": info}
            helix.hooks.tell("windsurf", payload)
    assert helix.hooks.settle(MOST_SECONDS)
    sessions = [one.scope for one in capture.sessions(helix).items]
    assert sessions == [folder_identity(project).scope]
    kept = memories.memories(helix).items
    assert [one.scope for one in kept] == sessions * (client == "goose")


@pytest.mark.parametrize("margin", ["", "  ", "\t"])
@pytest.mark.parametrize("files", [("Delete File: a.tmp", "Update File: "), ("Update File: a.tmp", "Move to: ")])
def test_of_a_patch_no_line_is_taken_for_another_file_s(
    helix: Helix, project: Path, files: tuple[str, str], margin: str
) -> None:
    """The other one may be kept out by a `.helixignore`."""
    (project / ".helixignore").write_text("secret/\n", "utf-8")
    files = (f"{files[0]}\n", f"{files[1]}secret/plan.md\n@@\n-old plan\n+the merger\n")
    session = Codex(helix, project)
    session.begin()
    session.run("make all", 2, ERROR)
    patch = {"command": "".join(f"{margin}*** {one}" for one in ("Begin Patch\n", *files, "End Patch"))}
    tool = {"tool_name": "apply_patch", "tool_input": patch, "tool_use_id": "p", "tool_response": "Done!"}
    session.ask({**session.base("PostToolUse"), **tool})
    session.run("make all")
    assert helix.hooks.settle(MOST_SECONDS)
    (learned,) = memories.memories(helix).items
    assert learned.resolution == "It passed after changing a.tmp."


@pytest.mark.parametrize(
    "path", ["@web:secret/plan.md", "@ web : secret/plan.md", "@other:secret/plan.md", "@eb:secret/plan.md"]
)
@pytest.mark.parametrize("tool", ["replace_in_file", "write_to_file", "apply_patch", "execute_command"])
def test_a_call_of_cline_is_of_the_root_that_it_names(helix: Helix, project: Path, tool: str, path: str) -> None:
    web = project.parent / "web"
    web.mkdir()
    for folder in (project, web):
        (folder / ".git").mkdir()
    (web / ".helixignore").write_text("secret/\n", "utf-8")

    class OfTwoRoots(ClineExtension):
        def base(self, event: str) -> dict[str, Any]:
            return {**super().base(event), "workspaceRoots": [str(project), str(web)]}

        def change(self, tool: str, path: str) -> None:
            patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-old\n+the merger\n*** End Patch"
            given = {
                "apply_patch": {"input": patch},
                "execute_command": {"command": path.replace(" ", "").replace(":", ":sh ")},
                "write_to_file": {"absolutePath": path, "content": "the merger"},
                "replace_in_file": {"path": path, "diff": "the merger"},
            }[tool]
            result = [{"query": "", "result": "the merger failed", "success": False, "error": "exited with code 2"}]
            self._tool(tool, given, result if tool == "execute_command" else {"result": "done", "success": True})

    session = OfTwoRoots(helix, project)
    (web / "secret").mkdir()
    for place in (path, "@web:src/pay.md", "plan.md"):
        session.run("make all", 2, ERROR.replace("yaml", short_digest(place)))
        session.change(tool, place)
        session.run("make all")
    assert helix.hooks.settle(MOST_SECONDS)
    kept = str([*memories.memories(helix).items, *capture.episodes(helix).items])
    assert "secret" not in kept
    assert "src/pay.md" in kept and "plan.md" in kept


@pytest.mark.parametrize("path", ["plan.md", "../secret/plan.md"])
def test_an_edit_is_of_the_file_that_its_path_names_from_where_the_agent_works(
    helix: Helix, project: Path, path: str
) -> None:
    (project / ".git").mkdir()
    (project / ".helixignore").write_text("secret/\n", "utf-8")
    for folder, kept in (("secret", []), ("src", [] if "secret" in path else [f"src/{path}"])):
        session = Opencode(helix, project / folder, folder)
        session.run(f"make {folder}", 2, ERROR)
        session._tool("edit", {"filePath": path, "oldString": "old", "newString": "the merger"}, {"output": "done"})
        session.run(f"make {folder}")
        assert helix.hooks.settle(MOST_SECONDS)
        told = [one.resolution for one in memories.memories(helix).items]
        assert told == [f"It passed after changing {one} ('old' to 'the merger')." for one in kept]


@pytest.mark.parametrize(
    ("kind", "name"), [(Codex, "cwd"), (Gemini, "dir_path"), (Gemini, "directory"), (Opencode, "workdir")]
)
def test_a_command_is_of_the_folder_that_its_call_names(
    helix: Helix, project: Path, kind: type[NativeSession], name: str
) -> None:
    (project / ".helixignore").write_text("secret/\n", "utf-8")
    session = kind(helix, project)
    for folder in ("secret", "src"):
        session.run_in = {name: str(project / folder) if kind is Codex else folder}
        session.run(f"make {folder}", 2, ERROR)
    assert helix.hooks.settle(MOST_SECONDS)
    (said,) = capture.episodes(helix).items
    assert ("make src" in said.content, said.scope) == (True, folder_identity(project).scope)


def test_a_conversation_of_cursor_is_in_its_work_space_wherever_its_commands_run(helix: Helix, project: Path) -> None:
    session = Cursor(helix, project)
    for call in ({"command": "ls", "working_directory": "/"}, {"command": "ls", "working_directory": "."}):
        session._tool("Shell", call, {"tool_output": "{}"})
    ran = {"tool_name": "Shell", "tool_input": {"command": "make it", "working_directory": "/"}, "tool_use_id": "c"}
    empty = {**session.base("postToolUse"), "workspace_roots": [], "conversation_id": "empty window"}
    helix.hooks.tell("cursor", {**empty, **ran, "tool_output": json.dumps({"exitCode": 2, "stdout": ERROR})})
    session.run("make all", 2, ERROR)
    assert helix.hooks.settle(MOST_SECONDS)
    (said,) = capture.episodes(helix).items
    assert said.scope == folder_identity(project).scope


def test_a_private_session_of_goose_has_no_sub_agent_of_whom_something_is_kept(helix: Helix, project: Path) -> None:
    """Goose tells of an agent's prompt as of a person's, in a session of its own, but begins a person's alone."""
    _goose(helix, "old", "SessionStart")
    capture.open_session(helix, SessionRequest(name="private", private=True))
    before = helix.store.journal.last_seq
    for name in ("private", "agent"):
        _goose(helix, name, "UserPromptSubmit", message="look into it")
        _goose_fixes(helix, name, project)
        _goose(helix, name, "Stop")
    assert helix.hooks.settle(MOST_SECONDS)
    assert helix.store.journal.last_seq == before
    _goose(helix, "new", "SessionStart")
    for name in ("old", "new"):
        _goose(helix, name, "UserPromptSubmit", message="have the docs built")
        _goose_fixes(helix, name, project)
    assert helix.hooks.settle(MOST_SECONDS)
    assert {one.name for one in capture.sessions(helix).items} == {"old", "new"}
