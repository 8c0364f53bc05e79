"""Aliases: one name for what is called by two in talk about programs, so that both are compared as the same word."""

from __future__ import annotations

import re

_ALIASES = (
    # A script that activates an environment is what it activates.
    (r"\bvirtual ?env(?:ironment)?s?\b|\.?\bvenv/(?:bin|scripts)/activate(?:\.\w+)?\b|\.venv\b", "venv"),
    (r"\brepositor(?:y|ies)\b", "repo"),
    (r"\bdatabases?\b", "db"),
    (r"\bdevelopment\b", "dev"),
    (r"\bproduction\b", "prod"),
    (r"\bconfigurations?\b", "config"),
    (r"\bdocumentation\b", "docs"),
    (r"\bdirector(?:y|ies)\b", "folder"),
)
_PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), name) for pattern, name in _ALIASES)


def without_aliases(text: str) -> str:
    """Return the text with the shorter name wherever a thing has two."""
    for pattern, name in _PATTERNS:
        text = pattern.sub(name, text)
    return text
