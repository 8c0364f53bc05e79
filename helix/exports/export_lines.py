"""Export lines: every node and edge of a store as JSON lines, from which all of it can be made again.

The first line is `{"helix": "export", "version": 1, "nodes": n, "edges": m}`. A node is `{"node": label, "id": ...,
"props": {...}, "found_by": [texts]}`, an edge `{"edge": type, "from": [label, id], "to": [label, id], "props": {...}}`.
Times are ISO 8601.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helix.exports.export_file import Counted, new_file
from helix.model.edge import Edge, Ref
from helix.model.operations import PutEdge, PutNode
from helix.model.records import CLASS_OF, spelled
from helix.store.jobs import Ticket
from helix.store.store import Store

VERSION = 1
_ENCODER = json.JSONEncoder(ensure_ascii=False)


def write_lines(store: Store, target: Path, ticket: Ticket) -> Mapping[str, object]:
    """Write every node and edge to a new file; returns its path and how many they are. Raises what `new_file` raises.

    What is forgotten, retired or quarantined is there too; what was erased is not.
    """
    with store.journal.snapshot() as (_, state), new_file(target) as file:
        counts = state.counts()
        progress = Counted(ticket, counts["nodes"] + counts["edges"])
        file.write(_ENCODER.encode({"helix": "export", "version": VERSION, **counts}) + "\n")
        for node in state.nodes():
            texts = state.texts_of(Ref(label=node.label, id=node.id))
            file.write(_ENCODER.encode(_node(node, texts)) + "\n")
            progress.one()
        for edge in state.edges():
            file.write(_ENCODER.encode(_edge(edge)) + "\n")
            progress.one()
    return {"path": str(target), **counts}


def _node(node: PutNode, texts: list[str]) -> dict[str, Any]:
    line = {"node": node.label.value, "id": node.id, "props": spelled(CLASS_OF[node.label], node.props)}
    return {**line, "found_by": texts} if texts else line


def _edge(edge: PutEdge) -> dict[str, Any]:
    props = spelled(Edge, edge.props)
    return {"edge": edge.type.value, "from": _end(edge.source), "to": _end(edge.target), "props": props}


def _end(ref: Ref) -> list[str]:
    return [ref.label.value, ref.id]
