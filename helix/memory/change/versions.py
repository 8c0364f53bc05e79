"""Versions: a memory is never rewritten; a new version takes its place and the old one stays as it was.

Here ends the time for which a memory holds. What was believed until then is kept for whoever asks later.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from helix.journal.state import Records
from helix.memory.change.compose import Composer, Prepared
from helix.memory.change.intake import OWN_ATTRIBUTE
from helix.model.dispute import Outcome, restated, reworded
from helix.model.edge import DRAWN, OPEN_RELATIONS, Edge, Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import Memory, Status, body
from helix.model.provenance import Trust
from helix.model.records import edge_from
from helix.store.index import StoreIndex
from helix.text.tokens import lexical_tokens

OWN_WORD = f"{OWN_ATTRIBUTE}own"
"""Attribute of a memory whose words a person gave it, or stood for, since it was imported or learned."""

TOLD_AT = f"{OWN_ATTRIBUTE}told_at"
"""Attribute of a memory whose end was moved: when it was told, as it counts as recorded when the end was moved."""

SAID_INSTEAD = "said instead"
"""Word of a SUPERSEDES edge: its place in a source says something else since, which is no version of the memory."""

_REPLACING = frozenset({Relation.SUPERSEDES, Relation.CONTRADICTS})

# What a version passes on: the links people and outcomes made, and its evidence. Mentions are read anew from the text.
_INHERITED = frozenset(OPEN_RELATIONS) - {Relation.SUPERSEDES} | {Relation.GROUNDED_IN, Relation.LEARNED}


def supersede(
    composer: Composer, records: Records, old: Memory, new: Memory, prepared: Prepared, files: tuple[str, ...]
) -> Ref:
    """Write memory `new` as the version that replaces `old`, which is retired; return the new node.

    A version better founded than the old one does not stand on weaker evidence: that stays with the old version.
    """
    after = composer.node(new)
    composer.passages(after, prepared)
    composer.mentions(after, new.scope, prepared.mentions, new.provenance)
    composer.touches(after, new.scope, files, new.provenance)
    take_place(composer, records, old, new)
    return after


def take_place(composer: Composer, records: Records, old: Memory, new: Memory) -> None:
    """Retire memory `old` in favour of `new`, which is written already, and pass on what a version passes on."""
    before, after = old.ref, new.ref
    others = _in_other_words(old, new)
    composer.edge(Relation.SUPERSEDES, after, before, provenance=new.provenance)
    composer.patch(before, status=Status.RETIRED, retired_at=composer.now)
    for stored in records.edges_at(before):
        if stored.type not in _INHERITED:
            continue
        edge = edge_from(stored)
        if edge.type is Relation.GROUNDED_IN and edge.source == before and not _bears(records, edge.target, old, new):
            continue
        if edge.type is Relation.CONTRADICTS:
            side = (Outcome.FIRST if edge.source == before else Outcome.SECOND).value
            kept = reworded(edge.attributes, side) if others else edge.attributes
            edge = replace(edge, attributes=restated(kept, side, _times_told(old, new)))
        composer.put_edge(
            replace(
                edge,
                source=after if edge.source == before else edge.source,
                target=after if edge.target == before else edge.target,
            )
        )


def _times_told(old: Memory, new: Memory) -> Mapping[str, datetime | None]:
    """Return since and until when a version holds, where it says so otherwise than the old one."""
    moments = {"valid_from": (old.valid_from, new.valid_from), "valid_to": (old.valid_to, new.valid_to)}
    return {name: told for name, (held, told) in moments.items() if told != held}


def _in_other_words(old: Memory, new: Memory) -> bool:
    """Return whether somebody who is no person put other words in the place of a memory's; derived ones just follow."""
    said = new.provenance.agent or not new.is_derived
    same = body(old.trigger, old.resolution) == body(new.trigger, new.resolution)
    return bool(said) and not same and new.provenance.trust is not Trust.USER_ASSERTED


def is_succession(edge: Edge) -> bool:
    """Return whether an edge says that a version took a memory's place, not a person or a source that says so."""
    return edge.type is Relation.SUPERSEDES and DRAWN not in edge.attributes and edge.relation != SAID_INSTEAD


def present_version(records: Records, memory: Memory) -> Memory:
    """Return the newest version of a memory, or what it was folded into.

    Not what contradicts it and ended it, nor what its place in a source says instead: those are other statements. Of
    several it is the best founded, as a strand may say what it likes of the ids that it brought.
    """
    seen = {memory.id}
    while memory.status is Status.RETIRED:
        here = memory.ref
        edges = [edge_from(op) for op in records.edges_at(here) if op.type in _REPLACING]
        ended = (edge for edge in edges if edge.type is Relation.CONTRADICTS and "until" in edge.attributes)
        contrary = {end for edge in ended for end in (edge.source, edge.target)}
        newer = [
            edge.source for edge in edges if is_succession(edge) and edge.target == here and edge.source not in contrary
        ]
        told = (one for one in records.present(newer) if isinstance(one, Memory) and one.id not in seen)
        fresh = sorted(told, key=lambda one: (-one.provenance.trust.rank, one.id))
        if not fresh:
            break
        memory = fresh[-1]
        seen.add(memory.id)
    return memory


def _bears(records: Records, evidence: Ref, old: Memory, new: Memory) -> bool:
    """Return whether evidence of an old version is good enough for the new one."""
    if new.provenance.trust.rank >= old.provenance.trust.rank:
        return True
    (held,) = records.nodes([evidence])
    return not isinstance(held, Episode) or held.provenance.trust.rank <= new.provenance.trust.rank


def files_of(records: Records, memory: Memory) -> tuple[str, ...]:
    """Return the paths of the files that a version of a memory touches."""
    ref = memory.ref
    touched = [op.target for op in records.edges_at(ref) if op.type is Relation.TOUCHES and op.source == ref]
    return tuple(node.name for node in records.nodes(touched) if hasattr(node, "name"))


def hold_until(composer: Composer, index: StoreIndex, memory: Memory, until: datetime | None, name: str = "") -> None:
    """Set until when a memory holds (None: without end), and its name where one is given.

    Both time lines stay right: where the end lies in the past, or an end is moved, the memory as it was believed until
    now is kept as a retired copy, which `known_at` finds, and the memory itself counts as recorded now.
    """
    ref = memory.ref
    fields: dict[str, object] = {"valid_to": until}
    if name:
        fields["name"] = name
    unseen = memory.valid_to is None and until is not None and until >= composer.now
    if not unseen:
        _keep(composer, index, replace(memory, status=Status.RETIRED, retired_at=composer.now))
        fields |= {"recorded_at": composer.now, "attributes": _told_before(memory)}
    composer.patch(ref, **fields)


def claimed_since(memory: Memory) -> datetime:
    """Return since when a memory claims to hold: as it says, or since it was told; later ends of it change neither."""
    told_at = str(memory.attributes.get(TOLD_AT) or "")
    with suppress(ValueError, OverflowError):
        return memory.valid_from or datetime.fromisoformat(told_at).astimezone(UTC)
    return memory.recorded_at


def told_now(memory: Memory, now: datetime) -> Memory:
    """Return a memory as told and recorded now."""
    others = {name: value for name, value in memory.attributes.items() if name != TOLD_AT}
    return replace(memory, recorded_at=now, attributes=others)


def _told_before(memory: Memory) -> dict[str, object]:
    """Return the attributes of a memory that is recorded anew, and was told when it was."""
    return {TOLD_AT: memory.recorded_at.isoformat(), **memory.attributes}


def take_back_retirement(composer: Composer, index: StoreIndex, memory: Memory) -> Memory:
    """Make a retired memory active again, under another name where its own was taken, and return it.

    A copy stays retired, so that `known_at` goes on telling that it was believed, and then not.
    """
    if memory.retired_at is not None:
        _keep(composer, index, memory)
    name = composer.name(memory.scope, memory.name)
    back = replace(
        memory,
        name=name,
        status=Status.ACTIVE,
        retired_at=None,
        recorded_at=composer.now,
        attributes=_told_before(memory),
    )
    composer.node(back)
    return back


def passages_of(index: StoreIndex, memory: Memory) -> Prepared:
    """Return the texts and vectors by which a memory is found, to be written under another memory's id."""
    row = index.row_of(memory.ref)
    pieces = [] if row is None else index.pieces_of([row])
    held = [(index.records.passage(piece.number), piece.vector) for piece in pieces]
    found = [(passage.text, vector) for passage, vector in held if passage is not None]
    texts = tuple(text for text, _ in found)
    return Prepared(
        pieces=texts,
        tokens=tuple(" ".join(lexical_tokens(text)) for text in texts),
        mentions=(),
        vectors=tuple(vector for _, vector in found),
    )


def _keep(composer: Composer, index: StoreIndex, memory: Memory) -> None:
    """Write a copy of a memory under an id of its own, with its passages and its evidence."""
    here = memory.ref
    there = composer.node(replace(memory, id=composer.new_id()))
    composer.passages(there, passages_of(index, memory))
    composer.edge(Relation.SUPERSEDES, here, there, provenance=memory.provenance)
    for stored in index.records.edges_at(here):
        if stored.type is Relation.GROUNDED_IN and stored.source == here:
            composer.put_edge(replace(edge_from(stored), source=there))
