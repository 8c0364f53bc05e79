"""Version: a memory as it was after one change, with what changed it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from helix.model.memory import Memory
from helix.model.provenance import Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A memory as it was after one change, by the journal's log."""

    seq: Annotated[int, "The row of the journal that made it."]
    memory: Annotated[Memory, "The memory as this change left it."]
    at: Annotated[datetime, "When it was changed."]
    change: Annotated[
        str,
        "What happened, in a word or two: stored, imported, learned, edited, refined, stored again, confirmed, judged, "
        "forgotten, restored, accepted, rejected, quarantined, archived, merged, unmerged, superseded, retired, ended, "
        "holds again, decided, reopened, kept apart, kept apart no longer, undone, erased or changed.",
    ]
    by: Annotated[
        str,
        "Who changed it: `you`, an agent's name, whose key asked for it, the word of its source, or `helix`; empty if "
        "unknown.",
    ]
    trust: Annotated[Trust, "How far it was trusted from then on."]
    reason: Annotated[str, "What is known of why; empty where nothing is."]
