"""Ingest: bring in what lies outside, as jobs; nothing is ingested twice, and nothing while capture is paused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from helix.ingest import sources
from helix.model.principal import Role
from helix.model.reports import IngestReport, Job
from helix.operations.checks import absolute
from helix.operations.listed import mutation
from helix.service import Helix

_KIND = "ingest"


@mutation(None)
def ingest_git(
    helix: Helix,
    path: str,
    *,
    scope: Annotated[str | None, "The scope to take it into; the repository's own where it is not said."] = None,
    limit: Annotated[int | None, "At most this many commits."] = None,
) -> Job:
    """Ingest the history of a git repository, oldest commit first; nothing is ingested twice."""
    helix.store.check_capture()
    return helix.jobs.start(_KIND, sources.git_history(helix.store, absolute(path), scope=scope, limit=limit))


@mutation(None, person_where={("mine", True): "say that notes are the user's own"})
def ingest_notes(
    helix: Helix,
    paths: Annotated[Sequence[str], "Absolute paths on the daemon's machine: files, or folders of them."],
    *,
    scope: Annotated[str | None, "The scope to take them into; the project's own where it is not said."] = None,
    mine: Annotated[bool, "You vouch for them: they count as your own words. Only a person may say so."] = False,
) -> Job:
    """Ingest Markdown notes: files, or folders of them. They are what a repository says, or your own (`mine`)."""
    helix.store.check_capture()
    return helix.jobs.start(_KIND, sources.notes(helix.store, [*map(absolute, paths)], scope=scope, mine=mine))


@mutation(None)
def ingest_transcript(
    helix: Helix,
    path: Annotated[str, "A `.jsonl` history of Claude Code, or a folder of them, on the daemon's machine."],
    *,
    scope: Annotated[
        str | None, "The scope to take it into; by default that of the project each session was held in."
    ] = None,
    agent: Annotated[
        str | None, "The agent that asks, where one does: all goes into `scope` then, which has to be named."
    ] = None,
) -> Job:
    """Ingest Claude Code's history of sessions: what was said, what failed, what mended it, and what worked.

    For an agent all goes into `scope`, which it has to name.
    """
    helix.store.check_capture()
    work = sources.transcripts(helix.store, absolute(path), scope=scope, agent=agent or "")
    return helix.jobs.start(_KIND, work)


@mutation(Role.AGENT, adds=True)
def ingest_jsonl(
    helix: Helix,
    lines: Annotated[Sequence[str], "The lines, each one JSON object."],
    *,
    first_line: Annotated[int, "The number of the first of them in its file, for messages."] = 1,
    scope: Annotated[str | None, "The scope for lines that name none."] = None,
    source: Annotated[str, "What the lines come from, for their provenance."] = "jsonl",
    agent: Annotated[
        str | None, "The agent that asks, where one does: all goes into `scope` then, which has to be named."
    ] = None,
) -> IngestReport:
    """Ingest one chunk of JSON lines; a broken line is named by its number and the rest goes in.

    For an agent all goes into `scope`, which it has to name, whatever the lines say.
    """
    helix.store.check_capture()
    return sources.json_lines(helix.store, lines, first_line=first_line, scope=scope, source=source, agent=agent or "")


@mutation(None)
def ingest_bulk(
    helix: Helix,
    path: str,
    *,
    vectors: Annotated[
        str | None,
        "A .npy file on the daemon's machine: float32 rows of length 1 by the store's model, shape (lines, dimension).",
    ] = None,
    scope: Annotated[str | None, "The scope for lines that name none."] = None,
    source: Annotated[str | None, "What ids in the lines belong to; by default the file."] = None,
    agent: Annotated[
        str | None, "The agent that asks, where one does: all goes into `scope` then, which has to be named."
    ] = None,
) -> Job:
    """Ingest a file of JSON lines, a large one fast: the graph is built once, when all its lines are in.

    Recall finds what is in at every moment, and the same file goes on where it was stopped. For an agent all goes into
    `scope`, which it has to name, whatever the lines say.
    """
    helix.store.check_capture()
    given = None if vectors is None else absolute(vectors)
    work = sources.bulk(helix.store, absolute(path), vectors=given, scope=scope, source=source, agent=agent or "")
    return helix.jobs.start(_KIND, work)


@mutation(None, person_where={("mine", True): "say that memories from a file are the user's own"})
def import_memories(
    helix: Helix,
    path: Annotated[str, "A file or folder that another memory wrote, on the daemon's machine."],
    *,
    source: Annotated[str, "Which memory wrote it, such as `mem0`; empty: it is told by what is in it."] = "",
    scope: Annotated[str | None, "The scope for what names no project; `global` where it is not said."] = None,
    plan: Annotated[bool, "Show what would come in, and change nothing."] = False,
    mine: Annotated[bool, "You vouch for what it says: it counts as your own words. Only a person may say so."] = False,
    agent: Annotated[
        str | None, "The agent that asks, where one does: all goes into `scope` then, which has to be named."
    ] = None,
) -> Job:
    """Import what another memory keeps: its notes, its database or its export. Nothing is ingested twice.

    A file of no known kind is refused, and told what was looked for. For an agent all goes into `scope`.
    """
    helix.store.check_capture()
    work = sources.another_memory(
        helix.store, absolute(path), name=source, scope=scope, mine=mine, plan=plan, agent=agent or ""
    )
    return helix.jobs.start(_KIND, work)
