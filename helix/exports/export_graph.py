"""Export of the graph: every node and edge of a store, as JSON lines or as GraphML.

From JSON lines all of it can be made again. The first line is `{"helix": "export", "version": 1, "nodes": n,
"edges": m}`. A node is `{"node": label, "id": ..., "props": {...}, "found_by": [texts]}`, an edge `{"edge": type,
"from": [label, id], "to": [label, id], "props": {...}}`. Times are ISO 8601.

GraphML is XML, for programs that draw and measure graphs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from helix.exports.export_file import ExportProgress, new_file
from helix.journal.log import Journal
from helix.model.edge import Edge, Ref
from helix.model.operations import PutEdge, PutNode
from helix.model.records import CLASS_OF, property_types, spelled
from helix.store.jobs import Ticket
from helix.text.regex import regex

VERSION = 1
_ENCODER = json.JSONEncoder(ensure_ascii=False)


def write_lines(journal: Journal, target: Path, ticket: Ticket) -> Mapping[str, object]:
    """Export every node and edge as JSON lines; returns its path and their numbers. Raises what `new_file` raises.

    What is forgotten, retired or quarantined is there too; what was erased is not.
    """
    with journal.snapshot() as (_, state), new_file(target) as file:
        counts = state.counts()
        progress = ExportProgress(ticket, counts["nodes"] + counts["edges"])
        file.write(_ENCODER.encode({"helix": "export", "version": VERSION, **counts}) + "\n")
        for node in state.nodes():
            texts = state.texts_of(Ref(label=node.label, id=node.id))
            file.write(_ENCODER.encode(_node_line(node, texts)) + "\n")
            progress.one()
        for edge in state.edges():
            file.write(_ENCODER.encode(_edge_line(edge)) + "\n")
            progress.one()
    return {"path": str(target), **counts}


def _node_line(node: PutNode, texts: list[str]) -> dict[str, Any]:
    line = {"node": node.label.value, "id": node.id, "props": spelled(CLASS_OF[node.label], node.props)}
    return {**line, "found_by": texts} if texts else line


def _edge_line(edge: PutEdge) -> dict[str, Any]:
    props = spelled(Edge, edge.props)
    return {"edge": edge.type.value, "from": _end(edge.source), "to": _end(edge.target), "props": props}


def _end(ref: Ref) -> list[str]:
    return [ref.label.value, ref.id]


_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_TYPES: Mapping[type, str] = {float: "double", int: "long"}
_NO_XML = regex("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML may hold, however it is written."""


def write_graphml(journal: Journal, target: Path, ticket: Ticket) -> Mapping[str, object]:
    """Export every node and edge as GraphML; returns its path and their numbers. Raises what `new_file` raises.

    A node is known as `Label:id`, and has its label as `label`; an edge has its type as `type`. Times are ISO 8601.
    """
    with journal.snapshot() as (_, state), new_file(target) as file:
        counts = state.counts()
        progress = ExportProgress(ticket, counts["nodes"] + counts["edges"])
        file.write(_head())
        for node in state.nodes():
            props = spelled(CLASS_OF[node.label], node.props)
            file.write(_thing("node", {"id": f"{node.label}:{node.id}"}, {"label": node.label.value, **props}))
            progress.one()
        for edge in state.edges():
            ends = {"source": _end_id(edge.source), "target": _end_id(edge.target)}
            file.write(_thing("edge", ends, {"type": edge.type.value, **spelled(Edge, edge.props)}))
            progress.one()
        file.write("</graph>\n</graphml>\n")
    return {"path": str(target), **counts}


def _head() -> str:
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<graphml xmlns={quoteattr(_NAMESPACE)}>"]
    of_edges: dict[str, type] = {"type": str, **property_types(Edge)}
    for thing, types in (("node", _of_nodes()), ("edge", of_edges)):
        lines += [
            f'<key id="{thing}.{name}" for="{thing}" attr.name="{name}" attr.type="{_TYPES.get(kind, "string")}"/>'
            for name, kind in types.items()
        ]
    return "\n".join((*lines, '<graph edgedefault="directed">\n'))


def _thing(name: str, attributes: Mapping[str, str], props: Mapping[str, Any]) -> str:
    """Return a node or an edge with what is known of it."""
    given = " ".join(f"{key}={quoteattr(_text(value))}" for key, value in attributes.items())
    data = (
        f'<data key="{name}.{key}">{escape(_text(value))}</data>' for key, value in props.items() if value is not None
    )
    return f"<{name} {given}>{''.join(data)}</{name}>\n"


def _of_nodes() -> dict[str, type]:
    """Return the type of each property that some node has; one that is not the same everywhere is a text."""
    found: dict[str, type] = {"label": str}
    for cls in CLASS_OF.values():
        for name, kind in property_types(cls).items():
            found[name] = kind if found.get(name, kind) is kind else str
    return found


def _end_id(ref: Ref) -> str:
    return f"{ref.label}:{ref.id}"


def _text(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _NO_XML.sub("\ufffd", text)
