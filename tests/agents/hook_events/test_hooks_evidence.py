"""What hooks take for evidence and of what: hidden statuses, agents side by side, long words, reverts, ignored ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helix.agents.observer.queue import accept, waiting
from helix.agents.outcomes.ledger import REPEATED, ledger_of
from helix.agents.tasks.board import find_task, injections, task_id, tasks_of
from helix.identity import folder_identity
from helix.memory.remember.request import StoreRequest
from helix.model.memory import Kind
from helix.model.provenance import Trust
from helix.model.task import Task
from helix.operations import capture, graph, memories
from helix.service import Helix
from helix.store.listing import MemoryFilter
from tests.agents.hook_events.agent_client import AgentSession
from tests.waiting import MOST_SECONDS

BUILDER = "helix:builder"
ERROR = "E   AssertionError: zorro 'x' is not masked\n1 failed in 0.1s"


def scope_of(session: AgentSession) -> str:
    return folder_identity(session.project).scope


def keep(session: AgentSession, trigger: str, resolution: str, kind: str = "failure", **more: Any) -> str:
    return memories.store(
        session.helix, StoreRequest(trigger=trigger, resolution=resolution, kind=kind, scope=scope_of(session), **more)
    ).id


def task_at(session: AgentSession, key: str) -> Task:
    task = find_task(session.settled().store.index, task_id(scope_of(session), session.name, key))
    assert task is not None
    return task


def build(session: AgentSession, ident: str, objective: str, verify: str = "sh check.sh", more: str = "") -> str:
    """Call a builder for a task of the client's list and return the call's id."""
    prompt = f"TASK_ID: {ident}\nTASK: {objective}\nOBJECTIVE: {objective}\nVERIFY: {verify}{more}"
    return session.agent_call(prompt)[0]


def join(session: AgentSession, call: str, agent: str) -> None:
    answer = {"agentId": agent, "status": "completed"}
    session.tell("PostToolUse", tool_name="Agent", tool_input={}, tool_use_id=call, tool_response=answer)


def failures(session: AgentSession, kind: Kind = Kind.FAILURE) -> list[Any]:
    return [
        one
        for one in memories.memories(session.settled(), MemoryFilter(scope=scope_of(session))).items
        if one.kind == kind
    ]


def edges(helix: Helix, kind: str) -> list[list[Any]]:
    rows = graph.cypher(helix, f"MATCH (a:Memory)-[:{kind}]->(b:Memory) RETURN a.id, b.id").rows
    return [list(row) for row in rows]


@pytest.mark.parametrize("behind", ["| tail -5", "|| true", "; echo done", "&"])
def test_a_status_that_is_hidden_mends_nothing(session: AgentSession, behind: str) -> None:
    session.run("pytest tests/test_zorro.py", 1, ERROR)
    session.edit("src/zorro.py")
    session.run(f"pytest tests/test_zorro.py {behind}", 0, ERROR)
    assert not failures(session)
    session.run("pytest tests/test_zorro.py")
    assert len(failures(session)) == 1


def test_a_summary_that_counts_failures_is_no_pass_whatever_the_status(session: AgentSession) -> None:
    session.run("sh tests.sh", 1, ERROR)
    session.edit("src/zorro.py")
    session.run("sh tests.sh", 0, ERROR)
    assert not failures(session)


def test_only_commands_that_certainly_ended_well_show_use(session: AgentSession) -> None:
    memory = keep(session, "loading the bird table", "Run `sh birdprep.sh --all` beforehand", kind="pattern")
    build(session, "1", "loading the bird table")
    session.tell("SubagentStart", "a1", BUILDER)
    session.run("sh birdprep.sh --all | tail -1", agent="a1")
    session.run("sh birdprep.sh --all || true", agent="a1")
    assert memory not in ledger_of(task_at(session, "1")).signs
    session.run("cd . && sh birdprep.sh --all", agent="a1")
    assert memory in ledger_of(task_at(session, "1")).signs


@pytest.mark.parametrize("order", ["joined late", "meta", "prompt"])
def test_what_agents_side_by_side_do_is_never_told_of_each_others_task(
    session: AgentSession, tmp_path: Path, order: str
) -> None:
    first = keep(session, "varnish the cedar boards", "use okapi brushes", kind="pattern")
    second = keep(session, "lacquer the spruce panels", "use civet rollers", kind="pattern")
    words = {"1": "varnish the cedar boards", "2": "lacquer the spruce panels"}
    calls = {ident: build(session, ident, said, f"sh {ident}.sh") for ident, said in words.items()}
    names = {ident: memories.get(session.helix, memory).name for ident, memory in (("1", first), ("2", second))}
    history = tmp_path / session.name / "subagents"
    history.mkdir(parents=True)
    for agent in ("b2", "b1"):
        session.tell("SubagentStart", agent, BUILDER)
    session.run("sh 1.sh", agent="b1")
    session.run("sh 2.sh", 4, "BoomError: the tank burst", agent="b2")
    for ident in words:
        assert not ledger_of(task_at(session, ident)).evidence
    for ident in ("1", "2"):
        agent, path = f"b{ident}", history / f"agent-b{ident}.jsonl"
        if order == "meta":
            path.with_suffix(".meta.json").write_text(json.dumps({"toolUseId": calls[ident]}), "utf-8")
        if order == "prompt":
            prompt = (
                f"memories\n\nTASK_ID: {ident}\nTASK: {words[ident]}\nOBJECTIVE: {words[ident]}\nVERIFY: sh {ident}.sh"
            )
            path.write_text(json.dumps({"type": "user", "message": {"content": prompt}}) + "\n", "utf-8")
        said = f"DELIVERED: by {agent}\nUTILIZED: [{names[ident]}]"
        session.agent_ends(agent, said, agent_transcript_path=str(path))
    if order == "joined late":
        assert not task_at(session, "1").outcome
        for ident in words:
            join(session, calls[ident], f"b{ident}")
    assert (task_at(session, "1").outcome, task_at(session, "2").outcome) == ("delivered", "blocked")
    worth = [
        (memories.get(session.helix, one).helped, memories.get(session.helix, one).failed) for one in (first, second)
    ]
    assert worth == [(0.5, 0.0), (0.0, 0.3)]


def test_what_nobody_ever_tells_is_of_a_task_of_the_agents_own(session: AgentSession) -> None:
    build(session, "1", "one thing")
    build(session, "2", "another thing")
    session.tell("SubagentStart", "b1", BUILDER)
    session.run("sh check.sh", agent="b1")
    session.agent_ends("b1", "DELIVERED: something\nUTILIZED: []")
    session.tell("SessionEnd", reason="other")
    assert not task_at(session, "1").outcome and not task_at(session, "2").outcome
    assert task_at(session, "agent:b1").outcome == "delivered"


def test_an_agent_keeps_its_task_when_the_daemon_is_started_anew(session: AgentSession) -> None:
    memory = keep(session, "clip the juniper hedge", "use wolverine shears", kind="pattern")
    call = build(session, "1", "clip the juniper hedge")
    later = build(session, "2", "clip another hedge", "sh other.sh")
    session.tell("SubagentStart", "a1", BUILDER)
    join(session, call, "a1")
    session.settled()
    session.helix.hooks._sessions.end(session.name)
    session.run("sh check.sh", 3, "bad", agent="a1")
    session.agent_ends("a1", f"DELIVERED: x\nUTILIZED: [{memories.get(session.helix, memory).name}]")
    assert task_at(session, "1").outcome == "blocked"
    assert memories.get(session.helix, memory).failed == 0.3
    join(session, later, "a2")
    session.run("sh other.sh", agent="a2")
    assert [one.passed for one in ledger_of(task_at(session, "2")).evidence] == [True]


@pytest.mark.soak
def test_three_tasks_that_end_blocked_by_the_same_failure_make_it_systemic(helix: Helix, project: Path) -> None:
    for number in range(3):
        session = AgentSession(helix, project, f"s{number}")
        build(session, "1", "calibrate the orca sonar", "sh orca.sh")
        session.tell("SubagentStart", f"a{number}", BUILDER)
        error = 'SonarError: the orca pings back "nothing"'
        session.run("sh orca.sh", 7, error, agent=f"a{number}")
        tried = ("restarted it", "restarted it", "waited an hour")[number]
        said = f"BLOCKED: the sonar is mute\nTRIED: {tried}\nERROR: {error}\nUTILIZED: []"
        session.agent_ends(f"a{number}", said)
        session.tell("SessionEnd", reason="other")
        (failure,) = failures(session)
        assert bool(failures(session, Kind.SYSTEMIC)) == (number == 2)
    assert failure.provenance.trust is Trust.TOOL_OUTPUT
    assert failure.attributes["command"] == "orca.sh" and "restarted it" in failure.resolution
    assert "waited an hour" in failure.resolution
    (systemic,) = failures(session, Kind.SYSTEMIC)
    assert systemic.provenance.trust is Trust.TOOL_OUTPUT
    assert "restarted it" not in systemic.resolution, "what was tried in vain is no fix"
    grounds = graph.cypher(
        helix, f"MATCH (m:Memory)-[:GROUNDED_IN]->(e:Episode) WHERE m.id = '{systemic.id}' RETURN e.content"
    ).rows
    assert len(grounds) == 3 and all("SonarError" in row[0] for row in grounds)
    assert edges(helix, "CAUSES") == [[failure.id, systemic.id]], "three versions of one failure are one cause"
    told, _ = AgentSession(helix, project, "later").run("sh orca.sh")
    assert "WARNING, it keeps happening" in told


def test_what_is_tried_in_vain_stands_in_no_failure_that_a_person_confirmed(helix: Helix, project: Path) -> None:
    for number, tried in enumerate(("restarted it", "what the page says: SAFE_MODE=off mends it", "waited")):
        session = AgentSession(helix, project, f"s{number}")
        build(session, "1", "calibrate the orca sonar", "sh orca.sh")
        session.tell("SubagentStart", f"a{number}", BUILDER)
        session.run("sh orca.sh", 7, "SonarError: no ping", agent=f"a{number}")
        said = f"BLOCKED: it is mute\nTRIED: {tried}\nERROR: SonarError: no ping\nUTILIZED: []"
        session.agent_ends(f"a{number}", said)
        session.tell("SessionEnd", reason="other")
        (failure,) = failures(session)
        if number == 0:
            memories.confirm(helix, failure.id)
    assert failure.provenance.trust is Trust.USER_ASSERTED
    assert failure.resolution.endswith("restarted it")
    assert failures(session, Kind.SYSTEMIC), "it is counted all the same"


def test_what_is_tried_in_vain_on_an_ignored_file_stands_in_no_failure(helix: Helix, project: Path) -> None:
    (project / ".helixignore").write_text("secret/\n", "utf-8")
    for number, tried in enumerate(("a price of 12 in secret/plan.md", "restarted it", "minutes into secret/plan.md")):
        session = AgentSession(helix, project, f"s{number}")
        build(session, "1", "calibrate the orca sonar", "sh orca.sh")
        session.tell("SubagentStart", f"a{number}", BUILDER)
        session.run("sh orca.sh", 7, "SonarError: no ping", agent=f"a{number}")
        session.agent_ends(f"a{number}", f"BLOCKED: it is mute\nTRIED: {tried}\nERROR: SonarError: no ping")
        session.tell("SessionEnd", reason="other")
    (failure,) = failures(session)
    assert "restarted it" in failure.resolution and "plan.md" not in failure.resolution


def test_of_a_revert_in_an_ignored_folder_a_task_keeps_no_command(session: AgentSession) -> None:
    (session.project / ".helixignore").write_text("secret/\n", "utf-8")
    build(session, "1", "calibrate the orca sonar", "sh orca.sh")
    session.tell("SubagentStart", "a1", BUILDER)
    session.run("git commit -m sonar", output="[main abc1234] sonar\n 1 file changed", agent="a1")
    session.agent_ends("a1", "DELIVERED: it pings\nUTILIZED: []")
    said = '[main def5678] Revert "sonar"\n\nThis reverts commit abc1234.'
    session.run("cat secret/plan.md && git revert --no-edit abc1234", output=said)
    (task,) = tasks_of(session.settled().store.index, session=session.name)
    assert task.outcome == "blocked" and "plan.md" not in str(task.attributes)


def test_a_failure_that_keeps_happening_stays_one_memory(helix: Helix, project: Path) -> None:
    for number in range(5):
        session = AgentSession(helix, project, f"s{number}")
        build(session, "1", "calibrate the orca sonar", "sh orca.sh")
        session.tell("SubagentStart", f"a{number}", BUILDER)
        session.run("sh orca.sh", 7, "SonarError: no ping", agent=f"a{number}")
        session.agent_ends(f"a{number}", f"BLOCKED: it is mute\nTRIED: way {number}\nERROR: SonarError: no ping")
        session.tell("SessionEnd", reason="other")
    # Consolidation may have made one of the same episodes meanwhile, which says no more than that the command failed.
    (failure,) = [one for one in failures(session) if one.source.startswith("claude-code:")]
    assert "way 0" in failure.resolution and "way 4" in failure.resolution


def test_of_a_failure_that_was_mended_in_another_way_the_last_one_is_told_first(helix: Helix, project: Path) -> None:
    error = "ERROR: relation orders already exists"
    first, second, third = (AgentSession(helix, project, name) for name in ("one", "two", "three"))
    first.run("make migrate", 2, error)
    first.run("make reset-db")
    first.run("make migrate")
    for session in (second, third):
        session.run("make migrate", 2, error)
        session.run("make reset-db")
        session.run("make migrate", 2, error)
        session.run("dropdb shop_dev")
        session.run("make migrate")
    assert helix.hooks.settle(MOST_SECONDS)
    (known,) = memories.memories(helix, MemoryFilter(kinds=[Kind.FAILURE])).items
    now = "It passed after running `make reset-db`, `dropdb shop_dev`."
    before = "It passed after running `make reset-db`."
    assert known.resolution == f"{now} Before that: {before}"
    assert known.provenance.trust is Trust.TOOL_OUTPUT
    assert now not in "".join(second.run("make migrate", 2, error)), "whoever learned it knows it"
    told = "".join(AgentSession(helix, project, "four").run("make migrate", 2, error))
    assert now in told


def test_what_one_session_breaks_and_mends_again_and_again_is_not_systemic(helix: Helix, project: Path) -> None:
    def mend(name: str, deck: int) -> AgentSession:
        session = AgentSession(helix, project, name)
        session.run("sh orca.sh", 1, f"OrcaError: the sonar of the orca found no deck: 'deck{deck}'")
        session.edit("orca.py")
        session.run("sh orca.sh")
        session.settled()
        return session

    for deck in range(3):
        session = mend("first", deck)
    assert not failures(session, Kind.SYSTEMIC)
    assert not failures(mend("second", 3), Kind.SYSTEMIC)
    assert failures(mend("third", 4), Kind.SYSTEMIC)


def test_what_is_only_claimed_to_have_failed_waits(session: AgentSession) -> None:
    build(session, "1", "calibrate the orca sonar", "sh orca.sh")
    session.agent_runs("a1", "BLOCKED: it is mute\nTRIED: all\nERROR: SonarError: no ping at all\nUTILIZED: []")
    assert not failures(session)
    (candidate,) = [one for one in waiting(session.helix.store.index, None) if one.kind is Kind.FAILURE]
    accept(session.helix.store, candidate.id)
    assert "no ping" in AgentSession(session.helix, session.project, "later").run("sh orca.sh")[0]
    other = AgentSession(session.helix, session.project, "other")
    assert "no ping" in other.run("sh ping.sh", 1, "SonarError: no ping at all")[1]


def test_words_of_any_length_leave_a_task_settled(session: AgentSession) -> None:
    memory = keep(session, "bake the rhubarb crumble", "use dugong flour", kind="pattern")
    name = memories.get(session.helix, memory).name
    build(session, "1", "bake the rhubarb crumble")
    session.tell("SubagentStart", "a1", BUILDER)
    session.run("sh check.sh", 3, "bad", agent="a1")
    trace = "\n".join(f'  File "/a/b{line}.py", line {line}, in function' for line in range(900))
    session.agent_ends("a1", f"BLOCKED: x\nTRIED: y\nERROR: {trace}\nUTILIZED: [{name}]")
    task = task_at(session, "1")
    assert (task.outcome, memories.get(session.helix, memory).failed) == ("blocked", 0.3)
    assert str(task.attributes["error"]).startswith('File "/a/b0.py"') and "\n...\n" in str(task.attributes["error"])
    build(session, "3", "bake the rhubarb crumble")
    many = ", ".join(f"name-{number}" for number in range(20_000))
    session.agent_runs("a3", f"BLOCKED: x\nTRIED: y\nERROR: z\nUTILIZED: [{name}, {many}]")
    assert (task_at(session, "3").outcome, memories.get(session.helix, memory).failed) == ("blocked", 0.3)
    session.task("2", "completed", helix_outcome="blocked", error="stack " * 9_000, blocked_reason="r" * 90_000)
    assert task_at(session, "2").outcome == "blocked"


def test_a_revert_counts_against_the_task_of_the_commit_whoever_reverts(session: AgentSession) -> None:
    stored = []
    for number, digits in (("1", "abc1234"), ("2", "bcd2345"), ("3", "cde3456")):
        stored.append(keep(session, f"press olives of kind {number}", f"use ibex{number} yak{number}", kind="pattern"))
        name = memories.get(session.helix, stored[-1]).name
        build(session, number, f"press olives of kind {number}")
        session.tell("SubagentStart", f"a{number}", BUILDER)
        session.run("sh check.sh", agent=f"a{number}")
        session.run("git commit -am x", 0, f"[main {digits}] x\n 1 file changed", agent=f"a{number}")
        session.agent_ends(f"a{number}", f"DELIVERED: x\nUTILIZED: [{name}]")
    session.run("git revert --no-edit HEAD", 0, '[main eee0001] Revert "x"')
    assert [task_at(session, number).outcome for number in "123"] == ["delivered", "delivered", "blocked"]
    other = AgentSession(session.helix, session.project, "other")
    other.run("git revert --no-edit abc1234", 0, '[main fff0001] Revert "x"')
    assert task_at(session, "1").outcome == "blocked"
    assert task_at(session, "2").outcome == "delivered"
    other.run("git revert HEAD --no-edit", 0, '[main ccc2345] Revert "x"\n\nThis reverts commit bcd2345aaaa.')
    other.settled()
    assert [memories.get(session.helix, one).helped for one in stored] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("after", "outcome", "verified"),
    [
        ("git status", "delivered", "passed"),
        ("git checkout -- a.py", "delivered", "none"),
        ("cd src && git reset --hard HEAD~1 | cat", "delivered", "none"),
        ("for one in a b; do git restore $one; done", "delivered", "none"),
        ("git stash && sh check.sh", "delivered", "passed"),
    ],
)
def test_what_was_green_before_files_were_taken_back_says_nothing_of_them(
    session: AgentSession, after: str, outcome: str, verified: str
) -> None:
    build(session, "1", "prune the quince hedge")
    session.tell("SubagentStart", "a1", BUILDER)
    session.run("sh check.sh", agent="a1")
    session.run(after, agent="a1")
    session.agent_ends("a1", "DELIVERED: x\nUTILIZED: []")
    task = task_at(session, "1")
    assert (task.outcome, task.verification) == (outcome, verified)


def test_a_pattern_that_helped_past_an_error_solves_the_failure_known_from_the_prompt(session: AgentSession) -> None:
    failure = keep(session, "`KeyError: 'condor'` in the condor census", "add the condor column")
    pattern = keep(session, "preparing the condor census", "Run `sh condorprep.sh --all` beforehand", kind="pattern")
    build(session, "1", "preparing the condor census")
    session.tell("SubagentStart", "a1", BUILDER)
    error = "Traceback (most recent call last):\nKeyError: 'condor'"
    session.run("sh check.sh", 1, error, agent="a1")
    session.run("sh condorprep.sh --all", agent="a1")
    session.run("sh check.sh", agent="a1")
    session.agent_ends("a1", "DELIVERED: x\nUTILIZED: []")
    helix = session.settled()
    assert {one.memory_id for one in injections(helix.store.index, task_at(session, "1").id)} >= {failure, pattern}
    assert [pattern, failure] in edges(helix, "SOLVES")
    assert memories.get(helix, failure).failed == 0.0
    (mended,) = [one for one in failures(session) if one.id != failure]
    assert [pattern, mended.id] in edges(helix, "SOLVES")


def test_speaking_of_a_memory_is_not_using_it(session: AgentSession) -> None:
    memory = keep(session, "polish the pewter kettle", "apply the lemur7 gecko7 method", kind="pattern")
    build(session, "1", "polish the pewter kettle")
    session.tell("SubagentStart", "a1", BUILDER)
    session.run("sh check.sh", agent="a1")
    session.agent_ends(
        "a1", "DELIVERED: another way\nUTILIZED: []\nThe lemur7 gecko7 method was wrong, I did not use it."
    )
    assert memories.get(session.settled(), memory).helped == 0.0


def test_what_ignored_files_fail_by_is_kept_out(session: AgentSession) -> None:
    (session.project / ".helixignore").write_text("private/**\n", "utf-8")
    session.run("sh private/run.sh", 3, "PlanError: topsecret is late")
    session.run("sh public.sh", 3, "PlanError: topsecret at private/plans.txt")
    session.edit("src/a.py")
    session.run("sh fixit.sh")
    session.run("sh private/run.sh")
    session.run("sh public.sh")
    helix = session.settled()
    assert not failures(session)
    kept = [str(one) for one in capture.episodes(helix).items]
    assert not [one for one in kept if "topsecret" in one or "private" in one]


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("sh tool.sh --config=private/plan.txt", "error: topsecret is late"),
        ("sh tool.sh < private/plan.txt", "error: topsecret is late"),
        ("sh tool.sh < plan.key", "error: topsecret is late"),
        ("sh tool.sh -i plan.key", "error: topsecret is late"),
        ("PLAN=private/plan.txt sh tool.sh", "error: topsecret is late"),
        ("cd private && sh tool.sh plan.txt", "error: topsecret is late"),
        ("git -C private merge plan.txt", "fatal: topsecret is late"),
        ("git merge HEAD:private/plan.txt", "fatal: topsecret is late"),
        ("python -c \"open('private/plan.txt').read()\"", "ValueError: topsecret is late"),
        ("sh tool.sh", "Traceback: FileNotFoundError: topsecret in private/plan.txt line 3"),
        ("sh tool.sh", "error: topsecret in {project}/private/deep/plan.txt: is late"),
        ("cd private; echo topsecret > plan", ""),
    ],
)
def test_however_an_ignored_file_is_named_it_is_kept_out(session: AgentSession, command: str, output: str) -> None:
    (session.project / ".helixignore").write_text("private/\n*.key\nbuild\n*.log\n", "utf-8")
    session.run(command, 3, output.format(project=session.project))
    session.run("npm run build", 3, f"TypeError: the beaver is no function of {'x' * 300}/{'y' * 90}")
    kept = [str(one) for one in capture.episodes(session.settled()).items]
    assert not [one for one in kept if "topsecret" in one]
    assert [one for one in kept if "beaver" in one]


@pytest.mark.parametrize(
    "command",
    [
        "cd private && make it",
        "cd -P private; make it",
        "(cd $(pwd)/private || exit 1; make it)",
        "bash -c 'cd private && make it'",
        "make -C private it",
        "terraform -chdir=private apply",
        "pytest private",
        "ruff check ./private",
        "git checkout -- whole",
    ],
)
def test_however_an_ignored_folder_is_named_it_is_kept_out(session: AgentSession, command: str) -> None:
    for name in ("private", "whole", "build"):
        (session.project / name).mkdir()
    (session.project / ".helixignore").write_text("private/\nwhole/**\nbuild\n", "utf-8")
    session.run(command, 3, "ValueError: topsecret is late")
    session.run("npm run build", 3, "TypeError: the beaver is no function")
    inside = AgentSession(session.helix, session.project / "private", session.name)
    inside.run("make all", 3, "ValueError: topsecret is late")
    kept = [str(one) for one in capture.episodes(session.settled()).items]
    assert not [one for one in kept if "topsecret" in one]
    assert [one for one in kept if "beaver" in one]


@pytest.mark.parametrize(
    "command", ["sh tool.sh /", "sh tool.sh 1 / 2", "cd / && sh tool.sh", "sh tool.sh ../../../../../.."]
)
def test_a_command_that_names_the_root_of_the_file_system_is_kept(session: AgentSession, command: str) -> None:
    session.run(command, 3, "TypeError: the beaver is no function")
    kept = [str(one) for one in capture.episodes(session.settled()).items]
    assert [one for one in kept if "beaver" in one]


@pytest.fixture
def cold(helix: Helix, project: Path) -> Iterator[AgentSession]:
    session = AgentSession(helix, project)
    keep(session, "we decided on money", "amounts are integers of cents", kind="decision")
    yield session


def test_a_brief_that_came_too_late_comes_with_the_first_action(cold: AgentSession) -> None:
    assert "integers of cents" not in cold.run("make doc", agent="a1")[0]
    assert "integers of cents" in cold.run("make doc")[0]
    assert cold.run("make doc") == ("", "")
    assert cold.tell("UserPromptSubmit", prompt="go on") == {}


def test_of_two_tasks_in_progress_a_verify_command_belongs_to_its_own(session: AgentSession) -> None:
    for ident in ("1", "2"):
        session.task(ident, "in_progress", verify=f"sh {ident}.sh")
    session.settled()
    session.run("sh 1.sh", 3, "bad")
    session.run("sh 2.sh")
    for ident in ("1", "2"):
        session.task(ident, "completed", helix_outcome="delivered")
    assert (task_at(session, "1").outcome, task_at(session, "2").outcome) == ("blocked", "delivered")


def test_an_agent_that_wants_no_memories_gets_none_at_commands_either(session: AgentSession) -> None:
    keep(session, "`sh osprey.sh` fails for want of nets", "get nets")
    build(session, "1", "watch the osprey", more="\nNO_INJECT: true")
    session.tell("SubagentStart", "a1", BUILDER)
    assert session.run("sh osprey.sh", 1, "error: no nets", agent="a1") == ("", "")
    assert session.run("sh osprey.sh")[0]


def test_a_command_that_is_known_to_fail_and_fails_is_a_repeat(session: AgentSession) -> None:
    memory = keep(session, "`sh heronry.sh` fails for want of eggs", "put eggs")
    keep(session, "`sh heronry.sh --all` fails for want of time", "wait")
    session.run("sh heronry.sh", 4, "EggError: there are no eggs in the nest")
    assert task_at(session, "session").attributes[REPEATED] == [memory]
