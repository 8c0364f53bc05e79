"""Sources: what each kind of import needs to start, as work for a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from helix.agents.context.loaded import LOADED_BY
from helix.agents.hook_events.claude_code import CLIENT
from helix.confirmed import note_vouched
from helix.errors import InvalidInputError, NotFoundError
from helix.files import real_path
from helix.identity import Identity, project_at, project_of
from helix.ingest import bulk as bulk_import
from helix.ingest import git, jsonl, markdown, transcript
from helix.ingest.draft import in_one_scope
from helix.ingest.note_files import NoteFile
from helix.ingest.other_memories import importing
from helix.ingest.repository import check
from helix.ingest.writing import Importer
from helix.memory.change.intake import Intake
from helix.model.memory import GLOBAL_SCOPE
from helix.model.provenance import GIT, JSON_LINES, NOTES
from helix.model.reports import IngestReport
from helix.settings import Settings
from helix.store.jobs import Ticket, Work
from helix.store.store import Store


def git_history(store: Store, path: str, *, scope: str | None, limit: int | None) -> Work:
    """Return the work of importing a git repository's history, oldest commit first.

    Raises NotARepositoryError at once. Git is asked in the job alone, where it can be stopped: it may wait for ever.
    """
    root = Path(path).expanduser()
    check(root)
    git.range_of(limit)
    project = _scope(store.runtime.settings, scope) or git.project_scope(
        root, store.runtime.settings.worktrees, store.runtime.settings.home
    )
    importer = Importer(store, source=GIT, scope=project)

    def work(ticket: Ticket) -> Mapping[str, Any]:
        total = git.count(root, limit=limit, stopped=lambda: ticket.cancelled)
        history = git.read_history(root, limit=limit, scope=project, stopped=lambda: ticket.cancelled)
        return asdict(importer.run(history, lambda done: ticket.progress(done, total), lambda: ticket.cancelled))

    return work


def notes(store: Store, paths: Sequence[str], *, scope: str | None, mine: bool) -> Work:
    """Return the work of importing Markdown and text notes; with `mine` the user stands for what they say.

    Raises at once: InvalidInputError without any path, NotFoundError for one that is missing.
    """
    if not paths:
        raise InvalidInputError("no path to take notes from", hint="name at least one file or folder")
    files = [Path(path) for path in paths]
    if missing := [path for path in files if not path.exists()]:
        raise NotFoundError(f"there is no file or folder {missing[0]}", hint="check the path")
    project = _scope(store.runtime.settings, scope) or _project_of(store.runtime.settings, files[0])
    importer = Importer(store, source=NOTES, scope=project, vouched=mine)

    def work(ticket: Ticket) -> Mapping[str, Any]:
        met: list[NoteFile] = []
        slices = markdown.read_notes(files, scope=project, mine=mine, met=met.append)
        report = importer.run(slices, lambda done: ticket.progress(done, 0), lambda: ticket.cancelled)
        if mine and not ticket.cancelled:
            _vouch(store.runtime.settings.home, met)
        return asdict(report)

    return work


def _vouch(home: Path, files: Iterable[NoteFile]) -> None:
    """Note what the files held that the user stands for, of those that a client reads by itself."""
    read = {name for names in LOADED_BY.values() for name in names}
    note_vouched(home, {str(one.path): one.digest for one in files if any(map(one.path.match, read))})


def transcripts(store: Store, path: str, *, scope: str | None, agent: str = "") -> Work:
    """Return the work of importing transcripts of Claude Code; raises NotFoundError at once where there is none."""
    given = _scope(store.runtime.settings, scope, agent)
    files = transcript.transcript_files(Path(path))
    known: dict[Path, Identity] = {}

    def place_of(folder: Path) -> Identity:
        if folder not in known:
            settings = store.runtime.settings
            chosen = given or settings.scope
            known[folder] = project_of(folder, worktrees=settings.worktrees, chosen=chosen, names=settings.home)
        return known[folder]

    importer = Importer(store, source=CLIENT, scope=given or GLOBAL_SCOPE)

    def work(ticket: Ticket) -> Mapping[str, Any]:
        total = transcript.line_count(files)
        slices = transcript.read_transcripts(files, place_of)
        return asdict(importer.run(slices, lambda done: ticket.progress(done, total), lambda: ticket.cancelled))

    return work


def json_lines(
    store: Store, lines: Sequence[str], *, first_line: int, scope: str | None, source: str, agent: str = ""
) -> IngestReport:
    """Import one run of JSON lines to ingest; a broken line is named in the report and the rest goes in."""
    into = _scope(store.runtime.settings, scope, agent) or GLOBAL_SCOPE
    importer = Importer(store, source=JSON_LINES, scope=into)
    slices = jsonl.read_lines(lines, first_line=first_line, source=source)
    return importer.run(in_one_scope(slices) if agent else slices, lambda _: None, lambda: False)


def bulk(
    store: Store, path: str, *, vectors: str | None, scope: str | None, source: str | None, agent: str = ""
) -> Work:
    """Return the work of a bulk import of a file of JSON lines; see `helix.ingest.bulk.json_lines`."""
    into = _scope(store.runtime.settings, scope, agent) or GLOBAL_SCOPE
    return bulk_import.json_lines(store, path, vectors=vectors, scope=into, source=source, one_scope=bool(agent))


def another_memory(
    store: Store, path: str, *, name: str, scope: str | None, mine: bool, plan: bool, agent: str = ""
) -> Work:
    """Return the work of importing what another memory keeps; see `helix.ingest.other_memories.importing`."""
    into = _scope(store.runtime.settings, scope, agent)
    place = Path(path).expanduser()
    return importing.work_of(store, place, name=name, scope=into, one_scope=bool(agent), mine=mine, plan=plan)


def _project_of(settings: Settings, path: Path) -> str:
    """Return the project that notes belong to: that of the folder they lie in; of a client's own folder all."""
    folder = real_path(path if path.is_dir() else path.parent)
    if transcript.is_clients_own(folder):
        return GLOBAL_SCOPE
    return project_at(folder, worktrees=settings.worktrees, chosen=settings.scope, names=settings.home).scope


def _scope(settings: Settings, scope: str | None, agent: str = "") -> str:
    """Return the scope that is asked for, empty for none; an agent has to name one, and may not take them from a file.

    Somebody else may have written the file, so that it could write into every project.
    """
    if agent and not scope:
        raise InvalidInputError("an agent's import goes into one scope, and none is named", hint="add --scope PROJECT")
    return "" if scope is None else Intake(settings.text_limit).scope(scope)
