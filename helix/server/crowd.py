"""Crowd: how many answers are under way in a process, so that no key and no tenant takes the room of all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from contextlib import ExitStack
from typing import Any

from helix.errors import TooManyRequestsError
from helix.model.principal import Principal

MOST_AT_ONCE = 100
"""How many answers of one key may be under way in a process, streams among them."""
_TIMES_WHAT_IS_LEFT = 3
"""A tenant that is alone has three quarters of the room at most, two that take all they get have three sevenths each:
some is left for whoever comes next."""


class Crowd:
    """The answers of a process that are under way, by key and by tenant; WebSockets are counted once more apart."""

    def __init__(self) -> None:
        self.connections = self.websockets = 1
        """How many there is room for; see `helix.api.connection_limits`."""
        self._of_key: Counter[Principal] = Counter()
        self._of_tenant: Counter[int] = Counter()
        self._talking: Counter[int] = Counter()

    def enter(self, principal: Principal, *, talks: bool, handed_on: bool) -> ExitStack:
        """Count one more answer to a tenant, a WebSocket's where it `talks`; closing what is returned counts it out.

        What another process has `handed_on` counts for its tenant alone: that one has counted the key. Raises
        TooManyRequestsError where the key has as many as it may, or the tenant three times as many as are left to all.
        """
        if not handed_on and self._of_key[principal] >= MOST_AT_ONCE:
            hint = "end some: each subscription and each open stream is one"
            raise TooManyRequestsError(f"{principal.name} has {MOST_AT_ONCE} requests under way here", hint=hint)
        self._check_room(principal, self._of_tenant, self.connections)
        if talks:
            self._check_room(principal, self._talking, self.websockets)
        leaves = ExitStack()
        _count(self._of_tenant, principal.number, leaves)
        if talks:
            _count(self._talking, principal.number, leaves)
        if not handed_on:
            _count(self._of_key, principal, leaves)
        return leaves

    def _check_room(self, principal: Principal, counted: Counter[int], most: int) -> None:
        has = counted[principal.number]
        if has >= _TIMES_WHAT_IS_LEFT * (most - counted.total()):
            hint = "end some, or try again later: the others that are served here need room too"
            raise TooManyRequestsError(f"{principal.tenant} has {has} requests under way here", hint=hint)


def _count(counts: Counter[Any], one: Hashable, leaves: ExitStack) -> None:
    counts[one] += 1
    leaves.callback(_count_out, counts, one)


def _count_out(counts: Counter[Any], one: Hashable) -> None:
    counts[one] -= 1
    if not counts[one]:
        del counts[one]
