"""Import tally: what one import has come to so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from helix.model.reports import IngestProblem, IngestReport


@dataclass(slots=True)
class ImportTally:
    """Counts of one import, added to as it goes."""

    source: str = ""
    episodes: int = 0
    memories: int = 0
    edges: int = 0
    skipped: int = 0
    redacted: int = 0
    quarantined: int = 0
    problems: list[IngestProblem] = field(default_factory=list)

    def add(self, more: ImportTally) -> None:
        """Count what an import has written besides."""
        self.episodes += more.episodes
        self.memories += more.memories
        self.edges += more.edges
        self.skipped += more.skipped
        self.quarantined += more.quarantined

    def report(self) -> IngestReport:
        return IngestReport(
            source=self.source,
            episodes=self.episodes,
            memories=self.memories,
            edges=self.edges,
            skipped=self.skipped,
            redacted=self.redacted,
            quarantined=self.quarantined,
            problems=tuple(self.problems),
        )
