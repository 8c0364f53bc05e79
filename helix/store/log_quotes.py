"""Log quotes: overwrites what a store's logs quote of what is erased."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

_SHORTEST_TRACE = 8
"""Characters of the shortest text that is looked for in logs: shorter ones stand everywhere."""


def blot_logs(folder: Path, texts: Iterable[str]) -> None:
    """Overwrite the texts wherever a line of the store's logs quotes one."""
    traces = _traces(texts)
    for file in sorted(folder.glob("logs/*")):
        if file.is_file():
            _blot(file, traces)


def _traces(texts: Iterable[str]) -> list[bytes]:
    """Return the texts and their lines as a log may hold them: plain, or as JSON; the longest first."""
    said = {part.strip() for text in texts for part in (text, *text.splitlines())}
    forms = {
        form.encode("utf-8", "surrogatepass")
        for part in said
        if len(part) >= _SHORTEST_TRACE
        for form in (part, json.dumps(part)[1:-1], json.dumps(part, ensure_ascii=False)[1:-1])
    }
    return sorted(forms, key=lambda form: (-len(form), form))


def _blot(file: Path, traces: Sequence[bytes]) -> None:
    """Overwrite in place: the daemon goes on writing at the end of the same file."""
    with file.open("r+b") as opened:
        held = opened.read()
        blotted = held
        for trace in traces:
            blotted = blotted.replace(trace, b"*" * len(trace))
        if blotted != held:
            opened.seek(0)
            opened.write(blotted)
