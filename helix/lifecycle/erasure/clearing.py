"""Clearing: the operations that take secrets out of stored nodes, their passages and the edges at them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count

from helix.journal.log import Journal
from helix.lifecycle.asked import body
from helix.lifecycle.capture.episodes import spoken
from helix.lifecycle.erasure.secrets import Redact, Said, pieces_without, secrets_in, texts_of, without_secrets
from helix.model.edge import Label, Ref
from helix.model.episode import session_id
from helix.model.memory import GLOBAL_SCOPE
from helix.model.operations import (
    Drop,
    DropNode,
    DropPassage,
    Operation,
    Props,
    PutEdge,
    PutNode,
    PutPassage,
)


def clearing(journal: Journal, refs: Iterable[Ref], redact: Redact, number: int) -> list[Operation]:
    """Return the operations that leave no secret in the nodes, in their passages or in the edges at them.

    New passages are numbered from `number` on and have no vectors yet. A session whose id has a secret in it gets
    another id; an entity named by one is dropped, for the redacted texts name it no more. Nothing for what is clear.
    """
    wanted = list(dict.fromkeys(refs))
    nodes = {ref: held.props for ref, held in _held(journal, wanted).items()}
    beside = journal.effects.held(list(dict.fromkeys(journal.effects.attached(nodes.keys()))))
    numbers, moved = count(number), dict[Ref, Ref]()
    operations: list[Operation] = []
    drops: list[Operation] = []
    for ref, props in nodes.items():
        changed = without_secrets(ref.label, ref.id, props, redact)
        if ref.label is Label.SESSION and redact(ref.id, "").findings:
            moved[ref] = _renamed(ref, props, redact)
            operations.append(PutNode(label=ref.label, id=moved[ref].id, props={**props, **changed}))
            drops.append(DropNode(label=ref.label, id=ref.id))
        elif ref.label is Label.ENTITY and "name" in changed:
            drops.append(DropNode(label=ref.label, id=ref.id))
        else:
            if changed:
                operations.append(PutNode(label=ref.label, id=ref.id, props=changed))
            pieces = [op for op in beside if isinstance(op, PutPassage) and op.owner == ref]
            operations += _pieces(ref, pieces, props, {**props, **changed}, redact, numbers)
    gone = {Ref(label=op.label, id=op.id) for op in drops if isinstance(op, DropNode)} - moved.keys()
    for edge in beside:
        if isinstance(edge, PutEdge) and gone.isdisjoint((edge.source, edge.target)):
            props = {**edge.props, **without_secrets(None, "", edge.props, redact)}
            cleared = replace(
                edge,
                source=moved.get(edge.source, edge.source),
                target=moved.get(edge.target, edge.target),
                props=props,
            )
            if cleared != edge:
                operations.append(cleared)
    return operations + drops


def secrets_at(journal: Journal, refs: Iterable[Ref], redact: Redact) -> list[str]:
    """Return every secret that the nodes say still."""
    found = {
        secret
        for held in _held(journal, refs).values()
        for said in (Said("id", held.id), *texts_of(held.props))
        for secret, _ in secrets_in(said, redact)
    }
    return sorted(found)


def _held(journal: Journal, refs: Iterable[Ref]) -> dict[Ref, PutNode]:
    wanted = list(refs)
    drops: list[Drop] = [DropNode(label=ref.label, id=ref.id) for ref in wanted]
    found = zip(wanted, journal.effects.held(drops), strict=True)
    return {ref: held for ref, held in found if isinstance(held, PutNode)}


def _renamed(ref: Ref, props: Props, redact: Redact) -> Ref:
    scope = str(props.get("scope", GLOBAL_SCOPE))
    label = ref.id if scope == GLOBAL_SCOPE else ref.id.removeprefix(f"{scope}/")
    return Ref(label=ref.label, id=session_id(scope, redact(label, "").text))


def _pieces(
    owner: Ref, pieces: list[PutPassage], before: Props, after: Props, redact: Redact, numbers: Iterator[int]
) -> list[Operation]:
    """Return the passages that read otherwise without secrets, and drop those that are left over."""
    old = tuple(piece.text for piece in pieces)
    new = pieces_without(_spoken(owner.label, before), _spoken(owner.label, after), old, redact)
    if new == old:
        return []
    operations: list[Operation] = [
        PutPassage(id=f"{owner.id}#{index}", number=next(numbers), owner=owner, text=text)
        for index, text in enumerate(new)
    ]
    kept = {op.id for op in operations if isinstance(op, PutPassage)}
    return operations + [DropPassage(id=piece.id) for piece in pieces if piece.id not in kept]


def _spoken(label: Label, props: Mapping[str, object]) -> tuple[str, ...]:
    """Return the texts that a node's passages may have been cut from."""

    def said(name: str) -> str:
        return str(props.get(name) or "")

    match label:
        case Label.MEMORY:
            return (body(said("trigger"), said("resolution")),)
        case Label.EPISODE:
            return said("content"), spoken(said("content"), said("session"), said("agent"))
        case Label.REFLECTION:
            return body(said("question"), said("insight")), said("insight")
        case _:
            return ()
