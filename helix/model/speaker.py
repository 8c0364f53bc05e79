"""Speaker: who runs a command, a person or a coding agent, as the environment tells that its client gives it.

An agent that wants to pass for a person can take the marks out of its environment, or ask GraphQL by itself with the
token of its user: this marks what agents say, and is no boundary against an agent that lies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

HEADER = "x-helix-agent"
"""Header by which the command line and the Python client say which agent runs them."""
FOLDER_HEADER = "x-helix-folder"
"""Header by which `helix mcp` says in which folder it was started, quoted as in an address."""

SCOPE_HEADER = "x-helix-scope"
"""Header by which a client of a server says which project it works in, quoted as in an address: a folder of its machine
is none there. By it the answer to the beginning of a session says which scope its commands are to work in."""

# Variables that clients set for the commands of an agent and not for the terminal of a person beside it. So
# CURSOR_TRACE_ID and TERM_PROGRAM are none, nor is what people set in their profile (CLAUDE_CODE_USE_...).
MARKS: Mapping[str, str] = {
    "CLAUDECODE": "claude-code",
    "CLAUDE_CODE": "claude-code",
    "CLAUDE_CODE_SESSION_ID": "claude-code",
    "CLAUDE_CODE_ENTRYPOINT": "claude-code",
    "CODEX_SANDBOX": "codex",
    "CODEX_SANDBOX_NETWORK_DISABLED": "codex",
    "CODEX_THREAD_ID": "codex",
    "CODEX_CI": "codex",
    "GEMINI_CLI": "gemini-cli",
    "QWEN_CODE": "qwen-code",
    "CURSOR_AGENT": "cursor",
    "OPENCODE": "opencode",
    "OPENCODE_CLIENT": "opencode",
    "AUGMENT_AGENT": "augment",
    "ANTIGRAVITY_AGENT": "antigravity",
    "CLINE_ACTIVE": "cline",
    "GOOSE_TERMINAL": "goose",
    "COPILOT_CLI": "copilot",
    "AMP_CURRENT_THREAD_ID": "amp",
}
"""Variables of clients, and the agent that each is a mark of."""
SAYS_SO = "AI_AGENT"
"""Variable by which an agent of any name says which it is."""
_UNFIT = re.compile(r"[^a-z0-9@._-]+")
_LONGEST = 60
_NAMELESS = "agent"


def agent_of(environ: Mapping[str, str]) -> str:
    """Return the name of the coding agent that this environment tells of, such as `claude-code`; empty for a person."""
    if environ.get("CURSOR_EXTENSION_HOST_ROLE") == "agent-exec":
        return "cursor"
    marked = next((agent for name, agent in MARKS.items() if environ.get(name)), "")
    return marked or agent_name(environ.get(SAYS_SO, ""))


def agent_name(text: str) -> str:
    """Return a coding agent's name in normal form: short, lower case, letters and digits; empty for an empty one.

    One that has none of these letters is an agent's all the same.
    """
    return _UNFIT.sub("-", text[:_LONGEST].lower()).strip("-") or (_NAMELESS if text.strip() else "")
