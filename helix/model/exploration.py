"""Exploration: what was found out about a project before a plan was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from helix.model.memory import GLOBAL_SCOPE


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """What explorers found for an objective; `attributes` holds structure, patterns, memory and targets."""

    id: str
    objective: str
    recorded_at: datetime
    scope: str = GLOBAL_SCOPE
    session: str = ""
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorationReport:
    """An exploration that was kept; `problems` say in sentences what of the answers was left out or is not as asked."""

    exploration: Annotated[Exploration, "The exploration itself."]
    problems: Annotated[tuple[str, ...], "What of the answers was left out or is not as asked, in sentences."] = ()
