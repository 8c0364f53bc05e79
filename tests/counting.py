"""How tests count work: what grows is seen in how often something is done, and on no clock."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, FunctionType


def calls_of(function: FunctionType, work: Callable[[], object]) -> int:
    """Return how often the work, done in this thread, calls a function."""
    count = 0

    def look(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_code is function.__code__

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
