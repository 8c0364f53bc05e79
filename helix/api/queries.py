"""Queries: what can be asked of Helix. Each function is one field of `Query`; its docstring is what GraphiQL shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import strawberry

from helix import settings as configuration
from helix.api.types import Connection, Listed, PageInfo
from helix.errors import InvalidInputError
from helix.model.edge import Edge, Label
from helix.model.episode import Episode
from helix.model.memory import Kind, Memory, Status
from helix.model.recall import RecallAnswer, RecallItem, RecallQuery
from helix.model.records import Node
from helix.model.reports import (
    CypherResult,
    DoctorReport,
    EdgeSuggestion,
    GraphTable,
    Health,
    Job,
    Page,
    SimilarMemory,
    Stats,
    StatusReport,
)
from helix.recall.completing import Completable
from helix.service import Helix


@dataclass(frozen=True, slots=True, kw_only=True)
class KindAnswer:
    """What recall answered for one kind of memory."""

    kind: Kind
    answer: RecallAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting as it is in force."""

    name: str
    value: str | None
    source: str
    variable: str
    help: str


def recall(helix: Helix, question: RecallQuery) -> RecallAnswer:
    """Find what matters for a question: by meaning, by words, by files and by time, walked through the graph.

    An empty store, or a question nothing is close to, gives an empty list.
    """
    page_size(helix, "limit", question.limit)
    check_length(helix, "query", question.query)
    return helix.recall(question)


def recall_by_type(
    helix: Helix, *, query: str, kinds: Sequence[Kind] = (), limit: int = 5, scope: str | None = None
) -> list[KindAnswer]:
    """Find the best few memories of each kind, kind by kind, in the order of `kinds`."""
    check_length(helix, "query", query)
    answers = helix.recall_by_type(query, kinds, limit=page_size(helix, "limit", limit), scope=scope)
    return [KindAnswer(kind=kind, answer=answer) for kind, answer in answers.items()]


def completions(helix: Helix, *, of: Completable, prefix: str = "", limit: int = 50) -> list[str]:
    """List words of the store that begin with a prefix, in the order of letters."""
    return helix.completions(of, prefix, page_size(helix, "limit", limit))


def get(helix: Helix, *, name_or_id: str) -> Memory:
    """Read one memory; a name leads to its newest version."""
    return helix.get(name_or_id)


def node(helix: Helix, *, label: Label, id: strawberry.ID) -> Node:
    """Read any node by its label and id."""
    return helix.node(label, id)


def memories(
    helix: Helix,
    *,
    scope: str | None = None,
    kinds: Sequence[Kind] = (),
    status: Status = Status.ACTIVE,
    any_status: bool = False,
    first: int = 50,
    after: str | None = None,
) -> Connection[Memory]:
    """List memories page by page, newest first."""
    wanted = None if any_status else status
    page = helix.list_memories(
        scope=scope, kinds=kinds, status=wanted, limit=page_size(helix, "first", first), after=after
    )
    return connection(page, after)


def episodes(
    helix: Helix, *, scope: str | None = None, session: str | None = None, first: int = 50, after: str | None = None
) -> Connection[Episode]:
    """List episodes page by page, newest first."""
    page = helix.list_episodes(scope=scope, session=session, limit=page_size(helix, "first", first), after=after)
    return connection(page, after)


def edges(helix: Helix, *, name_or_id: str | None = None, relation: str | None = None, limit: int = 100) -> list[Edge]:
    """Read the edges of one memory, in both directions, or of the whole graph."""
    return helix.edges(name_or_id, relation, page_size(helix, "limit", limit))


def similar_recent(
    helix: Helix,
    *,
    trigger: str,
    threshold: float = 0.7,
    days: float = 7,
    kind: Kind | None = None,
    scope: str | None = None,
    limit: int = 10,
) -> list[SimilarMemory]:
    """Find memories of the last days that are like a trigger: has this happened before?"""
    size = page_size(helix, "limit", limit)
    check_length(helix, "trigger", trigger)
    return helix.similar_recent(trigger, threshold=threshold, days=days, kind=kind, scope=scope, limit=size)


def suggest_edges(helix: Helix, *, name_or_id: str, limit: int = 5) -> list[EdgeSuggestion]:
    """Suggest edges that a memory might want; `edge` draws one."""
    return helix.suggest_edges(name_or_id, limit=page_size(helix, "limit", limit))


def health(helix: Helix) -> Health:
    """Say whether the store works as it should, and what is wrong where it does not."""
    return helix.health()


def stats(helix: Helix, *, scope: str | None = None) -> Stats:
    """Count the memories of the store, or of one scope."""
    return helix.stats(scope)


def status(helix: Helix) -> StatusReport:
    """Show the store, its model, its files, its jobs, and anything that is not as it should be."""
    return helix.status()


def doctor(helix: Helix) -> DoctorReport:
    """Run every check of the store, comparing journal and graph; it takes its time."""
    return helix.doctor()


def last(helix: Helix, *, session: str = "") -> RecallAnswer | None:
    """Show again what a session was answered last; null when it was answered nothing yet."""
    return helix.last(session)


def why(helix: Helix, *, name_or_id: str, session: str = "") -> RecallItem:
    """Explain the place of a memory in the last answer of a session."""
    return helix.why(name_or_id, session)


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


def job(helix: Helix, *, id: strawberry.ID) -> Job:
    """Look at one job."""
    return helix.job(id)


def jobs(helix: Helix) -> list[Job]:
    """List the jobs since the daemon started, newest first."""
    return helix.jobs()


def cypher(
    helix: Helix,
    *,
    query: str,
    params: Mapping[str, Any] | None = None,
    timeout_ms: int | None = None,
    limit: int | None = None,
) -> CypherResult:
    """Run a Cypher statement that only reads; time and rows are limited by the settings at most."""
    return helix.cypher(query, params, timeout_ms, limit)


def graph_schema(helix: Helix) -> list[GraphTable]:
    """List the labels and relationships of the graph with the names of their properties, for writing Cypher."""
    return helix.graph_schema()


ALL = (
    recall,
    recall_by_type,
    get,
    node,
    memories,
    episodes,
    edges,
    completions,
    similar_recent,
    suggest_edges,
    health,
    stats,
    status,
    doctor,
    last,
    why,
    config,
    job,
    jobs,
    cypher,
    graph_schema,
)
OF_GRAPH = (doctor, cypher, graph_schema)
"""Those that wait until the graph has a turn for them."""


def check_length(helix: Helix, name: str, text: str) -> None:
    """Raise InvalidInputError for a question longer than any text that is kept: reading one takes time."""
    if len(text) > (most := helix.settings.text_limit):
        raise InvalidInputError(
            f"{name} has {len(text):,} characters, more than {most:,}", hint="ask with the words that matter"
        )


def page_size(helix: Helix, name: str, size: int) -> int:
    """Return `size`, the argument `name`; raises InvalidInputError when it is no size of a page."""
    most = helix.settings.page_size
    if not 1 <= size <= most:
        raise InvalidInputError(
            f"`{name}` must be from 1 to {most}, not {size}",
            hint="go on with `after`, page by page" if name == "first" else f"ask for at most {most} at a time",
        )
    return size


def connection(page: Page[Any], after: str | None) -> Connection[Any]:
    """Return a page of a list as one of a Relay connection; `after` is the cursor it was asked for with."""
    edges = tuple(Listed(cursor=item.id, node=item) for item in page.items)
    end = page.next_cursor or (edges[-1].cursor if edges else None)
    info = PageInfo(
        has_next_page=page.next_cursor is not None,
        has_previous_page=after is not None,
        start_cursor=edges[0].cursor if edges else None,
        end_cursor=end,
    )
    return Connection(edges=edges, page_info=info, total_count=page.total)
