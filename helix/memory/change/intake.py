"""Intake: every text that comes from outside is cleaned, bounded and redacted here, before anything else sees it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from helix.errors import InvalidInputError
from helix.model.clock import to_micros
from helix.model.memory import GLOBAL_SCOPE, Kind
from helix.scopes import is_everywhere
from helix.text.cleaning import clean, given_name
from helix.text.client_ids import kept_session
from helix.text.inert import seen
from helix.text.secrets.redact import Redaction, redact, redact_parts, redact_value
from helix.text.structured import MOST_NESTED, is_too_nested, map_texts

OWN_ATTRIBUTE = "helix:"
"""How the attributes begin that Helix keeps for itself; nobody else may set them."""
LONGEST_LABEL = 300
"""How many characters a name, a scope, a source or a file's path may have."""
_ATTRIBUTES_LIMIT = 16_384


@dataclass(slots=True)
class Intake:
    """Takes the texts of one request in; `redacted` collects the kinds of secret taken out of them."""

    text_limit: int
    redacted: list[str] = field(default_factory=list)

    def text(self, value: str, what: str, *, required: bool = True) -> str:
        """Return a body text for a change, cleaned and redacted.

        Raises InvalidInputError when it is empty or too long.
        """
        cleaned = self._cleaned(value, what, required=required)
        return self._noted(redact(cleaned)) if cleaned else ""

    def pair(self, trigger: str, resolution: str, *, required: bool = True) -> tuple[str, str]:
        """Return trigger and resolution, cleaned and redacted together: the one may name what the other one says."""
        first = self._cleaned(trigger, "trigger", required=required)
        second = self._cleaned(resolution, "resolution", required=False)
        if not second:
            return self._noted(redact(first)), ""
        one, other = redact_parts(first, second)
        return self._noted(one), self._noted(other)

    def _cleaned(self, value: str, what: str, *, required: bool) -> str:
        if len(value) > self.text_limit:
            raise InvalidInputError(
                f"{what} has {len(value):,} characters, more than the {self.text_limit:,} that one text may have",
                hint="split it, or hand it to `helix ingest notes`",
            )
        cleaned = clean(value)
        if required and not seen(cleaned).strip():
            raise InvalidInputError(f"{what} is empty", hint="say in a few words what to remember")
        return cleaned

    def _noted(self, found: Redaction) -> str:
        self.redacted.extend(kind for kind in found.kinds if kind not in self.redacted)
        return found.text

    def label(self, value: str, what: str) -> str:
        """Return a short text for a change, such as a name, scope or source; empty is fine."""
        cleaned = self.text(" ".join(clean(value).split()), what, required=False)
        if len(cleaned) > LONGEST_LABEL:
            raise InvalidInputError(f"{what} is longer than {LONGEST_LABEL} characters", hint="use a shorter one")
        return cleaned

    def name(self, value: str) -> str:
        """Return a name that somebody gives, whole; raises InvalidInputError for one without letters and digits."""
        name = given_name(self.label(value, "name"))
        if not name:
            raise InvalidInputError(f"{value!r} is not a name", hint="it needs letters or digits, as `mend-the-proxy`")
        return name

    def session(self, value: str, what: str = "session") -> str:
        """Return what a session is called in the store; empty is fine."""
        return self.label(kept_session(value), what)

    def scope(self, value: str) -> str:
        """Return a scope for a change: `global` or a project id; what means every scope is none to keep anything in."""
        scope = self.label(value, "scope") or GLOBAL_SCOPE
        if is_everywhere(scope):
            raise InvalidInputError(f"{value!r} means every scope", hint="name a project; `global` is seen by them all")
        return scope

    def labels(self, values: Sequence[str], what: str) -> tuple[str, ...]:
        """Return short texts without empty ones, in order."""
        return tuple(cleaned for value in values if (cleaned := self.label(value, what)))

    def attributes(self, value: Mapping[str, object] | None, limit: int = _ATTRIBUTES_LIMIT) -> dict[str, Any]:
        """Return free attributes for a change as plain JSON data of at most `limit` characters, redacted.

        Each value is judged with the name that it stands under, and names are redacted too.
        """
        if is_too_nested(value or {}):
            raise InvalidInputError(f"attributes are nested more than {MOST_NESTED} deep")
        try:
            text = json.dumps(dict(value or {}), ensure_ascii=False)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(f"attributes are not JSON data: {error}") from error
        if len(text) > limit:
            raise InvalidInputError(f"attributes are longer than {limit:,} characters of JSON")
        kept: dict[str, Any] = map_texts(value or {}, self._redacted_value)
        if own := [key for key in kept if key.startswith(OWN_ATTRIBUTE)]:
            raise InvalidInputError(f"attributes named {OWN_ATTRIBUTE}... are Helix's own: {own[0]!r}")
        return kept

    def _redacted_value(self, name: str, value: str) -> str:
        cleaned = self._cleaned(value, "an attribute", required=False)
        return self._noted(redact_value(name, cleaned)) if cleaned else ""


def known_kind(word: str) -> Kind:
    """Return the kind of memory of that name, or raise InvalidInputError with the list of kinds."""
    try:
        return Kind(word.strip().lower())
    except ValueError as error:
        raise InvalidInputError(f"unknown kind {word!r}", hint="one of: " + ", ".join(Kind)) from error


def period(since: datetime | None, until: datetime | None) -> None:
    """Raise InvalidInputError where a memory would end no later than it begins."""
    if since and until and to_micros(until) <= to_micros(since):
        raise InvalidInputError("valid_to is not later than valid_from", hint="a memory is valid from ... to ...")


def moment(value: datetime | None) -> datetime | None:
    """Return a time that was given with a memory's change in UTC; one that names no time zone is taken as UTC."""
    if value is None:
        return None
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def fraction(value: float | None, what: str, default: float) -> float:
    """Return a number in 0..1 that was given with a memory, or the default for None."""
    return _bounded(value, what, default, 0.0, 1.0)


def poignancy(value: float | None, default: float) -> float:
    """Return an importance in 1..10 that was given with a memory, or the default for None."""
    return _bounded(value, "importance", default, 1.0, 10.0)


def _bounded(value: float | None, what: str, default: float, low: float, high: float) -> float:
    if value is None:
        return default
    if not low <= value <= high:  # also catches NaN
        message = f"{what} must be between {low:g} and {high:g}, not {value!r}"
        raise InvalidInputError(message, hint="omit it, and Helix finds one")
    return float(value)
