"""Embedding spaces: which model the store's vectors belong to, pinned so that another one cannot slip in."""

from __future__ import annotations

from dataclasses import dataclass

from helix.journal.backend import Backend, put
from helix.journal.decoding import dimension_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedSpace:
    """The model, dimension and digest that the store's vectors were made with."""

    id: int
    model: str
    dimension: int
    digest: str


class Spaces:
    """The spaces of one journal; at most one is active."""

    def __init__(self, database: Backend) -> None:
        self._database = database

    def active(self) -> PinnedSpace | None:
        """Return the embedding space in the journal that searches use, or None while it has no vectors."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT id, model, dimension, digest FROM space WHERE active").fetchone()
        if row is None:
            return None
        return PinnedSpace(id=row[0], model=row[1], dimension=dimension_of(row[2]), digest=row[3])

    def prepare(self, *, model: str, dimension: int, digest: str) -> int:
        """Return the id of an embedding space in the journal, making an inactive one where it is new."""
        with self._database.transaction() as connection:
            row = connection.execute("SELECT id FROM space WHERE model = ? AND digest = ?", (model, digest)).fetchone()
            if row is not None:
                return int(row[0])
            (made,) = connection.execute(
                "INSERT INTO space (id, model, dimension, digest)"
                " VALUES ((SELECT coalesce(max(id), 0) + 1 FROM space), ?, ?, ?) RETURNING id",
                (model, dimension, digest),
            ).fetchone()
            return int(made)

    def is_unused(self, space: int) -> bool:
        """Return whether an embedding space in the journal has no vector."""
        with self._database.reading() as connection:
            return connection.execute("SELECT 1 FROM vector WHERE space = ? LIMIT 1", (space,)).fetchone() is None

    def add_vectors(self, space: int, vectors: list[tuple[int, bytes]]) -> None:
        """Keep vectors by passage number in an embedding space of the journal, active or not."""
        with self._database.transaction() as connection:
            connection.executemany(
                put("vector", ("space", "number", "vector"), ("space", "number")), [(space, n, v) for n, v in vectors]
            )

    def missing(self, space: int, limit: int) -> list[tuple[int, str]]:
        """Return (number, text) of up to `limit` journal passages without a vector in the space, by number."""
        with self._database.reading() as connection:
            return connection.execute(
                "SELECT p.number, p.text FROM passage p LEFT JOIN vector v ON v.number = p.number AND v.space = ?"
                " WHERE v.number IS NULL ORDER BY p.number LIMIT ?",
                (space, limit),
            ).fetchall()

    def count_missing(self, space: int) -> int:
        """Return how many passages of the journal have no vector in the space."""
        with self._database.reading() as connection:
            passages = connection.execute("SELECT count(*) FROM passage").fetchone()[0]
            present = connection.execute(
                "SELECT count(*) FROM vector v JOIN passage p ON p.number = v.number WHERE v.space = ?", (space,)
            ).fetchone()[0]
        return int(passages) - int(present)

    def count_missing_active(self) -> int:
        """Return how many of the journal's passages have no vector in its active space; 0 without a space."""
        pinned = self.active()
        return 0 if pinned is None else self.count_missing(pinned.id)

    def activate(self, space: int) -> None:
        """Make the space the journal's active one and drop the vectors of all others, in one transaction."""
        with self._database.transaction() as connection:
            connection.execute("UPDATE space SET active = (id = ?)", (space,))
            connection.execute("DELETE FROM vector WHERE space <> ?", (space,))
