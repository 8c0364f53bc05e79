"""Files of graphs: where the one in use lies, one that was built to take its place, one that could not be opened."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from helix import files
from helix.graph.on_disk import files_of

log = logging.getLogger(__name__)

ASIDE = ".aside-"
"""Between the name of the graph and the microsecond at which it was moved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a graph's process is told when it starts: the files, Kuzu's limits, and bytes of memory beside the pages."""

    graph: str
    journal: str
    lock: str
    vectors: bool
    buffer_pool_bytes: int
    max_db_bytes: int
    threads: int
    reopen_after: int
    heap_bytes: int
    tenant: int = 0
    """The tenant's number where `journal` is the address of a server."""
    lock_seconds: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltGraph:
    """A graph file that is ready to be put in place, its journal row, and the era it was begun in (see `suspend`)."""

    path: Path
    seq: int
    era: int


def move_aside(graph: Path, at: int, reason: str) -> str:
    """Rename a store's graph and its log, to tell what damaged them, and remove older ones; return the new name."""
    before = list(graph.parent.glob(f"{graph.name}{ASIDE}*"))
    aside = graph.with_name(f"{graph.name}{ASIDE}{at}")
    *moved, seal = zip(files_of(graph), files_of(aside), strict=True)
    for file, kept in moved:
        if file.exists() or file.is_symlink():
            file.rename(kept)
    seal[0].unlink(missing_ok=True)  # it is as good as nothing: the file is not what it says, or was not closed
    log.warning("graph moved aside", extra={"reason": reason, "moved_to": aside.name})
    for older in before:
        try:
            files.remove(older)
        except OSError as error:
            log.warning("an older graph stays", extra={"error": str(error)})
    return aside.name
