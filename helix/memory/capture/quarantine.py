"""Quarantine: what reads like an instruction to an agent is kept from every recall until a person has looked at it.

Quarantined memories, episodes and reflections stay in the store as they are. No recall is answered with them, no walk
passes through them and nothing is learned from them. A person accepts or rejects each, and may hold it again; its trust
class stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import cast

from helix.errors import ConflictError, NotFoundError
from helix.memory.change.compose import Composer
from helix.memory.change.find import memory_of
from helix.memory.change.intake import OWN_ATTRIBUTE, Intake
from helix.memory.contradiction.validity import recompute_validity
from helix.model.edge import Label, Relation
from helix.model.episode import Episode
from helix.model.held import Held, Screening
from helix.model.memory import Memory, Status
from helix.model.provenance import JSON_LINES, TOLD_BY_OTHERS, Trust
from helix.model.reflection import Reflection
from helix.model.reports import Page
from helix.store.index import StoreIndex
from helix.store.listing import page
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.injection.prompt_injection import suspicion

ACCEPTED_BY = f"{OWN_ATTRIBUTE}accepted_by"
"""Attribute that says who took a memory out of quarantine."""
Holdable = Memory | Episode | Reflection
"""What can be quarantined."""
_A_PERSON = "a person"
_LITTLE = "it was too uncertain, or a person put it here"
_BESIDE = "it came with a text that reads like an instruction to an agent"
_IMPORTED = TOLD_BY_OTHERS | {JSON_LINES}
_SERVED = (Trust.USER_ASSERTED, Trust.VERIFIED_OUTCOME)
_LABELS = (Label.MEMORY, Label.EPISODE, Label.REFLECTION)


def screen(trust: Trust | None, *texts: str) -> Screening:
    """Return the status in which texts of one source are captured.

    What reads like an instruction to an agent is quarantined, unless a person or a verified outcome stands for it.
    Trust that nobody stated (None) does not: the caller may as well be an agent that repeats what it read.
    """
    found = suspicion("\n\n".join(text for text in texts if text))
    if not found.suspicious:
        return Screening(status=Status.ACTIVE)
    return Screening(status=Status.ACTIVE if trust in _SERVED else Status.QUARANTINED, reasons=found.reasons)


def texts_of(value: object) -> Iterator[str]:
    """Yield every text of captured JSON data that quarantine screens, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from (str(key), *texts_of(item))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_of(item)


def review(store: Store, scope: str | None = None, limit: int = 50, after: str | None = None) -> Page[Held]:
    """Return a page of the quarantine in exactly this scope (None: in any), newest first, with the reasons.

    An episode that is found by a memory alone is not listed beside it, and goes with it.
    """
    index = store.index
    rows = index.where(*_LABELS, scope=scope, statuses=[Status.QUARANTINED])
    alone = index.where(Label.EPISODE) - index.found_by_text()
    found = page(store, rows - alone, _LABELS, limit, after)
    return replace(found, items=tuple(map(_shown, found.items)))


def accept(store: Store, name_or_id: str, by: str = "") -> Holdable:
    """Let a quarantined memory or episode be recalled from now on; its trust class stays what it was.

    The journal, and the memory itself, say who accepted it. Raises NotFoundError, or ConflictError where it is not
    quarantined.
    """

    def active(node: Holdable, composer: Composer, who: str) -> Holdable:
        return released(node, composer, who) if isinstance(node, Memory) else replace(node, status=Status.ACTIVE)

    return _decide_held(store, name_or_id, "accept", by, _held, active)


def reject(store: Store, name_or_id: str, by: str = "") -> Holdable:
    """Forget a captured memory or episode that is in quarantine; nothing is deleted. Raises as `accept` does."""
    return _decide_held(store, name_or_id, "reject", by, _held, lambda node, *_: replace(node, status=Status.FORGOTTEN))


def hold(store: Store, name_or_id: str, by: str = "") -> Holdable:
    """Put a memory or an episode into quarantine, also after a review, with the evidence for which it alone speaks.

    What is quarantined already stays as it is. Raises NotFoundError, or ConflictError for an old version of a memory.
    """

    def held(node: Holdable, *_: object) -> Holdable:
        if not isinstance(node, Memory):
            return replace(node, status=Status.QUARANTINED)
        attributes = {name: value for name, value in node.attributes.items() if name != ACCEPTED_BY}
        return replace(node, status=Status.QUARANTINED, attributes=attributes)

    return _decide_held(store, name_or_id, "hold", by, _holdable, held)


def released(memory: Memory, composer: Composer, by: str = "") -> Memory:
    """Return a memory captured in quarantine as it is once a person has accepted it: active, and as if used now."""
    return replace(
        memory,
        status=Status.ACTIVE,
        name=composer.name(memory.scope, memory.name),
        last_used_at=composer.now,
        attributes={**memory.attributes, ACCEPTED_BY: by or _A_PERSON},
    )


def restate_evidence(index: StoreIndex, composer: Composer, before: Memory, after: Memory) -> None:
    """Let the captured evidence of this memory alone follow it into or out of quarantine, or back from oblivion.

    What is forgotten in the ordinary way leaves its evidence as it was.
    """
    if (before.status is Status.ACTIVE and after.status is not Status.QUARANTINED) or before.status is after.status:
        return
    here, found_by_text = before.ref, index.found_by_text()
    for edge in index.records.edges_at(here):
        if edge.type is not Relation.GROUNDED_IN:
            continue
        if index.status_of(edge.target) is before.status and index.row_of(edge.target) not in found_by_text:
            composer.patch(edge.target, status=after.status)


def _decide_held(
    store: Store,
    name_or_id: str,
    kind: str,
    by: str,
    find: Callable[[StoreIndex, str], Holdable],
    settled: Callable[[Holdable, Composer, str], Holdable],
) -> Holdable:
    who = Intake(store.runtime.settings.text_limit).label(by, "by")

    def decision() -> Decision[Holdable]:
        composer = Composer(store, store.runtime.clock())
        before = find(store.index, name_or_id)
        after = settled(before, composer, who)
        if after == before:
            return Decision((), before)
        composer.node(after)
        if isinstance(before, Memory) and isinstance(after, Memory):
            restate_evidence(store.index, composer, before, after)
            recompute_validity(composer, store)
        return Decision((composer.change(kind, id=after.id, by=who or _A_PERSON),), after)

    return store.writer.submit(decision, once=kind)


def _held(index: StoreIndex, name_or_id: str) -> Holdable:
    """Return the quarantined memory of that name, or what has that id."""
    wanted = name_or_id.strip()
    node = _of_id(index, wanted) or _memory_held(index, wanted)
    if node.status is not Status.QUARANTINED:
        raise ConflictError(f"{wanted!r} is not quarantined", hint="`helix review list` shows what is")
    return node


def _holdable(index: StoreIndex, name_or_id: str) -> Holdable:
    """Return the memory of that name, or what has that id, unless it is an old version."""
    wanted = name_or_id.strip()
    node = _of_id(index, wanted) or memory_of(index, wanted)
    if node.status is Status.RETIRED:
        raise ConflictError(f"{wanted!r} is an old version, which is no longer recalled")
    return node


def _of_id(index: StoreIndex, ident: str) -> Holdable | None:
    """Return the memory, episode or reflection of that id, or None."""
    ref = index.with_id(ident, _LABELS)
    return None if ref is None else cast(Holdable, index.records.node(ref))


def _memory_held(index: StoreIndex, name_or_id: str) -> Memory:
    """Return the quarantined memory of that name where there is one: an active one may have the same name."""
    held = [one for one in index.memories_named(name_or_id) if one.status is Status.QUARANTINED]
    if len(held) > 1:
        raise ConflictError(
            f"{len(held)} quarantined memories are called {name_or_id!r}",
            hint="say which by its id: `helix review list`",
        )
    if held:
        return held[0]
    try:
        return memory_of(index, name_or_id)
    except NotFoundError as error:
        raise NotFoundError(error.message, hint="`helix review list` shows what is to be looked at") from error


def _shown(node: Holdable) -> Held:
    match node:
        case Memory():
            text, beside = f"{node.trigger}\n{node.resolution}", tuple(texts_of(node.attributes))
        case Episode():
            text, beside = node.content, (node.session,)
        case Reflection():
            text, beside = f"{node.question}\n{node.insight}", ()
    origin, provenance = node.provenance.slice, node.provenance
    otherwise = _BESIDE if provenance.extractor in _IMPORTED else _LITTLE
    return Held(
        ref=node.ref,
        name=node.name if isinstance(node, Memory) else "",
        scope=node.scope,
        text=text,
        trust=provenance.trust,
        said_by=node.said_by,
        source=origin,
        agent=provenance.agent,
        recorded_at=node.recorded_at,
        reasons=screen(None, text, origin, provenance.agent, *beside).reasons or (otherwise,),
    )
