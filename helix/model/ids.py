"""Identifiers: UUIDv7 (RFC 9562, section 5.7), so that ids sort by the time they were made."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Annotated

from helix.model.clock import to_micros

IdMaker = Callable[[datetime], str]

Id = Annotated[str, "id"]
"""An id, where GraphQL is to say that it is one."""


def uuid7(moment: datetime) -> str:
    """Return a new UUIDv7 of `moment`: 48 bits of milliseconds, 12 of sub-millisecond fraction, 62 random.

    The fraction in `rand_a` is RFC 9562's method 3, so ids made within one millisecond still sort by time.
    """
    micros = to_micros(moment)
    millis, rest = divmod(micros, 1000)
    fraction = (rest << 12) // 1000
    random = int.from_bytes(os.urandom(8), "big") & ((1 << 62) - 1)
    value = (millis & ((1 << 48) - 1)) << 80 | 0x7 << 76 | fraction << 64 | 0b10 << 62 | random
    return str(uuid.UUID(int=value))
