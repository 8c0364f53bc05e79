"""Review: what people look at and decide: contradictions, gaps, what is quarantined, and insights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Annotated

from helix.agents.observer import queue
from helix.errors import NotFoundError
from helix.memory.capture import quarantine
from helix.memory.contradiction import disputes
from helix.memory.contradiction.rivals import settle_stored
from helix.memory.insight import insights
from helix.memory.remember import remember
from helix.memory.upkeep import duplicates as same
from helix.memory.upkeep import gaps
from helix.model.dispute import Dispute, DisputeStatus
from helix.model.held import Held
from helix.model.ids import Id
from helix.model.memory import Memory
from helix.model.paging import page_of
from helix.model.principal import Role
from helix.model.records import Node
from helix.model.reflection import Cited, Insight, InsightEvidence, Reflection
from helix.model.reports import Duplicate, Inbox, Page, StoreResult
from helix.operations.checks import page_size
from helix.operations.listed import mutation, query
from helix.service import Helix


@query
def contradictions(
    helix: Helix,
    scope: Annotated[str | None, "Only of this scope; all where it is not said."] = None,
    status: Annotated[DisputeStatus, "Only those that stand so."] = DisputeStatus.OPEN,
    any_status: Annotated[bool, "Include those that are settled."] = False,
    first: int = 50,
    after: str | None = None,
) -> Page[Dispute]:
    """List pairs of memories that cannot both hold, page by page, the oldest first."""
    found = disputes.contradictions(helix.store.index, scope, None if any_status else status)
    return page_of(found, disputes.place, first=page_size(helix, "first", first), after=after)


@mutation(Role.AGENT, person="say which of two memories holds")
def resolve_contradiction(
    helix: Helix,
    a: Annotated[str, "The name or id of one of the two."],
    b: Annotated[str, "The name or id of the other one."],
    winner: Annotated[str, "The name or id of the one that holds, `both` or `neither`."],
    note: Annotated[str, "A remark to keep with the decision."] = "",
) -> Dispute:
    """Say, as a person, which of two memories holds: the name or id of one, `both` or `neither`."""
    return disputes.resolve_contradiction(helix.store, a, b, winner, note)


@mutation(Role.AGENT, person="take back what was said of a contradiction")
def reopen_contradiction(
    helix: Helix,
    a: Annotated[str, "The name or id of one of the two."],
    b: Annotated[str, "The name or id of the other one."],
) -> Dispute:
    """Take back what was said of a contradiction."""
    return disputes.reopen_contradiction(helix.store, a, b)


@query
def inbox(helix: Helix, scope: Annotated[str | None, "Only of this scope; all where it is not said."] = None) -> Inbox:
    """Count what waits for a person to decide."""
    store = helix.store
    return Inbox(
        contradictions=len(disputes.contradictions(store.index, scope)),
        quarantined=quarantine.review(store, scope, 1).total,
        candidates=queue.count_waiting(store.index, scope),
        duplicates=same.count(store, scope),
        gaps=gaps.count_open(store.index, scope),
    )


@query
def duplicates(
    helix: Helix,
    scope: Annotated[str | None, "Only of this scope; all where it is not said."] = None,
    threshold: Annotated[
        float | None, "The least cosine similarity; by default that from which a memory may refine another."
    ] = None,
    first: int = 50,
    after: str | None = None,
) -> Page[Duplicate]:
    """List pairs of active memories that say nearly the same, the most similar first; settled ones are excluded."""
    return same.duplicates(helix.store, scope, threshold, page_size(helix, "first", first), after)


@mutation(Role.AGENT, person="say what becomes of two memories that say the same")
def settle_duplicate(
    helix: Helix,
    a: Annotated[str, "The name or id of one of the two."],
    b: Annotated[str, "The name or id of the other one."],
    winner: Annotated[str, "The name or id of the one that the other is folded into, or `both` to keep them apart."],
) -> Memory:
    """Fold one of two memories into the other (`unmerge` takes it back), or keep both and no longer list the pair."""
    return same.settle_pair(helix.store, a, b, winner)


@mutation(Role.AGENT, person="take back what was said of two memories that say the same")
def reopen_duplicate(
    helix: Helix,
    a: Annotated[str, "The name or id of one of the two."],
    b: Annotated[str, "The name or id of the other one."],
) -> Memory:
    """Take back that two memories are kept apart: the pair is listed again."""
    return same.reopen(helix.store, a, b)


@mutation(Role.AGENT, adds=True, keyed=True)
def note_gap(helix: Helix, session: Annotated[str, "Whose last question."] = "", agent: str = "") -> StoreResult | None:
    """Remember that the last question of a session was not answered; one that was is not noted."""
    helix.store.check_capture()
    answer = helix.answers.of(session)
    if answer is None:
        raise NotFoundError("nothing was asked in this session yet", hint="ask first: `helix recall ...`")
    return remember.note_gap(helix.store, answer, agent=agent)


@mutation(Role.AGENT)
def reopen_gap(helix: Helix, name_or_id: str) -> Memory:
    """Say that what closed a gap did not answer it."""
    return gaps.reopen_gap(helix.store, name_or_id)


@query
def review(
    helix: Helix,
    scope: Annotated[str | None, "Only of this scope; all where it is not said."] = None,
    first: int = 50,
    after: str | None = None,
) -> Page[Held]:
    """List what is quarantined until a person has looked at it, newest first, with the reasons."""
    return quarantine.review(helix.store, scope, page_size(helix, "first", first), after)


@mutation(Role.AGENT, scoped=True, adds=True, keyed=True, person="let what is quarantined be recalled")
def accept(helix: Helix, name_or_id: str, by: Annotated[str, "Who accepts it."] = "") -> Node:
    """Let something quarantined be recalled; its trust stays what it was."""
    accepted = quarantine.accept(helix.store, name_or_id, by)
    if isinstance(accepted, Memory):
        settle_stored(helix.store, accepted)  # while it was held, it was set against nothing
    return accepted


@mutation(Role.AGENT, scoped=True, keyed=True)
def reject(helix: Helix, name_or_id: str, by: Annotated[str, "Who rejects it."] = "") -> Node:
    """Have something quarantined forgotten; it stays on disk."""
    return quarantine.reject(helix.store, name_or_id, by)


@mutation(Role.AGENT, scoped=True, keyed=True)
def hold(helix: Helix, name_or_id: str, by: Annotated[str, "Who wants it looked at."] = "") -> Node:
    """Quarantine something until a person has looked at it; so `accept` and `reject` are taken back."""
    return quarantine.hold(helix.store, name_or_id, by)


@query
def reflections(
    helix: Helix,
    scope: Annotated[str | None, "Only of this scope; all where it is not said."] = None,
    first: int = 50,
    after: str | None = None,
) -> Page[Reflection]:
    """List insights, newest first, page by page."""
    return insights.reflections(helix.store, scope, page_size(helix, "first", first), after)


@query
def insight_tree(helix: Helix, id: Annotated[Id, "The insight's id."]) -> Insight:
    """Show an insight with what it rests on, down to the episodes."""
    tree = insights.insight_tree(helix.store, id)
    return Insight(reflection=tree.reflection, evidence=tuple(_laid_out(tree.evidence, 1)))


def _laid_out(cited: Sequence[Cited], depth: int) -> Iterator[InsightEvidence]:
    for one in cited:
        own = {field.name: getattr(one, field.name) for field in fields(one) if field.name != "evidence"}
        yield InsightEvidence(depth=depth, **own)
        yield from _laid_out(one.evidence, depth + 1)
