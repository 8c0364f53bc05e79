"""Reports: what the service answers when it is not a node: results of writes, pages, jobs, health."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

from helix.model.edge import Relation
from helix.model.episode import Episode
from helix.model.memory import Memory
from helix.model.requests import kept
from helix.model.usage import ModelUsage
from helix.model.work_item import WorkItem

T = TypeVar("T")


@kept
class StoreStatus(StrEnum):
    """What a store came to: a new memory, a count on an existing one, a new version of it, or one kept from recall."""

    ADDED = "added"
    MERGED = "merged"
    UPDATED = "updated"
    QUARANTINED = "quarantined"


@kept
@dataclass(frozen=True, slots=True, kw_only=True)
class StoreResult:
    """The outcome of `store`. `redacted` names the kinds of secret that were taken out first.

    `contradicts` names the memories that cannot hold beside this one: settled by rule, or open for a person.
    """

    status: StoreStatus
    name: str
    id: str
    redacted: tuple[str, ...] = ()
    suspicious: tuple[str, ...] = ()
    """Why the text reads like an instruction to an agent, whether or not it is quarantined for that."""
    contradicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What `record_episode` came to: the episode, or None and why nothing was kept. No reason is an error."""

    episode: Episode | None
    reason: str = ""
    redacted: tuple[str, ...] = ()
    suspicious: tuple[str, ...] = ()
    """Why the text reads like an instruction to an agent, whether or not it is quarantined for that."""

    @property
    def id(self) -> str | None:
        """The id of the episode; None where nothing was kept."""
        return None if self.episode is None else self.episode.id


@kept
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReport:
    """A session as its caller knows it, by name; a private one has no episodes and is no node of the graph."""

    name: str
    scope: str
    agent: str
    started_at: datetime
    ended_at: datetime | None = None
    private: bool = False
    episodes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """One page of a list. `next_cursor` continues after the last item; None at the end."""

    items: tuple[T, ...]
    total: int
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarMemory:
    """A memory and its cosine similarity (-1..1) to what was asked about."""

    memory: Memory
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeSuggestion:
    """An edge that a person or an agent might want: towards which memory, of which type, and why."""

    memory: Memory
    relation: Relation
    similarity: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """What decay, decay_edges or prune changed (or would change, with `dry_run`).

    `job` is what `undo` takes it back by; empty where nothing was changed.
    """

    operation: str
    changed: int
    names: tuple[str, ...] = ()
    dry_run: bool = False
    job: str = ""


class JobState(StrEnum):
    """Where a job stands."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A long piece of work in the daemon. `total` 0 means not known yet; `result` is filled when it is done."""

    id: str
    kind: str
    state: JobState
    started_at: datetime
    ended_at: datetime | None = None
    done: int = 0
    total: int = 0
    message: str = ""
    error: str = ""
    error_code: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPlan:
    """What a background job would do now: a line for each thing, and the counts it would report.

    `without_model`: the job itself would ask a language model, which a plan never does, and may come to something else.
    """

    kind: str
    lines: tuple[str, ...]
    counts: Mapping[str, Any]
    without_model: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """What the gate made of the episodes that consolidations read, as far as the results of these are kept.

    `dropped` are those of which no sentence passed the gate: they stay evidence, and no memory comes of them.
    """

    read: int = 0
    dropped: int = 0

    @property
    def drop_rate(self) -> float | None:
        """The share (0..1) of the episodes read that was dropped; None before any was read."""
        return self.dropped / self.read if self.read else None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundStatus:
    """What the worker does and has to do. `importance` is what happened since the last round began, of `budget`.

    `items` are the pieces of work asked for last, newest first, every unfinished one among them; `queued` and `failed`
    count those of them. `totals` sums up by kind what was done since the daemon started.
    """

    paused: bool
    running: WorkItem | None
    progress: str
    queued: int
    failed: int
    lacking_vectors: int
    importance: float
    budget: float
    items: tuple[WorkItem, ...]
    totals: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    gate: GateReport = GateReport()


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestProblem:
    """One piece of a source that could not be taken in, by its place (`line 7`) and why."""

    where: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport:
    """What an ingest did. `skipped` counts what was there already, excluded, or of a private session.

    `quarantined` counts the slices kept from recall because they read like instructions to an agent.
    """

    source: str
    episodes: int = 0
    memories: int = 0
    edges: int = 0
    skipped: int = 0
    redacted: int = 0
    quarantined: int = 0
    problems: tuple[IngestProblem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CypherResult:
    """Rows of a read-only query; `truncated` when the row limit cut them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool
    elapsed_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What `health` says: `ok`, `degraded` (works, with something to know) or `failing`, and the reasons."""

    status: str
    issues: tuple[str, ...]
    stats: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Counts over the memories of a store."""

    total: int
    by_type: Mapping[str, int]
    by_status: Mapping[str, int]
    total_helped: float
    total_failed: float
    with_feedback: int
    without_feedback: int
    overall_effectiveness: float | None
    episodes: int
    entities: int
    relationships: int
    embedding_coverage: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusReport:
    """What `helix status` shows: the store, its model, its files, and anything that is not as it should be."""

    version: str
    store: str
    mode: str
    model: str
    dimension: int
    journal_rows: int
    applied_seq: int
    poison_rows: int
    disk_bytes: Mapping[str, int]
    journal_bytes_week: int
    memory_bytes: int
    paused: bool
    nodes: Mapping[str, int]
    edges: int
    jobs: tuple[Job, ...]
    warnings: tuple[str, ...]
    started_at: datetime
    background: BackgroundStatus | None = None
    models: ModelUsage | None = None
    holdback: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorFinding:
    """One check of `helix doctor`."""

    check: str
    ok: bool
    detail: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """All checks of `helix doctor`; healthy when every one is ok."""

    findings: tuple[DoctorFinding, ...]

    @property
    def healthy(self) -> bool:
        """Whether every check passed."""
        return all(finding.ok for finding in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphTable:
    """One label or relationship of the graph and the names of its properties; `kind` is `node` or `relationship`."""

    name: str
    kind: str
    properties: tuple[str, ...]
