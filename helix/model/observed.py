"""Observed: what an agent's work gave to learn, and what was made of it."""

from __future__ import annotations

from dataclasses import dataclass

from helix.model.candidate import Candidate
from helix.model.reports import StoreResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Everything that was seen in an agent's work; what of it was stored, skipped, and put in the learning queue.

    Nothing is `skipped` unless storing was asked for.
    """

    candidates: tuple[Candidate, ...] = ()
    stored: tuple[StoreResult, ...] = ()
    skipped: tuple[Candidate, ...] = ()
    queued: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A candidate that was accepted, and what storing it came to."""

    candidate: Candidate
    result: StoreResult
