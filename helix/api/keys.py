"""Idempotency keys: how a request with one is carried out once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from helix.model.requests import request_of
from helix.service import Helix

T = TypeVar("T")

KEY = "idempotency_key"


def once(function: Callable[..., T], key: str | None, given: Mapping[str, Any], agent: str = "") -> Callable[..., T]:
    """Return a mutation with these arguments as a request with a key; as it is where there is none.

    The same words of an agent and of a person (no `agent`) are two requests: an answer is told to who asked for it.
    Raises InvalidInputError for a key that is none.
    """
    if key is None:
        return function
    payload = {name: value for name, value in given.items() if value is not None}
    request = request_of(function.__name__, key, payload, agent)

    def carried_out(helix: Helix, **values: Any) -> T:
        with helix.request(request):
            return function(helix, **values)

    return carried_out
