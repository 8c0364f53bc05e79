"""Outcome: what came of a task by evidence, and what each memory got that was shown to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from helix.model.evidence import Evidence, Verification
from helix.model.requests import kept


@kept
@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What one memory got for a task, and why.

    `use` is evidence, claimed, unused or unknown; `signs` are what shows it. `outcome` is helped, failed, unused,
    claimed, skipped or empty. `overridden` marks what a person said instead.
    """

    memory_id: Annotated[str, "The memory, as it was shown."]
    name: str
    use: Annotated[str, "`evidence`, `claimed`, `unused`, or `unknown`."]
    outcome: Annotated[str, "`helped`, `failed`, `unused`, `claimed`, `skipped`, or empty."]
    helped: Annotated[float, "What was added to what it has helped."] = 0.0
    failed: Annotated[float, "What was added to what it has failed."] = 0.0
    quality: Annotated[int | None, "The quality of the verified use, 0 to 5; null where there was none."] = None
    signs: Annotated[tuple[str, ...], "What shows that it was used."] = ()
    overridden: Annotated[bool, "Whether a person said it instead."] = False


@kept
@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """How a task stands: its outcome by the evidence, the agent's own word for it, and what the memories got.

    `changed` says whether anything was written just now: settling again what has not changed writes nothing.
    """

    task: str
    outcome: str
    claimed: str
    verification: Verification
    evidence: tuple[Evidence, ...] = ()
    gains: tuple[Gain, ...] = ()
    changed: bool = False
