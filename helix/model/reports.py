"""Reports: what the service answers when it is not a node: results of writes, pages, jobs, health."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar

from helix.model.edge import Relation
from helix.model.episode import Episode, session_id
from helix.model.ids import Id
from helix.model.memory import Memory
from helix.model.provenance import Trust
from helix.model.requests import kept
from helix.model.usage import ModelUsage
from helix.model.worded import Worded
from helix.model.work_item import WorkItem

S = TypeVar("S")
T = TypeVar("T")


class Durability(Worded):
    """What an acknowledged change survives."""

    QUORUM = "quorum", "It is on the server's disk and on a standby's."
    ENGINE = "engine", "Whoever runs the server vouches for it."
    SINGLE = "single", "It is on one machine's disk, and nowhere else."
    UNSAFE = "unsafe", "It may be lost with the machine: the server does not wait for its disk."


ENOUGH_FOR_A_QUORUM = frozenset({Durability.QUORUM, Durability.ENGINE})


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConnection:
    """One client that Helix knows how to connect."""

    client: Annotated[str, "What the command line calls it, such as `claude-code`."]
    name: Annotated[str, "What it is called."]
    installed: Annotated[bool, "Whether it is on this machine, as far as its programs and folders tell."]
    connected: Annotated[str, "By whose settings it uses this store: `user`, `project`, `unreadable`; empty for none."]
    file: Annotated[str, "The settings file that connects it."]
    hooks: Annotated[bool, "Whether it tells Helix by itself what happens."]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One line of the daemon's log; secrets were taken out before it was written."""

    at: Annotated[datetime | None, "When it was written; null where the line does not say."]
    level: Annotated[str, "`debug`, `info`, `warning` or `error`; empty where the line does not say."]
    text: Annotated[str, "What it says, with what belongs to it."]


@kept
class StoreStatus(Worded):
    """What a store came to: a new memory, a count on an existing one, a new version of it, or one quarantined."""

    ADDED = "added", "It is a new memory."
    MERGED = "merged", "One that says the same was there, and counts one more."
    UPDATED = "updated", "It is a new version of one that was there."
    QUARANTINED = "quarantined", "It waits for a person."


@kept
@dataclass(frozen=True, slots=True, kw_only=True)
class StoreResult:
    """The outcome of `store`. `redacted` names the kinds of secret that were taken out first.

    `contradicts` names the memories that cannot hold beside this one: settled by rule, or open for a person.
    """

    status: Annotated[StoreStatus, "What it came to."]
    name: Annotated[str, "The name it has now."]
    id: str
    redacted: Annotated[tuple[str, ...], "The kinds of secret that were taken out."] = ()
    suspicious: Annotated[
        tuple[str, ...], "Why the text reads like an instruction to an agent; empty where it does not."
    ] = ()
    """Why the text reads like an instruction to an agent, whether or not it is quarantined for that."""
    contradicts: Annotated[
        tuple[str, ...], "Names of memories that cannot hold beside it: settled by rule, or open for a person."
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What `record_episode` came to: the episode, or None and why nothing was kept. No reason is an error."""

    episode: Annotated[Episode | None, "The episode; null where nothing was kept."]
    reason: Annotated[str, "Why nothing was kept: a private session, or files that the project ignores."] = ""
    redacted: Annotated[tuple[str, ...], "The kinds of secret that were taken out."] = ()
    suspicious: Annotated[
        tuple[str, ...], "Why the text reads like an instruction to an agent; empty where it does not."
    ] = ()
    """Why the text reads like an instruction to an agent, whether or not it is quarantined for that."""

    @property
    def id(self) -> str | None:
        """The id of the episode; None where nothing was kept."""
        return None if self.episode is None else self.episode.id


@kept
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReport:
    """A session as its caller knows it, by name; a private one has no episodes and is no node of the graph."""

    name: Annotated[str, "The name that episodes are recorded under."]
    scope: str
    agent: str
    started_at: datetime
    ended_at: datetime | None = None
    private: Annotated[bool, "Whether nothing of it is written down."] = False
    episodes: Annotated[int, "How many episodes were recorded in it."] = 0

    @property
    def id(self) -> Id:
        """The id of its node."""
        return session_id(self.scope, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """One page of a list: going through it gives its items, `total` counts those of all pages.

    Of each item there is a cursor, which continues after it. `next_cursor` is that of the last one; None at the end.
    """

    items: tuple[T, ...]
    total: int
    cursors: tuple[str, ...]
    next_cursor: str | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def each(self, make: Callable[[T], S | None]) -> Page[S]:
        """Return the same page of what `make` makes of its items, without those that it makes None of."""
        made = [(make(item), cursor) for item, cursor in zip(self.items, self.cursors, strict=True)]
        items = tuple(item for item, _ in made if item is not None)
        cursors = tuple(cursor for item, cursor in made if item is not None)
        more = cursors[-1] if cursors and self.next_cursor else None
        return Page(items=items, total=self.total, cursors=cursors, next_cursor=more)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarMemory:
    """A memory and its cosine similarity (-1..1) to what was asked about."""

    memory: Memory
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeSuggestion:
    """An edge that a person or an agent might want: towards which memory, of which type, and why."""

    memory: Memory
    relation: Annotated[Relation, "The type of edge that would fit."]
    similarity: float
    reason: Annotated[str, "Why."]


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """What decay, decay_edges or prune changed (or would change, with `dry_run`).

    `job` is what `undo` takes it back by; empty where nothing was changed.
    """

    operation: Annotated[str, "What was done."]
    changed: Annotated[int, "How many it changed."]
    names: Annotated[tuple[str, ...], "Which memories it changed."] = ()
    dry_run: Annotated[bool, "Whether it only says what would change."] = False
    job: Annotated[str, "What `undo` takes it back by; empty where nothing was changed."] = ""


class JobState(Worded):
    """Where a job stands."""

    RUNNING = "running", "It is at work."
    DONE = "done", "It is done."
    FAILED = "failed", "It ended with an error."
    CANCELLED = "cancelled", "Somebody stopped it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A long piece of work in the daemon. `total` 0 means not known yet; `result` is filled when it is done."""

    id: str
    kind: Annotated[str, "What it does."]
    state: Annotated[JobState, "Where it stands."]
    started_at: datetime
    ended_at: datetime | None = None
    done: Annotated[int, "How much is done."] = 0
    total: Annotated[int, "How much there is; 0 while that is not known."] = 0
    message: Annotated[str, "What it is doing."] = ""
    error: Annotated[str, "Why it failed."] = ""
    error_code: Annotated[str, "The code of that error."] = ""
    result: Annotated[
        Mapping[str, Any],
        "What came of it, once it is done, by its kind: an ingest counts as `IngestReport` does, export and backup "
        "tell their `path` and count.",
    ] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPlan:
    """What a background job would do now: a line for each thing, and the counts it would report.

    `without_model`: the job itself would ask a language model, which a plan never does, and may come to something else.
    """

    kind: Annotated[str, "What would be done."]
    lines: Annotated[tuple[str, ...], "What would change, a line each."]
    counts: Annotated[Mapping[str, int], "What it would come to."]
    without_model: Annotated[bool, "Whether the work itself asks a language model, which a plan never does."] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """What the gate made of the episodes that consolidations read, as far as the results of these are kept.

    `dropped` are those of which no sentence passed the gate: they stay evidence, and no memory comes of them.
    """

    read: Annotated[int, "Episodes that consolidations read, by the results that are kept."] = 0
    dropped: Annotated[int, "Those of them of which no sentence passed the gate."] = 0

    @property
    def drop_rate(self) -> float | None:
        """The share of the episodes read that was dropped, 0 to 1; null before any was read."""
        return self.dropped / self.read if self.read else None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundStatus:
    """What the worker does and has to do. `importance` is what happened since the last round began, of `budget`.

    `items` are the pieces of work asked for last, newest first, every unfinished one among them; `queued` and `failed`
    count those of them. `totals` sums up by kind what was done since the daemon started.
    """

    paused: Annotated[bool, "Whether background work is paused."]
    running: Annotated[WorkItem | None, "What is at work; null where nothing is."]
    progress: Annotated[str, "How far that is."]
    queued: Annotated[int, "Pieces of work that wait."]
    failed: Annotated[int, "Pieces of work that have failed."]
    lacking_vectors: Annotated[int, "Passages that are found by their words only until they are embedded."]
    importance: Annotated[float, "The importance of what happened since the last consolidation, summed up."]
    budget: Annotated[float, "The sum from which on what happened is consolidated."]
    items: Annotated[tuple[WorkItem, ...], "The pieces of work asked for last, newest first."]
    totals: Annotated[Mapping[str, Mapping[str, int]], "By kind of work, what was done since the daemon started."] = (
        field(default_factory=dict)
    )
    gate: Annotated[GateReport, "What the gate made of the episodes that were read."] = GateReport()


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestProblem:
    """One piece of a source that could not be ingested, by its place (`line 7`) and why."""

    where: Annotated[str, "Its place, such as `line 7`."]
    why: Annotated[str, "What is wrong with it."]


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport:
    """What an ingest did. `skipped` counts what was there already, excluded, or of a private session.

    `quarantined` counts the slices quarantined because they read like instructions to an agent.
    """

    source: Annotated[str, "What was ingested."]
    episodes: Annotated[int, "Episodes recorded."] = 0
    memories: Annotated[int, "Memories added."] = 0
    edges: Annotated[int, "Edges drawn."] = 0
    skipped: Annotated[int, "What was there already, is excluded, or belongs to a private session."] = 0
    redacted: Annotated[int, "Secrets taken out."] = 0
    quarantined: Annotated[int, "What reads like an instruction to an agent, and is quarantined until reviewed."] = 0
    problems: Annotated[tuple[IngestProblem, ...], "What could not be ingested."] = ()
    vouched: Annotated[int, "Memories that were there already, and count as the user's own now."] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CypherResult:
    """Rows of a read-only query; `truncated` when the row limit cut them."""

    columns: Annotated[tuple[str, ...], "The names of the columns."]
    rows: Annotated[tuple[tuple[Any, ...], ...], "The rows, each a list of values."]
    truncated: Annotated[bool, "Whether the row limit cut it off."]
    elapsed_ms: Annotated[float, "How long it took, in milliseconds."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What `health` says: `ok`, `degraded` (works, with something to know) or `failing`, and the reasons."""

    status: Annotated[str, "`ok`, `degraded` or `failing`."]
    issues: Annotated[tuple[str, ...], "What is not as it should be."]
    stats: Annotated[Mapping[str, int], "How many nodes of each label there are."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Counts over the memories of a store."""

    total: Annotated[int, "Memories."]
    by_type: Annotated[Mapping[str, int], "Memories of each kind."]
    by_status: Annotated[Mapping[str, int], "Memories of each status."]
    total_helped: Annotated[float, "Sum of `helped`."]
    total_failed: Annotated[float, "Sum of `failed`."]
    with_feedback: Annotated[int, "Memories that have had feedback."]
    without_feedback: Annotated[int, "Memories that have had none."]
    overall_effectiveness: Annotated[float | None, "helped / (helped + failed) over all; null before any feedback."]
    episodes: Annotated[int, "Episodes."]
    entities: Annotated[int, "Entities."]
    relationships: Annotated[int, "Edges; those that begin in the scope, where one is named."]
    embedding_coverage: Annotated[
        float, "Share of the passages (of the scope, where one is named) that have a vector, 0 to 1."
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusReport:
    """What `helix status` shows: the store, its model, its files, and anything that is not as it should be."""

    version: Annotated[str, "The version of Helix."]
    store: Annotated[str, "The folder of the store; of a team's server the name of the tenant."]
    mode: Annotated[str, "How recall works at present: `hybrid` or `lexical`."]
    model: Annotated[str, "The embedding model."]
    dimension: Annotated[int, "Its dimension; 0 without a model."]
    journal_rows: Annotated[int, "Rows of the journal."]
    applied_seq: Annotated[int, "The last row of the journal that the graph has."]
    refused: Annotated[int, "Changes that the graph does not take and does without; known once it was opened."]
    disk_bytes: Annotated[Mapping[str, int], "Bytes on disk, by part."]
    durability: Annotated[Durability, "What an acknowledged change survives."]
    journal_bytes_week: Annotated[int, "How much the journal grew in the last week."]
    memory_bytes: Annotated[int, "Resident memory of the daemon."]
    paused: Annotated[bool, "Whether capture is paused: nothing new is ingested, and no background job runs."]
    nodes: Annotated[Mapping[str, int], "Nodes of each label."]
    edges: Annotated[int, "Edges of the graph."]
    jobs: Annotated[tuple[Job, ...], "Jobs that run or ran."]
    warnings: Annotated[tuple[str, ...], "What is not as it should be."]
    started_at: datetime
    background: Annotated[BackgroundStatus | None, "What goes on behind the foreground."] = None
    models: Annotated[ModelUsage | None, "What language models were asked, and what it cost."] = None
    holdback: Annotated[
        float, "The share of tasks that are shown no memories, so that `report` can compare; 0 for none."
    ] = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorFinding:
    """One check of `helix doctor`."""

    check: Annotated[str, "What was checked."]
    ok: Annotated[bool, "Whether it is as it should be."]
    detail: Annotated[str, "What was found."]
    hint: Annotated[str, "What to do about it."] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """All checks of `helix doctor`; healthy when every one is ok."""

    findings: Annotated[tuple[DoctorFinding, ...], "The checks, one by one."]

    @property
    def healthy(self) -> bool:
        """Whether every check passed."""
        return all(finding.ok for finding in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphTable:
    """One label or relationship of the graph and the names of its properties; `kind` is `node` or `relationship`."""

    name: Annotated[str, "The label or the relationship's type."]
    kind: Annotated[str, "`node` or `relationship`."]
    properties: Annotated[tuple[str, ...], "The names of its properties."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting as it is in force."""

    name: Annotated[str, "The name of the setting."]
    value: Annotated[str | None, "Its value; null where it has none."]
    source: Annotated[str, "Where the value came from."]
    variable: Annotated[str, "The environment variable that sets it."]
    help: Annotated[str, "What it is for."]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLink:
    """A link that lets one browser in, once."""

    url: Annotated[str, "The address to open."]
    expires_in_seconds: Annotated[int, "How long it can be used."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One change of the store, after it is durable."""

    type: Annotated[str, "The type, such as memory.changed, edge.changed or job.progress; `events` lists them."]
    id: Annotated[str, "The id of what changed; of an edge those of its ends, `source->target`."]
    detail: Annotated[Mapping[str, Any], "What else is known of the change."]
    missed: Annotated[int, "Events dropped before this one because the subscriber read too slowly."]


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoConflict:
    """Something that a job touched and that going back would take away from somebody else.

    `what` names it for people (`memory use-uv`), `by` is the kind of the last change that touched it, or why.
    """

    what: Annotated[str, "What going back would take away from somebody else."]
    by: Annotated[str, "The change that touched it last."]


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoReport:
    """What undoing a job came to: nodes, edges and passages put back. Conflicts stop it, mostly before it writes.

    `kept_out` counts the memories that it had derived: they are not derived again until a person asks for it.
    """

    job: Annotated[str, "The piece of work."]
    restored: Annotated[int, "Nodes, edges and passages that were put back."]
    kept_out: Annotated[int, "Memories it had derived: they stay away until `rederive` is asked for."] = 0
    conflicts: Annotated[tuple[UndoConflict, ...], "What stands in the way; of the rest nothing was written."] = ()
    dry_run: Annotated[bool, "Whether nothing was to be written anyway."] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """Two active memories of one kind and scope that are nearly the same in meaning."""

    id: Annotated[str, "What tells the pair from others."]
    first: Annotated[Memory, "The better founded one; of equals the one with more use, then the older."]
    second: Annotated[Memory, "The other one."]
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """How much waits for a person to decide."""

    contradictions: Annotated[int, "Contradictions that are open."]
    quarantined: Annotated[int, "Memories and episodes that are quarantined."]
    candidates: Annotated[int, "What may be learned from agents' work."]
    duplicates: Annotated[int, "Pairs of memories that say nearly the same."]
    gaps: Annotated[int, "Questions that nothing answers yet."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A memory as it was after one change, by the journal's log."""

    seq: Annotated[int, "The row of the journal that made it."]
    memory: Annotated[Memory, "The memory as this change left it."]
    at: Annotated[datetime, "When it was changed."]
    change: Annotated[
        str,
        "What happened, in a word or two: stored, imported, learned, edited, refined, stored again, confirmed, judged, "
        "forgotten, restored, accepted, rejected, quarantined, archived, merged, unmerged, superseded, retired, ended, "
        "holds again, decided, reopened, kept apart, kept apart no longer, undone, erased or changed.",
    ]
    by: Annotated[
        str,
        "Who changed it: `you`, an agent's name, whose key asked for it, the word of its source, or `helix`; empty if "
        "unknown.",
    ]
    trust: Annotated[Trust, "How far it was trusted from then on."]
    reason: Annotated[str, "What is known of why; empty where nothing is."]
