"""Requests with an idempotency key: what a client may send twice and has count once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeVar

from helix.errors import InvalidInputError

LONGEST_KEY = 200
"""Most characters of an idempotency key."""

C = TypeVar("C", bound=type[Any])

KEPT_CLASSES: dict[str, type[Any]] = {}
"""Classes whose values an answer may hold that is kept for a retry, by name: dataclasses and enums."""


def kept(cls: C) -> C:
    """Let records of a class be a part of an answer that is kept for an idempotent retry, as a decorator."""
    KEPT_CLASSES[cls.__name__] = cls
    return cls


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request under way, which may be a retry. `payload` is a digest of who asks and of all that is
    asked for but for the key. `owner` is whose key it is, where many share a journal: others may choose the same.

    A request may take several decisions. Each is a step, so that a retry, which takes the same ones in the same order,
    finds those that are done.
    """

    mutation: str
    key: str
    payload: bytes
    owner: str = ""
    _seen: Counter[str] = field(default_factory=Counter)

    def step(self, name: str) -> str:
        """Return the name of the next step: that of a decision, and how often it was taken."""
        self._seen[name] += 1
        return f"{name} {self._seen[name]}"


def request_of(mutation: str, key: str, payload: Mapping[str, Any], agent: str = "", owner: str = "") -> Request:
    """Return the record of an idempotent request of a mutation with these arguments, by an agent or (empty) a person.

    `owner` is whose key it is, where many share a journal.

    Raises InvalidInputError for a key that is none.
    """
    if not 0 < len(key) <= LONGEST_KEY or not key.isprintable() or not key.strip():
        raise InvalidInputError(
            f"an idempotency key has 1 to {LONGEST_KEY} printable characters, this one has {len(key)}",
            hint="use a new UUID for each request, and send it again with its retry",
        )
    told = json.dumps([agent, payload] if agent else payload, sort_keys=True, default=str, ensure_ascii=True)
    return Request(mutation=mutation, key=key, payload=sha256(told.encode("ascii")).digest(), owner=owner)
