"""Ingest: take in what lies outside, as jobs; nothing is taken in twice, and nothing while capture is paused."""

from __future__ import annotations

from collections.abc import Sequence

from helix.ingest import sources
from helix.model.reports import IngestReport, Job
from helix.operations.checks import absolute
from helix.operations.listed import mutation
from helix.service import Helix

_KIND = "ingest"


@mutation()
def ingest_git(helix: Helix, path: str, *, scope: str | None = None, limit: int | None = None) -> Job:
    """Take in the history of a git repository, oldest commit first; nothing is taken in twice."""
    helix.store.check_capture()
    return helix.jobs.start(_KIND, sources.git_history(helix.store, absolute(path), scope=scope, limit=limit))


@mutation(person_where={("mine", True): "say that notes are the user's own"})
def ingest_notes(helix: Helix, paths: Sequence[str], *, scope: str | None = None, mine: bool = False) -> Job:
    """Take in Markdown notes: files, or folders of them. They are what a repository says, or your own (`mine`)."""
    helix.store.check_capture()
    return helix.jobs.start(_KIND, sources.notes(helix.store, [*map(absolute, paths)], scope=scope, mine=mine))


@mutation()
def ingest_transcript(helix: Helix, path: str, *, scope: str | None = None, agent: str | None = None) -> Job:
    """Take in Claude Code's history of sessions: what was said, what failed, what mended it, and what worked.

    For an agent all goes into `scope`, which it has to name.
    """
    helix.store.check_capture()
    work = sources.transcripts(helix.store, absolute(path), scope=scope, agent=agent or "")
    return helix.jobs.start(_KIND, work)


@mutation()
def ingest_jsonl(
    helix: Helix,
    lines: Sequence[str],
    *,
    first_line: int = 1,
    scope: str | None = None,
    source: str = "jsonl",
    agent: str | None = None,
) -> IngestReport:
    """Take in one chunk of JSON lines; a broken line is named by its number and the rest goes in.

    For an agent all goes into `scope`, which it has to name, whatever the lines say.
    """
    helix.store.check_capture()
    return sources.json_lines(helix.store, lines, first_line=first_line, scope=scope, source=source, agent=agent or "")


@mutation()
def ingest_bulk(
    helix: Helix,
    path: str,
    *,
    vectors: str | None = None,
    scope: str | None = None,
    source: str | None = None,
    agent: str | None = None,
) -> Job:
    """Take in a file of JSON lines, a large one fast: the graph is built once, when all its lines are in.

    Recall finds what is in at every moment, and the same file goes on where it was stopped. For an agent all goes into
    `scope`, which it has to name, whatever the lines say.
    """
    helix.store.check_capture()
    given = None if vectors is None else absolute(vectors)
    work = sources.bulk(helix.store, absolute(path), vectors=given, scope=scope, source=source, agent=agent or "")
    return helix.jobs.start(_KIND, work)
