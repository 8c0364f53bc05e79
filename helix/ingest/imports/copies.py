"""Copies: what of an own export is here already under other ids, as it was ingested as somebody's word before."""

from __future__ import annotations

from typing import Any

from helix.ingest.imports.adapter import key_of
from helix.memory.change.compose import Composer
from helix.memory.contradiction.classify import Newcomer, same_words
from helix.model.edge import Label, Ref
from helix.model.episode import Episode
from helix.model.memory import Memory, Status, claimed_of, unproven_of, with_claimed
from helix.model.records import Node, label_of
from helix.store.index import StoreIndex

_STANDING = frozenset({Status.ACTIVE, Status.QUARANTINED})
_AS_IT_WAS = ("importance", "easiness", "half_life_days")
_ADDED = ("helped", "failed", "uses")


class Copies:
    """Finds the copy of a node of an export; `adapter` is what the sources of copies begin with."""

    def __init__(self, index: StoreIndex, adapter: str) -> None:
        self._index = index
        self._refs: dict[tuple[Label, str], Ref] = {}
        for label in (Label.MEMORY, Label.EPISODE):
            for node in index.present(index.from_sources(label, f"{adapter}:")):
                if isinstance(node, Memory | Episode) and node.status in _STANDING:
                    key = node.source.removeprefix(f"{adapter}:").partition("@")[0]
                    self._refs[label, key] = Ref(label=label, id=node.id)

    def of(self, node: Node) -> Memory | Episode | None:
        """Return what says the same as a node that stands: its copy, or a memory of its scope that has its name."""
        if not isinstance(node, Memory | Episode) or node.status is not Status.ACTIVE:
            return None
        ref = self._refs.get((label_of(node), key_of(node.id)))
        if ref is None and isinstance(node, Memory):
            ref = self._index.named(node.scope, node.name)
        (held,) = self._index.records.present([ref]) if ref is not None else (None,)
        if isinstance(held, Memory) and isinstance(node, Memory):
            return held if same_words(held, _newcomer(node)) else None
        if isinstance(held, Episode) and isinstance(node, Episode) and held.content == node.content:
            return held
        return None

    def raise_trust(self, composer: Composer, copy: Ref, node: Node) -> None:
        """Give a copy the trust of the original, for which a person stands, and what that had earned; once only."""
        (held,) = self._index.records.present([copy])
        if not isinstance(held, Memory | Episode) or not isinstance(node, Memory | Episode):
            return
        if node.provenance.trust.rank < held.provenance.trust.rank:
            composer.patch(copy, **_raised(held, node))
            evidence = self._index.from_source(held.source, scope=held.scope)
            if evidence is not None and evidence != copy:
                composer.patch(evidence, trust=node.provenance.trust)


def _raised(held: Memory | Episode, node: Memory | Episode) -> dict[str, Any]:
    if not isinstance(held, Memory) or not isinstance(node, Memory):
        return {"trust": node.provenance.trust}
    used = [one.last_used_at for one in (held, node) if one.last_used_at]
    return {
        "trust": node.provenance.trust,
        "confidence": max(held.confidence, node.confidence),
        **{name: getattr(node, name) for name in _AS_IT_WAS},
        **{name: getattr(held, name) + getattr(node, name) for name in _ADDED},
        "last_used_at": max(used, default=None),
        "attributes": with_claimed({**held.attributes, **node.attributes}, claimed_of(node) + unproven_of(held)),
    }


def _newcomer(node: Memory) -> Newcomer:
    return Newcomer(
        kind=node.kind,
        trigger=node.trigger,
        resolution=node.resolution,
        trust=node.provenance.trust,
        attributes=node.attributes,
    )
