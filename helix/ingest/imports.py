"""Imports: what the service takes in from outside, as jobs, while nothing is captured when capture is paused."""

from __future__ import annotations

from collections.abc import Sequence

from helix.ingest import sources
from helix.model.reports import IngestReport, Job
from helix.store.jobs import Jobs
from helix.store.store import Store


class Imports:
    """The part of the service that imports; every method blocks and may be called from any thread."""

    _store: Store
    _jobs: Jobs

    def ingest_git(self, path: str, *, scope: str | None = None, limit: int | None = None) -> Job:
        """Import a repository's history, oldest commit first; what is there already is skipped."""
        self._store.check_capture()
        return self._jobs.start("ingest", sources.git_history(self._store, path, scope=scope, limit=limit))

    def ingest_notes(self, paths: Sequence[str], *, scope: str | None = None, mine: bool = False) -> Job:
        """Import Markdown and text notes; an unchanged section is skipped, a changed one becomes a new version.

        They are what a repository says; with `mine` the user stands for them, and for those taken in before.
        """
        self._store.check_capture()
        return self._jobs.start("ingest", sources.notes(self._store, paths, scope=scope, mine=mine))

    def ingest_transcript(self, path: str, *, scope: str | None = None, agent: str = "") -> Job:
        """Import Claude Code's history, a file or a folder of them; what is there already is skipped.

        Without a scope each session goes into that of the project it was held in. An `agent` that asks has to name one.
        """
        self._store.check_capture()
        return self._jobs.start("ingest", sources.transcripts(self._store, path, scope=scope, agent=agent))

    def ingest_jsonl(
        self,
        lines: Sequence[str],
        *,
        first_line: int = 1,
        scope: str | None = None,
        source: str = "jsonl",
        agent: str = "",
    ) -> IngestReport:
        """Import one run of JSON lines; a broken line is named in the report and the rest goes in.

        A line may name its scope, unless an `agent` asks: then all goes into `scope`, which has to be named.
        """
        self._store.check_capture()
        return sources.json_lines(self._store, lines, first_line=first_line, scope=scope, source=source, agent=agent)

    def ingest_bulk(
        self,
        path: str,
        *,
        vectors: str | None = None,
        scope: str | None = None,
        source: str | None = None,
        agent: str = "",
    ) -> Job:
        """Import a file of JSON lines, a large one fast: the graph is built once, when all its lines are in.

        `vectors` names a .npy file of float32 rows of length 1, shape (lines, dimension), made with the store's model
        from the passages of the lines; without it they are embedded here. `source` is what ids in the lines belong to,
        by default the file. Recall finds what is in at every moment, the same file goes on where it was stopped.
        `agent` is as for `ingest_jsonl`.
        """
        self._store.check_capture()
        work = sources.bulk(self._store, path, vectors=vectors, scope=scope, source=source, agent=agent)
        return self._jobs.start("ingest", work)
