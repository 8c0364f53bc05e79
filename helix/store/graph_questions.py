"""Graph questions: read-only Cypher from outside, gated and within limits."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from helix.errors import InvalidInputError
from helix.graph import cypher_gate
from helix.model.reports import CypherResult, GraphTable
from helix.store.store import Store

# How far beyond the set row limit a caller may go by asking for it.
_MOST_TIMES_THE_ROWS = 100
_KINDS = {"NODE": "node", "REL": "relationship"}


def cypher(
    store: Store, query: str, params: Mapping[str, Any] | None, timeout_ms: int | None, limit: int | None
) -> CypherResult:
    """Run a statement; raises CypherRefusedError, QueryTimeoutError, InvalidInputError, GraphUnavailableError."""
    settings = store.settings
    timeout = min(settings.cypher_timeout_ms if timeout_ms is None else timeout_ms, settings.request_timeout_ms)
    rows = min(settings.cypher_rows if limit is None else limit, _MOST_TIMES_THE_ROWS * settings.cypher_rows)
    if timeout < 1 or rows < 1:
        raise InvalidInputError("the time and row limits must be above 0")
    statement = cypher_gate.check(query)
    values = cypher_gate.bind(statement, params or {})
    started = time.perf_counter()
    columns, found, more = store.graph.ask("cypher", timeout / 1000, text=statement, params=values, limit=rows)
    return CypherResult(
        columns=tuple(columns),
        rows=tuple(tuple(row) for row in found),
        truncated=more,
        elapsed_ms=1000 * (time.perf_counter() - started),
    )


def graph_schema(store: Store) -> list[GraphTable]:
    """Return the labels and relationships of the graph with their properties."""
    return [
        GraphTable(name=name, kind=_KINDS.get(kind, kind.lower()), properties=tuple(properties))
        for name, kind, properties in store.graph.ask("tables", store.settings.request_timeout_ms / 1000)
    ]
