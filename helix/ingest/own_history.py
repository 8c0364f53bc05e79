"""Own history: tells what a client of this user keeps itself from a file that anybody may have written."""

from __future__ import annotations

import os
import re
from pathlib import Path

from helix.model.provenance import Trust

_KEPT = (
    ("CLAUDE_CONFIG_DIR", "~/.claude", re.compile(r"projects/[^/]+/(?:[^/]+\.jsonl|[^/]+/subagents/[^/]+\.jsonl)")),
    ("CODEX_HOME", "~/.codex", re.compile(r"(?:archived_)?sessions/(?:[^/]+/)*rollout-[^/]+\.jsonl")),
    ("", "~/.gemini", re.compile(r"tmp/[^/]+/(?:chats/[^/]+\.jsonl?|logs\.json)")),
    ("XDG_DATA_HOME", "~/.local/share", re.compile(r"opencode/opencode\.db")),
)
"""Where clients write their sessions: the variable that moves the place, the place, and the files in it.

Beside them lie skills, plugins and extensions: copies of strangers' repositories.
"""


def trust_of(history: Path) -> Trust:
    """Return the trust in a client's transcript: as an agent where the client itself writes it, else as tool output.

    A link does not make a file the client's own.
    """
    real = history.expanduser().resolve()
    for variable, usual, files in _KEPT:
        place = Path(os.environ.get(variable) or usual).expanduser()
        if not place.is_absolute() or not real.is_relative_to(place.resolve()):
            continue
        if files.fullmatch(real.relative_to(place.resolve()).as_posix()):
            return Trust.AGENT_INFERRED
    return Trust.TOOL_OUTPUT
