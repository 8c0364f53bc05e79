"""Graph: ask it in Cypher."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from helix.model.reports import CypherResult, GraphTable
from helix.operations.listed import graph_query
from helix.service import Helix
from helix.store import graph_questions


@graph_query
def cypher(
    helix: Helix,
    query: Annotated[str, "The statement; only reading ones are let through."],
    params: Annotated[Mapping[str, Any] | None, "Its parameters: an object."] = None,
    timeout_ms: Annotated[int | None, "Its time limit in milliseconds; the setting's at most."] = None,
    limit: Annotated[int | None, "Its row limit; the setting's at most."] = None,
) -> CypherResult:
    """Run a Cypher statement that only reads; time and rows are limited by the settings at most."""
    helix.mend_graph()
    return graph_questions.cypher(helix.store, query, params, timeout_ms, limit)


@graph_query
def graph_schema(helix: Helix) -> list[GraphTable]:
    """List the labels and relationships of the graph with the names of their properties, for writing Cypher."""
    return graph_questions.graph_schema(helix.store)
