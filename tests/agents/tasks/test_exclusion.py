"""What is told of a project's work by its name alone is kept without what names a file of its `.helixignore`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helix.agents.observer.queue import Keeping, waiting
from helix.agents.outcomes.ledger import ledger_of
from helix.agents.tasks.board import TaskSighting, find_task, mirror
from helix.agents.tasks.exclusion import Exclusion, exclusion_of
from helix.agents.tasks.explorations import ExplorationRequest, save_exploration
from helix.agents.tasks.plans import PlanRequest, load_plan, save_plan
from helix.folders import note_folder
from helix.helixignore import _Rule
from helix.identity import Identity, identify
from helix.model.candidate import Certainty
from helix.operations import learning, tasks
from helix.service import Helix
from tests.counting import calls_of
from tests.test_folders import clone

SCOPE = "github.com/ada/shop"
PLAN = "secret/plan.md"
SAID = f"{PLAN} says that the price is 12 dollars"
FINDINGS = json.dumps(
    {
        "status": "success",
        "focus": "prices",
        "findings": [{"file": name, "what": f"the price of {at}"} for at, name in ((12, PLAN), (7, "src/pay.py"))],
    }
)


@pytest.fixture(autouse=True)
def project(helix: Helix, tmp_path: Path) -> Path:
    """A clone that was worked in, with a project below it."""
    folder = clone(tmp_path / "shop")
    (folder / ".helixignore").write_text("secret/\n", "utf-8")
    (folder / "web").mkdir()
    (folder / "web" / ".helixignore").write_text("/drafts\n", "utf-8")
    found = identify(folder)
    assert found is not None and found.scope == SCOPE
    note_folder(helix.store.runtime.settings.home, found)
    return folder


def test_an_exploration_is_kept_without_what_is_about_an_ignored_file(helix: Helix) -> None:
    request = ExplorationRequest(answer=FINDINGS, objective=f"what {PLAN} says", scope=SCOPE)
    report = save_exploration(helix.store, request)
    assert report.exploration.objective == ""
    kept = str(report.exploration.attributes)
    assert ("src/pay.py" in kept, "price of 7" in kept, "plan.md" in kept, "price of 12" in kept) == (
        True,
        True,
        False,
        False,
    )
    assert [one for one in report.problems if ".helixignore" in one]


def test_a_plan_and_an_attempt_are_kept_without_what_names_an_ignored_file(helix: Helix) -> None:
    planned = [
        {"seq": "001", "slug": "prices", "objective": f"Do as {PLAN} says", "verify": f"grep 12 {PLAN}"},
        {"seq": "002", "slug": "pay", "objective": "Pay", "delta": [PLAN, "src/pay.py"], "depends": ["001"]},
    ]
    answer = json.dumps({"decision": "PROCEED", "plan": {"objective": SAID, "tasks": planned}})
    report = save_plan(helix.store, PlanRequest(answer=answer, scope=SCOPE))
    assert [one for one in report.problems if ".helixignore" in one]
    assert (report.plan.objective, [one.objective for one in report.tasks]) == ("", ["prices", "Pay"])
    assert ([one.verify for one in report.tasks], report.tasks[1].delta) == (["", ""], ("src/pay.py",))
    first = tasks.create_workspace(helix, "001", scope=SCOPE)
    ended = tasks.complete_workspace(helix, first.workspace.id, SAID)
    assert [one for one in ended.problems if ".helixignore" in one]
    assert ended.workspace.attributes == {"utilized": []}
    assert load_plan(helix.store.index, report.plan.id).tasks[0].delivered == ""
    second = tasks.create_workspace(helix, "002", scope=SCOPE)
    assert "plan.md" not in second.prompt and "dollars" not in second.prompt
    blocked = tasks.block_workspace(helix, second.workspace.id, SAID, tried="a pen")
    assert blocked.workspace.attributes == {"tried": "a pen", "utilized": []}


def test_of_what_is_done_with_an_ignored_file_a_task_keeps_what_it_proves(helix: Helix) -> None:
    seen = TaskSighting(session="s", key="1", scope=SCOPE, objective="Pay", attributes={"verify": "make test"})
    task = mirror(helix.store, seen).id
    for command in (f"pytest {PLAN}", "pytest tests"):
        check = tasks.note_action(helix, task, command, exit_status=1, output="1 failed")
        assert check is not None and not check.passed
    tasks.note_action(helix, task, files=[PLAN, "src/pay.py"])
    kept = find_task(helix.store.index, task)
    assert kept is not None and len(ledger_of(kept).evidence) == 2
    told = str(kept.attributes)
    assert "plan.md" not in told and "pytest tests" in told and "src/pay.py" in told


def test_what_an_observer_is_handed_of_an_ignored_file_is_neither_stored_nor_queued(helix: Helix) -> None:
    for store in (True, False):
        keeping = Keeping(store=store, queue=True, min_confidence=Certainty.LOW, scope=SCOPE)
        seen = learning.observe_explorer(helix, keeping, FINDINGS)
        kept = [str(one) for one in (*waiting(helix.store.index, None), *seen.stored)]
        assert not [one for one in kept if "plan.md" in one or "price of 12" in one]
        assert len(seen.candidates) == 2
        assert [one.trigger for one in seen.skipped] == [f"what is in {PLAN}"] * store
    assert learning.observe_explorer(helix, keeping, FINDINGS.replace(PLAN, "a.py")).queued


def test_of_a_project_below_a_repository_s_folder_its_own_rules_hold_too(helix: Helix) -> None:
    for scope, kept in ((f"{SCOPE}/web", []), (SCOPE, ["what is in drafts/idea.md"])):
        keeping = Keeping(queue=True, scope=scope)
        seen = learning.observe_explorer(helix, keeping, FINDINGS.replace("src/pay.py", "drafts/idea.md"))
        assert [one.trigger for one in seen.queued] == kept


def test_where_the_rules_cannot_be_read_no_text_is_kept(helix: Helix, project: Path) -> None:
    (project / ".helixignore").write_text("[" * 300, "utf-8")
    assert not learning.observe_explorer(helix, Keeping(queue=True, scope=SCOPE), FINDINGS).queued
    assert learning.observe_explorer(helix, Keeping(queue=True, scope="another"), FINDINGS).queued


def test_the_texts_of_one_request_are_compared_with_rules_so_often_together_and_then_all_left_out(
    project: Path,
) -> None:
    """Each text alone may take as long as a request: a clone's plan of sixty tasks held the daemon for 30 s."""
    (project / ".helixignore").write_text("".join(f"*q{number}*b*?c\n" for number in range(900)), "utf-8")
    exclusion = Exclusion([str(project)])
    said = [{"objective": f"Change src/{number}/a.py", "verify": f"pytest src/{number}/b.py"} for number in range(200)]
    kept: list[str] = []
    asked = calls_of(_Rule.says, lambda: kept.extend(exclusion.without(one)["objective"] for one in said))
    assert asked < 250_000
    assert kept[0] == said[0]["objective"]
    assert kept[-1] == ""


def test_a_project_with_a_name_of_its_own_asks_the_rules_of_its_folder(helix: Helix, project: Path) -> None:
    home, scope = helix.store.runtime.settings.home, f"{SCOPE}/frontend"
    note_folder(home, Identity(scope=scope, root=project / "web", repository=SCOPE))
    said = [f"Do as {name} says" for name in ("drafts/a.md", PLAN, "src/pay.py")]
    assert [exclusion_of(home, scope).without({"objective": one})["objective"] for one in said] == ["", "", said[2]]
