"""Which of many alike examples an ordinary run takes. A soak takes all of them, and draws more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import hypothesis
import pytest

DRAWN, DRAWN_IN_A_SOAK = 25, 200
"""How many examples Hypothesis draws for a test that does not say how many."""


def some(examples: Iterable[Any], count: int) -> list[Any]:
    """Return all examples for `parametrize`, of which an ordinary run takes `count`, evenly spread over the list.

    A tuple is an example of several arguments.
    """
    known = list(examples)
    taken = {place * (len(known) - 1) // max(1, count - 1) for place in range(count)}
    return [_param(example, ordinary=place in taken) for place, example in enumerate(known)]


def _param(example: Any, *, ordinary: bool) -> Any:
    values = example if isinstance(example, tuple) else (example,)
    return pytest.param(*values, marks=() if ordinary else pytest.mark.soak)


def draws(count: int) -> int:
    """Return how many examples Hypothesis is to draw: `count` in an ordinary run, and as many times more in a soak."""
    return count * hypothesis.settings().max_examples // DRAWN
