"""Memories: store, recall, read, correct and link them, and say what they were worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from helix.agents.outcomes import task_end
from helix.agents.outcomes.feedback import feedback as give_feedback
from helix.agents.outcomes.feedback import undo_feedback
from helix.errors import InvalidInputError, NotFoundError
from helix.memory import neighbours
from helix.memory.change.find import memory_of
from helix.memory.change.intake import known_kind
from helix.memory.remember import curate, links
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.remember import remember
from helix.memory.remember.request import StoreRequest
from helix.memory.upkeep import history as past
from helix.memory.upkeep import maintenance, merge
from helix.model.edge import Edge, Label
from helix.model.facets import Facets
from helix.model.ids import Id
from helix.model.memory import Kind, Memory, MemoryOrder
from helix.model.paging import page_of
from helix.model.principal import Role
from helix.model.recall import Completable, KindAnswer, RecallAnswer, RecallItem, RecallQuery
from helix.model.records import Node
from helix.model.reports import EdgeSuggestion, MaintenanceReport, Page, SimilarMemory, StoreResult, Version
from helix.operations.checks import check_length, check_source, page_size, sets_upkeep
from helix.operations.listed import mutation, query, scoped_query
from helix.operations.tasks import task_named
from helix.recall import prefix_search
from helix.service import Helix
from helix.store import listing
from helix.store.listing import EVERYTHING_ACTIVE, MemoryFilter


@mutation(Role.AGENT, scoped=True, adds=True, keyed=True)
def store(helix: Helix, request: StoreRequest) -> StoreResult:
    """Remember something. The same thing twice counts once; a refinement becomes a new version.

    Secrets are taken out before anything is written.
    """
    helix.store.check_capture()
    check_source(helix, request.source)
    with helix.foreground.request():
        return remember(helix.store, request)


@scoped_query
def get(helix: Helix, name_or_id: str) -> Memory:
    """Read one memory; a name leads to its newest version."""
    return memory_of(helix.store.index, name_or_id)


@scoped_query
def history(helix: Helix, name_or_id: str, first: int = 100, after: str | None = None) -> Page[Version]:
    """Show what became of a memory in all its versions page by page, the newest change first, by the journal's log."""
    found = past.history(helix.store, memory_of(helix.store.index, name_or_id))
    size = page_size(helix, "first", first)
    return page_of(found, lambda one: (one.seq,), first=size, after=after, newest_first=True)


@query
def node(
    helix: Helix,
    id: Annotated[Id, "The node's id."],
    label: Annotated[Label | None, "Its label, for an id that nodes of several labels have."] = None,
) -> Node:
    """Read any node by its id."""
    found = helix.store.index.with_id(id, Label if label is None else [label])
    if found is None:
        raise NotFoundError(
            f"no {(label or 'node').lower()} has the id {id!r}", hint="`helix list` shows what is there"
        )
    return helix.store.records.node(found)


@query
def nodes(
    helix: Helix, ids: Annotated[Sequence[Id], "The ids of the nodes, whatever their labels."]
) -> list[Node | None]:
    """Read many nodes by their ids, in the order of these; null stands for one that is not there."""
    if ids:
        page_size(helix, "ids", len(ids))
    index = helix.store.index
    found = {ident: ref for ident in ids if (ref := index.with_id(ident)) is not None}
    held = dict(zip(found, helix.store.records.present([*found.values()]), strict=True))
    return [held.get(ident) for ident in ids]


@scoped_query
def memories(
    helix: Helix,
    wanted: MemoryFilter = EVERYTHING_ACTIVE,
    *,
    order: Annotated[MemoryOrder, "What comes first."] = MemoryOrder.NEWEST,
    first: int = 50,
    after: str | None = None,
) -> Page[Memory]:
    """List memories page by page."""
    return listing.memories(helix.store, _known(helix, wanted), page_size(helix, "first", first), after, order)


@scoped_query
def facets(helix: Helix, wanted: MemoryFilter = EVERYTHING_ACTIVE) -> Facets:
    """Count the memories of each scope, kind, status, trust and day, each of these with every filter but its own."""
    return listing.count_facets(helix.store.index, _known(helix, wanted))


def _known(helix: Helix, wanted: MemoryFilter) -> MemoryFilter:
    check_length(helix, "text", wanted.text)
    return replace(wanted, kinds=[known_kind(kind) for kind in wanted.kinds])


@query
def similar_recent(
    helix: Helix,
    trigger: Annotated[str, "The text to compare with."],
    threshold: Annotated[float, "The least cosine similarity that counts as alike."] = 0.7,
    days: Annotated[float, "How many days back to look."] = 7,
    kind: Annotated[Kind | None, "Only memories of this kind."] = None,
    scope: Annotated[str | None, "Only in this scope and in `global`."] = None,
    limit: int = 10,
) -> list[SimilarMemory]:
    """Find memories of the last days that are like a trigger: has this happened before?"""
    check_length(helix, "trigger", trigger)
    size = page_size(helix, "limit", limit)
    wanted = known_kind(kind) if kind else None
    return neighbours.recent(helix.store, trigger, threshold=threshold, days=days, kind=wanted, scope=scope, limit=size)


@mutation(Role.AGENT, scoped=True, adds=True, keyed=True)
def edit(helix: Helix, name_or_id: str, request: EditRequest) -> Memory:
    """Write a new version of a memory. It supersedes the old one; what you leave out stays as it is."""
    return curate.edit(helix.store, name_or_id, request)


@mutation(Role.AGENT, scoped=True, keyed=True)
def forget(helix: Helix, name_or_id: str) -> Memory:
    """Take a memory out of recall; `restore` brings it back."""
    return curate.forget(helix.store, name_or_id)


@mutation(Role.AGENT, scoped=True, adds=True, keyed=True, person="bring back what was taken out of recall")
def restore(helix: Helix, name_or_id: str) -> Memory:
    """Bring a forgotten, archived or quarantined memory back into recall."""
    return curate.restore(helix.store, name_or_id)


@mutation(Role.AGENT, scoped=True, adds=True, keyed=True, person="confirm a memory")
def confirm(helix: Helix, name_or_id: str) -> Memory:
    """Say, as a person, that a memory is true. This reinforces it."""
    return curate.confirm(helix.store, name_or_id)


@mutation(Role.AGENT, person="take back what was done to a memory")
def revert(helix: Helix, name_or_id: str) -> Memory:
    """Take back a confirmation or a restoration, where it is the last thing that was done to a memory."""
    return curate.revert(helix.store, name_or_id)


@mutation(Role.AGENT, person="take a memory out of another one")
def unmerge(helix: Helix, name_or_id: str) -> Memory:
    """Bring back a memory that was folded into another one; the two are not folded again."""
    return merge.unmerge(helix.store, name_or_id)


@mutation(Role.AGENT, adds=True, keyed=True, person_where={("undo", True): "take an edge back"})
def edge(
    helix: Helix,
    source: Annotated[str, "The name or id of the memory it starts from."],
    target: Annotated[str, "The name or id of the memory it leads to."],
    relation: Annotated[str, "Its type, such as SOLVES or CAUSES; any other word joins the words of a RELATED edge."],
    weight: float = 1.0,
    agent: str = "",
    undo: Annotated[bool, "Take back an edge that was drawn so; what is answered is the edge as it was."] = False,
) -> Edge:
    """Draw an edge between two memories, or strengthen the one of that type."""
    if undo:
        return links.unlink(helix.store, source, target, relation, weight)
    return links.link(helix.store, source, target, relation, weight, agent)


@query
def edges(
    helix: Helix,
    name_or_id: Annotated[str | None, "A memory's name or id; the whole graph where it is not said."] = None,
    relation: str | None = None,
    first: int = 100,
    after: str | None = None,
) -> Page[Edge]:
    """List the edges of one memory, in both directions, or of the whole graph, page by page."""
    return links.edges(helix.store.index, name_or_id, relation, page_size(helix, "first", first), after)


@query
def suggest_edges(helix: Helix, name_or_id: str, limit: int = 5) -> list[EdgeSuggestion]:
    """Suggest edges for a memory; `helix edge` draws one."""
    return neighbours.suggest(helix.store, memory_of(helix.store.index, name_or_id), page_size(helix, "limit", limit))


@mutation(
    Role.AGENT,
    adds=True,
    keyed=True,
    person_where={("quality", True): "call a use verified", ("task", True): "overrule what a task's outcome gave"},
)
def feedback(
    helix: Helix,
    names: Annotated[Sequence[str], "Names or ids of memories."],
    delta: Annotated[float, "How much it helped (above 0) or failed (below 0)."] = 0.0,
    quality: Annotated[
        int | None, "A verified use, which reinforces: 5 used, passed; 4 said to be so; 3 passed; 1 used, failed."
    ] = None,
    task: Annotated[
        Id | None, "The task that the memories were shown to: what its outcome gave to them is replaced by this."
    ] = None,
    agent: str = "",
    undo: Annotated[bool, "Take the newest feedback of each memory back; with no delta beside it."] = False,
) -> list[Memory]:
    """Say that memories helped (a positive delta) or failed (a negative one); with a quality, that it was verified.

    With a task it takes the place of what that task's outcome gave to them. What an agent says is a claim, which is no
    part of the label, and bounded. `undo` takes the newest back instead.
    """
    with helix.foreground.request():
        if undo:
            if delta or quality is not None or task:
                raise InvalidInputError("feedback is given or taken back, not both", hint="helix feedback NAME --undo")
            return undo_feedback(helix.store, names, claimed=bool(agent))
        if not task:
            return give_feedback(helix.store, names, delta, quality, claimed=bool(agent))
        return task_end.override(helix.store, task_named(helix.store.index, task).id, names, delta, quality)


@mutation(Role.ADMIN, person_if=sets_upkeep)
def decay(
    helix: Helix,
    unused_days: float = 30,
    min_uses: Annotated[int, "Used less often than this."] = 2,
    dry_run: bool = False,
) -> MaintenanceReport:
    """Halve the counters of memories that were not used for long, so that old evidence weighs less."""
    return maintenance.decay(helix.store, unused_days, min_uses, dry_run)


@mutation(Role.ADMIN, person_if=sets_upkeep)
def decay_edges(helix: Helix, unused_days: float = 60, dry_run: bool = False) -> MaintenanceReport:
    """Halve the weights of edges that were not used for long."""
    return maintenance.decay_edges(helix.store, unused_days, dry_run)


@mutation(Role.ADMIN, person_if=sets_upkeep)
def prune(
    helix: Helix,
    min_effectiveness: Annotated[float, "Archive what helped less than this, 0 to 1."] = 0.25,
    min_uses: Annotated[int, "After at least so many uses."] = 3,
    dry_run: bool = False,
) -> MaintenanceReport:
    """Archive memories that evidence speaks against, except what you said or confirmed. `restore` brings one back."""
    return maintenance.prune(helix.store, min_effectiveness, min_uses, dry_run)


@scoped_query
def recall(helix: Helix, question: RecallQuery) -> RecallAnswer:
    """Find what matters for a question: by meaning, by words, by files and by time, walked through the graph.

    An empty store, or a question nothing is close to, gives an empty list.
    """
    page_size(helix, "limit", question.limit)
    check_length(helix, "query", question.query)
    return helix.recall(question)


@query
def recall_by_type(
    helix: Helix,
    query: str,
    kinds: Annotated[Sequence[Kind], "The kinds to answer for, in the order wanted; all where none is named."] = (),
    limit: int = 5,
    scope: Annotated[str | None, "Look in this scope and in `global`; everywhere where it is not said."] = None,
) -> list[KindAnswer]:
    """Find the best few memories of each kind, kind by kind, in the order of `kinds`."""
    check_length(helix, "query", query)
    size = page_size(helix, "limit", limit)
    wanted = [known_kind(kind) for kind in kinds] or list(Kind)
    return [
        KindAnswer(kind=kind, answer=helix.recall(RecallQuery(query=query, kinds=(kind,), limit=size, scope=scope)))
        for kind in wanted
    ]


@query
def completions(
    helix: Helix,
    of: Annotated[Completable, "What the words are of."],
    prefix: Annotated[str, "What they begin with."] = "",
    limit: int = 50,
) -> list[str]:
    """List words of the store that begin with a prefix, in the order of letters."""
    return prefix_search.completions(helix.store, of, prefix, page_size(helix, "limit", limit))


@query
def last(
    helix: Helix, session: Annotated[str, "The session; whichever asked last where it is not said."] = ""
) -> RecallAnswer | None:
    """Show what was recalled last, and why."""
    return helix.answers.of(session)


@query
def why(
    helix: Helix,
    name_or_id: str,
    session: Annotated[str, "The session; whichever asked last where it is not said."] = "",
) -> RecallItem:
    """Explain the place of a memory in the last answer of a session."""
    return helix.answers.place_of(name_or_id, session)
