"""Renewing: fills the tables in memory from the journal, and others beside those that are in use."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from helix.journal.log import Journal
from helix.model.operations import Operation
from helix.store.catalogue import Catalogue
from helix.store.keeping import collection_paused, replay
from helix.store.projection import Projection


def fill(journal: Journal, catalogue: Catalogue, projection: Projection, dimension: int) -> int:
    """Replace all that the tables hold by what the journal does; return the last row of its log that they hold.

    Rows may be written meanwhile: the tables are those of the moment it began. Raises StoreCorruptError.
    """
    with journal.snapshot() as (seq, state), collection_paused():
        rows: Iterator[Operation] = chain(state.nodes(), state.passages())
        catalogue.load(rows, dimension=dimension, tokens=journal.tokens())
        projection.load(state.edges(), catalogue)
    return seq


class Renewal:
    """Tables that are filled beside those in use, and put in their place while the writer stands still for a moment."""

    def __init__(self, journal: Journal, dimension: int, *, salience_floor: float) -> None:
        """Fill them, on any thread but the writer's. Raises StoreCorruptError."""
        self._journal = journal
        self._catalogue, self._projection = Catalogue(dimension, salience_floor=salience_floor), Projection()
        self._upto = fill(journal, self._catalogue, self._projection, dimension)
        self._follow()

    def put_in_place(self, catalogue: Catalogue, projection: Projection) -> bool:
        """Have the tables in use hold what these do; False, with nothing changed, where a row since cannot be read."""
        self._follow()
        if self._upto != self._journal.last_seq:
            return False
        catalogue.take_over(self._catalogue)
        projection.take_over(self._projection, catalogue)
        return True

    def _follow(self) -> None:
        self._upto = replay(self._journal, self._catalogue, self._projection, self._upto)
