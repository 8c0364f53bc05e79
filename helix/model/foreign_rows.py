"""Foreign rows: nodes and edges that another store wrote hold what the model says of them, or are not imported."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from helix import resources
from helix.model.edge import Edge
from helix.model.operations import PutEdge, PutNode
from helix.model.records import CLASS_OF, check_put, property_types

_MOST = {"confidence": 1.0, "importance": 10.0}
_REL_TABLE = re.compile(r"CREATE REL TABLE (\w+) \(((?:FROM \w+ TO \w+, )+)")
_PAIRS = re.compile(r"FROM (\w+) TO (\w+), ")


def check_row(put: PutNode | PutEdge) -> None:
    """Raise ValueError for a row of another store that no Helix writes.

    What it lets through a backup may hold: `check_put` is what a restore asks.
    """
    check_put(put)
    of = CLASS_OF[put.label] if isinstance(put, PutNode) else Edge
    what = put.label if isinstance(put, PutNode) else put.type
    if unknown := sorted(put.props.keys() - property_types(of).keys()):
        raise ValueError(f"{what} has no property {unknown[0]!r:.80}")
    for name, most in _MOST.items():
        value = put.props.get(name)
        if isinstance(value, int | float) and not 0 <= value <= most:
            raise ValueError(f"{name} is not between 0 and {most:g}")
    if isinstance(put, PutEdge) and (put.source.label.value, put.target.label.value) not in edge_ends()[put.type.value]:
        raise ValueError(f"{put.type} does not lead from {put.source.label} to {put.target.label}")


@cache
def edge_ends() -> Mapping[str, frozenset[tuple[str, str]]]:
    """Return which labels each type of edge leads from and to, as the graph's migrations say."""
    folder = resources.directory("schema") / "graph"
    text = "".join(resources.text("schema", f"graph/{file.name}") for file in sorted(folder.glob("*.cypher")))
    return {name: frozenset(_PAIRS.findall(ends)) for name, ends in _REL_TABLE.findall(text)}
