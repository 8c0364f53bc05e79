"""What one request may ask: depth, aliases, tokens, directives, pages, walks and time."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

import pytest
from api_server import BEARER, Serve, Served
from graphql import FragmentDefinitionNode, FragmentSpreadNode, OperationDefinitionNode, SelectionSetNode, Source, parse
from hypothesis import given
from hypothesis import strategies as st

from helix.api import limits
from helix.api.limits import (
    DOCUMENT_CHARACTERS,
    MAX_DIRECTIVES,
    MAX_ERRORS,
    AcceptedDocuments,
    LinedSource,
    compares_too_much,
    shape_of,
)
from helix.api.resolver_context import MAX_WALKS
from helix.explorer import graph_questions
from helix.model.reports import CypherResult, Stats
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store import overview
from helix.store.store import Store
from tests.waiting import MOST_SECONDS


def refused(served: Served, query: str) -> str:
    """Return the words with which a query is refused; it must be refused as a whole."""
    answer = served.post(query)
    assert answer.code == "INVALID_INPUT"
    assert "data" not in answer.json
    return answer.message


def test_a_document_that_is_too_deep_is_refused(shared: Served) -> None:
    deep = "id"
    for _ in range(4):
        deep = f"edges {{ edges {{ node {{ source {{ node {{ ... on Memory {{ {deep} }} }} }} }} }} }}"
    words = refused(shared, f'{{ get(nameOrId: "x") {{ {deep} }} }}')
    assert "levels deep" in words


def test_depth_is_found_through_fragments(shared: Served) -> None:
    fragments = " ".join(
        f"fragment F{n} on Memory {{ edges {{ edges {{ node {{ source {{ node {{ ...F{n + 1} }} }} }} }} }} }}"
        for n in range(5)
    )
    words = refused(shared, '{ get(nameOrId: "x") { ...F0 } } fragment F5 on Memory { id } ' + fragments)
    assert "levels deep" in words


def test_fragments_that_double_at_each_step_cost_nothing(shared: Served) -> None:
    """Unfolded, this has 2^100 fields; anything but a measure that remembers would never come back."""
    chain = " ".join(f"fragment F{n} on Health {{ ...F{n + 1} ...F{n + 1} }}" for n in range(100))
    answer = shared.post("{ health { ...F0 } } fragment F100 on Health { a: status } " + chain)
    assert answer.code == "INVALID_INPUT"
    assert "aliases" in answer.message


def test_a_circle_of_fragments_is_refused(shared: Served) -> None:
    assert refused(shared, "{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }")


def test_too_many_aliases_are_refused(shared: Served) -> None:
    fields = " ".join(f"a{n}: health {{ status }}" for n in range(31))
    assert "31 aliases" in refused(shared, f"{{ {fields} }}")


@pytest.mark.parametrize(
    "query",
    [
        "{" + "health { status } " * 490 + "}",
        "{ memories { edges { node {" + "name " * 150 + "} } } }",
        "{" + "memories { edges { cursor } } " * 90 + "}",
        "{" + "... on Query { health { status } } " * 150 + "}",
        "{"
        + "".join(f"...F{n} " for n in range(150))
        + "}"
        + "".join(f"fragment F{n} on Query {{ health {{ status }} }} " for n in range(150)),
    ],
    ids=["fields", "below", "deep", "inline", "fragments"],
)
def test_the_same_fields_over_and_over_are_refused(shared: Served, query: str) -> None:
    """Each pair of them is compared, on the thread that answers everybody: 490 took three seconds."""
    assert "too often" in refused(shared, query)


def test_an_object_of_many_wrong_fields_is_not_written_out_for_each(shared: Served) -> None:
    wrong = " ".join(f"wrong{number}: 1" for number in range(650))
    answer = shared.post(f"mutation {{ store(input: {{ {wrong} }}) {{ result {{ id }} }} }}")
    assert len(answer.json["errors"]) == MAX_ERRORS + 1 and len(answer.body) < 20 * len(wrong)


def test_fields_that_are_asked_for_a_few_times_are_answered(shared: Served) -> None:
    query = "{" + "health { status } ...F " * 30 + "} fragment F on Query { health { status } }"
    assert shared.ask(query)["health"]["status"]


def test_a_circle_of_fragments_below_fields_comes_to_an_end() -> None:
    circle = "query { health { ...A } } fragment A on Health { x { ...A ...B } } fragment B on Health { x { ...A } }"
    assert compares_too_much(parse(circle))


def test_the_lines_of_many_errors_are_counted_once(shared: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """For each error the whole document was looked through: these took a minute, in which nobody was answered."""
    looked_through: list[int] = []
    whole = Source.get_location
    monkeypatch.setattr(Source, "get_location", lambda *place: looked_through.append(1) or whole(*place))
    asked = " ".join(f"nothing{n}" for n in range(120))
    errors = shared.post("\n" * 20_000 + "{ " + asked + " }").json["errors"]
    assert len(errors) == MAX_ERRORS + 1 and errors[0]["locations"] == [{"line": 20_001, "column": 3}]
    assert looked_through == []


@pytest.mark.parametrize("text", ["", "\n", "a\r\nb\rc\n\nd", "\r\n\r\n", "ab", "\n\ra", "a\n\u2028b\n"])
def test_a_place_in_a_document_has_the_line_that_graphql_says(text: str) -> None:
    places = range(len(text) + 2)
    said = [Source(text).get_location(place) for place in places]
    assert [LinedSource(text).get_location(place) for place in places] == said


def test_too_many_tokens_are_refused(shared: Served) -> None:
    assert "tokens" in refused(shared, "{" + "__typename " * 3_000 + "}")


def test_a_number_of_very_many_digits_is_a_wrong_one(shared: Served) -> None:
    assert shared.post("{ memories(first: " + "9" * 5_000 + ") { totalCount } }").code == "INVALID_INPUT"


def test_a_document_as_long_as_a_book_is_refused(shared: Served) -> None:
    book = "{" + "n" * (DOCUMENT_CHARACTERS + 1) + "}"
    for body in ({"query": book}, {"query": book, "payload": {}}):
        answer = shared.request(
            "POST", "/graphql", json.dumps(body).encode(), BEARER | {"content-type": "application/json"}
        )
        assert (answer.status, answer.code) == (400, "INVALID_INPUT")
        assert "longer" in answer.message and len(answer.body) < 1_000


def test_a_flood_of_directives_is_one_error(shared: Served) -> None:
    flood = " ".join(f"@unknown{n}" for n in range(MAX_DIRECTIVES + 1))
    answer = shared.post(f"{{ __typename {flood} }}")
    assert len(answer.json["errors"]) == 1
    assert "directives" in answer.message


def test_what_was_refused_once_is_refused_again(shared: Served) -> None:
    fields = " ".join(f"a{n}: health {{ status }}" for n in range(31))
    for query in (f"{{ {fields} }}", "{ nothing }", "{"):
        assert refused(shared, query) == refused(shared, query)


def test_each_use_of_a_document_says_which_operation_it_means(shared: Served) -> None:
    query = "query A { health { status } } query B { __typename }"
    body = json.dumps({"query": query, "operationName": "B"}).encode()
    for _ in range(2):
        answer = shared.request("POST", "/graphql", body, {"content-type": "application/json", **BEARER})
        assert answer.json == {"data": {"__typename": "Query"}}
        assert "several operations" in refused(shared, query)


def test_only_the_documents_of_late_are_kept() -> None:
    accepted, document = AcceptedDocuments(), parse("{ a }")
    for number in range(AcceptedDocuments.KEPT):
        accepted.add(str(number), document)
    assert accepted.get("0") is document
    accepted.add("one more", document)
    assert accepted.get("0") is document, "it was asked for lately"
    assert accepted.get("1") is None
    accepted.add("x" * (AcceptedDocuments.LONGEST + 1), document)
    assert accepted.get("x" * (AcceptedDocuments.LONGEST + 1)) is None


def test_brackets_without_end_are_refused(shared: Served) -> None:
    assert refused(shared, "{a" * 900 + "}" * 900)


def test_the_introspection_of_graphiql_passes(shared: Served) -> None:
    inner = "name"
    for _ in range(9):
        inner = f"name ofType {{ {inner} }}"
    fields = f"fields(includeDeprecated: true) {{ name args {{ name type {{ {inner} }} }} }}"
    assert shared.ask(f"{{ __schema {{ types {{ name {fields} }} }} }}")["__schema"]["types"]


SELECTIONS = st.recursive(
    st.sampled_from(["a", "x: a", "a @skip(if: true)", "...F", "...G", "...H"]),
    lambda inner: st.builds(
        lambda head, parts: f"{head} {{ {' '.join(parts)} }}",
        st.sampled_from(["a", "x: a", "... on T", "a @d", "... @d"]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=8,
)


@given(st.lists(SELECTIONS, min_size=1, max_size=3), SELECTIONS, SELECTIONS)
def test_the_measure_counts_what_unfolding_the_fragments_would(body: list[str], f: str, g: str) -> None:
    # F may spread G and G may spread H, and no fragment itself, so that unfolding comes to an end.
    f, g = f.replace("...F", "...G"), g.replace("...F", "...H").replace("...G", "...H")
    text = f"{{ {' '.join(body)} }} fragment F on T {{ {f} }} fragment G on T {{ {g} }} fragment H on T {{ x: a }}"
    document = parse(text)
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    operation = next(node for node in document.definitions if isinstance(node, OperationDefinitionNode))
    found = list(unfolded(operation.selection_set, fragments, 0))
    shape = shape_of(document)
    assert shape.aliases == sum(alias for _, alias, _ in found)
    assert shape.directives == sum(directives for _, _, directives in found)
    assert shape.depth == max(depth for depth, _, _ in found)


def unfolded(
    selections: SelectionSetNode | None, fragments: dict[str, FragmentDefinitionNode], depth: int
) -> Iterator[tuple[int, int, int]]:
    """Yield (depth, aliases, directives) of each selection, one by one, as often as it is spread."""
    for node in selections.selections if selections else ():
        is_field = node.kind == "field"
        alias = int(is_field and getattr(node, "alias", None) is not None)
        yield depth + is_field, alias, len(node.directives or ())
        inner = fragments[node.name.value] if isinstance(node, FragmentSpreadNode) else node
        yield from unfolded(getattr(inner, "selection_set", None), fragments, depth + is_field)


@pytest.mark.parametrize("size", [0, -1, 201, 2**31 - 1])
@pytest.mark.parametrize(
    "query",
    [
        "{ memories(first: %d) { totalCount } }",
        "{ episodes(first: %d) { totalCount } }",
        '{ recall(query: "x", limit: %d) { mode } }',
        "{ edges(first: %d) { totalCount } }",
        "{ sessions(first: %d) { totalCount } }",
        "{ jobs(first: %d) { totalCount } }",
        "{ learningQueue(first: %d) { totalCount } }",
        "{ contradictions(first: %d) { totalCount } }",
        "{ workspaces(first: %d) { totalCount } }",
    ],
)
def test_pages_have_a_size_limit(shared: Served, query: str, size: int) -> None:
    answer = shared.post(query % size)
    assert answer.code == "INVALID_INPUT"
    assert "200" in answer.message


@pytest.mark.parametrize(
    "query",
    [
        "query ($text: String!) { recall(query: $text) { mode } }",
        "query ($text: String!) { recallByType(query: $text) { kind } }",
        "query ($text: String!) { similarRecent(trigger: $text) { similarity } }",
    ],
)
def test_a_question_longer_than_any_text_is_refused(shared: Served, query: str) -> None:
    """Reading a megabyte of `password=` took 12 s."""
    answer = shared.post(query, {"text": "password=" * 100_000})
    assert (answer.code, "900,000 characters" in answer.message) == ("INVALID_INPUT", True)


def test_a_message_quotes_no_more_than_a_little_of_what_was_asked(shared: Served) -> None:
    answer = shared.post("query ($name: String!) { get(nameOrId: $name) { id } }", {"name": "x" * 500_000})
    assert (answer.code, len(answer.message) < 3_000) == ("NOT_FOUND", True)


def test_walks_through_the_graph_are_counted(served: Served) -> None:
    for n in range(6):
        served.ask(
            'mutation($t: String!) { store(input: {trigger: $t, resolution: "r", kind: FACT}) { result { id } } }',
            t=f"subject {n} of six {n * 7}",
        )
    answer = served.post("{ memories { edges { node { edges(first: 200) { totalCount } } } } }")
    assert answer.code == "INVALID_INPUT"
    assert str(MAX_WALKS) in answer.message
    assert served.ask("{ memories { edges { node { edges(first: 100) { totalCount } } } } }")


@pytest.mark.soak
def test_a_request_that_takes_too_long_is_told_so_and_others_go_on(
    settings: Settings, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, count = threading.Event(), overview.stats

    def stuck(store: Store, scope: str | None) -> Stats:
        assert gate.wait(MOST_SECONDS)
        return count(store, scope)

    monkeypatch.setattr(overview, "stats", stuck)
    with Helix.open(replace(settings, request_timeout_ms=1_500), embedder=HashEmbedder()) as helix:
        served = serve(helix)
        answer = served.post("{ stats { total } }")
        assert answer.code == "TIMEOUT"
        assert served.ask("{ health { status } }")
        gate.set()
        assert served.ask("{ stats { total } }") == {"stats": {"total": 0}}


@pytest.mark.soak
def test_many_questions_to_the_graph_keep_no_other_request_waiting(
    settings: Settings, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, answer = threading.Event(), graph_questions.cypher

    def slow(*asked: Any) -> CypherResult:
        assert gate.wait(MOST_SECONDS)
        return answer(*asked)

    monkeypatch.setattr(graph_questions, "cypher", slow)
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        served = serve(helix)
        with ThreadPoolExecutor(12) as clients:
            asked = [clients.submit(served.post, '{ cypher(query: "RETURN 1") { rows } }') for _ in range(12)]
            wait(asked, timeout=0.2)  # so that they come first
            assert served.ask("{ stats { total } }") == {"stats": {"total": 0}}
            assert not any(one.done() for one in asked)
            gate.set()
            assert [one.result().json["data"]["cypher"]["rows"] for one in asked] == [[[1]]] * 12


@pytest.mark.parametrize("value", ["1", '"a"', "{}", "[]", '{"a":1}'])
def test_a_body_of_many_values_is_refused_before_each_is_looked_at(shared: Served, value: str) -> None:
    """A list of a million values held the one thread that answers everybody for seconds."""
    body = '{"query": "query($f: [String!]) { health { status } }", "variables": {"f": [%s]}}'
    whole = (body % ",".join([value] * 400_000)).encode()
    answer = shared.request("POST", "/graphql", whole, {"content-type": "application/json", **BEARER})
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")
    assert "values" in answer.message


@pytest.mark.parametrize("deep", ['{"a":', "["])
def test_a_body_nested_deep_is_refused(shared: Served, deep: str) -> None:
    body = (deep * 500_000).encode()
    answer = shared.request("POST", "/graphql", body, {"content-type": "application/json", **BEARER})
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")


def test_a_body_that_does_not_come_is_not_waited_for(shared: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.05)
    with socket.create_connection(("127.0.0.1", shared.port), timeout=MOST_SECONDS) as connection:
        head = f"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1:{shared.port}\r\nContent-Length: 9\r\n"
        connection.sendall(f"{head}Authorization: {BEARER['authorization']}\r\n\r\n{{".encode())
        answer = connection.recv(65536)
        assert answer.startswith(b"HTTP/1.1 408")
        while connection.recv(65536):
            pass


def test_a_websocket_whose_client_reads_nothing_is_read_no_further(shared: Served) -> None:
    """Each ping is answered: the answers of one client that read none took 11 MB more each second."""
    asked = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13", **BEARER}
    asked |= {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "graphql-transport-ws"}
    head = "".join(f"{name}: {value}\r\n" for name, value in asked.items())
    hello = b'{"type":"connection_init"}'
    with socket.create_connection(("127.0.0.1", shared.port), timeout=MOST_SECONDS) as client:
        client.sendall(f"GET /graphql HTTP/1.1\r\nHost: 127.0.0.1:{shared.port}\r\n{head}\r\n".encode("ascii"))
        assert client.recv(4_096).startswith(b"HTTP/1.1 101")
        client.sendall(b"\x81" + bytes([0x80 | len(hello)]) + b"\0" * 4 + hello)
        client.settimeout(2)
        with pytest.raises(TimeoutError):
            for _ in range(500):
                client.sendall((b"\x89\xfd" + b"\0" * 4 + b"a" * 125) * 1_000)
    assert shared.request("GET", "/healthz").status == 200
