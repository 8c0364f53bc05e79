"""Bulk: a file of JSON lines ingested by large transactions, with the graph built once, at the end.

The lines become the same changes as in an ordinary import, and each batch is durable and found by recall when it is
written. Only the graph waits: row by row, thousands of changes would take it longer than being built anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from helix import files
from helix.errors import InvalidInputError, NotFoundError
from helix.ingest.draft import in_one_scope
from helix.ingest.jsonl import read_file
from helix.ingest.plain import count_lines
from helix.ingest.preprocess_process import Beside
from helix.ingest.writing import BATCH, Importer
from helix.providers.given_vectors import GivenVectors
from helix.store.jobs import Ticket, Work
from helix.store.store import Store

_BATCH = 500
_FEW_LINES = 1_000
_SHARE_OF_NODES = 16
"""An import without one line for so many nodes of the store changes the graph faster than it would be built."""


def json_lines(
    store: Store,
    path: str,
    *,
    vectors: str | None,
    scope: str,
    source: str | None,
    one_scope: bool = False,
    few_lines: int = _FEW_LINES,
) -> Work:
    """Return the work of a bulk import of a file of JSON lines; `vectors` names a .npy file with a row for each.

    With `one_scope` all goes into `scope`, whatever the lines say.

    A file of fewer than `few_lines` goes in as an ordinary import does, graph and all. Raises at once what is wrong
    with the files: NotFoundError, InvalidInputError, EmbeddingSpaceError.
    """
    file = Path(path)
    total = _count_lines(file)
    given = None if vectors is None else GivenVectors(Path(vectors), lines=total, dimension=store.dimension)
    store.check_space()
    aside = total >= max(few_lines, store.index.count // _SHARE_OF_NODES)

    def take_in(ticket: Ticket) -> Mapping[str, Any]:
        beside = Beside(store.runtime.settings.text_limit) if aside else None
        importer = Importer(
            store,
            source="jsonl",
            scope=scope,
            batch=_BATCH if aside else BATCH,
            vector_at=None if given is None else given.at_line,
            beside=beside,
        )
        try:
            with files.open_regular(file) as stream:
                slices = read_file(stream, source=source or str(file.absolute()))
                chosen = in_one_scope(slices) if one_scope else slices
                report = importer.run(chosen, lambda done: ticket.progress(done, total), lambda: ticket.cancelled)
        finally:
            if beside is not None:
                beside.close()
        return asdict(report)

    def work(ticket: Ticket) -> Mapping[str, Any]:
        if not aside:
            return take_in(ticket)
        store.graph.suspend("a bulk import is at work; the graph is built when all its lines are in")
        try:
            report = take_in(ticket)
        finally:
            store.graph.resume()
        if store.graph.needs_rebuild and not ticket.cancelled:
            store.rebuild_graph(ticket)
        return report

    return work


def _count_lines(path: Path) -> int:
    try:
        with files.open_regular(path) as stream:
            return count_lines(stream)
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {path}", hint="check the path") from error
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}", hint="name a file of JSON lines") from error
