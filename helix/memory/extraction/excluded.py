"""Excluded: what was erased is never derived again, and what was undone not until a person asks for it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import cast

from helix.journal.log import Journal
from helix.model.edge import Label
from helix.model.memory import Memory
from helix.model.tombstone import ERASED_SOURCE, KEPT_OUT, KeptOut, digests, kept_out
from helix.store.store import Store

_UNDONE = "undone/"
"""How the journal's words on memories begin whose making was undone; the id follows that they had."""


def held(store: Store, scope: str, *, anew: bool = False) -> KeptOut:
    """Return the statements that may not be derived in a scope; `anew`: undone ones may."""
    index = store.index
    erased = (cast(Memory, node) for node in index.nodes(index.from_sources(Label.MEMORY, ERASED_SOURCE)))
    found = [(memory.id, memory.attributes.get(KEPT_OUT, ())) for memory in erased]
    undone = () if anew else _undone(store.journal, scope)
    return kept_out((*((salt, cast(Iterable[str], known)) for salt, known in found), *undone))


def note_undone(journal: Journal, memories: Iterable[Memory]) -> None:
    """Exclude the statements of undone memories from derivation, from the next run on; on the writer's thread."""
    for memory in memories:
        words = json.dumps({"scope": memory.scope, "digests": digests(memory)}, ensure_ascii=False)
        journal.set_meta(_UNDONE + memory.id, words)


def lift(journal: Journal, scope: str) -> None:
    """Let statements that were undone in a scope be derived again; on the writer's thread."""
    for memory_id, _ in list(_undone(journal, scope)):
        journal.drop_meta(_UNDONE + memory_id)


def _undone(journal: Journal, scope: str) -> Iterator[tuple[str, list[str]]]:
    for key, words in journal.metas(_UNDONE).items():
        try:
            said = json.loads(words)
            known = [one for one in said["digests"] if isinstance(one, str)] if said["scope"] == scope else None
        except (ValueError, TypeError, KeyError, RecursionError):  # damaged, as a restored one may be: it excludes none
            continue
        if known is not None:
            yield key.removeprefix(_UNDONE), known
