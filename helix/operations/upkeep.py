"""Upkeep: how the store is, its settings and jobs, and what keeps it in shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from helix import settings as configuration
from helix.client_settings.connections import overview as overview_of_agents
from helix.memory.erasure.scan import scan_restored
from helix.memory.upkeep import recover as recovery
from helix.memory.upkeep import reembed as embedding
from helix.model.ids import Id
from helix.model.principal import Role
from helix.model.reports import AgentConnection, DoctorReport, Health, Job, LogLine, Page, Setting, Stats, StatusReport
from helix.operations.checks import absolute, page_size
from helix.operations.listed import graph_query, mutation, query, query_for
from helix.service import Helix
from helix.store import backup as copies
from helix.store import doctor as examination
from helix.store import overview
from helix.store.jobs import Ticket
from helix.store.log_lines import last_lines
from helix.store.store import Store
from helix.strands import recovering, sync_state
from helix.strands import whole as strand_jobs


@query
def health(helix: Helix) -> Health:
    """Say whether the store works as it should, and what is wrong where it does not."""
    return overview.health(helix.store, reason=helix.reason, jobs=helix.jobs.all())


@query
def stats(helix: Helix, scope: Annotated[str | None, "Count in this scope only."] = None) -> Stats:
    """Count what is stored, and how often it helped."""
    return overview.stats(helix.store, scope)


@query
def status(helix: Helix) -> StatusReport:
    """Show the store, its model, its files, its jobs, and anything that is not as it should be."""
    report = overview.status(helix.store, reason=helix.reason, jobs=helix.jobs.all(), started_at=helix.started_at)
    warnings = (*report.warnings, *sync_state.warnings(helix.store.journal))
    return replace(report, background=helix.worker.status(), models=helix.router.usage(), warnings=warnings)


@graph_query
def doctor(helix: Helix) -> DoctorReport:
    """Run every check of the store, comparing journal and graph; it takes its time."""
    helix.graph_rebuilds.mend()
    return examination.examine(helix.store, building=helix.store.graph.needs_rebuild and helix.jobs.are_running())


@query_for(None)
def config(helix: Helix) -> list[Setting]:
    """List each setting, its value, and where that came from; secrets are no settings."""
    values = helix.settings
    return [
        Setting(
            name=name,
            value=None if getattr(values, name) is None else str(getattr(values, name)),
            source=values.sources.get(name, "default"),
            variable=configuration.variable_of(name),
            help=help_text,
        )
        for name, help_text, _ in configuration.described()
    ]


@query_for(None)
def agents(
    helix: Helix,
    project: Annotated[str | None, "A project whose settings are looked at too: an absolute path."] = None,
) -> list[AgentConnection]:
    """List the coding agents' clients that Helix knows: which are on this machine, and which use this store."""
    return overview_of_agents(helix.settings, None if project is None else Path(absolute(project)))


@query_for(None)
def logs(helix: Helix, lines: Annotated[int, "At most so many of the last lines."] = 200) -> list[LogLine]:
    """Show the end of the daemon's log, the oldest line first; secrets were taken out before it was written."""
    return last_lines(helix.settings.store_path, page_size(helix, "lines", lines))


@query
def job(helix: Helix, id: Annotated[Id, "The job's id."]) -> Job:
    """Look at one job."""
    return helix.jobs.get(id)


@query
def jobs(helix: Helix, first: int = 50, after: str | None = None) -> Page[Job]:
    """List the jobs since the daemon started page by page, newest first."""
    return helix.jobs.page(page_size(helix, "first", first), after)


@mutation(Role.AGENT)
def cancel_job(helix: Helix, id: Annotated[Id, "The job's id."]) -> Job:
    """Ask a job to stop; what it has done so far stays."""
    return helix.jobs.cancel(id)


@mutation(Role.ADMIN)
def rebuild(helix: Helix) -> Job:
    """Rebuild the graph from the journal; recall goes on meanwhile."""
    return helix.graph_rebuilds.start()


@mutation(Role.ADMIN)
def reembed(helix: Helix) -> Job:
    """Embed everything anew with the model that is set."""
    return helix.jobs.start("reembed", lambda ticket: embedding.reembed(helix.store, ticket))


@mutation(None)
def backup(helix: Helix, path: str) -> Job:
    """Write a backup of the running store to a file or folder."""
    return _with_file(helix, "backup", copies.back_up, path)


@mutation(None, person="put a backup in the place of the store")
def restore_backup(helix: Helix, path: str) -> Job:
    """Put a backup in the place of the store; what was there is moved aside."""

    def work(store: Store, backup: Path, ticket: Ticket) -> Mapping[str, Any]:
        with helix.worker.standing_still():  # or what was read before could be written into what is there now
            told = copies.restore(store, backup, ticket)
            scan_restored(store, ticket)
        if strand_jobs.under_way(store.journal) is not None:  # the backup was made in the midst of one
            recovering.recover(store, helix.jobs, helix.worker)
        return told

    return _with_file(helix, "restore", work, path)


@mutation(Role.ADMIN)
def recover(helix: Helix) -> Job:
    """Recover what the journal lost, from the files that were set aside when the loss was noticed."""
    return helix.jobs.start("recover", lambda ticket: recovery.recover(helix.store, ticket))


@mutation(Role.ADMIN, person="say that a loss is known")
def acknowledge_loss(helix: Helix) -> int:
    """Stop reporting what the journal lost, and return how many losses there were; the kept files stay."""
    return recovery.acknowledge(helix.store)


def _with_file(helix: Helix, kind: str, work: Any, path: str) -> Job:
    file = Path(absolute(path))

    def done(ticket: Ticket) -> Mapping[str, Any]:
        found: Mapping[str, Any] = work(helix.store, file, ticket)
        return found

    return helix.jobs.start(kind, done)
