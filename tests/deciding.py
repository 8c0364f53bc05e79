"""Decisions that are taken twice, as where another process wrote between the first time and its append."""

from __future__ import annotations

from typing import TypeVar

from helix.errors import HelixError
from helix.store.writer import Decide, Decision, Writer

T = TypeVar("T")


def twice_decided(writer: Writer, decide: Decide[T]) -> Decision[T]:
    """Take a decision twice and return the second; the first has no effect, also where it is a refusal."""
    try:
        decide()
    except HelixError:
        return decide()
    return decide()
