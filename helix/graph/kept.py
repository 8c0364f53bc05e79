"""Kept graphs: what a graph that was put aside still holds, read by a process of its own, as JSON lines.

Such a file may be damaged, and Kuzu ends the process that opens it then. Nothing else ends with this one.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from helix.errors import HelixError
from helix.graph.on_disk import files_of
from helix.graph.queries import EDGE_ENDS
from helix.model.edge import Label, Ref, Relation
from helix.model.operations import PutEdge, PutNode
from helix.processes import NEUTRAL_FOLDER, bare_environment, python_command

if TYPE_CHECKING:
    from helix.graph.kuzu_engine import KuzuEngine

_PAGE = 500
_MOST_EDGES = 10_000_000
_SECONDS = 600
_COLUMNS_OF_ATTRIBUTES = frozenset({"at", "rank", "score", "arm", "outcome"})


def operations_in(graph: Path) -> Iterator[PutNode | PutEdge]:
    """Yield every node and edge of a Kuzu graph that nobody has open, nodes first; as far as it can be read."""
    draft = graph.with_name(f"{graph.name}.draft")
    told = b""
    try:
        for log in (True, False):  # what only Kuzu's own log knows is tried first: replaying it may end the process
            for file, copy in zip(files_of(graph), files_of(draft), strict=True):
                copy.unlink(missing_ok=True)
                if file.is_file() and (log or file == graph):
                    shutil.copyfile(file, copy)
            read = subprocess.run(
                python_command("helix.graph.kept", str(draft.absolute())),
                cwd=NEUTRAL_FOLDER,
                env=bare_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
            told = max(told, read.stdout, key=len)
            if read.returncode == 0:
                break
    finally:
        for copy in files_of(draft):
            copy.unlink(missing_ok=True)
    for line in told.splitlines():
        try:
            said = json.loads(line)
        except ValueError:  # the last line of a process that crashed
            return
        if "label" in said:
            yield PutNode(label=Label(said["label"]), id=said["id"], props=said["props"])
        else:
            (one, source), (other, target) = said["from"], said["to"]
            yield PutEdge(
                type=Relation(said["type"]),
                source=Ref.of(one, source),
                target=Ref.of(other, target),
                props=said["props"],
            )


def main(path: Path) -> int:
    """Write everything that the Kuzu graph at `path` holds to standard output; return the exit code."""
    from helix.graph.kuzu_engine import KuzuEngine  # in a process of its own alone

    try:
        engine = KuzuEngine(path, dimension=None, keep_log=True)
    except HelixError:
        return 2
    for label in Label:
        after = ""
        while rows := engine.read(f"export_{label}", after=after, limit=_PAGE):
            after = str(rows[-1]["n.id"])
            for row in rows:
                props = {name.removeprefix("n."): value for name, value in row.items()}
                _tell({"label": label.value, "id": props.pop("id"), "props": props})
    for kind, ends in EDGE_ENDS.items():
        for source, target in ends:
            _edges(engine, kind, source, target)
    return 0


def _edges(engine: KuzuEngine, kind: Relation, source: Label, target: Label) -> None:
    text = f"MATCH (a:{source})-[r:{kind}]->(b:{target}) RETURN a.id, b.id, r.*"
    columns, rows, _ = engine.cypher(text, {}, timeout_ms=_SECONDS * 1000, limit=_MOST_EDGES)
    names = [name.removeprefix("r.") for name in columns]
    for row in rows:
        props = {
            name: value
            for name, value in zip(names[2:], row[2:], strict=True)
            if name not in _COLUMNS_OF_ATTRIBUTES and not name.startswith("_")
        }
        _tell({"type": kind.value, "from": [source.value, row[0]], "to": [target.value, row[1]], "props": props})


def _tell(said: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
