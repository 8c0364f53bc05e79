"""A session goes on where it was, though the daemon that saw it begin is gone: by the store and the history."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from helix import settings as configuration
from helix.agents.hook_events.hook_events import ActionBegins, HookEvent
from helix.agents.hook_events.session_state import Sessions
from helix.agents.outcomes.ledger import ledger_of
from helix.agents.tasks.board import find_task, injections, task_id
from helix.command_outcome.command_run import CommandRun
from helix.identity import folder_identity
from helix.memory.capture.sessions import SessionRequest
from helix.memory.remember.request import StoreRequest
from helix.operations import capture, erasure, graph, memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from tests.agents.hook_events.agent_client import AgentSession
from tests.waiting import UNHURRIED, finished

ERROR = "E   ModuleNotFoundError: No module named 'yaml'\n1 failed in 0.1s"


class History:
    """The file that a client writes a session's commands into."""

    def __init__(self, file: Path, project: Path, session: str = "session-1") -> None:
        self.file = file
        self._project = project
        self._session = session
        file.parent.mkdir(parents=True, exist_ok=True)

    def _write(self, kind: str, block: dict[str, Any], at: datetime | None, **more: Any) -> None:
        record = {
            "type": kind,
            "sessionId": self._session,
            "cwd": str(self._project),
            "timestamp": (at or datetime.now(UTC)).isoformat(),
            "message": {"role": kind, "content": [block]},
            **more,
        }
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def ran(self, call: str, command: str, output: str = "", status: int = 0, at: datetime | None = None) -> None:
        self._write("assistant", {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}, at)
        text = f"Exit code {status}\n{output}" if status else output
        end = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": bool(status)}
        answer = text if status else {"stdout": output, "stderr": "", "interrupted": False}
        self._write("user", end, at, toolUseResult=answer)

    def edited(self, call: str, file: str, at: datetime | None = None) -> None:
        given = {"file_path": str(self._project / file), "old_string": "old", "new_string": "new"}
        self._write("assistant", {"type": "tool_use", "id": call, "name": "Edit", "input": given}, at)
        end = {"type": "tool_result", "tool_use_id": call, "content": "done"}
        self._write("user", end, at, toolUseResult={"filePath": given["file_path"]})

    def task(self, call: str, ident: str, status: str, at: datetime | None = None) -> None:
        given = {"taskId": ident, "status": status}
        self._write("assistant", {"type": "tool_use", "id": call, "name": "TaskUpdate", "input": given}, at)
        end = {"type": "tool_result", "tool_use_id": call, "content": "done"}
        self._write("user", end, at, toolUseResult={"success": True, "taskId": ident})


@contextmanager
def running(tmp_path: Path) -> Iterator[Helix]:
    """A service over one store, as a daemon has it until it ends."""
    given = {"home": tmp_path / "home", "holdback": 0.0}
    settings = configuration.load(given, environ=UNHURRIED, cwd=tmp_path)
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        yield helix


@pytest.fixture
def history(tmp_path: Path, project: Path) -> History:
    return History(tmp_path / "histories" / "session-1.jsonl", project)


def begun(helix: Helix, project: Path, history: History | None = None) -> AgentSession:
    session = AgentSession(helix, project)
    more = {} if history is None else {"transcript_path": str(history.file)}
    session.tell("UserPromptSubmit", prompt="go on", **more)
    return session


def failures(helix: Helix) -> list[str]:
    helix.hooks.settle()
    return [
        str(row[0]) for row in graph.cypher(helix, "MATCH (m:Memory) WHERE m.kind = 'failure' RETURN m.trigger").rows
    ]


def episodes(helix: Helix) -> int:
    helix.hooks.settle()
    ours = "MATCH (e:Episode) WHERE e.source STARTS WITH 'claude-code:' RETURN count(*)"
    return int(graph.cypher(helix, ours).rows[0][0])


def test_what_a_session_was_shown_is_not_shown_again_by_the_next_daemon(tmp_path: Path, project: Path) -> None:
    scope = folder_identity(project).scope
    with running(tmp_path) as helix:
        memories.store(
            helix,
            StoreRequest(
                trigger="`make all` fails without a compiler", resolution="install gcc", kind="failure", scope=scope
            ),
        )
        session = begun(helix, project)
        assert session.run("make all")[0]
        assert session.run("make all", agent="a1")[0]
    with running(tmp_path) as helix:
        session = AgentSession(helix, project)
        assert not session.run("make all")[0]
        assert not session.run("make all", agent="a1")[0]
        assert session.run("make all", agent="a2")[0]
        assert not session.run("make all", 2, "make: *** [all] Error 1")[0]
        assert AgentSession(helix, project, "session-2").run("make all")[0]


def test_what_was_shown_before_a_history_was_cut_is_shown_again(tmp_path: Path, project: Path) -> None:
    with running(tmp_path) as helix:
        scope = folder_identity(project).scope
        memories.store(
            helix,
            StoreRequest(
                trigger="`make all` fails without a compiler", resolution="install gcc", kind="failure", scope=scope
            ),
        )
        session = begun(helix, project)
        assert session.run("make all")[0]
        session.settled()
        session.tell("SessionStart", source="compact")
    with running(tmp_path) as helix:
        assert AgentSession(helix, project).run("make all")[0]


def test_a_failure_is_linked_with_its_fix_though_the_daemon_ended_between(
    tmp_path: Path, project: Path, history: History
) -> None:
    with running(tmp_path) as helix:
        session = begun(helix, project, history)
        session.run("pytest tests", 1, ERROR)
        history.ran("toolu_session-1_1", "pytest tests", ERROR, 1)
        assert failures(helix) == []
    with running(tmp_path) as helix:
        session = AgentSession(helix, project, "session-1")
        session.tell("UserPromptSubmit", prompt="go on", transcript_path=str(history.file))
        session.call()
        session.edit("src/pay.py")
        session.run("pytest tests")
        (found,) = failures(helix)
        assert found.startswith("`pytest tests` fails")
        assert episodes(helix) == 2  # the failure, and what the memory is grounded in


@pytest.mark.soak
def test_what_happened_while_no_daemon_ran_is_taken_in_once(tmp_path: Path, project: Path, history: History) -> None:
    with running(tmp_path) as helix:
        begun(helix, project, history).settled()
    history.ran("toolu_gone_1", "make ledger", "ledger.c:4: error: unknown type name 'money'", 2)
    history.edited("toolu_gone_2", "src/ledger.c")
    history.ran("toolu_gone_3", "make ledger")
    for _ in range(2):
        with running(tmp_path) as helix:
            begun(helix, project, history)
            (found,) = failures(helix)
            assert found.startswith("`make ledger` fails")
            assert episodes(helix) == 2  # the failure, and what the memory is grounded in


def test_what_sub_agents_did_meanwhile_is_taken_in_too(tmp_path: Path, project: Path, history: History) -> None:
    with running(tmp_path) as helix:
        begun(helix, project, history).settled()
    theirs = History(history.file.with_suffix("") / "subagents" / "agent-a1.jsonl", project)
    theirs.ran("toolu_gone_1", "make ledger", "ledger.c:4: error: unknown type name 'money'", 2)
    theirs.edited("toolu_gone_2", "src/ledger.c")
    with running(tmp_path) as helix:
        session = begun(helix, project, history)
        assert episodes(helix) == 1
        session.run("make ledger", agent="a1")
        assert len(failures(helix)) == 1


@pytest.mark.parametrize(("status", "outcome", "worth"), [(1, "blocked", (0.0, 0.3)), (0, "delivered", (0.5, 0.0))])
def test_what_a_verify_command_said_meanwhile_counts_for_its_agents_task_once(
    tmp_path: Path, project: Path, history: History, status: int, outcome: str, worth: tuple[float, float]
) -> None:
    scope = folder_identity(project).scope
    prompt = "TASK_ID: 1\nTASK: 001: till\nOBJECTIVE: have the till sorted\nVERIFY: pytest tests/till"
    with running(tmp_path) as helix:
        name = memories.store(
            helix,
            StoreRequest(
                trigger="having the till sorted", resolution="run `make fixtures` first", kind="pattern", scope=scope
            ),
        ).name
        session = begun(helix, project, history)
        session.agent_call(prompt)
        session.tell("SubagentStart", "a1", "helix:builder")
        session.settled()
    theirs = History(history.file.with_suffix("") / "subagents" / "agent-a1.jsonl", project)
    theirs.edited("toolu_gone_1", "src/till.py")
    theirs.ran("toolu_gone_2", "make fixtures")
    theirs.ran("toolu_gone_3", "pytest tests/till", "1 failed in 0.1s" if status else "3 passed in 0.1s", status)
    theirs.edited("toolu_gone_4", "notes.md", datetime.now(UTC) - timedelta(days=1))
    for _ in range(2):
        with running(tmp_path) as helix:
            session = AgentSession(helix, project)
            there = {"transcript_path": str(history.file)}
            session.agent_ends("a1", f"DELIVERED: sorted\nUTILIZED: [{name}]", **there)
            task = find_task(session.settled().store.index, task_id(scope, "session-1", "1"))
            assert task is not None and task.outcome == outcome
            (evidence,) = ledger_of(task).evidence
            assert (evidence.command, evidence.passed) == ("pytest tests/till", not status)
            assert ledger_of(task).files == ("src/till.py",)
            memory = memories.get(helix, name)
            assert (memory.helped, memory.failed) == worth


def test_which_task_was_at_work_meanwhile_is_told_by_the_history(
    tmp_path: Path, project: Path, history: History
) -> None:
    with running(tmp_path) as helix:
        session = begun(helix, project, history)
        session.task("1", "in_progress")
        session.settled()
    history.ran("toolu_gone_1", "pytest tests/one", "1 failed in 0.1s", 1)
    history.task("toolu_gone_2", "1", "completed")
    history.task("toolu_gone_3", "2", "in_progress")
    history.ran("toolu_gone_4", "pytest tests/two", "1 passed in 0.1s")
    with running(tmp_path) as helix:
        session = begun(helix, project, history)
        store, scope = session.settled().store, folder_identity(project).scope
        first, second = (find_task(store.index, task_id(scope, session.name, key)) for key in ("1", "2"))
        assert first is not None and second is not None
        assert (first.status, second.status) == ("completed", "in_progress")
        assert [one.command for one in ledger_of(first).evidence] == ["pytest tests/one"]
        assert [one.command for one in ledger_of(second).evidence] == ["pytest tests/two"]
        session.run("pytest tests/three", 0, "1 passed in 0.1s")
        session.settled()
        second = find_task(store.index, task_id(scope, session.name, "2"))
        assert second is not None and len(ledger_of(second).evidence) == 2


@pytest.mark.soak
def test_nothing_is_taken_in_of_a_session_nobody_was_told_of_or_of_what_came_before(
    tmp_path: Path, project: Path, history: History
) -> None:
    history.ran("toolu_gone_1", "make ledger", "error: unknown type name 'money'", 2)
    with running(tmp_path) as helix:
        memories.store(helix, StoreRequest(trigger="a store that is in use", resolution="and has rows", kind="fact"))
        begun(helix, project, history)
        assert episodes(helix) == 0
    with running(tmp_path) as helix:
        begun(helix, project, history)
        assert episodes(helix) == 0  # it was done before the session was opened here


def test_nothing_is_taken_in_of_a_pause_or_of_a_private_session(
    tmp_path: Path, project: Path, history: History
) -> None:
    with running(tmp_path) as helix:
        begun(helix, project, history).settled()
        capture.pause(helix, True)
        history.ran("toolu_gone_1", "make ledger", "error: unknown type name 'money'", 2)
        begun(helix, project, history)
    with running(tmp_path) as helix:
        begun(helix, project, history).settled()
        capture.pause(helix, False)
        begun(helix, project, history).settled()
    with running(tmp_path) as helix:
        begun(helix, project, history)
        assert episodes(helix) == 0
        capture.open_session(helix, SessionRequest(name="session-1", private=True))
    history.ran("toolu_gone_2", "make till", "error: unknown type name 'till'", 2)
    with running(tmp_path) as helix:
        begun(helix, project, history)
        assert episodes(helix) == 0


def test_an_ignored_file_stays_out_though_a_history_names_it(tmp_path: Path, project: Path, history: History) -> None:
    (project / ".helixignore").write_text("secret/\n", "utf-8")
    with running(tmp_path) as helix:
        begun(helix, project, history).settled()
    history.ran("toolu_gone_1", "pytest secret/test_a.py", "E   KeyError: 'a'", 1)
    history.edited("toolu_gone_2", "src/a.py")
    history.ran("toolu_gone_3", "pytest secret/test_a.py")
    with running(tmp_path) as helix:
        begun(helix, project, history)
        assert failures(helix) == [] and episodes(helix) == 0


@pytest.mark.soak
def test_a_history_that_cannot_be_read_or_is_of_another_session_harms_nothing(
    tmp_path: Path, project: Path, history: History
) -> None:
    with running(tmp_path) as helix:
        begun(helix, project, history).settled()
    other = History(history.file, project, "session-2")
    other.ran("toolu_gone_1", "make ledger", "error: unknown type name 'money'", 2)
    with history.file.open("ab") as file:
        file.write(b"\xff{[\n" + b"[1]\n" + b'{"message": 3}\n')
    with running(tmp_path) as helix:
        begun(helix, project, history)
        assert episodes(helix) == 0


def test_the_task_at_work_is_still_at_work(tmp_path: Path, project: Path) -> None:
    scope = folder_identity(project).scope
    with running(tmp_path) as helix:
        memory = memories.store(
            helix,
            StoreRequest(
                trigger="`make all` fails without a compiler", resolution="install gcc", kind="failure", scope=scope
            ),
        ).id
        session = begun(helix, project)
        session.task("7", "in_progress")
    with running(tmp_path) as helix:
        session = AgentSession(helix, project)
        assert session.run("make all")[0]
        session.settled()
        assert [one.memory_id for one in injections(helix.store.index, task_id(scope, session.name, "7"))] == [memory]


def test_a_session_stays_in_its_project_wherever_its_agent_has_gone(tmp_path: Path, project: Path) -> None:
    with running(tmp_path) as helix:
        begun(helix, project).settled()
    with running(tmp_path) as helix:
        gone = ActionBegins(session="session-1", folder=str(project / "src"), action=CommandRun(command="make"))
        assert Sessions(helix.store).of(gone).root == project
        other = ActionBegins(session="session-2", folder=str(project / "src"), action=CommandRun(command="make"))
        assert Sessions(helix.store).of(other).root == project / "src"


def test_of_a_fork_of_a_private_session_nothing_is_kept(tmp_path: Path, project: Path, history: History) -> None:
    history.ran("toolu_1", "make all", "error: unknown type name 'money'", 2)
    forks: dict[str, dict[str, Any]] = {"s": {"forkedFrom": {"sessionId": "private"}}}
    forks |= {name: {"payload": {name: "private"}} for name in ("forked_from_id", "parent_thread_id")}
    for name, forked in forks.items():
        record = json.loads(history.file.read_text("utf-8").splitlines()[0])
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({**record, "type": "session_meta", **forked}), "utf-8")
    with running(tmp_path) as helix:
        capture.open_session(helix, SessionRequest(name="private", private=True))
        before = helix.store.journal.last_seq
        for name in forks:
            session = AgentSession(helix, project, name)
            session.tell("UserPromptSubmit", prompt="go on", transcript_path=str(tmp_path / f"{name}.jsonl"))
            session.run("make all", 2, ERROR)
        assert helix.hooks.settle()
        assert helix.store.journal.last_seq == before


@pytest.mark.parametrize("moved", [False, True])
def test_a_session_is_where_its_history_began_though_its_shell_stands_in_no_project(
    tmp_path: Path, project: Path, history: History, moved: bool
) -> None:
    history.ran("toolu_1", "make all")
    new = project.rename(tmp_path / "moved") if moved else project
    with running(tmp_path) as helix:
        told = {"session": "session-1", "transcript": str(history.file)}
        assert Sessions(helix.store).of(HookEvent(folder=str(new if moved else "/"), **told)).root == new


def test_of_a_long_history_the_end_is_followed(tmp_path: Path, project: Path, history: History) -> None:
    with running(tmp_path) as helix:
        begun(helix, project, history).settled()
    history.ran("toolu_gone_0", "make first", "error: first", 2, datetime.now(UTC) + timedelta(seconds=1))
    with history.file.open("ab") as file:
        file.write(b'{"type": "attachment", "x": "' + b"x" * (9 << 20) + b'"}\n')
    history.ran("toolu_gone_1", "make ledger", "error: unknown type name 'money'", 2)
    with running(tmp_path) as helix:
        begun(helix, project, history)
        helix.hooks.settle()
        said = [str(row[0]) for row in graph.cypher(helix, "MATCH (e:Episode) RETURN e.content").rows]
        assert len(said) == 1 and "make ledger" in said[0]


@pytest.mark.parametrize("prefix", ["toolu_01", "toolu_bdrk_01"])
def test_what_was_erased_comes_back_by_no_history_that_the_next_daemon_catches_up_with(
    tmp_path: Path, project: Path, history: History, prefix: str
) -> None:
    """Neither as it was, nor as what a later fix mends; also where a call's id is none that is known as one."""
    failed = f"{prefix}{'Ab3' * 6}"
    with running(tmp_path) as helix:
        session = begun(helix, project, history)
        history.ran(failed, "pytest", ERROR, 1)
        told = {"tool_name": "Bash", "tool_input": {"command": "pytest"}, "tool_use_id": failed}
        more = {"transcript_path": str(history.file)}
        session.tell("PostToolUseFailure", error=f"Exit code 1\n{ERROR}", is_interrupt=False, **told, **more)
        (failure,) = capture.episodes(session.settled()).items
        finished(helix, erasure.hard_forget(helix, failure.id, erasure.erase_plan(helix, failure.id).root.id))
    with running(tmp_path) as helix:
        session = begun(helix, project, history)
        session.edit("src/pay.py")
        session.run("pytest", 0, "1 passed in 0.1s")
        assert failures(session.settled()) == []
        assert [one.content for one in capture.episodes(helix).items if "yaml" in one.content] == []
