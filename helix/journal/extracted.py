"""What was found in episodes, kept beside the log so that none is read twice; whatever is lacking is found again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from helix.journal.backend import Backend, put


class Extracted:
    """The kept extractions of one journal. Any thread may use it; every change is durable when it returns.

    What is kept repeats the words of the episodes: erasing a text empties it.
    """

    def __init__(self, database: Backend) -> None:
        self._database = database

    def kept(self, edition: str, episodes: Sequence[str]) -> dict[str, tuple[str, bytes]]:
        """Return the candidates (JSON) and vectors (float32, one after the other) kept for episodes, by their ids.

        Only what was found by that edition of an extractor.
        """
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT episode, candidates, vectors FROM extracted"
                " WHERE episode IN (SELECT value FROM json_each(?)) AND edition = ?",
                (json.dumps(list(episodes)), edition),
            ).fetchall()
        return {episode: (candidates, vectors) for episode, candidates, vectors in rows}

    def keep(self, edition: str, found: Mapping[str, tuple[str, bytes]]) -> None:
        """Keep candidates and vectors, by the ids of their episodes, in the place of what was kept for them."""
        with self._database.transaction() as connection:
            connection.executemany(
                put("extracted", ("episode", "edition", "candidates", "vectors"), ("episode",)),
                [(episode, edition, candidates, vectors) for episode, (candidates, vectors) in found.items()],
            )
