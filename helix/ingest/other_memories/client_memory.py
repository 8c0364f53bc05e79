"""Client memory: the memory files that Claude Code keeps of each project, below its folder of projects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from helix.ingest.draft import Slice, in_scope
from helix.ingest.markdown import read_notes
from helix.ingest.other_memories.adapter import Adapter, Asked, Told
from helix.ingest.other_memories.json_files import objects_in
from helix.ingest.other_memories.peek import Peek
from helix.model.memory import GLOBAL_SCOPE
from helix.model.provenance import NOTES

_PLACE = re.compile(r"(?:(?:projects/)?[^/]+/)?memory/.+\.md")
_LINES_READ = 50


def _read(asked: Asked) -> Iterator[Told]:
    """Yield the sections of each project's memory, in the scope of the folder that its sessions were held in."""
    top = asked.path
    folders = [top / "memory", *top.glob("*/memory"), *top.glob("projects/*/memory")]
    inside = (
        folder for folder in folders if folder.is_dir() and folder.resolve() == top.resolve() / folder.relative_to(top)
    )
    for folder in sorted(inside):  # no link leads out of what was named
        worked_in = _worked_in(folder.parent)
        scope = asked.scope or (asked.place_of(worked_in).scope if worked_in else GLOBAL_SCOPE)
        for item in read_notes([folder], root=folder.parent, scope=scope, mine=asked.mine):
            yield in_scope(item, scope) if isinstance(item, Slice) else item


def _worked_in(project: Path) -> Path | None:
    """Return the folder that the project's sessions name."""
    for history in sorted(project.glob("*.jsonl")):
        for _, line in islice(objects_in(history), _LINES_READ):
            folder = line.get("cwd") if isinstance(line, dict) else None
            if isinstance(folder, str) and Path(folder).is_absolute() and "\0" not in folder:
                return Path(folder)
    return None


def _fits(peek: Peek) -> bool:
    return any(_PLACE.fullmatch(name) for name in peek.names)


CLIENT_MEMORY = Adapter(
    name="claude-code",
    looks_for="memory files of Claude Code: memory/*.md of a project, or ~/.claude/projects with several",
    fits=_fits,
    read=_read,
    extractor=NOTES,
)
