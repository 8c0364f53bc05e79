"""Keys that are bound to scopes: whatever they ask for, no word that was said in another scope comes back."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from graphql import OperationDefinitionNode, OperationType, parse, print_ast

from helix import resources
from helix.client import document
from helix.model.principal import Role
from helix.operations import OPERATIONS
from tests.server.team import STORE, Process, Team

WORD = "quastel"
QUESTION = "the drawer sticks"


def test_no_document_tells_what_was_said_in_another_scope(team: Team, pytestconfig: pytest.Config) -> None:
    """Each document of the clients, with the ids of other scopes, whichever scope it says.

    An ordinary run asks each with every id and every scope, but for each tenth pair of them alone.
    """
    step = 1 if pytestconfig.getoption("--soak") else 10
    tenant, here = team.tenant(), team.processes[0]
    whole, bound = team.key(tenant), team.key(tenant, Role.EDITOR, "shop")
    theirs = [*_fill(here, whole, "other"), *_fill(here, whole, "shop/web")]
    ours = here.data(whole, STORE, t=QUESTION, r="wax the drawer", s="shop")["store"]["result"]["id"]
    for other in theirs[:1]:
        here.data(whole, document("edge"), source=ours, target=other, relation="CAUSES")
    asked = answered = 0
    scoped = {name for name, one in OPERATIONS.items() if one.scoped}
    for name, node in _documents():
        values = (*theirs, ours, QUESTION, "monday") if name in scoped else theirs[:1]
        for value, scope in [*itertools.product(values, (None, "shop", "other", "shop/web", "global"))][::step]:
            told = here.ask(bound, document(name), **_variables(node, value, scope))
            assert WORD not in json.dumps(told), (name, value, scope)
            asked, answered = asked + 1, answered + ("errors" not in told)
    assert asked > 1_000 / step
    assert answered > 200 / step
    for ident in theirs[:2]:
        assert here.data(whole, document("get"), nameOrId=ident)["get"]["status"] == "ACTIVE"


def test_what_hooks_of_one_scope_wait_to_show_is_not_told_to_another(team: Team) -> None:
    """Two clients may call their sessions alike: neither has what was to be shown to the other."""
    tenant, here = team.tenant(), team.processes[0]
    here.data(team.key(tenant), STORE, t="`make till` fails", r=f"{WORD} the drawer", s="other")
    ours, theirs = (team.key(tenant, Role.HOOK, scope, name="hooks") for scope in ("shop", "other"))
    told = {"conversation_id": "monday", "tool_name": "Shell", "tool_input": {"command": "make till"}, "cwd": "/"}
    begins = {"hook_event_name": "preToolUse"}
    ended = {"hook_event_name": "postToolUse", "tool_output": '{"exitCode": 0}'}
    here.send("POST", "/hooks/cursor", theirs, json={**told, **begins, "tool_use_id": "1"})
    for key, shown in ((ours, False), (theirs, True)):
        answer = here.send("POST", "/hooks/cursor", key, json={**told, **ended, "tool_use_id": "1"})
        assert (WORD in answer.text) is shown, answer.text


def test_no_name_leads_to_a_session_of_another_scope(team: Team) -> None:
    tenant, here = team.tenant(), team.processes[0]
    whole, bound = team.key(tenant), team.key(tenant, Role.EDITOR, "shop")
    here.data(whole, document("open_session"), name="monday", scope="shop/web", agent=WORD)
    for operation in ("open_session", "close_session"):
        told = here.ask(bound, document(operation), name="web/monday", scope="shop")
        assert WORD not in json.dumps(told)
    (kept,) = here.data(whole, document("sessions"), scope="shop/web")["sessions"]["edges"]
    assert kept["node"]["endedAt"] is None


def _fill(here: Process, key: str, scope: str) -> list[str]:
    """Have much said in a scope, each time with the word; return ids of memories first, then of all else."""
    stored = [
        here.data(key, STORE, t=trigger, r=f"{WORD} {scope}", s=scope)["store"]["result"]["id"]
        for trigger in (QUESTION, "`make till` fails")
    ]
    held = here.data(key, STORE, t=f"{QUESTION} often", r=f"{WORD} it", s=scope)["store"]["result"]["id"]
    here.data(key, document("hold"), nameOrId=held)
    here.data(key, document("open_session"), name="monday", scope=scope, agent=f"{WORD} agent")
    told = here.data(key, document("record_episode"), content=f"{WORD} {QUESTION}", session="monday", scope=scope)
    episode = told["recordEpisode"]["result"]["episode"]["id"]
    tasks = [{"seq": "001", "slug": WORD, "description": f"{WORD} it", "verify": "make till", "blocked_by": []}]
    plan = here.ask(
        key, document("save_plan"), answer=json.dumps({"objective": f"{WORD} {QUESTION}", "tasks": tasks}), scope=scope
    )
    made = re.findall(r'"id": "([^"]+)"', json.dumps(plan))
    return [*stored, held, episode, *made[:2]]


def _documents() -> Iterator[tuple[str, OperationDefinitionNode]]:
    """Yield the name of each document that clients send, what only reads first."""
    nodes = [
        node
        for node in parse(resources.text("queries", "operations.graphql")).definitions
        if isinstance(node, OperationDefinitionNode) and node.name and node.operation is not OperationType.SUBSCRIPTION
    ]
    for node in sorted(nodes, key=lambda one: one.operation is OperationType.MUTATION):
        assert node.name
        yield re.sub("(?<!^)(?=[A-Z])", "_", node.name.value).lower(), node


def _variables(document: OperationDefinitionNode, value: str, scope: str | None) -> dict[str, Any]:
    """Return a value for each variable that a document takes, of the type that it says."""
    plain = {"String": value, "ID": value, "[String!]": [value], "[ID!]": [value], "Int": 5, "JSON": {}, "[JSON!]": []}
    plain |= {"Kind": "FACT", "Completable": "NAMES", "Trust": "WEB"}
    given: dict[str, Any] = {}
    for variable in document.variable_definitions or ():
        name, kind = variable.variable.name.value, print_ast(variable.type)
        if name == "scope":
            given[name] = scope
        elif kind.endswith("!") or kind in ("String", "ID", "[String!]"):
            given[name] = plain[kind.removesuffix("!")]
    return given
