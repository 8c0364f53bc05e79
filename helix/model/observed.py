"""Observed: what an agent's work gave to learn, and what was made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from helix.model.candidate import Candidate
from helix.model.reports import StoreResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Everything that was seen in an agent's work; what of it was stored, skipped, and put in the learning queue.

    Nothing is `skipped` unless storing was asked for.
    """

    candidates: Annotated[tuple[Candidate, ...], "Everything that was seen."] = ()
    stored: Annotated[tuple[StoreResult, ...], "What was stored of it."] = ()
    skipped: Annotated[tuple[Candidate, ...], "What was not, as it was not sure enough or was decided on before."] = ()
    queued: Annotated[tuple[Candidate, ...], "What waits in the learning queue now and did not before."] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A candidate that was accepted, and what storing it came to."""

    candidate: Annotated[Candidate, "What was accepted."]
    result: Annotated[StoreResult, "What storing it came to."]
