"""Own history: tells what a client of this user keeps itself from a file that anybody may have written."""

from __future__ import annotations

import os
from pathlib import Path

from helix.model.provenance import Trust

_KEPT = (
    ("CLAUDE_CONFIG_DIR", "~/.claude", ""),
    ("CODEX_HOME", "~/.codex", ""),
    ("", "~/.gemini", ""),
    ("XDG_DATA_HOME", "~/.local/share", "opencode"),
)
"""Where clients keep their histories: the variable that moves the place, the place, and the folder in it."""


def trust_of(history: Path) -> Trust:
    """Return how far a history is trusted: as an agent where the client itself keeps it, else as a tool's output.

    A link does not make a file the client's own.
    """
    real = history.expanduser().resolve()
    places = (Path(os.environ.get(variable) or place).expanduser() / folder for variable, place, folder in _KEPT)
    own = any(place.is_absolute() and real.is_relative_to(place.resolve()) for place in places)
    return Trust.AGENT_INFERRED if own else Trust.TOOL_OUTPUT
