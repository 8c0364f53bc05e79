"""A hook that a client delivers twice counts once: at once, later, and to another daemon."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from helix import settings as configuration
from helix.agents.hook_events import dispatcher
from helix.agents.hook_events.dispatcher import Deliveries
from helix.agents.outcomes.ledger import TaskLedger, ledger_of, with_evidence
from helix.agents.tasks.board import tasks_of
from helix.command_outcome.command_evidence import verification_of
from helix.identity import folder_identity
from helix.memory.remember.request import StoreRequest
from helix.model.evidence import Evidence, EvidenceKind, Verification
from helix.operations import capture, learning, memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.store.listing import MemoryFilter
from tests.agents.hook_events.agent_client import AgentSession
from tests.waiting import MOST_SECONDS, UNHURRIED

PAYLOADS = Path(__file__).resolve().parents[2] / "client" / "payloads"
ERROR = "E   ModuleNotFoundError: No module named 'yaml'\n1 failed in 0.1s"


class Twice(AgentSession):
    """A session whose client has each hook delivered twice, `between` lies between the two."""

    between: Callable[[], object] = staticmethod(lambda: None)

    def tell(self, event: str, agent: str = "", agent_type: str = "", **fields: Any) -> dict[str, Any]:
        fields.setdefault("prompt_id", "p1")
        first = super().tell(event, agent, agent_type, **fields)
        self.between()
        again = super().tell(event, agent, agent_type, **fields)
        assert again == first or event not in ("PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit")
        return first


def a_day(session: AgentSession) -> dict[str, Any]:
    """Have a failure, its fix, an edit, a blocked and a delivered task told of; return what the store has of them."""
    scope = folder_identity(session.project).scope
    memories.store(
        session.helix,
        StoreRequest(
            trigger="`pytest tests` fails", resolution="install yaml", kind="failure", scope=scope, name="known"
        ),
    )
    session.tell("SessionStart", source="startup")
    session.tell("UserPromptSubmit", prompt="mend the tests")
    session.task("1", "in_progress")
    session.run("pytest tests", 1, ERROR)
    session.run("pip install pyyaml")
    session.edit("src/pay.py")
    session.run("pytest tests", 0, "1 passed")
    session.task("1", "completed", helix_outcome="delivered", helix_utilized=["known"])
    session.agent_call("TASK_ID: 2\nTASK: build it\nVERIFY: make", "helix:builder")
    session.run("make", 2, "make: *** [all] Error 1", agent="a1")
    session.agent_runs("a1", "BLOCKED: no compiler\nTRIED: make\nERROR: make: *** [all] Error 1")
    session.tell("Stop", stop_hook_active=False)
    session.tell("SessionEnd", reason="other")
    return kept(session.settled(), scope)


def kept(helix: Helix, scope: str) -> dict[str, Any]:
    held = memories.memories(helix, MemoryFilter(any_status=True)).items
    tasks = tasks_of(helix.store.index, scope=scope)
    return {
        "memories": sorted((one.trigger, one.status.value, one.helped, one.failed, one.uses) for one in held),
        "episodes": sorted(one.content for one in capture.episodes(helix, first=200).items),
        "candidates": sorted(one.trigger for one in learning.learning_queue(helix)),
        "tasks": sorted((task.outcome, task.verification) for task in tasks),
        "evidence": sorted((one.kind, one.command, one.passed) for task in tasks for one in ledger_of(task).evidence),
        "uses": sorted((ledger_of(task).commands, ledger_of(task).repeated != ()) for task in tasks),
    }


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the store has where each hook is delivered once."""
    folder = tmp_path_factory.mktemp("once")
    project = folder / "shop"
    (project / "src").mkdir(parents=True)
    given = configuration.load({"home": folder / "home", "holdback": 0.0}, environ=UNHURRIED, cwd=folder)
    with Helix.open(given, embedder=HashEmbedder()) as helix:
        return a_day(AgentSession(helix, project))


def test_the_day_has_something_to_count(once: dict[str, Any]) -> None:
    assert len(once["memories"]) > 1
    assert len(once["evidence"]) > 1
    assert ("blocked", "failed") in once["tasks"]


def test_what_is_delivered_twice_counts_once(helix: Helix, project: Path, once: dict[str, Any]) -> None:
    assert a_day(Twice(helix, project)) == once


def test_what_is_delivered_again_when_it_is_written_down_counts_once(
    helix: Helix, project: Path, once: dict[str, Any]
) -> None:
    session = Twice(helix, project)
    session.between = lambda: helix.hooks.settle(MOST_SECONDS)  # type: ignore[method-assign]  # of this one alone
    assert a_day(session) == once


class Restarted(AgentSession):
    """A session whose daemon is another one after each end of a command or an agent, which is told `times` of it."""

    times = 1

    def tell(self, event: str, agent: str = "", agent_type: str = "", **fields: Any) -> dict[str, Any]:
        said = super().tell(event, agent, agent_type, **fields)
        if event in ("PostToolUseFailure", "SubagentStop") or (event, fields.get("tool_name")) == (
            "PostToolUse",
            "Bash",
        ):
            settings = self.settled().settings
            self.helix.close()
            self.helix = Helix.open(settings, embedder=HashEmbedder())
            for _ in range(self.times - 1):
                super().tell(event, agent, agent_type, **fields)
        return said


def test_what_is_delivered_again_to_another_daemon_counts_once(tmp_path: Path) -> None:
    found = []
    for times in (1, 2):
        project = tmp_path / str(times) / "shop"
        (project / "src").mkdir(parents=True)
        given = {"home": tmp_path / str(times) / "home", "holdback": 0.0}
        settings = configuration.load(given, environ=UNHURRIED, cwd=tmp_path)
        session = Restarted(Helix.open(settings, embedder=HashEmbedder()), project)
        session.times = times
        try:
            found.append(a_day(session))
        finally:
            session.helix.close()
    assert found[0] == found[1]
    assert found[0]["evidence"]


def test_the_recorded_payloads_delivered_twice_leave_what_they_leave_once(tmp_path: Path) -> None:
    found = []
    for times in (1, 2):
        settings = configuration.load(
            {"home": tmp_path / f"home{times}", "holdback": 0.0}, environ=UNHURRIED, cwd=tmp_path
        )
        with Helix.open(settings, embedder=HashEmbedder()) as helix:
            for path in sorted(PAYLOADS.glob("*.json"), key=lambda path: (path.stem != "session_start", path.stem)):
                payload = {**json.loads(path.read_text("utf-8")), "cwd": str(tmp_path)}
                answers = [helix.hooks.tell("claude-code", payload) for _ in range(times)]
                assert helix.hooks.settle(MOST_SECONDS)
                assert answers.count(answers[0]) == times or "tool_use_id" not in payload
            found.append(kept(helix, folder_identity(tmp_path).scope))
    assert found[0] == found[1]
    assert found[0]["tasks"]
    assert found[0]["episodes"]


def test_a_failure_that_is_told_again_after_the_tests_passed_is_not_news() -> None:
    moment = datetime(2025, 1, 1, tzinfo=UTC)
    failed, passed = (
        Evidence(kind=EvidenceKind.TEST, command="pytest", passed=done, id=str(done), at=moment + timedelta(hours=done))
        for done in (False, True)
    )
    ledger = with_evidence(with_evidence(TaskLedger(), failed), passed)
    again = with_evidence(ledger, replace(failed, at=moment + timedelta(hours=2)))
    assert again == ledger
    assert verification_of(again.evidence, None) is Verification.PASSED


def test_two_deliveries_at_once_are_one() -> None:
    known, calls = Deliveries(dict), []

    def answer() -> dict[str, Any]:
        calls.append(1)
        return {"said": len(calls)}

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: known.once("k", answer), range(32)))
    assert (calls, answers) == ([1], [{"said": 1}] * 32)
    assert [known.once("", answer) for _ in range(2)] == [{"said": 2}, {"said": 3}]


def test_as_many_deliveries_are_known_as_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatcher, "MOST_KNOWN", 4)
    monkeypatch.setattr(dispatcher, "MOST_ANSWERS", 2)
    known = Deliveries(dict)
    for key in "abcdef":
        known.once(key, lambda: {"said": "it"})
    assert known.once("f", dict) == {"said": "it"}
    assert known.once("c", lambda: {"said": "again"}) == {}
    assert known.once("a", lambda: {"said": "again"}) == {"said": "again"}


def test_a_delivery_that_fails_is_no_reason_to_wait() -> None:
    known = Deliveries(dict)
    with pytest.raises(ZeroDivisionError):
        known.once("k", lambda: {"said": 1 / 0})
    assert known.once("k", dict) == {}
