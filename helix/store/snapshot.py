"""Snapshot: an image of what is in memory, renewed as the journal grows, and trusted at start only beside the journal.

An image counts while the journal holds the row it was made at, with the same digest of all before it, and what came
after is short and whole. Otherwise everything is read from the journal, as if there were none. The tables in memory are
filled from an image or from the journal; new tables are filled beside those that are in use.
"""

from __future__ import annotations

import gc
import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import fields
from itertools import chain
from pathlib import Path

import numpy as np

from helix.journal.log import Journal
from helix.journal.mark import Stamp
from helix.model.operations import Operation, Row
from helix.store import csr, node_columns, snapshot_file
from helix.store.catalogue import Catalogue, CatalogueView
from helix.store.csr import EdgeList
from helix.store.node_columns import COLUMN_NAMES
from helix.store.postings import KEY_BITS, Postings
from helix.store.projection import GraphSnapshot, Projection
from helix.store.snapshot_file import Image

log = logging.getLogger(__name__)

_FORMAT = 2
ROWS_BETWEEN = 400
"""Journal rows after which the image is made anew: what the next start has to read beside it."""
_SHARE_OF_TIME = 0.05
"""Making images takes no more of the time than this, however fast the journal grows."""
_LONGEST_TAIL = 20_000
_SECONDS_BETWEEN_TRIMS = 2.0
_TAIL_BATCH = 256
_MOST_DEAD = 0.25
"""Share of dead passages from which an image is not worth keeping: reading everything leaves them behind."""


class ImageKeeper:
    """The image of one store. `load` and `note` belong to the writer's thread, as the tables do."""

    def __init__(
        self, path: Path, journal: Journal, catalogue: Catalogue, projection: Projection, *, least_rows: int
    ) -> None:
        """`least_rows` is the number of nodes from which an image is quicker than reading all of them."""
        self._path = path
        self._journal = journal
        self._catalogue = catalogue
        self._projection = projection
        self._least_rows = least_rows
        self._noted = 0
        self._ready_at = 0.0
        self._making: threading.Thread | None = None
        self._release: Callable[[], None] | None = None
        self._closed = threading.Event()

    def load(self) -> bool:
        """Fill the store's tables from its image and the journal's rows since; False: everything has to be read.

        What stands in the file never raises: at worst the tables are left half filled, to be loaded otherwise.
        """
        started = time.perf_counter()
        try:
            stamp = snapshot_file.read_stamp(self._path)
            if stamp is None and self._path.exists():
                log.warning("image set aside: it is damaged, or no file that can be read")
            if stamp is None or not self._is_ours(stamp):
                return False
            image = snapshot_file.read(self._path)
            if image is None:
                log.warning("image set aside: it is damaged")
                return False
            with collection_paused():
                fill_from_image(image, self._catalogue, self._projection, int(stamp["dimension"]))
            seq = int(stamp["seq"])
            after = replay(self._journal, self._catalogue, self._projection, seq)
            tail = after - seq if after == self._journal.last_seq else None
        except Exception as error:  # the boundary to a file that anything may have written: it must not stop a start
            log.warning("image set aside", extra={"error": f"{type(error).__name__}: {error}"})
            return False
        self._release = image.release
        if tail is not None:
            self._noted = tail
            log.info("image loaded", extra={"tail": tail, "seconds": round(time.perf_counter() - started, 3)})
        return tail is not None

    def note(self, rows: Sequence[Row]) -> None:
        """Take notice of rows that the store's tables hold now, and have its image made anew when they are many."""
        self._noted += len(rows)
        making = self._making is not None and self._making.is_alive()
        if self._noted < ROWS_BETWEEN or making or time.monotonic() < self._ready_at:
            return
        moment = (self._stamp(), self._catalogue.view, self._projection.snapshot)
        self._noted = 0
        self._making = threading.Thread(
            target=copy_context().run, args=(self._make, *moment), name="helix-image", daemon=True
        )
        self._making.start()

    def trim(self) -> None:
        """From now on let go, every few seconds, of the memory of the store's image that answering has taken."""

        def work() -> None:
            while self._release is not None and not self._closed.wait(_SECONDS_BETWEEN_TRIMS):
                self._release()

        threading.Thread(target=work, name="helix-trim", daemon=True).start()

    def wait(self) -> None:
        """Wait for an image of the store that is being made."""
        if self._making is not None:
            self._making.join()

    def close(self) -> None:
        """Leave an up-to-date image of the store behind; after the writer has ended."""
        self._closed.set()
        self.wait()
        if self._noted:
            self._make(self._stamp(), self._catalogue.view, self._projection.snapshot)

    def forget(self) -> None:
        """Give the store's image up because its tables were filled from elsewhere; the next rows make a new one.

        What has its name and is no file is nothing of Helix's: it is moved aside.
        """
        self.wait()
        try:
            if self._path.is_file() or not self._path.exists():
                self._path.unlink(missing_ok=True)
            else:
                aside = self._path.with_name(f"{self._path.name}.aside-{time.time_ns() // 1_000}")
                self._path.rename(aside)
                log.warning("no file in the place of the image: moved aside", extra={"moved_to": aside.name})
        except OSError as error:
            log.warning("the image cannot be made anew", extra={"error": str(error)})
        self._noted = ROWS_BETWEEN

    def _make(self, stamp: Stamp, view: CatalogueView, graph: GraphSnapshot) -> None:
        started = time.monotonic()
        passages = view.passages
        dead = passages.count - int(np.count_nonzero(passages.alive))
        try:
            if view.count < self._least_rows or dead > _MOST_DEAD * passages.count:
                self._path.unlink(missing_ok=True)
            else:
                snapshot_file.write(self._path, stamp, image_of(view, graph))
        except (OSError, ValueError) as error:
            log.warning("no image", extra={"error": str(error)})
        self._ready_at = time.monotonic() + (time.monotonic() - started) / _SHARE_OF_TIME

    def _stamp(self) -> Stamp:
        space = self._journal.spaces.active()
        return {
            "layout": _layout(),
            "store": self._journal.store_id,
            "seq": self._journal.last_seq,
            "chain": self._journal.chain_at(self._journal.last_seq),
            "space": "" if space is None else f"{space.id} {space.digest}",
            "dimension": 0 if space is None else space.dimension,
        }

    def _is_ours(self, stamp: Stamp) -> bool:
        now, seq = self._stamp(), stamp.get("seq")
        if not isinstance(seq, int) or not 0 <= self._journal.last_seq - seq <= _LONGEST_TAIL:
            return False
        same = all(stamp.get(name) == now[name] for name in ("layout", "store", "space", "dimension"))
        return same and stamp.get("chain") == self._journal.chain_at(seq)


def replay(journal: Journal, catalogue: Catalogue, projection: Projection, after: int) -> int:
    """Apply the journal's rows behind `after` to the store's tables in memory; return the last row that they hold then.

    It ends before a row that cannot be read: the tables would miss it.
    """
    while rows := journal.rows(after, _TAIL_BATCH):
        if [row.seq for row in rows] != list(range(after + 1, after + 1 + len(rows))):
            break
        operations = [op for row in rows for op in row.change.operations]
        catalogue.apply(operations)
        projection.apply(operations, catalogue)
        after = rows[-1].seq
    return after


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause Python's cycle collector while the store's tables are filled: a million objects would start it often.

    Nothing is frozen here: `gc.freeze` would keep the store itself, which is a cycle, for the life of the process.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _layout() -> str:
    """Return a digest of what the numbers in an image mean."""
    meaning = (
        *(
            _FORMAT,
            KEY_BITS,
            node_columns.COLUMN_NAMES,
            node_columns.LABELS,
            node_columns.KINDS,
            node_columns.ENTITY_KINDS,
        ),
        *(node_columns.STATUSES, node_columns.TRUSTS, csr.RELATIONS, [part.name for part in fields(Postings)]),
    )
    return hashlib.sha256(repr(meaning).encode()).hexdigest()


def image_of(view: CatalogueView, graph: GraphSnapshot) -> Image:
    """Return the image of the store's tables at one moment; any thread may do it, whatever is written meanwhile."""
    lookups, passages, count = view.lookups, view.passages, view.count
    words = view.words.base.extended(view.words.recent)
    image = Image()
    image.arrays = {f"column {name}": [getattr(view.columns, name)] for name in COLUMN_NAMES}
    image.arrays |= {f"passage {name}": [getattr(passages, name)] for name in ("owner", "numbers", "alive", "embedded")}
    image.arrays |= {f"word {part.name}": [getattr(words, part.name)] for part in fields(Postings)}
    edges = graph.edges()
    image.arrays |= {f"edge {part.name}": [getattr(edges, part.name)] for part in fields(EdgeList)}
    image.arrays["word lengths"] = [view.words.lengths]
    image.arrays |= passages.vectors.pieces()
    image.arrays["vector mean"] = [passages.vectors.center[1]]
    # What came in since is behind the end; a name that changed since is changed again, to no effect, by what follows.
    image.texts = {
        "ids": lookups.ids[:count],
        "names": lookups.names[:count],
        "origins": lookups.origins[:count],
        "passages": passages.ids[: passages.count],
        "scopes": lookups.scopes.words(),
        "sessions": lookups.sessions.words(),
    }
    return image


def fill_from_image(image: Image, catalogue: Catalogue, projection: Projection, dimension: int) -> None:
    """Fill the store's catalogue and projection from an image."""
    catalogue.restore(image, dimension)
    edges = EdgeList(**{part.name: image.array(f"edge {part.name}") for part in fields(EdgeList)})
    projection.restore(edges, catalogue)


def fill(journal: Journal, catalogue: Catalogue, projection: Projection, dimension: int) -> int:
    """Fill the store's tables in memory anew from the journal; return the last row of its log that they hold.

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
        """Have the store's tables in use hold what these do.

        False, with nothing changed, where a row since cannot be read.
        """
        self._follow()
        if self._upto != self._journal.last_seq:
            return False
        catalogue.take_over(self._catalogue)
        projection.take_over(self._projection, catalogue)
        return True

    def _follow(self) -> None:
        self._upto = replay(self._journal, self._catalogue, self._projection, self._upto)
