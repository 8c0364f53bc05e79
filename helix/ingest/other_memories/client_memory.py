"""Client memory: the memory files that Claude Code keeps of each project, below its folder of projects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from helix.agents.hook_events.client_transcripts import folder_told
from helix.files import real_path
from helix.ingest.draft import WholeReading, in_scope, told_key
from helix.ingest.markdown import read_notes
from helix.ingest.other_memories.adapter import Adapter, Asked, Told
from helix.ingest.other_memories.peek import Peek
from helix.ingest.transcript import may_be_told
from helix.model.provenance import NOTES
from helix.model.reports import IngestProblem
from helix.text.client_ids import short_digest

_PLACE = re.compile(r"(?:(?:projects/)?[^/]+/)?memory/.+\.md")


def _read_client_memory(asked: Asked) -> Iterator[Told]:
    """Yield the sections of each project's memory, in the scope of the folder that its sessions were held in.

    Whoever wrote those sessions names that folder: one memory takes the place of nothing that another one says, or a
    `memory` folder of the project itself.
    What the client says there of a file that the project's `.helixignore` excludes is left out, as in its histories.
    """
    top, real = asked.path, real_path(asked.path)
    folders = [top / "memory", *top.glob("*/memory"), *top.glob("projects/*/memory")]
    inside = (one for one in folders if one.is_dir() and real_path(one) == real / one.relative_to(top))
    for folder in sorted(inside):  # no link leads out of what was named
        project = asked.place_of(_worked_in(folder.parent))
        scope = asked.scope or project.scope
        told_by = f"{told_key(folder.parent.name)}~{short_digest(str(real_path(folder.parent)))[:8]}"
        for item in read_notes([folder], root=folder.parent, scope=scope, mine=asked.mine, told_by=told_by):
            if isinstance(item, IngestProblem):
                yield item
            elif isinstance(item, WholeReading):
                if not asked.scope:  # projects that share a scope have files of one name
                    yield replace(item, scope=scope)
            elif asked.mine or may_be_told(item.episode.content, str(project.root)):
                yield in_scope(item, scope)


def _worked_in(project: Path) -> Path:
    """Return the folder that the project's sessions name; where none is left its memory's stands for it."""
    named = next(filter(None, map(folder_told, sorted(project.glob("*.jsonl")))), "")
    return Path("/", named) if named else project


def _fits(peek: Peek) -> bool:
    return any(_PLACE.fullmatch(name) for name in peek.names)


CLIENT_MEMORY = Adapter(
    name="claude-code",
    looks_for="memory files of Claude Code: memory/*.md of a project, or ~/.claude/projects with several",
    fits=_fits,
    read=_read_client_memory,
    extractor=NOTES,
)
