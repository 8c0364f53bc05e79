"""Mutations: what can be done to a store. Each function is one field of `Mutation`; GraphiQL shows its docstring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import strawberry

from helix.errors import InvalidInputError
from helix.lifecycle.asked import StoreRequest
from helix.lifecycle.capture.episodes import EpisodeRequest
from helix.lifecycle.curate import EditRequest
from helix.model.edge import Edge
from helix.model.memory import Memory
from helix.model.reports import IngestReport, Job, MaintenanceReport, Recording, StoreResult
from helix.service import Helix


def store(helix: Helix, request: StoreRequest) -> StoreResult:
    """Remember something. The same thing twice counts once; a refinement becomes a new version.

    Secrets are taken out before anything is written.
    """
    return helix.store(**_fields_of(request))


def record_episode(helix: Helix, request: EpisodeRequest) -> Recording:
    """Record what happened, word for word but for secrets, as evidence for memories; found by its words at once.

    A private session, and files that the project's `.helixignore` excludes, leave nothing: the answer says so.
    """
    return helix.record_episode(**_fields_of(request))


def edit(helix: Helix, name_or_id: str, request: EditRequest) -> Memory:
    """Write a new version of a memory that supersedes the old one; what is left out stays as it is."""
    return helix.edit(name_or_id, **_fields_of(request))


def forget(helix: Helix, *, name_or_id: str) -> Memory:
    """Take a memory out of recall; `restore` brings it back."""
    return helix.forget(name_or_id)


def restore(helix: Helix, *, name_or_id: str) -> Memory:
    """Bring a forgotten, archived or quarantined memory back into recall."""
    return helix.restore(name_or_id)


def confirm(helix: Helix, *, name_or_id: str) -> Memory:
    """Say, as a person, that a memory holds: this reinforces it."""
    return helix.confirm(name_or_id)


def edge(helix: Helix, *, source: str, target: str, relation: str, weight: float = 1.0, agent: str = "") -> Edge:
    """Draw an edge between two memories."""
    return helix.edge(source, target, relation, weight, agent)


def feedback(
    helix: Helix,
    *,
    names: Sequence[str],
    delta: float = 0.0,
    quality: int | None = None,
    task: strawberry.ID | None = None,
    agent: str = "",
    undo: bool = False,
) -> list[Memory]:
    """Say that memories helped (a positive delta) or failed (a negative one); with a quality, that it was verified.

    What an agent says is a claim, which is no part of the label, and bounded. `undo` takes the newest back instead.
    """
    return helix.feedback(names, delta, quality, task or "", agent, undo)


def decay(helix: Helix, *, unused_days: float = 30, min_uses: int = 2, dry_run: bool = False) -> MaintenanceReport:
    """Halve the counters of memories that were not used for long, so that old evidence weighs less."""
    return helix.decay(unused_days=unused_days, min_uses=min_uses, dry_run=dry_run)


def decay_edges(helix: Helix, *, unused_days: float = 60, dry_run: bool = False) -> MaintenanceReport:
    """Halve the weights of edges that were not used for long."""
    return helix.decay_edges(unused_days=unused_days, dry_run=dry_run)


def prune(
    helix: Helix, *, min_effectiveness: float = 0.25, min_uses: int = 3, dry_run: bool = False
) -> MaintenanceReport:
    """Archive the memories that evidence speaks against; `restore` brings one back."""
    return helix.prune(min_effectiveness=min_effectiveness, min_uses=min_uses, dry_run=dry_run)


def pause(helix: Helix, *, on: bool = True) -> bool:
    """Stop capturing and background jobs, or go on with it; returns whether capture is paused now."""
    return helix.pause(on)


def ingest_git(helix: Helix, *, path: str, scope: str | None = None, limit: int | None = None) -> Job:
    """Take in the history of a git repository, oldest commit first; nothing is taken in twice."""
    return helix.ingest_git(_absolute(path), scope=scope, limit=limit)


def ingest_notes(helix: Helix, *, paths: Sequence[str], scope: str | None = None, mine: bool = False) -> Job:
    """Take in Markdown notes: files, or folders of them. They are what a repository says, or your own (`mine`)."""
    return helix.ingest_notes([_absolute(path) for path in paths], scope=scope, mine=mine)


def ingest_transcript(helix: Helix, *, path: str, scope: str | None = None, agent: str | None = None) -> Job:
    """Take in Claude Code's history of sessions: what was said, what failed, what mended it, and what worked.

    For an agent all goes into `scope`, which it has to name.
    """
    return helix.ingest_transcript(_absolute(path), scope=scope, agent=agent or "")


def ingest_jsonl(
    helix: Helix,
    *,
    lines: Sequence[str],
    first_line: int = 1,
    scope: str | None = None,
    source: str = "jsonl",
    agent: str | None = None,
) -> IngestReport:
    """Take in one chunk of JSON lines; a broken line is named by its number and the rest goes in.

    For an agent all goes into `scope`, which it has to name, whatever the lines say.
    """
    return helix.ingest_jsonl(lines, first_line=first_line, scope=scope, source=source, agent=agent or "")


def ingest_bulk(
    helix: Helix,
    *,
    path: str,
    vectors: str | None = None,
    scope: str | None = None,
    source: str | None = None,
    agent: str | None = None,
) -> Job:
    """Take in a file of JSON lines, a large one fast: the graph is built once, when all its lines are in.

    For an agent all goes into `scope`, which it has to name, whatever the lines say.
    """
    file = None if vectors is None else _absolute(vectors)
    return helix.ingest_bulk(_absolute(path), vectors=file, scope=scope, source=source, agent=agent or "")


def rebuild(helix: Helix) -> Job:
    """Build the graph anew from the journal; recall answers by words alone meanwhile."""
    return helix.rebuild()


def reembed(helix: Helix) -> Job:
    """Embed everything anew with the model that is set."""
    return helix.reembed()


def backup(helix: Helix, *, path: str) -> Job:
    """Write a backup of the running store to a file or folder of this machine."""
    return helix.backup(_absolute(path))


def restore_backup(helix: Helix, *, path: str) -> Job:
    """Put a backup in the place of the store; what was there is moved aside."""
    return helix.restore_backup(_absolute(path))


def recover(helix: Helix) -> Job:
    """Take back what the journal lost, from the files that were put aside when that was noticed."""
    return helix.recover()


def acknowledge_loss(helix: Helix) -> int:
    """Tell no more of what the journal lost, and return how many losses there were; the kept files stay."""
    return helix.acknowledge_loss()


def cancel_job(helix: Helix, *, id: strawberry.ID) -> Job:
    """Ask a job to stop; what it has done so far stays."""
    return helix.cancel(id)


def _fields_of(request: Any) -> dict[str, Any]:
    return {field.name: getattr(request, field.name) for field in fields(request)}


def _absolute(path: str) -> str:
    if not Path(path).is_absolute() or "\0" in path:
        message = f"{path!r:.200} is not an absolute path"
        raise InvalidInputError(message, hint="the daemon does not know the client's folder: send the whole path")
    return path


ALL = (
    store,
    record_episode,
    edit,
    forget,
    restore,
    confirm,
    edge,
    feedback,
    decay,
    decay_edges,
    prune,
    pause,
    ingest_git,
    ingest_notes,
    ingest_transcript,
    ingest_jsonl,
    ingest_bulk,
    rebuild,
    reembed,
    backup,
    restore_backup,
    recover,
    acknowledge_loss,
    cancel_job,
)
