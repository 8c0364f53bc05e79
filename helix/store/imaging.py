"""Imaging: which parts of what is held in memory make an image, and how the tables are filled from one."""

from __future__ import annotations

from dataclasses import fields

from helix.store.catalogue import Catalogue, CatalogueView
from helix.store.columns import COLUMN_NAMES
from helix.store.csr import EdgeList
from helix.store.image import Image
from helix.store.postings import Postings
from helix.store.projection import GraphSnapshot, Projection


def picture(view: CatalogueView, graph: GraphSnapshot) -> Image:
    """Return the image of one moment's views; any thread may do it, whatever is written meanwhile."""
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


def develop(image: Image, catalogue: Catalogue, projection: Projection, dimension: int) -> None:
    """Fill catalogue and projection with what an image shows."""
    catalogue.restore(image, dimension)
    edges = EdgeList(**{part.name: image.array(f"edge {part.name}") for part in fields(EdgeList)})
    projection.restore(edges, catalogue)
