"""Export Markdown: a folder with a note for each memory, which people, their editors and Helix read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helix import files
from helix.errors import ConflictError, NotFoundError
from helix.exports.export_file import ExportProgress
from helix.exports.memory_note import MemoryNote, note_text
from helix.held_folder import held_folder
from helix.journal.log import Journal
from helix.journal.state import Snapshot
from helix.model.edge import Edge, Label, Ref
from helix.model.letters import normalised
from helix.model.memory import Memory, Status
from helix.model.operations import PutEdge, PutNode
from helix.model.records import spelled
from helix.store.jobs import Ticket
from helix.text.cleaning import given_name

_LONGEST_NAME = 160
"""Bytes of a name in a file's name; with an id behind it, that stays below what every disk takes."""
_TAKEN = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?|agents|claude(\.local)?|gemini|skill")
"""Names that Windows keeps for devices, and that agents take the rules of a folder from, in whatever case."""
_SAFE_ID = re.compile(r"[0-9A-Za-z-]{1,80}")


def write_vault(journal: Journal, folder: Path, ticket: Ticket) -> Mapping[str, object]:
    """Export a Markdown note for each memory into a new or empty folder; returns its path and the counts.

    Memories that are not active are there too, and say so. Raises ConflictError for a folder that holds anything or is
    another user's, and NotFoundError where it would lie in none.
    """
    _check(folder)
    place = files.real_path(folder.parent) / folder.name
    with journal.snapshot() as (_, state), held_folder(place, make=True) as held:
        names = _names(state)
        progress = ExportProgress(ticket, len(names))
        edges = 0
        for node in state.nodes(Label.MEMORY):
            found = [_edge(edge, names) for edge in state.edges_from(_ref(node)) if edge.target.id in names]
            note = MemoryNote(id=node.id, props=spelled(Memory, node.props), edges=found)
            with os.fdopen(held.create(f"{names[node.id]}.md"), "w", encoding="utf-8", newline="") as file:
                file.write(note_text(note))
            edges += len(found)
            progress.one()
    return {"path": str(folder), "memories": progress.written, "edges": edges}


def _check(folder: Path) -> None:
    if not folder.parent.is_dir():
        raise NotFoundError(f"there is no folder {folder.parent}", hint="make it first")
    if os.path.lexists(folder) and not files.is_own_folder(folder):
        raise ConflictError(f"{folder} is not a folder of yours, or is a link", hint="name a new folder")
    if any(files.private_folder(folder).iterdir()):
        raise ConflictError(f"{folder} is not empty", hint="name a new folder: what is there is left as it is")


def _ref(node: PutNode) -> Ref:
    return Ref(label=node.label, id=node.id)


def _names(state: Snapshot) -> dict[str, str]:
    """Return the name of each memory's file by its id: the memory's own name, an id behind it where another has that.

    Of several, an active memory has the plain name. Names that differ only by case are one name to many disks.
    """
    holder: dict[str, str] = {}
    for active in (True, False):
        for node in state.nodes(Label.MEMORY):
            if (node.props.get("status") == Status.ACTIVE) is active:
                holder.setdefault(_key(_stem(node)), node.id)
    return {
        node.id: stem if holder[_key(stem)] == node.id and not _TAKEN.fullmatch(stem) else f"{stem}~{_of_id(node.id)}"
        for node in state.nodes(Label.MEMORY)
        for stem in (_stem(node),)
    }


def _stem(node: PutNode) -> str:
    name = given_name(str(node.props.get("name") or "")) or "memory"
    return name.encode()[:_LONGEST_NAME].decode("utf-8", "ignore").rstrip(".")


def _key(stem: str) -> str:
    return normalised("NFC", stem).casefold()


def _of_id(node_id: str) -> str:
    return node_id if _SAFE_ID.fullmatch(node_id) else node_id.encode().hex()[:80]


def _edge(edge: PutEdge, names: Mapping[str, str]) -> dict[str, Any]:
    props = spelled(Edge, edge.props)
    return {"type": edge.type.value, "to": edge.target.id, "note": names[edge.target.id], **props}
