"""Budget: how much has happened since something was last made of it, weighed by importance."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from helix.model.clock import to_micros
from helix.store.store import Store

_KEY = "consolidated"
_ALL = "*"
_ROUND = "round_began"


class Budget:
    """The sum of the importance of what was recorded as it happened and no consolidation has seen.

    A round over all scopes has a mark of its own: sessions that end have their scopes done one by one, which must not
    put the round off for what happened in no session.

    What is imported does not count: a history is no news, and is consolidated with what happens next, or by a flush.
    It is computed from the catalogue and from the moments of the last runs, which the journal keeps: nothing is
    counted up, so nothing is counted twice and a killed process forgets nothing.
    """

    def __init__(self, store: Store, limit: float) -> None:
        """`limit` is the sum at which a consolidation is due; 0 or less: never."""
        self._store = store
        self.limit = limit
        marks = _parse_kept(store.journal.meta(_KEY) or "{}")
        self._marks = (
            {name: mark for name, mark in marks.items() if _is_moment(mark)} if isinstance(marks, dict) else {}
        )
        began = _parse_kept(store.journal.meta(_ROUND) or "null")
        self._round: int = began if _is_moment(began) else self._marks.get(_ALL, 0)

    def spent(self, scope: str | None = None) -> float:
        """Return the importance of a scope's episodes (None: of all) since the last job that consolidated it."""
        return self._store.index.captured_importance(self._marks, self._marks.get(_ALL, 0), scope)

    @property
    def waiting(self) -> float:
        """The importance of the episodes recorded since the last round of jobs began."""
        return self._store.index.captured_importance({}, self._round)

    @property
    def reached(self) -> bool:
        """Whether enough has happened for another round of jobs."""
        return self.limit > 0 and self.waiting >= self.limit

    def begin_round(self, at: datetime) -> None:
        """Record, durably, that a round of jobs was asked for at a moment."""
        self._round = to_micros(at)
        self._store.journal.set_meta(_ROUND, str(self._round))

    def start_again(self, scope: str | None, at: datetime) -> None:
        """Record, durably, that a job's run has consolidated a scope (None: every one) as it was at a moment."""
        moment = to_micros(at)
        if scope is None:
            self._marks = {name: mark for name, mark in self._marks.items() if mark > moment}
        self._marks[_ALL if scope is None else scope] = moment
        self._store.journal.set_meta(_KEY, json.dumps(self._marks))


def _parse_kept(words: str) -> Any:
    """Return what a kept word says; None for a damaged one: all counts as new then."""
    try:
        return json.loads(words)
    except (ValueError, RecursionError):
        return None


def _is_moment(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < 1 << 63
