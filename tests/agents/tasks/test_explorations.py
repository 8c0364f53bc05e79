"""An exploration is kept as it was found, from one object or from the answers of several explorers."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.agents.tasks import explorations
from helix.agents.tasks.explorations import ExplorationRequest, load_exploration
from helix.errors import InvalidInputError, NotFoundError
from helix.memory.capture.sessions import SessionRequest, open_session
from helix.model.task import Exploration
from helix.operations import graph
from helix.service import Helix
from helix.store.store import Store
from tests.sampling import draws

WHOLE = {
    "objective": "Log in",
    "structure": {"directories": ["src"], "entry_points": ["src/main.py"]},
    "patterns": {"framework": "flask", "idioms": ["typed errors"]},
    "memory": {"relevant_failures": [], "relevant_patterns": []},
    "targets": {"files": [{"file": "src/a.py"}], "functions": ["login"]},
}


def answer(file: str) -> dict[str, object]:
    found = {"file": file, "what": "the form", "action": "modify", "task_hint": "here"}
    return {"scope": "src/", "focus": "targets", "status": "success", "findings": [found]}


def save_exploration(store: Store, request: ExplorationRequest) -> Exploration:
    return explorations.save_exploration(store, request).exploration


def problems(store: Store, text: str) -> tuple[str, ...]:
    return explorations.save_exploration(store, ExplorationRequest(answer=text, objective="Log in")).problems


def test_an_exploration_is_kept_as_it_was_found(living: Helix, store: Store) -> None:
    text = f"Here it is:\n```json\n{json.dumps(WHOLE)}\n```\nDone."
    made = save_exploration(store, ExplorationRequest(answer=text, scope="shop", session="s"))
    assert (made.objective, made.scope, made.session) == ("Log in", "shop", "s")
    assert made.attributes == {name: part for name, part in WHOLE.items() if name != "objective"}
    assert load_exploration(store.index, made.id) == made
    assert graph.cypher(living, "MATCH (e:Exploration) RETURN e.objective, e.session").rows == (("Log in", "s"),)


@pytest.mark.parametrize("joined", [True, False])
def test_the_answers_of_several_explorers_become_one(store: Store, joined: bool) -> None:
    answers = [answer("src/a.py"), answer("src/b.py")]
    text = json.dumps(answers) if joined else "\n".join(map(json.dumps, answers))
    made = save_exploration(store, ExplorationRequest(answer=text, objective="Log in"))
    assert made.objective == "Log in"
    targets = made.attributes["targets"]
    assert isinstance(targets, dict)
    assert [found["file"] for found in targets["files"]] == ["src/a.py", "src/b.py"]


def test_without_an_id_the_newest_of_the_scope_is_meant(store: Store) -> None:
    with pytest.raises(NotFoundError):
        load_exploration(store.index, scope="shop")
    first = save_exploration(store, ExplorationRequest(answer=json.dumps(WHOLE), scope="shop"))
    second = save_exploration(store, ExplorationRequest(answer=json.dumps(WHOLE), scope="barn"))
    assert load_exploration(store.index, scope="shop") == first
    assert load_exploration(store.index, scope="barn") == second
    with pytest.raises(NotFoundError, match="in global"):
        load_exploration(store.index)
    with pytest.raises(NotFoundError):
        load_exploration(store.index, "nonsense")


def test_what_of_the_answers_is_not_kept_is_told(store: Store) -> None:
    good, odd = json.dumps(answer("src/a.py")), json.dumps(answer("src/b.py")).replace("modify", "frobnicate")
    told = problems(store, f"Here is what I found:\n```json\n{good}\n```\n{odd}\nnot json from the fourth explorer")
    assert told[0] == "excluded, as it is not JSON: not json from the fourth explorer"
    assert told[1].startswith("answer 2: the action of a finding is 'frobnicate', not one of: modify")
    assert len(told) == 2
    assert problems(store, good) == ()
    assert any("none of" in one for one in problems(store, f'{good}{{"note": 1}}'))
    assert any("but the first" in one for one in problems(store, json.dumps(WHOLE) + good))


@pytest.mark.parametrize(
    "text",
    [
        '{"scope": "x"}',
        '{"scope": "x", "status": "complete", "findings": [], "memories": []}',
        '{"objective": "o", "targets": {"files": [], "functions": []}, "patterns": {"framework": ""}}',
        "nothing was found",
    ],
)
def test_an_exploration_of_nothing_is_refused(store: Store, text: str) -> None:
    seq = store.journal.last_seq
    with pytest.raises(InvalidInputError, match="nothing that was explored"):
        save_exploration(store, ExplorationRequest(answer=text, objective="Log in"))
    assert store.journal.last_seq == seq


def test_a_file_that_two_explorers_name_stands_once_with_what_both_say(store: Store) -> None:
    one, two = answer("src/a.py"), answer("./src/a.py:12")
    two["findings"] = [{"file": "./src/a.py:12", "what": "the session", "action": "reference", "task_hint": "here"}]
    made = save_exploration(store, ExplorationRequest(answer=json.dumps([one, two])))
    targets = made.attributes["targets"]
    assert isinstance(targets, dict)
    assert targets["files"] == [
        {"file": "src/a.py", "what": "the form; the session", "action": "modify", "task_hint": "here"}
    ]


def test_no_exploration_of_a_private_session_is_kept(store: Store) -> None:
    open_session(store, SessionRequest(name="quiet", private=True))
    with pytest.raises(InvalidInputError, match="private"):
        save_exploration(store, ExplorationRequest(answer=json.dumps(WHOLE), session="quiet"))


@settings(max_examples=draws(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=60))
def test_any_text_is_an_exploration_or_refused(store: Store, text: str) -> None:
    seq = store.journal.last_seq
    try:
        save_exploration(store, ExplorationRequest(answer=text))
    except InvalidInputError:
        assert store.journal.last_seq == seq
