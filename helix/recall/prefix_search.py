"""Prefix search: the words of a store that begin with what somebody has typed so far."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from helix.model.edge import OPEN_RELATIONS
from helix.model.memory import Status
from helix.model.recall import Completable
from helix.recall.recipes import recipes_of
from helix.store.node_columns import NO_CODE, STATUS_CODE, Vocabulary
from helix.store.store import Store


def completions(store: Store, of: Completable, prefix: str, limit: int) -> list[str]:
    """Return up to `limit` words of recallable texts that begin with `prefix`, in the order of letters."""
    return sorted(word for word in _words(store, of) if word and word.startswith(prefix))[:limit]


def _words(store: Store, of: Completable) -> Iterable[str]:
    view = store.catalogue.view
    lookups, columns = view.lookups, view.columns
    known: Vocabulary
    match of:
        case Completable.NAMES:
            active = STATUS_CODE[Status.ACTIVE]
            rows = lookups.memories.items()
            stands = columns.status[: view.count] == active
            return (name for name, held in rows if any(row < view.count and stands[row] for row in held))
        case Completable.SCOPES:
            codes, known = columns.scope, lookups.scopes
        case Completable.SESSIONS:
            codes, known = columns.session, lookups.sessions
        case Completable.RELATIONS:
            return (relation.lower() for relation in OPEN_RELATIONS)
        case Completable.RECIPES:
            return recipes_of(store.runtime.settings.recipes)
    return {known.word(int(code)) for code in np.unique(codes[: view.count]) if code != NO_CODE}
