"""An exploration is kept as it was found, from one object or from the answers of several explorers."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.errors import InvalidInputError, NotFoundError
from helix.learning.orchestration.explorations import ExplorationRequest, load_exploration, save_exploration
from helix.lifecycle.capture.sessions import SessionRequest, open_session
from helix.service import Helix
from helix.store.store import Store

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


def test_an_exploration_is_kept_as_it_was_found(living: Helix, store: Store) -> None:
    text = f"Here it is:\n```json\n{json.dumps(WHOLE)}\n```\nDone."
    made = save_exploration(store, ExplorationRequest(answer=text, scope="shop", session="s"))
    assert (made.objective, made.scope, made.session) == ("Log in", "shop", "s")
    assert made.attributes == {name: part for name, part in WHOLE.items() if name != "objective"}
    assert load_exploration(store, made.id) == made
    assert living.cypher("MATCH (e:Exploration) RETURN e.objective, e.session").rows == (("Log in", "s"),)


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
        load_exploration(store)
    first = save_exploration(store, ExplorationRequest(answer=json.dumps(WHOLE), scope="shop"))
    second = save_exploration(store, ExplorationRequest(answer=json.dumps(WHOLE), scope="barn"))
    assert load_exploration(store, scope="shop") == first
    assert load_exploration(store) == second
    with pytest.raises(NotFoundError):
        load_exploration(store, "nonsense")


def test_no_exploration_of_a_private_session_is_kept(store: Store) -> None:
    open_session(store, SessionRequest(name="quiet", private=True))
    with pytest.raises(InvalidInputError, match="private"):
        save_exploration(store, ExplorationRequest(answer=json.dumps(WHOLE), session="quiet"))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=60))
def test_any_text_is_an_exploration_or_refused(store: Store, text: str) -> None:
    seq = store.journal.last_seq
    try:
        save_exploration(store, ExplorationRequest(answer=text))
    except InvalidInputError:
        assert store.journal.last_seq == seq
