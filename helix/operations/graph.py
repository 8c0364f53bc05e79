"""Graph: ask it in Cypher."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from helix.model.reports import CypherResult, GraphTable
from helix.operations.listed import graph_query
from helix.service import Helix
from helix.store import graph_questions


@graph_query
def cypher(
    helix: Helix,
    query: str,
    params: Mapping[str, Any] | None = None,
    timeout_ms: int | None = None,
    limit: int | None = None,
) -> CypherResult:
    """Run a Cypher statement that only reads; time and rows are limited by the settings at most."""
    helix.mend_graph()
    return graph_questions.cypher(helix.store, query, params, timeout_ms, limit)


@graph_query
def graph_schema(helix: Helix) -> list[GraphTable]:
    """List the labels and relationships of the graph with the names of their properties, for writing Cypher."""
    return graph_questions.graph_schema(helix.store)
