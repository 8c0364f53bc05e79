"""Exports: write what the store holds to files of this machine, as jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from helix.exports.export_graph import write_graphml, write_lines
from helix.exports.export_markdown import write_vault
from helix.journal.log import Journal
from helix.model.reports import Job
from helix.operations.checks import absolute
from helix.operations.listed import mutation
from helix.service import Helix
from helix.store.jobs import Ticket

Write = Callable[[Journal, Path, Ticket], Mapping[str, Any]]


@mutation(None)
def export_jsonl(helix: Helix, path: str) -> Job:
    """Write every node and edge to a new file of JSON lines, from which all of it can be ingested again."""
    return _export(helix, path, write_lines)


@mutation(None)
def export_graphml(helix: Helix, path: str) -> Job:
    """Write every node and edge to a new file of GraphML, for programs that draw and measure graphs."""
    return _export(helix, path, write_graphml)


@mutation(None)
def export_markdown(helix: Helix, path: str) -> Job:
    """Write a note for each memory into an empty or new folder, with links to those it has edges to."""
    return _export(helix, path, write_vault)


def _export(helix: Helix, path: str, write: Write) -> Job:
    target = Path(absolute(path))
    return helix.jobs.start("export", lambda ticket: write(helix.store.journal, target, ticket))
