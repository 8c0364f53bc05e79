"""Rendering of Cypher results: a table for people, JSON and CSV for programs."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import click

from helix.cli.output import Output, clean, escape, one_line
from helix.model.speaker import agent_of

Record = Mapping[str, Any]

_LONGEST_LIST = 8
_NARROWEST_CELL = 24
_PLAN = ["explain result"]


class RowFormat(StrEnum):
    """How rows are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def write(out: Output, result: Record, style: RowFormat) -> None:
    """Print the rows of a Cypher result; on a terminal or for an agent, nothing that it would obey."""
    if style is RowFormat.TABLE:
        write_table(out, result, cell_width() if sys.stdout.isatty() else None)
        return
    if style is RowFormat.CSV:
        text = as_csv(result)
        click.echo(clean(text) if sys.stdout.isatty() or agent_of(os.environ) else text, nl=False)
        return
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    click.echo(escape(json.dumps({"cypher": result}, indent=2, ensure_ascii=not unicode)))


def write_table(out: Output, result: Record, width: int | None) -> None:
    """Print a Cypher result as a table, cells cut to `width` characters, or not; a query plan as it was drawn."""
    if result["columns"] == _PLAN:
        for row in result["rows"]:
            out.line(str(row[0]))
        return
    cells = [[cell(value) for value in row] for row in result["rows"]]
    out.table(result["columns"], cells if width is None else [[one_line(text, width) for text in row] for row in cells])


def cell_width() -> int:
    """Return how many characters a cell of a Cypher table may take: what fits in a terminal's line, below others."""
    return max(shutil.get_terminal_size().columns - 4, _NARROWEST_CELL)


def as_csv(result: Record) -> str:
    """Return a Cypher result as CSV; nothing for null, JSON for lists, maps, nodes and relationships."""
    lines = [result["columns"], *([_field(value) for value in row] for row in result["rows"])]
    return "".join(_csv_line(line) for line in lines)


def _csv_line(fields: Sequence[Any]) -> str:
    buffer = io.StringIO()
    # Only what is in the line terminator gets quoted for sure, and texts may hold either half of this one.
    csv.writer(buffer, lineterminator="\r\n").writerow(fields)
    return buffer.getvalue().removesuffix("\r\n") + "\n"


def _field(value: Any) -> Any:
    if isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False)
    return value


def cell(value: Any) -> str:
    """Return a Cypher value as it is printed: nodes and relationships as patterns, long lists by their beginning."""
    if value is None:
        return ""
    return value if isinstance(value, str) else cypher_literal(value)


def cypher_literal(value: Any) -> str:
    """Return a value as the Cypher shell prints it: a literal in Cypher."""
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, Sequence):
        shown = ", ".join(cypher_literal(item) for item in value[:_LONGEST_LIST])
        return f"[{shown}, … {len(value)} in all]" if len(value) > _LONGEST_LIST else f"[{shown}]"
    return str(value)


def _mapping(value: Record) -> str:
    if "_nodes" in value and "_rels" in value:
        return _path(value["_nodes"], value["_rels"])
    if "_label" not in value:
        return f"{{{_properties(value)}}}"
    properties = _properties({name: item for name, item in value.items() if not name.startswith("_")})
    inside = f":{value['_label']}" + (f" {{{properties}}}" if properties else "")
    return f"[{inside}]" if "_src" in value else f"({inside})"


def _properties(value: Record) -> str:
    """List what is set, the name first: that is what a person knows a node by."""
    names = sorted(value, key=lambda name: name != "name")
    return ", ".join(f"{name}: {cypher_literal(value[name])}" for name in names if value[name] is not None)


def _path(nodes: Sequence[Record], edges: Sequence[Record]) -> str:
    if not nodes:
        return " ".join(cypher_literal(edge) for edge in edges)
    text = _stop(nodes[0])
    for before, edge, after in zip(nodes, edges, nodes[1:], strict=False):
        forward = edge.get("_src") == before.get("_id")
        text += f"-[:{edge['_label']}]->" if forward else f"<-[:{edge['_label']}]-"
        text += _stop(after)
    return text


def _stop(node: Record) -> str:
    return f"(:{node['_label']} {node.get('name') or node.get('id') or ''})"
