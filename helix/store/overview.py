"""The overview of a store: counts, sizes, and everything a person should be warned about."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from helix import __version__, files
from helix.model.clock import DAY_MICROS, to_micros
from helix.model.edge import Label
from helix.model.loss import RECOVER_HINT, losses
from helix.model.memory import Status
from helix.model.reports import Health, Job, JobState, Stats, StatusReport
from helix.providers.install import is_complete
from helix.providers.local_model import repair_hint
from helix.providers.model_catalogue import RERANKER
from helix.store.node_columns import LABEL_CODE, STATUS_CODE
from helix.store.store import Store
from helix.text.inert import quoted

_LEAST_FREE_BYTES = 200 << 20
_SOON_EMBEDDED = 200
"""What was just recorded waits a moment for its vectors: more than this is worth knowing."""
_MANY_ASIDE_BYTES = 1 << 30


def stats(store: Store, scope: str | None) -> Stats:
    """Count the store's nodes, edges and passages of a scope, or of all: an edge is of the scope it begins in."""
    graph, view = store.projection.snapshot, store.catalogue.view
    counts = view.counts(scope)
    columns = view.columns
    # An old version's feedback lives on in the version that replaced it.
    rows = (columns.label == LABEL_CODE[Label.MEMORY]) & (columns.status != STATUS_CODE[Status.RETIRED])
    alive, edges = view.passages.alive, store.records.counts()["edges"]
    if scope is not None:
        inside = columns.scope == view.lookups.scopes.code(scope)
        rows &= inside
        alive = alive & inside[view.passages.owner]
        edges = int(np.count_nonzero(inside[graph.edges().source])) if graph.generation == view.generation else 0
    helped, failed = float(columns.helped[rows].sum()), float(columns.failed[rows].sum())
    with_feedback = int(np.count_nonzero(columns.helped[rows] + columns.failed[rows] > 0))
    total = int(np.count_nonzero(rows))
    passages = int(np.count_nonzero(alive))
    return Stats(
        total=total,
        by_type=counts.kinds,
        by_status=counts.statuses,
        total_helped=helped,
        total_failed=failed,
        with_feedback=with_feedback,
        without_feedback=total - with_feedback,
        overall_effectiveness=helped / (helped + failed) if helped + failed else None,
        episodes=counts.labels[Label.EPISODE],
        entities=counts.labels[Label.ENTITY],
        relationships=edges,
        embedding_coverage=int(np.count_nonzero(alive & view.passages.embedded)) / passages if passages else 1.0,
    )


def status(store: Store, *, reason: str, jobs: Sequence[Job], started_at: datetime) -> StatusReport:
    """Return all that `helix status` shows of a store; `reason` says which model is in use, or why there is none."""
    pinned = store.journal.spaces.active()
    counts, disk, settings = store.records.counts(), store.disk_bytes(), store.runtime.settings
    hybrid = store.runtime.embedder is not None and not store.mismatch
    week_ago = to_micros(store.runtime.clock()) - 7 * DAY_MICROS
    return StatusReport(
        version=__version__,
        store=settings.tenant if settings.one_of_many else str(store.path),
        mode="hybrid" if hybrid else "lexical",
        model=store.runtime.embedder.space.model if store.runtime.embedder is not None else "none",
        dimension=pinned.dimension if pinned is not None else 0,
        journal_rows=store.journal.last_seq,
        applied_seq=store.graph.applied_seq,
        refused=len(store.graph.refused),
        disk_bytes=disk,
        durability=store.journal.database.durability,
        journal_bytes_week=store.journal.bytes_since(week_ago),
        memory_bytes=resident_bytes(),
        paused=store.paused,
        nodes={label.value: counts.get(label.value, 0) for label in Label},
        edges=counts["edges"],
        jobs=tuple(jobs),
        warnings=tuple(warnings(store, reason=reason, jobs=jobs, disk=disk)),
        started_at=started_at,
        holdback=settings.holdback,
    )


def health(store: Store, *, reason: str, jobs: Sequence[Job]) -> Health:
    """Return the store's health: `ok`, `degraded` when something works less well than it could, `failing` without a
    graph to follow or where the journal has lost something."""
    issues = warnings(store, reason=reason, jobs=jobs, disk=store.disk_bytes())
    graphless = store.graph.needs_rebuild and bool(store.graph.trouble)
    rebuilding = any(job.state is JobState.RUNNING for job in jobs)
    failing = (graphless and not rebuilding) or bool(losses(store.path))
    view = store.catalogue.view
    return Health(
        status="failing" if failing else "degraded" if issues else "ok",
        issues=tuple(issues),
        stats={label.value.lower(): count for label, count in view.counts().labels.items()},
    )


def warnings(store: Store, *, reason: str, jobs: Sequence[Job], disk: Mapping[str, int]) -> list[str]:
    """Return what the store's overview warns of in sentences, the gravest first; `disk` is `Store.disk_bytes()`."""
    found = [f"{loss.sentence}: {RECOVER_HINT}" for loss in losses(store.path)]
    found.extend(said for said in (store.journal.mark_trouble, store.log_check.trouble) if said)
    if store.mismatch:
        found.append(f"{store.mismatch}: recall and store are refused until `helix reembed` has run")
    found.extend(said for said in (store.graph.trouble, store.graph.warning) if said)
    if refused := store.graph.refused:
        found.append(f"{len(refused)} changes were refused by the graph and set aside: `helix doctor`")
    if store.runtime.embedder is None:
        found.append(f"{reason}: recall goes by words only")
    missing = store.journal.spaces.count_missing_active()
    if missing > _SOON_EMBEDDED and store.runtime.embedder is not None:
        found.append(f"{missing:,} passages have no vector yet; words find them meanwhile")
    if store.runtime.settings.rerank and not is_complete(RERANKER, store.runtime.settings.models_path / RERANKER.name):
        found.append(f"recall cannot rerank, as the settings say: {repair_hint(RERANKER.name)}")
    if store.paused:
        found.append("capture is paused, and background jobs rest: `helix pause --off` goes on")
    if shutil.disk_usage(store.path).free < _LEAST_FREE_BYTES:
        found.append("the disk is almost full: writes are refused when it is")
    if disk["aside"] > _MANY_ASIDE_BYTES:
        found.append(f"graph files moved aside take much room; they may be removed: {store.path}/*.aside-*")
    found.extend(
        f"the last {job.kind} failed: {quoted(job.error or '')}"  # others' words may stand in it
        for job in _last_of_each_kind(jobs)
        if job.state is JobState.FAILED
    )
    return found


def resident_bytes() -> int:
    """Return the memory the store's process holds, in bytes (without /proc: the most it ever held)."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        import resource  # not on Windows

        return int(files.read_text(statm).split()[1]) * resource.getpagesize()
    if sys.platform == "win32":
        return 0
    import resource  # not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _last_of_each_kind(jobs: Sequence[Job]) -> list[Job]:
    newest: dict[str, Job] = {}
    for job in jobs:  # newest first
        newest.setdefault(job.kind, job)
    return list(newest.values())
