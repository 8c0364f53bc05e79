"""Who may do what: each role, scopes, and what nobody may from another machine."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields, is_dataclass
from typing import get_type_hints

import pytest

from helix.model.principal import Role
from helix.operations import OPERATIONS
from helix.operations.listed import mutation
from tests.server.team import GET, RECALL, STORE, Team

OF_FILES = {"path", "paths", "place", "to", "other"}


def test_what_nobody_may_from_elsewhere_is_declared_as_that_alone() -> None:
    of_the_machine = [one for one in OPERATIONS.values() if one.role is None]
    assert of_the_machine
    assert not [one.name for one in of_the_machine if one.scoped or one.adds]


def test_a_mutation_without_a_role_is_refused_where_it_is_declared() -> None:
    with pytest.raises(TypeError, match="role"):
        mutation()  # type: ignore[call-arg]


def test_what_names_a_file_is_the_machine_s() -> None:
    naming = {
        name
        for name, one in OPERATIONS.items()
        if OF_FILES & inspect.signature(one.function).parameters.keys() - {"helix"}
    }
    assert naming
    assert not [name for name in naming if OPERATIONS[name].role is not None]


def test_what_scopes_bind_takes_a_scope_or_one_memory() -> None:
    scoped = {name: one.function for name, one in OPERATIONS.items() if one.scoped}
    assert scoped
    for name, function in scoped.items():
        hints = get_type_hints(function)
        taken = inspect.signature(function).parameters.keys()
        records = (hint for hint in hints.values() if is_dataclass(hint) and isinstance(hint, type))
        of_records = {field.name for record in records for field in fields(record)}
        assert {"scope", "name_or_id"} & (taken | of_records), name


def test_no_hook_asks_for_an_operation_and_no_reader_changes_anything() -> None:
    for name, one in OPERATIONS.items():
        allowed = [] if one.role is None else [role for role in Role if role.reaches(one.role)]
        assert Role.HOOK not in allowed, name
        assert (Role.READER in allowed) <= (not one.writes), name


DOCUMENTS = {
    "recall": ('query { recall(query: "till") { items { score } } }', {"owner", "admin", "editor", "agent", "reader"}),
    "store": (
        'mutation { store(input: {trigger: "t", resolution: "r", kind: PATTERN}) { result { id } } }',
        {"owner", "admin", "editor", "agent"},
    ),
    "prune": ("mutation { prune(input: {dryRun: true}) { result { __typename } } }", {"owner", "admin"}),
    "rebuild": ("mutation { rebuild { result { id } } }", {"owner", "admin"}),
    "cypher": (
        'query { cypher(query: "MATCH (m:Memory) RETURN count(m)") { rows } }',
        {"owner", "admin", "editor", "agent", "reader"},
    ),
    "backup": ('mutation { backup(input: {path: "/tmp/x"}) { result { __typename } } }', set()),
    "ingestGit": ('mutation { ingestGit(input: {path: "/etc"}) { result { __typename } } }', set()),
    "config": ("query { config { __typename } }", set()),
    "logs": ("query { logs { __typename } }", set()),
    "shutdown": ("mutation { shutdown { result } }", set()),
    "openLink": ("mutation { openLink { result { __typename } } }", set()),
}


@pytest.fixture(scope="module")
def shared(team: Team) -> str:
    """A tenant of which nothing is rebuilt."""
    return team.tenant()


@pytest.mark.parametrize(
    "role", [pytest.param(role, marks=pytest.mark.soak if role.reaches(Role.ADMIN) else ()) for role in Role]
)
def test_each_role_may_what_it_may(team: Team, shared: str, role: Role) -> None:
    tenant = team.tenant() if role.value in DOCUMENTS["rebuild"][1] else shared
    key = team.key(tenant, role)
    for name, (document, allowed) in DOCUMENTS.items():
        code = team.processes[0].code(key, document)
        assert code == ("OK" if role in allowed else "FORBIDDEN"), (role, name, code)


def test_a_key_of_an_agent_never_speaks_as_a_person(team: Team) -> None:
    tenant, here = team.tenant(), team.processes[0]
    agent, editor = team.key(tenant, Role.AGENT, name="claude"), team.key(tenant, Role.EDITOR, name="ada")
    told = here.data(agent, STORE, t="the till jams", r="off and on", s=None)["store"]["result"]
    kept = here.data(editor, GET, n=told["id"])["get"]
    assert kept["provenance"] == {"trust": "AGENT_INFERRED", "agent": "claude"}
    confirm = "mutation($n: String!) { confirm(input: {nameOrId: $n}) { result { id } } }"
    assert here.code(agent, confirm, n=told["id"]) == "PERSON_NEEDED"
    assert here.code(editor, confirm, n=told["id"]) == "OK"


def test_changes_name_who_asked_for_them(team: Team) -> None:
    tenant, here = team.tenant(), team.processes[1]
    key = team.key(tenant, name="grace@example.org")
    stored = here.data(key, STORE, t="the printer is slow", r="use the other one", s=None)["store"]["result"]["id"]
    history = here.data(key, "query($n: String!) { history(nameOrId: $n) { edges { node { by change } } } }", n=stored)
    assert history["history"]["edges"] == [{"node": {"by": "grace@example.org", "change": "stored"}}]


def test_a_retry_key_belongs_to_who_asks(team: Team) -> None:
    """Another's must neither keep a request from being carried out nor tell that it was."""
    tenant, here = team.tenant(), team.processes[0]
    document = (
        'mutation($t: String!) { store(input: {trigger: $t, resolution: "so it is", kind: FACT,'
        ' scope: "shop", idempotencyKey: "release"}) { result { id } } }'
    )
    keys = [team.key(tenant, name="ada"), team.key(tenant, name="ben"), team.key(tenant, Role.AGENT, name="ada")]
    stored = [
        here.data(key, document, t=f"the lamp of the {place} flickers")["store"]["result"]["id"]
        for key, place in zip(keys, ("hall", "attic", "cellar"), strict=True)
    ]
    assert len(set(stored)) == 3
    again = here.data(keys[0], document, t="the lamp of the hall flickers")["store"]["result"]["id"]
    assert again == stored[0]
    assert here.code(keys[1], document, t="the lamp of the barn flickers") == "CONFLICT"


def test_a_key_is_bound_to_its_scopes(team: Team) -> None:
    tenant, here = team.tenant(), team.processes[0]
    whole = team.key(tenant)
    for scope in ("shop/web", "shop", "other", "global"):
        here.data(whole, STORE, t=f"the till of {scope} jams", r=f"kick it in {scope}", s=scope)
    bound = team.key(tenant, Role.AGENT, "shop/web")
    items = here.data(bound, RECALL, q="which till jams", s=None)["recall"]["items"]
    found = {item["node"]["scope"] for item in items}
    assert "shop/web" in found
    assert found <= {"shop/web", "shop", "global"}
    assert here.code(bound, RECALL, q="which till jams", s="other") == "FORBIDDEN"
    assert here.code(bound, STORE, t="a", r="b", s="other") == "FORBIDDEN"
    assert here.code(bound, STORE, t="a", r="b", s="shop") == "FORBIDDEN"
    stored = here.data(bound, STORE, t="the drawer sticks", r="oil it", s=None)["store"]["result"]
    assert here.data(whole, GET, n=stored["id"])["get"]["scope"] == "shop/web"
    theirs = here.data(whole, '{ memories(scope: "other") { edges { node { id } } } }')["memories"]["edges"][0]["node"][
        "id"
    ]
    assert here.code(bound, GET, n=theirs) == "NOT_FOUND"
    assert (
        here.code(bound, "mutation($n: String!) { forget(input: {nameOrId: $n}) { result { id } } }", n=theirs)
        == "NOT_FOUND"
    )
    for document in (
        '{ cypher(query: "MATCH (m:Memory) RETURN m") { rows } }',
        "{ status { edges } }",
        '{ completions(of: SCOPES, prefix: "") }',
        f'{{ get(nameOrId: "{stored["id"]}") {{ edges {{ edges {{ node {{ relation }} }} }} }} }}',
        f'{{ node(id: "{theirs}") {{ __typename }} }}',
    ):
        assert here.code(bound, document) in ("FORBIDDEN", "INVALID_INPUT"), document


@pytest.mark.parametrize("role", [Role.READER, Role.EDITOR])
def test_a_bound_key_reads_no_version_of_another_scope(team: Team, role: Role) -> None:
    tenant, here = team.tenant(), team.processes[0]
    whole, bound = team.key(tenant), team.key(tenant, role, "shop")
    given = "$n: String!, $r: String!, $s: String!"
    moved = f"mutation({given}) {{ edit(input: {{nameOrId: $n, resolution: $r, scope: $s}}) {{ result {{ id }} }} }}"
    history = "query($n: String!) { history(nameOrId: $n) { edges { node { memory { resolution } } } } }"
    first = here.data(whole, STORE, t="the drawer sticks", r="wax it", s="shop")["store"]["result"]["id"]
    away = here.data(whole, moved, n=first, r="the code is in the safe", s="other")["edit"]["result"]["id"]
    back = here.data(whole, moved, n=away, r="wax it twice", s="shop")["edit"]["result"]["id"]
    for version in (first, back):
        told = here.data(bound, history, n=version)["history"]["edges"]
        assert {one["node"]["memory"]["resolution"] for one in told} == {"wax it", "wax it twice"}


def test_no_facet_counts_what_lies_in_other_scopes(team: Team) -> None:
    tenant, here = team.tenant(), team.processes[0]
    whole, bound = team.key(tenant), team.key(tenant, Role.READER, "shop/web")
    for scope in ("shop/web", "shop", "other"):
        here.data(whole, STORE, t=f"the till of {scope} jams", r="kick it", s=scope)
    for wanted in ("", '(text: "till")', '(scope: "shop/web")'):
        scopes = here.data(bound, f"{{ facets{wanted} {{ scopes {{ value }} }} }}")["facets"]["scopes"]
        assert {one["value"] for one in scopes} == {"shop/web", "shop"}


def test_an_edit_leads_into_no_other_scope(team: Team) -> None:
    tenant, here = team.tenant(), team.processes[0]
    bound = team.key(tenant, Role.EDITOR, "shop")
    stored = here.data(bound, STORE, t="the drawer sticks", r="oil it", s="shop")["store"]["result"]["id"]
    edit = (
        "mutation($n: String!, $s: String) {"
        ' edit(input: {nameOrId: $n, resolution: "wax it", scope: $s}) { result { scope } } }'
    )
    assert here.code(bound, edit, n=stored, s="other") == "FORBIDDEN"
    assert here.data(bound, edit, n=stored, s=None)["edit"]["result"]["scope"] == "shop"


def test_no_error_names_what_lies_in_other_scopes(team: Team) -> None:
    tenant, here = team.tenant(), team.processes[0]
    whole, bound = team.key(tenant), team.key(tenant, Role.EDITOR, "shop")
    for place in ("kitchen", "cellar"):
        here.data(whole, STORE, t=f"the lamp of the {place} flickers", r="screw it in", s="other")
    theirs = here.data(whole, STORE, t="the drawer sticks", r="oil it", s="other")["store"]["result"]
    for wanted in ("lamp", "lamp-kitchn-flickers", f"other:{theirs['name']}", theirs["name"], theirs["id"][:12]):
        for document in (GET, "mutation($n: String!) { forget(input: {nameOrId: $n}) { result { id } } }"):
            told = here.ask(bound, document, n=wanted)["errors"][0]
            assert told["extensions"]["code"] == "NOT_FOUND", wanted
            assert told["message"] == f"no memory is called {wanted!r}"
            assert not {"lamp", "drawer"} & set(re.findall(r"\w+", told["extensions"]["hint"]))
    ours = here.data(bound, STORE, t="the drawer sticks", r="wax it", s="shop")["store"]["result"]
    assert ours["name"] == theirs["name"]
    assert here.data(bound, GET, n=ours["name"])["get"]["id"] == ours["id"]


def test_a_name_in_a_scope_of_its_own_leads_to_no_quarantined_memory_of_another(team: Team) -> None:
    tenant, here = team.tenant(), team.processes[0]
    whole, bound = team.key(tenant), team.key(tenant, Role.EDITOR, "shop")
    hold = "mutation($n: String!) { hold(input: {nameOrId: $n}) { result { __typename } } }"
    theirs = here.data(whole, STORE, t="the drawer sticks", r="oil it", s="other")["store"]["result"]
    here.data(whole, hold, n=theirs["id"])
    ours = here.data(bound, STORE, t="the drawer sticks", r="wax it", s="shop")["store"]["result"]
    assert ours["name"] == theirs["name"]
    accept = hold.replace("hold", "accept")
    assert here.code(bound, accept, n=ours["name"]) == "CONFLICT"
    held = here.data(whole, "query($n: String!) { get(nameOrId: $n) { status } }", n=theirs["id"])["get"]
    assert held == {"status": "QUARANTINED"}


def test_a_key_of_the_same_name_is_not_told_what_was_stored_in_another_scope(team: Team) -> None:
    tenant, here = team.tenant(), team.processes[0]
    store = (
        'mutation { store(input: {trigger: "the drawer sticks", resolution: "oil it", kind: PATTERN,'
        ' idempotencyKey: "monday"}) { result { id } } }'
    )
    shop, other = (team.key(tenant, Role.EDITOR, scope, name="ci") for scope in ("shop", "other"))
    assert here.data(shop, store) == here.data(shop, store)
    assert here.code(other, store) == "CONFLICT"
