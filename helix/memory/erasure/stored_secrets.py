"""Stored secrets: finds those that older rules let pass, and takes them out of nodes, passages and edges.

For each record it says how it reads without them, and which operations write that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

from helix.journal.log import Journal
from helix.memory.capture.episodes import spoken
from helix.memory.change.intake import OWN_ATTRIBUTE
from helix.model.edge import Label, Ref
from helix.model.episode import session_id
from helix.model.memory import GLOBAL_SCOPE, body
from helix.model.operations import (
    Drop,
    DropNode,
    DropPassage,
    Operation,
    Props,
    PutEdge,
    PutNode,
    PutPassage,
    Scalar,
)
from helix.text.chunks import chunks
from helix.text.cleaning import slug
from helix.text.secrets.redact import Redaction, redact_value
from helix.text.structured import map_texts, texts

Redact = Callable[[str, str], Redaction]
"""Redacts a text that stands under a name; "" where it stands under none."""

# Words of a fixed list; a scope is part of the ids of what lies in it.
_OWN = frozenset({"kind", "status", "trust", "scope"})
_JSON = frozenset({"attributes"})
_AROUND = 32
_MARKER = re.compile(r"\[REDACTED:([a-z0-9-]+)\]")
_NOT_ALNUM = re.compile(r"[\W_]+")
_SHORTEST_PART = 6
_KEPT = 500_000


class Remembering:
    """Redacts, and remembers the texts that had nothing in them: passages, log rows and edges say them again."""

    def __init__(self) -> None:
        self._clean: set[int] = set()

    def __call__(self, text: str, name: str) -> Redaction:
        """Return what `redact_value` does; under a name of Helix's own (`helix:key`) a text is judged by itself."""
        name = "" if name.startswith(f".{OWN_ATTRIBUTE}") else name
        key = hash((text, name))
        if key in self._clean:
            return Redaction(text=text)
        found = redact_value(name, text)
        if not found.findings:
            if len(self._clean) >= _KEPT:
                self._clean.clear()
            self._clean.add(key)
        return found


class StoredText(NamedTuple):
    """A text of a record, the property that it stands in, and the name that it stands under in there."""

    place: str
    text: str
    name: str = ""


def texts_of(props: Props) -> Iterator[StoredText]:
    """Yield every text of a stored record that may hold a secret: somebody chose its words."""
    for place, value in props.items():
        if place in _JSON and isinstance(value, str):
            yield from (StoredText(place, text, name) for name, text in texts(_loaded(value)))
        elif isinstance(value, str) and value and place not in _OWN:
            yield StoredText(place, value)


def without_secrets(label: Label | None, node_id: str, props: Props, redact: Redact) -> dict[str, Scalar]:
    """Return the properties of a stored record that change without secrets; `label` is None for an edge.

    A name made of words that had a secret in them is made anew, or it would spell the secret still.
    """
    changed: dict[str, Scalar] = {}
    secrets = [secret for said in texts_of(props) for secret, _ in secrets_in(said, redact)]
    if not secrets:
        return changed
    for name, value in props.items():
        if isinstance(value, str) and name not in _OWN:
            cleared = _cleared(value, redact) if name in _JSON else redact(value, "").text
            if cleared != value:
                changed[name] = cleared
    if label is Label.MEMORY and _spelled(str(props.get("name", "")), secrets):
        words = str(changed.get("trigger", props.get("trigger", "")))
        changed["name"] = f"{slug(words)}-{node_id[-_SHORTEST_PART:]}"
    return changed


def pieces_without(
    old_texts: tuple[str, ...], new_texts: tuple[str, ...], pieces: tuple[str, ...], redact: Redact
) -> tuple[str, ...]:
    """Return the pieces of a stored record as they read without secrets.

    Pieces cut from one of the old texts are cut anew from the new one in its place: a cut may go through a secret.
    """
    for old, new in zip(old_texts, new_texts, strict=True):
        if tuple(chunks(old)) == pieces:
            return tuple(chunks(new))
    secrets = sorted(
        {secret for text in old_texts for secret in secrets_in(StoredText("", text), redact)},
        key=lambda pair: -len(pair[0]),
    )
    return tuple(redact(_masked(piece, secrets), "").text for piece in pieces)


def secrets_in(said: StoredText, redact: Redact) -> Iterator[tuple[str, str]]:
    """Yield every secret of a stored text with its kind."""
    found = redact(said.text, said.name).findings
    yield from ((said.text[finding.start : finding.end], finding.kind) for finding in found)


def _masked(text: str, secrets: list[tuple[str, str]]) -> str:
    for secret, kind in secrets:
        text = text.replace(secret, f"[REDACTED:{kind}]")
    return text


def excerpts(said: StoredText, redact: Redact) -> Iterator[tuple[str, str]]:
    """Yield the kind and surroundings of each secret in a stored text, every secret in there masked."""
    found = redact(said.text, said.name)
    if not found.findings:
        return
    for marker in _MARKER.finditer(found.text):
        start, end = max(0, marker.start() - _AROUND), marker.end() + _AROUND
        yield marker.group(1), " ".join(found.text[start:end].split())


def _spelled(name: str, secrets: list[str]) -> bool:
    """Return whether a name spells a part of a secret, as `slug` spells it."""
    plain = _NOT_ALNUM.sub("", name.casefold())
    return any(
        part in plain
        for secret in secrets
        for word in _NOT_ALNUM.split(secret.casefold())
        for part in (word[:_SHORTEST_PART],)
        if len(part) >= 4
    )


def _loaded(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


def _cleared(value: str, redact: Redact) -> str:
    """Return attributes, as they are written, without secrets."""
    cleared = map_texts(_loaded(value), lambda name, text: redact(text, name).text)
    return cleared if isinstance(cleared, str) else json.dumps(cleared, ensure_ascii=False, sort_keys=True)


def clearing(journal: Journal, refs: Iterable[Ref], redact: Redact, number: int) -> list[Operation]:
    """Return the operations that leave no secret in the nodes, in their passages or in the edges at them.

    New passages are numbered from `number` on and have no vectors yet. A session whose id has a secret in it gets
    another id; an entity named by one is dropped, for the redacted texts no longer name it. Nothing for what is clear.
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
    """Return every secret that stored nodes still say."""
    found = {
        secret
        for held in _held(journal, refs).values()
        for said in (StoredText("id", held.id), *texts_of(held.props))
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
