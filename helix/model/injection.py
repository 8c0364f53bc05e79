"""Injection: a memory that was shown to a task, or held out from it, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

RECALL, ACTION, ON_ERROR, BRIEF, PROMPT = "recall", "action", "error", "brief", "prompt"
"""Ways a memory comes to a task: asked for, at a command or edit, at an error, with a session's beginning, with a
prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A memory as it was put before an agent: its place (from 1), score, the way it came and its length in tokens."""

    memory_id: Annotated[str, "The id of the memory."]
    name: Annotated[str, "The name of the memory."]
    kind: Annotated[str, "The kind of the memory."]
    rank: Annotated[int, "Its place, from 1."]
    score: Annotated[float, "How well it fits."]
    arm: Annotated[str, "How it came: `recall`, `action`, `error` or `brief`."] = RECALL
    tokens: Annotated[int, "How long its line is, in tokens."] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Credit:
    """What a task's outcome gave to a memory, so that a better verdict can take it back."""

    helped: float
    failed: float
    quality: int | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """A memory shown to a task or held out from it.

    `outcome` is what came of it: empty while nothing has, helped, failed, unused, claimed or skipped.
    """

    memory_id: str
    name: str
    arm: str
    rank: int
    score: float
    at: datetime
    tokens: int = 0
    outcome: str = ""
    held_back: bool = False
    credited: Credit | None = None
