"""Parameters: what each kind of background job may be asked for with, checked before anything is queued or planned."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from helix.errors import InvalidInputError

_MOST_DAYS = 36_500.0
_LONGEST_SCOPE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A parameter that is a number of a range; `above`: `least` itself is out of it, `whole`: it has no fraction."""

    least: float = 0.0
    most: float = math.inf
    above: bool = False
    whole: bool = False

    def fits(self, value: object) -> bool:
        """Return whether a job's parameter is one of these numbers; True and False are none."""
        if isinstance(value, bool) or not isinstance(value, int if self.whole else int | float):
            return False
        return value <= self.most and (value > self.least if self.above else value >= self.least)  # NaN is neither

    def __str__(self) -> str:
        what = "a whole number" if self.whole else "a number"
        lowest = f"above {self.least:g}" if self.above else f"from {self.least:g}"
        return f"{what} {lowest}" + ("" if math.isinf(self.most) else f" to {self.most:g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeName:
    """A parameter that is the name of a scope."""

    def fits(self, value: object) -> bool:
        """Return whether a job's parameter may be a scope's name."""
        return isinstance(value, str) and 0 < len(value) <= _LONGEST_SCOPE

    def __str__(self) -> str:
        return "a scope's name, none for all"


Parameters = Mapping[str, Number | ScopeName]

_SCOPED: Parameters = {"scope": ScopeName()}
_DAYS = Number(most=_MOST_DAYS)

PARAMETERS: Mapping[str, Parameters] = MappingProxyType(
    {
        "consolidate": _SCOPED,
        "rederive": _SCOPED,
        "promote_systemic": _SCOPED,
        "close_gaps": _SCOPED,
        "merge_similar": {**_SCOPED, "threshold": Number(most=1.0, above=True)},
        "decay": {"unused_days": _DAYS, "min_uses": Number(whole=True)},
        "decay_edges": {"unused_days": _DAYS},
        "prune": {"min_effectiveness": Number(most=1.0), "min_uses": Number(whole=True)},
        "reflect": _SCOPED,
        "roll_up": {**_SCOPED, "older_than_days": _DAYS},
        "upgrade_importance": {**_SCOPED, "limit": Number(least=1, most=10_000, whole=True)},
        "find_contradictions": _SCOPED,
    }
)
"""By kind of job, what its payload may hold; all of it may be omitted. Kinds that are not here check it themselves."""


def checked(kind: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a background job's payload, the same for the same request: without None, but for `scope` (all).

    Raises InvalidInputError, which says what is allowed, for a name the kind does not know or a value out of range.
    """
    allowed = PARAMETERS.get(kind)
    if allowed is None:
        return dict(payload)
    given = {name: value for name, value in payload.items() if value is not None}
    if wrong := sorted(str(name) for name in payload if name not in allowed):
        raise InvalidInputError(f"{kind} takes no {wrong[0]!r}", hint=_render_allowed(kind, allowed))
    for name, value in given.items():
        if not allowed[name].fits(value):
            message = f"{name} of {kind} must be {allowed[name]}, not {value!r:.100}"
            raise InvalidInputError(message, hint=_render_allowed(kind, allowed))
    return {"scope": None, **given} if "scope" in allowed else given


def _render_allowed(kind: str, allowed: Parameters) -> str:
    return f"{kind} takes " + "; ".join(f"{name}: {what}" for name, what in allowed.items())
