"""Span: where a rule saw a secret, and of which kind."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A half-open range of character offsets into the scanned text, and the kind of secret in it."""

    start: int
    end: int
    kind: str
