"""Sources: what each kind of import needs to start, as work for a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from helix.errors import NotARepositoryError, NotFoundError
from helix.identity import Identity, project_of
from helix.ingest import bulk as bulk_import
from helix.ingest import git, jsonl, markdown, transcript
from helix.ingest.writing import Importer
from helix.learning.events.claude_code import CLIENT
from helix.lifecycle.intake import Intake
from helix.model.memory import GLOBAL_SCOPE
from helix.model.reports import IngestReport
from helix.store.jobs import Ticket, Work
from helix.store.store import Store


def git_history(store: Store, path: str, *, scope: str | None, limit: int | None) -> Work:
    """Return the work of importing a repository's history, oldest commit first.

    Raises NotARepositoryError and its like at once, not in the job.
    """
    root = Path(path)
    total = git.count(root, limit=limit)
    project = _scope(store, scope) or git.project_scope(root, store.settings.worktrees)
    importer = Importer(store, source="git", scope=project)

    def work(ticket: Ticket) -> Mapping[str, Any]:
        history = git.read_history(root, limit=limit, scope=project)
        return asdict(importer.run(history, lambda done: ticket.progress(done, total), lambda: ticket.cancelled))

    return work


def notes(store: Store, paths: Sequence[str], *, scope: str | None) -> Work:
    """Return the work of importing Markdown and text notes; raises NotFoundError at once for a path that is missing."""
    files = [Path(path) for path in paths]
    if missing := [path for path in files if not path.exists()]:
        raise NotFoundError(f"there is no file or folder {missing[0]}", hint="check the path")
    project = _scope(store, scope) or _project_of(store, files[0])
    importer = Importer(store, source="notes", scope=project)

    def work(ticket: Ticket) -> Mapping[str, Any]:
        slices = markdown.read_notes(files, scope=project)
        return asdict(importer.run(slices, lambda done: ticket.progress(done, 0), lambda: ticket.cancelled))

    return work


def transcripts(store: Store, path: str, *, scope: str | None) -> Work:
    """Return the work of importing histories of Claude Code; raises NotFoundError at once where there is none."""
    files = transcript.transcript_files(Path(path))
    total = transcript.line_count(files)
    given = _scope(store, scope)
    known: dict[Path, Identity] = {}

    def place_of(folder: Path) -> Identity:
        if folder not in known:
            settings = store.settings
            known[folder] = project_of(folder, worktrees=settings.worktrees, chosen=given or settings.scope)
        return known[folder]

    importer = Importer(store, source=CLIENT, scope=given or GLOBAL_SCOPE)

    def work(ticket: Ticket) -> Mapping[str, Any]:
        slices = transcript.read_transcripts(files, place_of)
        return asdict(importer.run(slices, lambda done: ticket.progress(done, total), lambda: ticket.cancelled))

    return work


def json_lines(store: Store, lines: Sequence[str], *, first_line: int, scope: str | None, source: str) -> IngestReport:
    """Import one run of JSON lines; a broken line is named in the report and the rest goes in."""
    importer = Importer(store, source="jsonl", scope=_scope(store, scope) or GLOBAL_SCOPE)
    slices = jsonl.read_lines(lines, first_line=first_line, source=source)
    return importer.run(slices, lambda _: None, lambda: False)


def bulk(store: Store, path: str, *, vectors: str | None, scope: str | None, source: str | None) -> Work:
    """Return the work of importing a file of JSON lines in bulk; see `helix.ingest.bulk.json_lines`."""
    project = _scope(store, scope) or GLOBAL_SCOPE
    return bulk_import.json_lines(store, path, vectors=vectors, scope=project, source=source)


def _project_of(store: Store, path: Path) -> str:
    """Return the project that notes belong to: the repository they lie in, else no project."""
    try:
        return git.project_scope(path, store.settings.worktrees)
    except NotARepositoryError:
        return GLOBAL_SCOPE


def _scope(store: Store, scope: str | None) -> str:
    return "" if scope is None else Intake(store.settings.text_limit).scope(scope)
