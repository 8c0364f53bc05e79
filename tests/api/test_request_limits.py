"""What one request may ask: depth, aliases, tokens, directives, pages, walks and time."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from api_server import BEARER, Serve, Served
from graphql import FragmentDefinitionNode, FragmentSpreadNode, OperationDefinitionNode, SelectionSetNode, parse
from hypothesis import given
from hypothesis import strategies as st

from helix.api.context import MAX_WALKS
from helix.api.limits import DOCUMENT_CHARACTERS, MAX_DIRECTIVES, Accepted, shape_of
from helix.model.reports import Stats
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings


def refused(served: Served, query: str) -> str:
    """Return the words with which a query is refused; it must be refused as a whole."""
    answer = served.post(query)
    assert answer.code == "INVALID_INPUT"
    assert "data" not in answer.json
    return answer.message


def test_a_document_that_is_too_deep_is_refused(shared: Served) -> None:
    deep = "id"
    for _ in range(4):
        deep = f"edges {{ source {{ node {{ ... on Memory {{ {deep} }} }} }} }}"
    words = refused(shared, f'{{ get(nameOrId: "x") {{ {deep} }} }}')
    assert "levels deep" in words


def test_depth_is_found_through_fragments(shared: Served) -> None:
    fragments = " ".join(
        f"fragment F{n} on Memory {{ edges {{ source {{ node {{ ...F{n + 1} }} }} }} }}" for n in range(5)
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


def test_too_many_tokens_are_refused(shared: Served) -> None:
    assert "tokens" in refused(shared, "{" + "__typename " * 3_000 + "}")


def test_a_document_as_long_as_a_book_is_refused(shared: Served) -> None:
    answer = shared.post("{" + "n" * (DOCUMENT_CHARACTERS + 1) + "}")
    assert (answer.status, answer.code) == (413, "INVALID_INPUT")
    assert len(answer.body) < 1_000


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
    accepted, document = Accepted(), parse("{ a }")
    for number in range(Accepted.KEPT):
        accepted.add(str(number), document)
    assert accepted.get("0") is document
    accepted.add("one more", document)
    assert accepted.get("0") is document, "it was asked for lately"
    assert accepted.get("1") is None
    accepted.add("x" * (Accepted.LONGEST + 1), document)
    assert accepted.get("x" * (Accepted.LONGEST + 1)) is None


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
        "{ edges(limit: %d) { weight } }",
    ],
)
def test_pages_have_a_size_limit(shared: Served, query: str, size: int) -> None:
    answer = shared.post(query % size)
    assert answer.code == "INVALID_INPUT"
    assert "200" in answer.message


def test_walks_through_the_graph_are_counted(served: Served) -> None:
    for n in range(6):
        served.ask(
            'mutation($t: String!) { store(trigger: $t, resolution: "r", kind: FACT) { id } }',
            t=f"subject {n} of six {n * 7}",
        )
    answer = served.post("{ memories { edges { node { edges(limit: 200) { weight } } } } }")
    assert answer.code == "INVALID_INPUT"
    assert str(MAX_WALKS) in answer.message
    assert served.ask("{ memories { edges { node { edges(limit: 100) { weight } } } } }")


class Stuck(Helix):
    """A Helix whose `stats` does not come back until it is let go."""

    gate: threading.Event

    def stats(self, scope: str | None = None) -> Stats:
        assert self.gate.wait(20)
        return super().stats(scope)


def test_a_request_that_takes_too_long_is_told_so_and_others_go_on(settings: Settings, serve: Serve) -> None:
    with Stuck.open(replace(settings, request_timeout_ms=300), embedder=HashEmbedder()) as helix:
        assert isinstance(helix, Stuck)
        helix.gate = threading.Event()
        served = serve(helix)
        answer = served.post("{ stats { total } }")
        assert answer.code == "TIMEOUT"
        assert served.ask("{ health { status } }")
        helix.gate.set()
        assert served.ask("{ stats { total } }") == {"stats": {"total": 0}}
