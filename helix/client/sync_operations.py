# Written by scripts/schema: change the operation instead.
"""Every operation as a method of a client that blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from helix.client.domain import (
        Accepted,
        ActionContext,
        AgentConnection,
        BackgroundStatus,
        Brief,
        BuilderContext,
        Candidate,
        Cascade,
        CentralNode,
        Certainty,
        Check,
        Cleared,
        Community,
        CommunityInside,
        Completable,
        CypherResult,
        Delivery,
        Dispute,
        DisputeStatus,
        DoctorReport,
        Duplicate,
        Edge,
        EdgeSuggestion,
        Episode,
        ErasePlan,
        Event,
        Expand,
        Exploration,
        ExplorationReport,
        ExplorerContext,
        Facets,
        GraphNode,
        GraphOverview,
        GraphPath,
        GraphTable,
        Health,
        Held,
        Inbox,
        IngestReport,
        Insight,
        Intent,
        Job,
        Kind,
        KindAnswer,
        Label,
        LogLine,
        LoopHealth,
        MaintenanceReport,
        Memory,
        MemoryEffect,
        MemoryOrder,
        MemoryShare,
        Neighbourhood,
        Node,
        Observed,
        OpenLink,
        Page,
        Plan,
        PlannerContext,
        PlanReport,
        PlanTask,
        RecallAnswer,
        RecallItem,
        Recording,
        Reflection,
        Report,
        SessionReport,
        Setting,
        Showing,
        SimilarMemory,
        Stalled,
        Stats,
        Status,
        StatusReport,
        StoreResult,
        StrandDifference,
        StrandInfo,
        StrandKey,
        StrandVersion,
        SyncedPlace,
        TaskOutcome,
        TaskReport,
        TaskState,
        TimeKind,
        Trust,
        UndoReport,
        Version,
        Walk,
        WorkItem,
        WorkPlan,
        WorkspaceReport,
    )


class Operations(ABC):
    """Every operation as a method: positional is what has to be given, None stands for what is not.

    The words of an enum may be given as text. Raises HelixError of the class that the error's code names.
    """

    @abstractmethod
    def _ask(self, operation: str, /, **arguments: Any) -> Any: ...

    @abstractmethod
    def _listen(self, operation: str, /, **arguments: Any) -> Iterator[Any]: ...

    def background(self, *, limit: int | None = None) -> BackgroundStatus:
        """Show which background jobs run, which are queued, and what the last ones did."""
        return self._ask("background", limit=limit)

    def work(self, id: str) -> WorkItem:
        """Look at one piece of background work."""
        return self._ask("work", id=id)

    def work_plan(self, kind: str, *, payload: Mapping[str, Any] | None = None) -> WorkPlan:
        """Say what a piece of background work would do now; nothing is changed."""
        return self._ask("work_plan", kind=kind, payload=payload)

    def flush(self, *, scope: str | None = None) -> WorkItem:
        """Turn recent episodes into memories now, instead of when enough have come together."""
        return self._ask("flush", scope=scope)

    def begin_work(self, kind: str, *, payload: Mapping[str, Any] | None = None) -> WorkItem:
        """Ask for a piece of background work; of the same there is one unfinished at most."""
        return self._ask("begin_work", kind=kind, payload=payload)

    def cancel_work(self, id: str) -> WorkItem:
        """Ask a piece of background work to end; `undo` takes back what it has written."""
        return self._ask("cancel_work", id=id)

    def pause_worker(self, *, on: bool | None = None) -> bool:
        """Stop background work, also over restarts, or go on with it; returns whether it is paused now."""
        return self._ask("pause_worker", on=on)

    def undo(self, job: str, *, dry_run: bool | None = None) -> UndoReport:
        """Take a piece of background work back exactly, or list what has been done since that this would take away."""
        return self._ask("undo", job=job, dry_run=dry_run)

    def record_episode(
        self,
        content: str,
        *,
        session: str | None = None,
        scope: str | None = None,
        agent: str | None = None,
        role: str | None = None,
        occurred_at: datetime | None = None,
        source: str | None = None,
        importance: float | None = None,
        trust: Trust | str | None = None,
        files: Sequence[str] | None = None,
        project: str | None = None,
        idempotency_key: str | None = None,
    ) -> Recording:
        """Record what happened, word for word but for secrets, as evidence for memories; found by its words at once.

        A private session, and files that the project's `.helixignore` excludes, leave nothing: the answer says
        so.
        """
        return self._ask(
            "record_episode",
            content=content,
            session=session,
            scope=scope,
            agent=agent,
            role=role,
            occurred_at=occurred_at,
            source=source,
            importance=importance,
            trust=trust,
            files=files,
            project=project,
            idempotency_key=idempotency_key,
        )

    def episodes(
        self,
        *,
        scope: str | None = None,
        session: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        time: TimeKind | str | None = None,
        oldest_first: bool | None = None,
        first: int | None = None,
        after: str | None = None,
    ) -> Page[Episode]:
        """List episodes page by page, newest first."""
        return self._ask(
            "episodes",
            scope=scope,
            session=session,
            since=since,
            until=until,
            time=time,
            oldest_first=oldest_first,
            first=first,
            after=after,
        )

    def open_session(
        self,
        *,
        name: str | None = None,
        scope: str | None = None,
        agent: str | None = None,
        private: bool | None = None,
        idempotency_key: str | None = None,
    ) -> SessionReport:
        """Open a session, or go on with one. Nothing of a private one is ever written down."""
        return self._ask(
            "open_session", name=name, scope=scope, agent=agent, private=private, idempotency_key=idempotency_key
        )

    def close_session(
        self, name: str, *, scope: str | None = None, idempotency_key: str | None = None
    ) -> SessionReport:
        """End a session; what is new in its scope is consolidated in the background."""
        return self._ask("close_session", name=name, scope=scope, idempotency_key=idempotency_key)

    def sessions(
        self,
        *,
        scope: str | None = None,
        first: int | None = None,
        after: str | None = None,
        name: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Page[SessionReport]:
        """List sessions page by page, the latest start first; private ones are not among them."""
        return self._ask("sessions", scope=scope, first=first, after=after, name=name, since=since, until=until)

    def pause(self, *, on: bool | None = None) -> bool:
        """Stop capturing and background jobs, or go on with it; returns whether capture is paused now.

        Nothing new comes in while it is paused. Recall goes on, and so does what people do to what is there.
        """
        return self._ask("pause", on=on)

    def explorer_context(
        self,
        objective: str,
        *,
        focus: str | None = None,
        scope: str | None = None,
        limit: int | None = None,
        session: str | None = None,
    ) -> ExplorerContext:
        """Tell an explorer what is known already and which failures to watch for."""
        return self._ask(
            "explorer_context", objective=objective, focus=focus, scope=scope, limit=limit, session=session
        )

    def planner_context(
        self, objective: str, *, scope: str | None = None, limit: int | None = None, session: str | None = None
    ) -> PlannerContext:
        """Tell a planner what was decided, how things are done here and what has changed lately."""
        return self._ask("planner_context", objective=objective, scope=scope, limit=limit, session=session)

    def builder_context(
        self,
        objective: str,
        *,
        task: str | None = None,
        files: Sequence[str] | None = None,
        lineage: Sequence[Mapping[str, Any]] | None = None,
        warning: str | None = None,
        limit: int | None = None,
        scope: str | None = None,
        session: str | None = None,
        no_inject: bool | None = None,
    ) -> BuilderContext:
        """Tell a builder what matters to its task, by the objective and by the files."""
        return self._ask(
            "builder_context",
            objective=objective,
            task=task,
            files=files,
            lineage=lineage,
            warning=warning,
            limit=limit,
            scope=scope,
            session=session,
            no_inject=no_inject,
        )

    def lineage(
        self, *, tasks: Sequence[Mapping[str, Any]] | None = None, plan: str | None = None, scope: str | None = None
    ) -> list[Delivery]:
        """List what tasks delivered: those of a client's list, else of a plan, by default the newest of a scope."""
        return self._ask("lineage", tasks=tasks, plan=plan, scope=scope)

    def brief(
        self, *, scope: str | None = None, budget_tokens: int | None = None, without: Sequence[str] | None = None
    ) -> Brief:
        """Tell what there is to know of a project as a session begins, without a question."""
        return self._ask("brief", scope=scope, budget_tokens=budget_tokens, without=without)

    def at_action(
        self,
        *,
        command: str | None = None,
        files: Sequence[str] | None = None,
        output: str | None = None,
        folder: str | None = None,
        project: str | None = None,
        scope: str | None = None,
        limit: int | None = None,
    ) -> ActionContext:
        """Look up what is remembered about exactly a command, the error it ended with, or the files an edit changes."""
        return self._ask(
            "at_action",
            command=command,
            files=files,
            output=output,
            folder=folder,
            project=project,
            scope=scope,
            limit=limit,
        )

    def erase_plan(self, name_or_id: str) -> ErasePlan:
        """Show what a hard forget would take away for good; nothing is changed."""
        return self._ask("erase_plan", name_or_id=name_or_id)

    def hard_forget(self, name_or_id: str, confirm: str) -> Job:
        """Erase a memory or an episode from every file, for good; `confirm` is the id of the root of its
        `erasePlan`.
        """
        return self._ask("hard_forget", name_or_id=name_or_id, confirm=confirm)

    def scan_secrets(self, *, apply: bool | None = None) -> Job:
        """Look with today's rules for secrets in everything that is stored, and with `apply` take them out for good."""
        return self._ask("scan_secrets", apply=apply)

    def export_jsonl(self, path: str) -> Job:
        """Write every node and edge to a new file of JSON lines, from which all of it can be ingested again."""
        return self._ask("export_jsonl", path=path)

    def export_graphml(self, path: str) -> Job:
        """Write every node and edge to a new file of GraphML, for programs that draw and measure graphs."""
        return self._ask("export_graphml", path=path)

    def export_markdown(self, path: str) -> Job:
        """Write a note for each memory into an empty or new folder, with links to those it has edges to."""
        return self._ask("export_markdown", path=path)

    def cypher(
        self,
        query: str,
        *,
        params: Mapping[str, Any] | None = None,
        timeout_ms: int | None = None,
        limit: int | None = None,
    ) -> CypherResult:
        """Run a Cypher statement that only reads; time and rows are limited by the settings at most."""
        return self._ask("cypher", query=query, params=params, timeout_ms=timeout_ms, limit=limit)

    def graph_schema(self) -> list[GraphTable]:
        """List the labels and relationships of the graph with the names of their properties, for writing Cypher."""
        return self._ask("graph_schema")

    def neighbourhood(
        self, name_or_id: str, *, steps: int | None = None, scope: str | None = None, limit: int | None = None
    ) -> Neighbourhood:
        """Show what lies around a node: the nodes within so many steps, and the edges among them."""
        return self._ask("neighbourhood", name_or_id=name_or_id, steps=steps, scope=scope, limit=limit)

    def find(
        self, text: str, *, labels: Sequence[Label | str] | None = None, limit: int | None = None
    ) -> list[GraphNode]:
        """Find memories, sessions, plans, tasks, entities such as files, and insights by words of what they are
        called.
        """
        return self._ask("find", text=text, labels=labels, limit=limit)

    def walk(self, query: str, *, scope: str | None = None, limit: int | None = None) -> Walk:
        """Show where the walk of a question goes through the graph, the hottest nodes first, and the edges among
        them.
        """
        return self._ask("walk", query=query, scope=scope, limit=limit)

    def path(self, source: str, target: str, *, scope: str | None = None) -> GraphPath:
        """Find a shortest path between two nodes, of at most 8 steps: how one has to do with the other."""
        return self._ask("path", source=source, target=target, scope=scope)

    def communities(
        self, *, scope: str | None = None, least: int | None = None, limit: int | None = None
    ) -> list[Community]:
        """List the largest communities: nodes that are linked with each other more than with the rest (Louvain)."""
        return self._ask("communities", scope=scope, least=least, limit=limit)

    def graph_overview(self, *, scope: str | None = None, limit: int | None = None) -> GraphOverview:
        """Show the whole graph from afar: its largest communities, what they are about, and what leads between them."""
        return self._ask("graph_overview", scope=scope, limit=limit)

    def community(self, id: str, *, scope: str | None = None, limit: int | None = None) -> CommunityInside:
        """Show one community of the overview from near: its nodes, and the edges among them."""
        return self._ask("community", id=id, scope=scope, limit=limit)

    def centrality(
        self, *, scope: str | None = None, labels: Sequence[Label | str] | None = None, limit: int | None = None
    ) -> list[CentralNode]:
        """List the nodes that most others lead to (PageRank): what everything is about."""
        return self._ask("centrality", scope=scope, labels=labels, limit=limit)

    def ingest_git(self, path: str, *, scope: str | None = None, limit: int | None = None) -> Job:
        """Ingest the history of a git repository, oldest commit first; nothing is ingested twice."""
        return self._ask("ingest_git", path=path, scope=scope, limit=limit)

    def ingest_notes(self, paths: Sequence[str], *, scope: str | None = None, mine: bool | None = None) -> Job:
        """Ingest Markdown notes: files, or folders of them. They are what a repository says, or your own (`mine`)."""
        return self._ask("ingest_notes", paths=paths, scope=scope, mine=mine)

    def ingest_transcript(self, path: str, *, scope: str | None = None, agent: str | None = None) -> Job:
        """Ingest Claude Code's history of sessions: what was said, what failed, what mended it, and what worked.

        For an agent all goes into `scope`, which it has to name.
        """
        return self._ask("ingest_transcript", path=path, scope=scope, agent=agent)

    def ingest_jsonl(
        self,
        lines: Sequence[str],
        *,
        first_line: int | None = None,
        scope: str | None = None,
        source: str | None = None,
        agent: str | None = None,
    ) -> IngestReport:
        """Ingest one chunk of JSON lines; a broken line is named by its number and the rest goes in.

        For an agent all goes into `scope`, which it has to name, whatever the lines say.
        """
        return self._ask("ingest_jsonl", lines=lines, first_line=first_line, scope=scope, source=source, agent=agent)

    def ingest_bulk(
        self,
        path: str,
        *,
        vectors: str | None = None,
        scope: str | None = None,
        source: str | None = None,
        agent: str | None = None,
    ) -> Job:
        """Ingest a file of JSON lines, a large one fast: the graph is built once, when all its lines are in.

        Recall finds what is in at every moment, and the same file goes on where it was stopped. For an agent all
        goes into `scope`, which it has to name, whatever the lines say.
        """
        return self._ask("ingest_bulk", path=path, vectors=vectors, scope=scope, source=source, agent=agent)

    def import_memories(
        self,
        path: str,
        *,
        source: str | None = None,
        scope: str | None = None,
        plan: bool | None = None,
        mine: bool | None = None,
        agent: str | None = None,
    ) -> Job:
        """Import what another memory keeps: its notes, its database or its export. Nothing is ingested twice.

        A file of no known kind is refused, and told what was looked for. For an agent all goes into `scope`.
        """
        return self._ask("import_memories", path=path, source=source, scope=scope, plan=plan, mine=mine, agent=agent)

    def observe_explorer(
        self,
        output: str,
        *,
        store: bool | None = None,
        queue: bool | None = None,
        min_confidence: Certainty | str | None = None,
        scope: str | None = None,
        session: str | None = None,
        task_id: str | None = None,
        agent: str | None = None,
        source: str | None = None,
    ) -> Observed:
        """See what an explorer's answer gives to learn: facts and conventions."""
        return self._ask(
            "observe_explorer",
            store=store,
            queue=queue,
            min_confidence=min_confidence,
            scope=scope,
            session=session,
            task_id=task_id,
            agent=agent,
            source=source,
            output=output,
        )

    def observe_planner(
        self,
        tasks: Sequence[Mapping[str, Any]],
        *,
        store: bool | None = None,
        queue: bool | None = None,
        min_confidence: Certainty | str | None = None,
        scope: str | None = None,
        session: str | None = None,
        task_id: str | None = None,
        agent: str | None = None,
        source: str | None = None,
        exploration: Mapping[str, Any] | None = None,
        learned: Sequence[str] | None = None,
    ) -> Observed:
        """See what a plan gives to learn: decisions."""
        return self._ask(
            "observe_planner",
            store=store,
            queue=queue,
            min_confidence=min_confidence,
            scope=scope,
            session=session,
            task_id=task_id,
            agent=agent,
            source=source,
            tasks=tasks,
            exploration=exploration,
            learned=learned,
        )

    def observe_builder(
        self,
        task: Mapping[str, Any],
        *,
        store: bool | None = None,
        queue: bool | None = None,
        min_confidence: Certainty | str | None = None,
        scope: str | None = None,
        session: str | None = None,
        task_id: str | None = None,
        agent: str | None = None,
        source: str | None = None,
        result: str | None = None,
        files_changed: Sequence[str] | None = None,
    ) -> Observed:
        """See what a builder's work gives to learn: what changed, what stood in the way, what it says it learned."""
        return self._ask(
            "observe_builder",
            store=store,
            queue=queue,
            min_confidence=min_confidence,
            scope=scope,
            session=session,
            task_id=task_id,
            agent=agent,
            source=source,
            task=task,
            result=result,
            files_changed=files_changed,
        )

    def observe_session(
        self,
        objective: str,
        *,
        store: bool | None = None,
        queue: bool | None = None,
        min_confidence: Certainty | str | None = None,
        scope: str | None = None,
        session: str | None = None,
        task_id: str | None = None,
        agent: str | None = None,
        source: str | None = None,
        tasks: Sequence[Mapping[str, Any]] | None = None,
        outcomes: Mapping[str, Any] | None = None,
    ) -> Observed:
        """See what a session came to as a whole, by the tasks that are given, else by those that are kept of it."""
        return self._ask(
            "observe_session",
            store=store,
            queue=queue,
            min_confidence=min_confidence,
            scope=scope,
            session=session,
            task_id=task_id,
            agent=agent,
            source=source,
            objective=objective,
            tasks=tasks,
            outcomes=outcomes,
        )

    def learning_queue(
        self, *, scope: str | None = None, first: int | None = None, after: str | None = None
    ) -> Page[Candidate]:
        """List what may be learned from agents' work and waits for review, page by page, the surest first."""
        return self._ask("learning_queue", scope=scope, first=first, after=after)

    def accept_candidate(self, id: str, *, by: str | None = None) -> Accepted:
        """Make a memory of what waits in the learning queue; it is trusted no further than the one who said it."""
        return self._ask("accept_candidate", id=id, by=by)

    def reject_candidate(self, id: str, *, by: str | None = None) -> Candidate:
        """Reject a candidate of the learning queue: the same is not proposed again."""
        return self._ask("reject_candidate", id=id, by=by)

    def reopen_candidate(self, id: str) -> Candidate:
        """Take back that a candidate was rejected: it waits again."""
        return self._ask("reopen_candidate", id=id)

    def chunk(
        self,
        task: str,
        outcome: str,
        approach: str,
        *,
        scope: str | None = None,
        task_id: str | None = None,
        agent: str | None = None,
        source: str | None = None,
        idempotency_key: str | None = None,
    ) -> StoreResult | None:
        """Remember how a task was done as a pattern; a task that failed gives none."""
        return self._ask(
            "chunk",
            task=task,
            outcome=outcome,
            approach=approach,
            scope=scope,
            task_id=task_id,
            agent=agent,
            source=source,
            idempotency_key=idempotency_key,
        )

    def verify(self, *, scope: str | None = None) -> LoopHealth:
        """Check whether agents' work is learned from: whether what was shown was judged, and what is left open."""
        return self._ask("verify", scope=scope)

    def report(self, *, since: datetime | None = None, scope: str | None = None) -> Report:
        """Compare tasks that were shown memories with tasks that were shown none."""
        return self._ask("report", since=since, scope=scope)

    def effect(self, name_or_id: str) -> MemoryEffect:
        """Count what came of one memory in the tasks that it was shown to, in all its versions."""
        return self._ask("effect", name_or_id=name_or_id)

    def showings(
        self,
        *,
        name_or_id: str | None = None,
        first: int | None = None,
        after: str | None = None,
        session: str | None = None,
        scope: str | None = None,
    ) -> Page[Showing]:
        """List when one memory was shown to a task or held back from it, or what a session was shown, newest first."""
        return self._ask("showings", name_or_id=name_or_id, first=first, after=after, session=session, scope=scope)

    def report_page(self, *, since: datetime | None = None, scope: str | None = None) -> str:
        """Write the report as one HTML document that asks for nothing from anywhere."""
        return self._ask("report_page", since=since, scope=scope)

    def exploration(self, *, id: str | None = None, scope: str | None = None) -> Exploration:
        """Read what explorers found: one exploration by its id, or the newest of a scope."""
        return self._ask("exploration", id=id, scope=scope)

    def save_exploration(
        self, answer: str, *, objective: str | None = None, scope: str | None = None, session: str | None = None
    ) -> ExplorationReport:
        """Keep what explorers found: an exploration as JSON, or the answers of one or more explorers."""
        return self._ask("save_exploration", answer=answer, objective=objective, scope=scope, session=session)

    def plan(self, *, id: str | None = None, scope: str | None = None) -> PlanReport:
        """Read a plan with its tasks as they stand: one by its id, or the newest of a scope."""
        return self._ask("plan", id=id, scope=scope)

    def plans(self, *, scope: str | None = None, first: int | None = None, after: str | None = None) -> Page[Plan]:
        """List plans page by page, newest first."""
        return self._ask("plans", scope=scope, first=first, after=after)

    def task(self, id: str) -> TaskReport:
        """Show a task with what it was shown, what proves what came of it, and what was learned in it."""
        return self._ask("task", id=id)

    def save_plan(
        self,
        answer: str,
        *,
        objective: str | None = None,
        scope: str | None = None,
        session: str | None = None,
        exploration: str | None = None,
    ) -> PlanReport:
        """Keep what a planner answered, as tasks and their order; refused where nobody could work through it."""
        return self._ask(
            "save_plan", answer=answer, objective=objective, scope=scope, session=session, exploration=exploration
        )

    def complete_plan(self, *, plan: str | None = None, scope: str | None = None) -> PlanReport:
        """Say that nobody works on a plan any more, whatever became of its tasks; what is left is among the
        problems.
        """
        return self._ask("complete_plan", plan=plan, scope=scope)

    def ready_tasks(self, *, plan: str | None = None, scope: str | None = None) -> list[PlanTask]:
        """List the tasks of a plan that can begin now: pending, with all they wait for delivered."""
        return self._ask("ready_tasks", plan=plan, scope=scope)

    def cascade_status(self, *, plan: str | None = None, scope: str | None = None) -> Cascade:
        """Say where a plan stands as a whole, and which of its tasks can never begin as things are."""
        return self._ask("cascade_status", plan=plan, scope=scope)

    def workspaces(
        self,
        *,
        plan: str | None = None,
        scope: str | None = None,
        status: str | None = None,
        first: int | None = None,
        after: str | None = None,
    ) -> Page[WorkspaceReport]:
        """List attempts at tasks page by page, the newest first."""
        return self._ask("workspaces", plan=plan, scope=scope, status=status, first=first, after=after)

    def create_workspace(
        self,
        task: str,
        *,
        plan: str | None = None,
        scope: str | None = None,
        warning: str | None = None,
        limit: int | None = None,
    ) -> WorkspaceReport:
        """Begin an attempt at a task: what is to be put before the agent, with the memories that fit, or without
        them.
        """
        return self._ask("create_workspace", task=task, plan=plan, scope=scope, warning=warning, limit=limit)

    def complete_workspace(self, id: str, delivered: str, *, utilized: Sequence[str] | None = None) -> WorkspaceReport:
        """Say that an attempt delivered; what that is worth to the memories it was shown is for evidence to say."""
        return self._ask("complete_workspace", id=id, delivered=delivered, utilized=utilized)

    def block_workspace(
        self,
        id: str,
        reason: str,
        *,
        tried: str | None = None,
        error: str | None = None,
        utilized: Sequence[str] | None = None,
    ) -> WorkspaceReport:
        """Say that an attempt came to nothing, and why."""
        return self._ask("block_workspace", id=id, reason=reason, tried=tried, error=error, utilized=utilized)

    def task_state(self, task: Mapping[str, Any], *, others: Sequence[Mapping[str, Any]] | None = None) -> TaskState:
        """Say where a task of a client's list stands; what it waits for was delivered only where `others` say so."""
        return self._ask("task_state", task=task, others=others)

    def dag_cycles(self, dependencies: Mapping[str, Any]) -> list[tuple[str, ...]]:
        """List circles of tasks that wait for each other, a shortest one of each knot."""
        return self._ask("dag_cycles", dependencies=dependencies)

    def dag_ready(
        self, *, tasks: Sequence[Mapping[str, Any]] | None = None, plan: str | None = None, scope: str | None = None
    ) -> list[str]:
        """List the tasks that can begin now: pending, with everything they wait for delivered."""
        return self._ask("dag_ready", tasks=tasks, plan=plan, scope=scope)

    def dag_stalled(
        self, *, tasks: Sequence[Mapping[str, Any]] | None = None, plan: str | None = None, scope: str | None = None
    ) -> Stalled:
        """Say whether tasks are left of which none is at work and none can begin, and why."""
        return self._ask("dag_stalled", tasks=tasks, plan=plan, scope=scope)

    def dag_clear(
        self,
        *,
        tasks: Sequence[Mapping[str, Any]] | None = None,
        plan: str | None = None,
        scope: str | None = None,
        session: str | None = None,
        force: bool | None = None,
    ) -> Cleared:
        """Give back the tasks that a dead session left in progress; a plan is changed, a list only answered."""
        return self._ask("dag_clear", tasks=tasks, plan=plan, scope=scope, session=session, force=force)

    def task_outcome(
        self,
        task: str,
        outcome: str,
        *,
        claimed: bool | None = None,
        utilized: Sequence[str] | None = None,
        agent: str | None = None,
        idempotency_key: str | None = None,
    ) -> TaskOutcome:
        """Say what came of a task: delivered, blocked, skipped, or nothing to take that back.

        `utilized` are the memories that the agent says it used. What an agent says is its own word, and leaves a
        person's.
        """
        return self._ask(
            "task_outcome",
            task=task,
            outcome=outcome,
            claimed=claimed,
            utilized=utilized,
            agent=agent,
            idempotency_key=idempotency_key,
        )

    def note_action(
        self,
        task: str,
        *,
        command: str | None = None,
        files: Sequence[str] | None = None,
        exit_status: int | None = None,
        output: str | None = None,
        id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Check | None:
        """Say what was done in a task: a command that ended, or files that were edited; null where it proves
        nothing.

        It is looked through for use of what the task was shown. Of a command that names a file of a
        `.helixignore` only what it proves is kept, and nothing of the edit of one.
        """
        return self._ask(
            "note_action",
            task=task,
            command=command,
            files=files,
            exit_status=exit_status,
            output=output,
            id=id,
            idempotency_key=idempotency_key,
        )

    def store(
        self,
        trigger: str,
        resolution: str,
        kind: Kind | str,
        *,
        scope: str | None = None,
        name: str | None = None,
        confidence: float | None = None,
        importance: float | None = None,
        files: Sequence[str] | None = None,
        trust: Trust | str | None = None,
        source: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        attributes: Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
    ) -> StoreResult:
        """Remember something. The same thing twice counts once; a refinement becomes a new version.

        Secrets are taken out before anything is written.
        """
        return self._ask(
            "store",
            trigger=trigger,
            resolution=resolution,
            kind=kind,
            scope=scope,
            name=name,
            confidence=confidence,
            importance=importance,
            files=files,
            trust=trust,
            source=source,
            agent=agent,
            session=session,
            valid_from=valid_from,
            valid_to=valid_to,
            attributes=attributes,
            idempotency_key=idempotency_key,
        )

    def get(self, name_or_id: str) -> Memory:
        """Read one memory; a name leads to its newest version."""
        return self._ask("get", name_or_id=name_or_id)

    def history(self, name_or_id: str, *, first: int | None = None, after: str | None = None) -> Page[Version]:
        """Show what became of a memory in all its versions page by page, the newest change first, by the journal's
        log.
        """
        return self._ask("history", name_or_id=name_or_id, first=first, after=after)

    def memories(
        self,
        *,
        scope: str | None = None,
        kinds: Sequence[Kind | str] | None = None,
        status: Sequence[Status | str] | None = None,
        any_status: bool | None = None,
        trust: Sequence[Trust | str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        time: TimeKind | str | None = None,
        text: str | None = None,
        order: MemoryOrder | str | None = None,
        first: int | None = None,
        after: str | None = None,
    ) -> Page[Memory]:
        """List memories page by page."""
        return self._ask(
            "memories",
            scope=scope,
            kinds=kinds,
            status=status,
            any_status=any_status,
            trust=trust,
            since=since,
            until=until,
            time=time,
            text=text,
            order=order,
            first=first,
            after=after,
        )

    def facets(
        self,
        *,
        scope: str | None = None,
        kinds: Sequence[Kind | str] | None = None,
        status: Sequence[Status | str] | None = None,
        any_status: bool | None = None,
        trust: Sequence[Trust | str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        time: TimeKind | str | None = None,
        text: str | None = None,
    ) -> Facets:
        """Count the memories of each scope, kind, status, trust and day, each of these with every filter but its
        own.
        """
        return self._ask(
            "facets",
            scope=scope,
            kinds=kinds,
            status=status,
            any_status=any_status,
            trust=trust,
            since=since,
            until=until,
            time=time,
            text=text,
        )

    def similar_recent(
        self,
        trigger: str,
        *,
        threshold: float | None = None,
        days: float | None = None,
        kind: Kind | str | None = None,
        scope: str | None = None,
        limit: int | None = None,
    ) -> list[SimilarMemory]:
        """Find memories of the last days that are like a trigger: has this happened before?"""
        return self._ask(
            "similar_recent", trigger=trigger, threshold=threshold, days=days, kind=kind, scope=scope, limit=limit
        )

    def edit(
        self,
        name_or_id: str,
        *,
        trigger: str | None = None,
        resolution: str | None = None,
        kind: Kind | str | None = None,
        name: str | None = None,
        scope: str | None = None,
        confidence: float | None = None,
        importance: float | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        agent: str | None = None,
        idempotency_key: str | None = None,
    ) -> Memory:
        """Write a new version of a memory. It supersedes the old one; what you leave out stays as it is."""
        return self._ask(
            "edit",
            name_or_id=name_or_id,
            trigger=trigger,
            resolution=resolution,
            kind=kind,
            name=name,
            scope=scope,
            confidence=confidence,
            importance=importance,
            valid_from=valid_from,
            valid_to=valid_to,
            agent=agent,
            idempotency_key=idempotency_key,
        )

    def forget(self, name_or_id: str, *, idempotency_key: str | None = None) -> Memory:
        """Take a memory out of recall; `restore` brings it back."""
        return self._ask("forget", name_or_id=name_or_id, idempotency_key=idempotency_key)

    def restore(self, name_or_id: str, *, idempotency_key: str | None = None) -> Memory:
        """Bring a forgotten, archived or quarantined memory back into recall."""
        return self._ask("restore", name_or_id=name_or_id, idempotency_key=idempotency_key)

    def confirm(self, name_or_id: str, *, idempotency_key: str | None = None) -> Memory:
        """Say, as a person, that a memory is true. This reinforces it."""
        return self._ask("confirm", name_or_id=name_or_id, idempotency_key=idempotency_key)

    def revert(self, name_or_id: str) -> Memory:
        """Take back a confirmation or a restoration, where it is the last thing that was done to a memory."""
        return self._ask("revert", name_or_id=name_or_id)

    def unmerge(self, name_or_id: str) -> Memory:
        """Bring back a memory that was folded into another one; the two are not folded again."""
        return self._ask("unmerge", name_or_id=name_or_id)

    def edge(
        self,
        source: str,
        target: str,
        relation: str,
        *,
        weight: float | None = None,
        agent: str | None = None,
        undo: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Edge:
        """Draw an edge between two memories, or strengthen the one of that type."""
        return self._ask(
            "edge",
            source=source,
            target=target,
            relation=relation,
            weight=weight,
            agent=agent,
            undo=undo,
            idempotency_key=idempotency_key,
        )

    def edges(
        self,
        *,
        name_or_id: str | None = None,
        relation: str | None = None,
        first: int | None = None,
        after: str | None = None,
    ) -> Page[Edge]:
        """List the edges of one memory, in both directions, or of the whole graph, page by page."""
        return self._ask("edges", name_or_id=name_or_id, relation=relation, first=first, after=after)

    def suggest_edges(self, name_or_id: str, *, limit: int | None = None) -> list[EdgeSuggestion]:
        """Suggest edges for a memory; `helix edge` draws one."""
        return self._ask("suggest_edges", name_or_id=name_or_id, limit=limit)

    def feedback(
        self,
        names: Sequence[str],
        *,
        delta: float | None = None,
        quality: int | None = None,
        task: str | None = None,
        agent: str | None = None,
        undo: bool | None = None,
        idempotency_key: str | None = None,
    ) -> list[Memory]:
        """Say that memories helped (a positive delta) or failed (a negative one); with a quality, that it was
        verified.

        With a task it takes the place of what that task's outcome gave to them. What an agent says is a claim,
        which is no part of the label, and bounded. `undo` takes the newest back instead.
        """
        return self._ask(
            "feedback",
            names=names,
            delta=delta,
            quality=quality,
            task=task,
            agent=agent,
            undo=undo,
            idempotency_key=idempotency_key,
        )

    def decay(
        self, *, unused_days: float | None = None, min_uses: int | None = None, dry_run: bool | None = None
    ) -> MaintenanceReport:
        """Halve the counters of memories that were not used for long, so that old evidence weighs less."""
        return self._ask("decay", unused_days=unused_days, min_uses=min_uses, dry_run=dry_run)

    def decay_edges(self, *, unused_days: float | None = None, dry_run: bool | None = None) -> MaintenanceReport:
        """Halve the weights of edges that were not used for long."""
        return self._ask("decay_edges", unused_days=unused_days, dry_run=dry_run)

    def prune(
        self, *, min_effectiveness: float | None = None, min_uses: int | None = None, dry_run: bool | None = None
    ) -> MaintenanceReport:
        """Archive memories that evidence speaks against, except what you said or confirmed. `restore` brings one
        back.
        """
        return self._ask("prune", min_effectiveness=min_effectiveness, min_uses=min_uses, dry_run=dry_run)

    def recall(
        self,
        query: str,
        *,
        scope: str | None = None,
        kinds: Sequence[Kind | str] | None = None,
        labels: Sequence[Label | str] | None = None,
        trust: Sequence[Trust | str] | None = None,
        status: Sequence[Status | str] | None = None,
        limit: int | None = None,
        intent: Intent | str | None = None,
        expand: Expand | str | None = None,
        files: Sequence[str] | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        asked_at: datetime | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        time: TimeKind | str | None = None,
        budget_tokens: int | None = None,
        recipe: str | None = None,
        rerank: bool | None = None,
        deep: bool | None = None,
        everything: bool | None = None,
        explain: bool | None = None,
        session: str | None = None,
    ) -> RecallAnswer:
        """Find what matters for a question: by meaning, by words, by files and by time, walked through the graph.

        An empty store, or a question nothing is close to, gives an empty list.
        """
        return self._ask(
            "recall",
            query=query,
            scope=scope,
            kinds=kinds,
            labels=labels,
            trust=trust,
            status=status,
            limit=limit,
            intent=intent,
            expand=expand,
            files=files,
            as_of=as_of,
            known_at=known_at,
            asked_at=asked_at,
            since=since,
            until=until,
            time=time,
            budget_tokens=budget_tokens,
            recipe=recipe,
            rerank=rerank,
            deep=deep,
            everything=everything,
            explain=explain,
            session=session,
        )

    def recall_by_type(
        self,
        query: str,
        *,
        kinds: Sequence[Kind | str] | None = None,
        limit: int | None = None,
        scope: str | None = None,
    ) -> list[KindAnswer]:
        """Find the best few memories of each kind, kind by kind, in the order of `kinds`."""
        return self._ask("recall_by_type", query=query, kinds=kinds, limit=limit, scope=scope)

    def completions(self, of: Completable | str, *, prefix: str | None = None, limit: int | None = None) -> list[str]:
        """List words of the store that begin with a prefix, in the order of letters."""
        return self._ask("completions", of=of, prefix=prefix, limit=limit)

    def last(self, *, session: str | None = None) -> RecallAnswer | None:
        """Show what was recalled last, and why."""
        return self._ask("last", session=session)

    def why(self, name_or_id: str, *, session: str | None = None) -> RecallItem:
        """Explain the place of a memory in the last answer of a session."""
        return self._ask("why", name_or_id=name_or_id, session=session)

    def contradictions(
        self,
        *,
        scope: str | None = None,
        status: DisputeStatus | str | None = None,
        any_status: bool | None = None,
        first: int | None = None,
        after: str | None = None,
    ) -> Page[Dispute]:
        """List pairs of memories that cannot both hold, page by page, the oldest first."""
        return self._ask("contradictions", scope=scope, status=status, any_status=any_status, first=first, after=after)

    def resolve_contradiction(self, a: str, b: str, winner: str, *, note: str | None = None) -> Dispute:
        """Say, as a person, which of two memories holds: the name or id of one, `both` or `neither`."""
        return self._ask("resolve_contradiction", a=a, b=b, winner=winner, note=note)

    def reopen_contradiction(self, a: str, b: str) -> Dispute:
        """Take back what was said of a contradiction."""
        return self._ask("reopen_contradiction", a=a, b=b)

    def inbox(self, *, scope: str | None = None) -> Inbox:
        """Count what waits for a person to decide."""
        return self._ask("inbox", scope=scope)

    def duplicates(
        self,
        *,
        scope: str | None = None,
        threshold: float | None = None,
        first: int | None = None,
        after: str | None = None,
    ) -> Page[Duplicate]:
        """List pairs of active memories that say nearly the same, the most similar first; settled ones are excluded."""
        return self._ask("duplicates", scope=scope, threshold=threshold, first=first, after=after)

    def settle_duplicate(self, a: str, b: str, winner: str) -> Memory:
        """Fold one of two memories into the other (`unmerge` takes it back), or keep both and no longer list the
        pair.
        """
        return self._ask("settle_duplicate", a=a, b=b, winner=winner)

    def reopen_duplicate(self, a: str, b: str) -> Memory:
        """Take back that two memories are kept apart: the pair is listed again."""
        return self._ask("reopen_duplicate", a=a, b=b)

    def note_gap(
        self, *, session: str | None = None, agent: str | None = None, idempotency_key: str | None = None
    ) -> StoreResult | None:
        """Remember that the last question of a session was not answered; one that was is not noted."""
        return self._ask("note_gap", session=session, agent=agent, idempotency_key=idempotency_key)

    def reopen_gap(self, name_or_id: str) -> Memory:
        """Say that what closed a gap did not answer it."""
        return self._ask("reopen_gap", name_or_id=name_or_id)

    def review(self, *, scope: str | None = None, first: int | None = None, after: str | None = None) -> Page[Held]:
        """List what is quarantined until a person has looked at it, newest first, with the reasons."""
        return self._ask("review", scope=scope, first=first, after=after)

    def accept(self, name_or_id: str, *, by: str | None = None, idempotency_key: str | None = None) -> Node:
        """Let something quarantined be recalled; its trust stays what it was."""
        return self._ask("accept", name_or_id=name_or_id, by=by, idempotency_key=idempotency_key)

    def reject(self, name_or_id: str, *, by: str | None = None, idempotency_key: str | None = None) -> Node:
        """Have something quarantined forgotten; it stays on disk."""
        return self._ask("reject", name_or_id=name_or_id, by=by, idempotency_key=idempotency_key)

    def hold(self, name_or_id: str, *, by: str | None = None, idempotency_key: str | None = None) -> Node:
        """Quarantine something until a person has looked at it; so `accept` and `reject` are taken back."""
        return self._ask("hold", name_or_id=name_or_id, by=by, idempotency_key=idempotency_key)

    def reflections(
        self, *, scope: str | None = None, first: int | None = None, after: str | None = None
    ) -> Page[Reflection]:
        """List insights, newest first, page by page."""
        return self._ask("reflections", scope=scope, first=first, after=after)

    def insight_tree(self, id: str) -> Insight:
        """Show an insight with what it rests on, down to the episodes."""
        return self._ask("insight_tree", id=id)

    def keys(self) -> list[StrandKey]:
        """List the keys that sign strands, your own first; only their public parts are shown."""
        return self._ask("keys")

    def new_key(self, name: str) -> StrandKey:
        """Make a key of your own, which signs strands and opens those that are sealed for it."""
        return self._ask("new_key", name=name)

    def import_key(self, name: str, public: str) -> StrandKey:
        """Know somebody else's key, or that of your other machine; what it signed is believed as the web is, at
        first.
        """
        return self._ask("import_key", name=name, public=public)

    def trust_key(self, name: str, trust: Trust | str) -> StrandKey:
        """Say how far the rows are believed that a key has signed."""
        return self._ask("trust_key", name=name, trust=trust)

    def revoke_key(self, name: str) -> StrandKey:
        """Stop believing a key: what it signed is refused from now on, and what is shared with it is no longer
        shared.

        The file of an own key is removed, for good.
        """
        return self._ask("revoke_key", name=name)

    def shares(self) -> list[MemoryShare]:
        """List with whom the memory is shared over HTTP, and which scopes of it."""
        return self._ask("shares")

    def new_share(
        self, key: str, scopes: Sequence[str], *, name: str | None = None, write: bool | None = None
    ) -> MemoryShare:
        """Share scopes with the holder of a key: with the token that this tells once, they sync with `/sync/v1`."""
        return self._ask("new_share", key=key, scopes=scopes, name=name, write=write)

    def revoke_share(self, name: str) -> MemoryShare:
        """End a share: its token lets nobody in from now on. What was exchanged stays on both sides."""
        return self._ask("revoke_share", name=name)

    def export_strand(
        self,
        path: str,
        *,
        scopes: Sequence[str] | None = None,
        query: str | None = None,
        since: str | None = None,
        history: str | None = None,
        with_vectors: bool | None = None,
        passphrase: str | None = None,
        recipients: Sequence[str] | None = None,
        key: str | None = None,
        why: str | None = None,
        tag: str | None = None,
    ) -> Job:
        """Write what the store holds, or a part of it, to a new file: signed, encrypted, and good to be merged."""
        return self._ask(
            "export_strand",
            path=path,
            scopes=scopes,
            query=query,
            since=since,
            history=history,
            with_vectors=with_vectors,
            passphrase=passphrase,
            recipients=recipients,
            key=key,
            why=why,
            tag=tag,
        )

    def import_strand(self, path: str, *, passphrase: str | None = None, plan: bool | None = None) -> Job:
        """Merge a strand into the store, three ways by the last version that both have held: all of it or nothing.

        The signature is verified before anything is read, secrets are redacted and suspicious texts quarantined
        as anywhere, and nothing is believed more than its signer. What needs a person waits where contradictions
        do. The log's changes that a strand may bring are passed over: they are there to be read.
        """
        return self._ask("import_strand", path=path, passphrase=passphrase, plan=plan)

    def clone_strand(self, path: str, to: str, *, passphrase: str | None = None) -> Job:
        """Make a new store of a strand, in a folder of its own; `HELIX_DB_PATH` or `--store` opens it."""
        return self._ask("clone_strand", path=path, to=to, passphrase=passphrase)

    def inspect_strand(self, path: str, *, verify: bool | None = None) -> StrandInfo:
        """Show what a strand says of itself: who signed it, when, which version it is, and how much of what it has.

        It is not opened, and takes no passphrase.
        """
        return self._ask("inspect_strand", path=path, verify=verify)

    def strand_log(self, *, limit: int | None = None) -> list[StrandVersion]:
        """List the versions that this store has held or imported, the newest first: who, when and why."""
        return self._ask("strand_log", limit=limit)

    def diff_strands(self, path: str, *, other: str | None = None, passphrase: str | None = None) -> StrandDifference:
        """Tell how a strand differs from the store, or from another strand: what is added, changed, ended and
        missing.
        """
        return self._ask("diff_strands", path=path, other=other, passphrase=passphrase)

    def roll_back_to(self, version: str) -> Job:
        """Make the store what it was at a version, as a new version: nothing is lost, and `undo` takes it back.

        What was erased since stays erased, and what was written in one change with it stays as it is.
        """
        return self._ask("roll_back_to", version=version)

    def tag_version(self, version: str, tag: str, *, move: bool | None = None) -> list[StrandVersion]:
        """Give a version a name by which it can be rolled back to, or exported from; returns the log."""
        return self._ask("tag_version", version=version, tag=tag, move=move)

    def sync(
        self,
        place: str,
        *,
        passphrase: str | None = None,
        key: str | None = None,
        scopes: Sequence[str] | None = None,
        token: str | None = None,
    ) -> Job:
        """Take in what your other machines left in a place, and leave there what the store holds by now.

        Only signed and encrypted strands lie there. Of what the place has, only what a known key signed is
        imported, as an import is; what was passed over is told in `problems`.
        """
        return self._ask("sync", place=place, passphrase=passphrase, key=key, scopes=scopes, token=token)

    def watch_sync(
        self, place: str, *, minutes: float | None = None, scopes: Sequence[str] | None = None
    ) -> list[SyncedPlace]:
        """Have the store synced with a place in the background, at once and then every so many minutes.

        It goes on after a restart. Strands are sealed for your keys; this machine needs exactly one of its own.
        Returns the places.
        """
        return self._ask("watch_sync", place=place, minutes=minutes, scopes=scopes)

    def forget_place(self, place: str) -> Job:
        """Stop syncing with a place, and forget it; the job tells how many strands of this store stay there.

        Nothing is lost here, and nothing is removed there. `erased`: they have what was erased here since the
        last sync. Synced again it is as a new place.
        """
        return self._ask("forget_place", place=place)

    def synced_places(self) -> list[SyncedPlace]:
        """List the places that the store was synced with: how often that is done, and how the last time went."""
        return self._ask("synced_places")

    def health(self) -> Health:
        """Say whether the store works as it should, and what is wrong where it does not."""
        return self._ask("health")

    def stats(self, *, scope: str | None = None) -> Stats:
        """Count what is stored, and how often it helped."""
        return self._ask("stats", scope=scope)

    def status(self) -> StatusReport:
        """Show the store, its model, its files, its jobs, and anything that is not as it should be."""
        return self._ask("status")

    def doctor(self) -> DoctorReport:
        """Run every check of the store, comparing journal and graph; it takes its time."""
        return self._ask("doctor")

    def config(self) -> list[Setting]:
        """List each setting, its value, and where that came from; secrets are no settings."""
        return self._ask("config")

    def agents(self, *, project: str | None = None) -> list[AgentConnection]:
        """List the coding agents' clients that Helix knows: which are on this machine, and which use this store."""
        return self._ask("agents", project=project)

    def logs(self, *, lines: int | None = None) -> list[LogLine]:
        """Show the end of the daemon's log, the oldest line first; secrets were taken out before it was written."""
        return self._ask("logs", lines=lines)

    def job(self, id: str) -> Job:
        """Look at one job."""
        return self._ask("job", id=id)

    def jobs(self, *, first: int | None = None, after: str | None = None) -> Page[Job]:
        """List the jobs since the daemon started page by page, newest first."""
        return self._ask("jobs", first=first, after=after)

    def cancel_job(self, id: str) -> Job:
        """Ask a job to stop; what it has done so far stays."""
        return self._ask("cancel_job", id=id)

    def rebuild(self) -> Job:
        """Rebuild the graph from the journal; recall goes on meanwhile."""
        return self._ask("rebuild")

    def reembed(self) -> Job:
        """Embed everything anew with the model that is set."""
        return self._ask("reembed")

    def backup(self, path: str) -> Job:
        """Write a backup of the running store to a file or folder."""
        return self._ask("backup", path=path)

    def restore_backup(self, path: str) -> Job:
        """Put a backup in the place of the store; what was there is moved aside."""
        return self._ask("restore_backup", path=path)

    def recover(self) -> Job:
        """Recover what the journal lost, from the files that were set aside when the loss was noticed."""
        return self._ask("recover")

    def acknowledge_loss(self) -> int:
        """Stop reporting what the journal lost, and return how many losses there were; the kept files stay."""
        return self._ask("acknowledge_loss")

    def shutdown(self) -> bool:
        """Stop the daemon: what has begun is answered first, nothing acknowledged is lost."""
        return self._ask("shutdown")

    def open_link(self) -> OpenLink:
        """Make a link that opens this explorer in a browser; it works once, within a minute."""
        return self._ask("open_link")

    def events(self, *, types: Sequence[str] | None = None) -> Iterator[Event]:
        """Tell of each change of the store after it is durable, optionally of some types only.

        Types are those of memories (memory.added, memory.changed, memory.dropped), episodes (episode.recorded,
        episode.dropped), edge.changed, contradiction.changed, what is kept of agents' work (candidate.changed,
        insight.changed, session.changed, plan.changed, task.changed, exploration.changed, workspace.changed),
        job.progress, work.progress (background work), and store.changed: a pause, or another content.
        """
        return self._listen("events", types=types)

    def job_progress(self, id: str) -> Iterator[Job]:
        """Show a job as it stands, then again whenever it moves, until it ends."""
        return self._listen("job_progress", id=id)
