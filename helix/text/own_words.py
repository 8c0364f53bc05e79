"""Own words: what a person typed of a prompt, without the texts that their client puts beside it."""

from __future__ import annotations

import re

_PUT_BESIDE = (
    ("<system-reminder>", "</system-reminder>"),
    ("<ide_selection>", "</ide_selection>"),
    ("<ide_opened_file>", "</ide_opened_file>"),
    ("<ide_diagnostics>", "</ide_diagnostics>"),
    ("--- Content from referenced files ---", "--- End of content ---"),
)
"""How what clients tell, or the text of open, selected and named files, begins and ends: Claude Code and Gemini."""

_PUT_BEFORE = re.compile(
    r"\A\s*(?:# (?:Context from my IDE setup|Files mentioned by the user):|<in-app-browser-context\s)"
    r"(?:.*^## My request(?: for Codex)?:|.*)",
    re.DOTALL | re.MULTILINE,
)
"""What Codex' editors and its app put before a prompt, up to the last heading that they write above it."""

_TOLD_BY_HOOKS, _END_OF_TOLD = "<hook_context>", "</hook_context>"
"""Around what hooks said, which Gemini CLI puts before a prompt and behind it; it lets none of these through in it."""


def own_words(prompt: str) -> str:
    """Return a prompt without the texts of files in it, which anybody may have written.

    Such a text goes up to its last end, as it may itself say what ends it; without one, all behind its beginning goes.
    """
    typed, *told = prompt.split(_TOLD_BY_HOOKS)
    prompt = "".join([typed, *(one.partition(_END_OF_TOLD)[2] for one in told)])
    prompt = _PUT_BEFORE.sub("", prompt)
    for begins, ends in _PUT_BESIDE:
        before, found, behind = prompt.partition(begins)
        if found:
            prompt = before + behind.rpartition(ends)[2] if ends in behind else before
    return prompt.strip()
