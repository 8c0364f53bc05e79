"""Errors: each has a code and a sentence, and nothing unexpected shows its insides."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from api_server import Serve, Served

from helix.model.reports import Health
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store import overview

STORE = (
    "mutation($t: String!, $r: String!, $k: Kind!)"
    " { store(input: {trigger: $t, resolution: $r, kind: $k}) { result { id name } } }"
)


def test_an_unknown_kind_is_refused_by_name(shared: Served) -> None:
    answer = shared.post(STORE, {"t": "a", "r": "b", "k": "RUMOUR"})
    assert answer.code == "INVALID_INPUT"
    assert "RUMOUR" in answer.message
    assert "FAILURE, PATTERN" in answer.json["errors"][0]["extensions"]["hint"]
    literal = shared.post('mutation { store(input: {trigger: "a", resolution: "b", kind: RUMOUR}) { result { id } } }')
    assert literal.code == "INVALID_INPUT"


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_text_is_refused(shared: Served, text: str) -> None:
    answer = shared.post(STORE, {"t": text, "r": "b", "k": "FACT"})
    assert answer.code == "INVALID_INPUT"
    assert "trigger" in answer.message
    assert answer.json["errors"][0]["extensions"]["hint"]


def test_a_nul_is_stored_without_harm_or_refused(shared: Served) -> None:
    answer = shared.post(STORE, {"t": "before\0after", "r": "b", "k": "FACT"}).json
    if "errors" in answer:
        assert answer["errors"][0]["extensions"]["code"] == "INVALID_INPUT"
    else:
        name = answer["data"]["store"]["result"]["name"]
        assert "\0" not in shared.ask("query($n: String!) { get(nameOrId: $n) { trigger } }", n=name)["get"]["trigger"]


@pytest.mark.parametrize(
    "query",
    [
        '{ get(nameOrId: "nothing-of-that-name") { id } }',
        '{ get(nameOrId: "00000000-0000-7000-8000-000000000000") { id } }',
        '{ get(nameOrId: "") { id } }',
        '{ get(nameOrId: "a\\u0000b") { id } }',
        '{ node(label: EPISODE, id: "nothing") { id } }',
        '{ why(nameOrId: "nothing") { score } }',
        '{ job(id: "nothing") { state } }',
        '{ edges(nameOrId: "nothing") { totalCount } }',
        '{ suggestEdges(nameOrId: "nothing") { reason } }',
        'mutation { forget(input: {nameOrId: "nothing"}) { result { id } } }',
        'mutation { restore(input: {nameOrId: "nothing"}) { result { id } } }',
        'mutation { confirm(input: {nameOrId: "nothing"}) { result { id } } }',
        'mutation { edit(input: {nameOrId: "nothing", trigger: "x"}) { result { id } } }',
        'mutation { feedback(input: {names: ["nothing"], delta: 1}) { result { id } } }',
        'mutation { edge(input: {source: "nothing", target: "nowhere", relation: "SOLVES"}) { result { weight } } }',
        'mutation { cancelJob(input: {id: "nothing"}) { result { state } } }',
    ],
)
def test_what_is_not_there_is_not_found(shared: Served, query: str) -> None:
    answer = shared.post(query)
    assert answer.status == 200
    assert answer.code == "NOT_FOUND"


@pytest.mark.parametrize(
    "query",
    [
        '{ recall(query: "x", asOf: "yesterday") { mode } }',
        '{ recall(query: "x", asOf: 7) { mode } }',
        '{ recall(query: "x", expand: EVERYWHERE) { mode } }',
        '{ recall(query: "x", recipe: "of-nobody") { mode } }',
        "{ recall { mode } }",
        '{ memories(after: "no-cursor") { totalCount } }',
        '{ edges(relation: "NO_SUCH_TYPE") { weight } }',
        '{ cypher(query: "RETURN $x", params: [1]) { rows } }',
        'mutation { store(input: {trigger: "a", resolution: "b", kind: FACT, confidence: 7}) { result { id } } }',
        'mutation { store(input: {trigger: "a", resolution: "b", kind: FACT, attributes: "text"}) { result { id } } }',
        'mutation { feedback(input: {names: ["x"], delta: "much"}) { result { id } } }',
        'mutation { backup(input: {path: "relative/path"}) { result { id } } }',
        'mutation { ingestNotes(input: {paths: ["./notes"]}) { result { id } } }',
        "mutation { store(input: {nothing: 1}) { result { id } } }",
    ],
)
def test_a_value_that_cannot_be_is_refused(shared: Served, query: str) -> None:
    answer = shared.post(query)
    assert answer.code == "INVALID_INPUT"
    assert answer.message


def test_a_folder_without_a_repository_is_called_that(shared: Served, tmp_path: Path) -> None:
    answer = shared.post(
        "mutation($p: String!) { ingestGit(input: {path: $p}) { result { id } } }", {"p": str(tmp_path)}
    )
    assert answer.code == "NOT_A_REPOSITORY"


def test_a_writing_statement_is_refused_by_the_gate(shared: Served) -> None:
    assert shared.post('{ cypher(query: "MATCH (n) DETACH DELETE n") { rows } }').code == "CYPHER_REFUSED"


def test_nothing_is_captured_while_paused(shared: Served) -> None:
    assert shared.ask("mutation { pause { result } }") == {"pause": True}
    assert shared.post(STORE, {"t": "a", "r": "b", "k": "FACT"}).code == "PAUSED"
    assert shared.ask("mutation { pause(input: {on: false}) { result } }") == {"pause": False}
    assert shared.ask(STORE, t="a thing", r="b", k="FACT")


def test_an_unexpected_error_shows_an_id_and_nothing_else(
    settings: Settings, serve: Serve, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> Health:
        raise ZeroDivisionError("a secret of the inside")

    monkeypatch.setattr(overview, "health", broken)
    with Helix.open(settings, embedder=HashEmbedder()) as helix, caplog.at_level(logging.ERROR, "helix.api"):
        answer = serve(helix).post("{ health { status } }")
        assert answer.code == "INTERNAL"
        assert b"secret" not in answer.body
        number = answer.json["errors"][0]["extensions"]["id"]
        assert number in answer.message
        assert [record for record in caplog.records if number in record.getMessage() and record.exc_info]


def test_suggestions_are_left_to_the_explorer(shared: Served) -> None:
    """What is misspelt is told with the names that exist: the schema is public to whoever holds the token."""
    assert "totalCount" in shared.post("{ memories { totalCoun } }").message
