"""How tests count work: what grows is seen in how often something is done, and on no clock."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import FrameType, FunctionType
from typing import Any


def calls_of(
    function: FunctionType, work: Callable[[], object], weight: Callable[[Mapping[str, Any]], int] = lambda _: 1
) -> int:
    """Return how often the work, done in this thread, calls a function; with `weight`, what that makes of each call."""
    count = 0

    def look(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        if event == "call" and frame.f_code is function.__code__:
            count += weight(frame.f_locals)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
