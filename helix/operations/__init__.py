"""Operations: everything that Helix can do, as plain functions `name(helix, ...) -> record`.

GraphQL's fields are made from the one list, OPERATIONS. To add a capability, write its function into the module that
it belongs to, and mark it as `@query`, `@graph_query` or `@mutation`.
"""

from helix.operations import (
    background_work,
    capture,
    contexts,
    erasure,
    exports,
    graph,
    ingest,
    learning,
    memories,
    review,
    sharing,
    strand_keys,
    strands,
    syncing,
    tasks,
    upkeep,
)
from helix.operations.listed import OPERATIONS

__all__ = [
    "OPERATIONS",
    "background_work",
    "capture",
    "contexts",
    "erasure",
    "exports",
    "graph",
    "ingest",
    "learning",
    "memories",
    "review",
    "sharing",
    "strand_keys",
    "strands",
    "syncing",
    "tasks",
    "upkeep",
]
