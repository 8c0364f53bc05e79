"""Checks: what every operation makes sure of before it begins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helix.agents.hook_events.dispatcher import CLIENTS
from helix.errors import InvalidInputError
from helix.ingest.other_memories.importing import ADAPTERS
from helix.memory.change.intake import Intake
from helix.model.provenance import GIT, JSON_LINES, NOTES, STRANGERS
from helix.service import Helix


def check_length(helix: Helix, name: str, text: str) -> None:
    """Raise InvalidInputError for a question longer than any text that is kept: reading one takes time."""
    if len(text) > (most := helix.settings.text_limit):
        raise InvalidInputError(
            f"{name} has {len(text):,} characters, more than {most:,}", hint="ask with the words that matter"
        )


_MADE_BY_IMPORTS = frozenset({GIT, NOTES, JSON_LINES, STRANGERS.rstrip(":"), *CLIENTS, *(one.name for one in ADAPTERS)})


def check_source(helix: Helix, source: str) -> None:
    """Raise InvalidInputError for a source as an import makes them: what is known by it would not be taken in then."""
    word, colon, _ = Intake(helix.settings.text_limit).label(source, "source").partition(":")
    if colon and word.strip().lower() in _MADE_BY_IMPORTS:
        raise InvalidInputError(
            f"sources that begin with `{word}:` are what imports make", hint="call it otherwise, as `ticket:42`"
        )


def page_size(helix: Helix, name: str, size: int, *, most: int = 0) -> int:
    """Return `size`, the argument `name`; raises InvalidInputError above `most`, which is by default a page's size."""
    most = most or helix.settings.page_size
    if not 1 <= size <= most:
        raise InvalidInputError(
            f"`{name}` must be from 1 to {most}, not {size}",
            hint=f"ask for at most {most} at a time" + (", and go on with `after`" if name == "first" else ""),
        )
    return size


def absolute(path: str) -> str:
    """Return a path that is absolute; raises InvalidInputError for any other: the client's folder is not known here."""
    if not Path(path).is_absolute() or "\0" in path:
        message = f"{path!r:.200} is not an absolute path"
        raise InvalidInputError(message, hint="the daemon does not know the client's folder: send the whole path")
    return path


UPKEEP = "say how far upkeep goes"


def sets_upkeep(asked: Mapping[str, Any]) -> str:
    """Only a person may say how far upkeep goes: an agent's request has the defaults."""
    return UPKEEP if {*asked} - {"dry_run"} else ""
