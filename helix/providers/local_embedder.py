"""Embedding texts on this machine: one session, one text at a time, several threads.

Measured with the default model on two quiet cores (300 texts of 10 to 150 words, 10-word queries):

| sessions x threads  | texts at a time | texts/s | query alone, ms | query beside the bulk job, p50 / p95 ms |
|---------------------|-----------------|---------|-----------------|-----------------------------------------|
| 1 x 2               | 1               | 67      | 4.7             | 8.4 / 9.1                               |
| 1 x 2               | 2               | 105     | 2.7             | 8.1 / 12.6                              |
| 1 x 1 (chosen)      | 2               | 147     | 3.5             | 7 / 9                                   |
| 1 x 1 and 1 x 2     | 2               | 115     | 4.2             | 7.0 / 18.7, and 50 MB more              |

A session's own threads spin while they wait for each other, so a text per core wins. Batches of texts gain nothing,
take more than twice the memory, and make an int8 model's vector depend on its neighbours in the batch: quantization
scales activations over the whole batch.

Texts already embedded stay in a bounded memory (`VectorCache`); the least recently used goes first.
"""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from helix.errors import ModelError
from helix.providers.embedder import EmbeddingSpace, Vectors
from helix.providers.local_model import LocalModel, readable
from helix.providers.model_catalogue import Pooling
from helix.providers.onnx_text import OnnxText
from helix.providers.worker_pool import WorkerPool

log = logging.getLogger(__name__)

_Engine = Callable[[str], Vectors]
"""Returns the vector of one text, of any length."""

PROBE_TEXT = "the quick brown fox jumps over the lazy dog"


class LocalEmbedder:
    """An Embedder over one model's files. Nothing is loaded before the first text or `warm`."""

    def __init__(self, model: LocalModel, *, threads: int = 2, cache_entries: int = 2000) -> None:
        self._model = model
        self._space = model.space
        self._cache = VectorCache(cache_entries)
        self._workers = WorkerPool(threads, "helix-embed")
        self._engine: _Engine | None = None
        self._loading = Lock()

    @property
    def space(self) -> EmbeddingSpace:
        """The space of the local embedding model's vectors, known without loading it."""
        return self._space

    @property
    def query_prefix(self) -> str:
        """What the local embedding model wants in front of a question."""
        return self._model.query_prefix

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the texts' embeddings: float32 rows of unit length, shape (len(texts), space.dimension), in order.

        A row depends on its text alone. Equal texts are embedded once. Memory beyond the result is that of one text
        per thread, and calls do not wait for each other. A text without any token, or that the model can make nothing
        of, gets the vector whose components are all equal. Raises ModelError when the model cannot be loaded.
        """
        rows = np.empty((len(texts), self._space.dimension), dtype=np.float32)
        lacking: dict[bytes, tuple[str, list[int]]] = {}
        for row, text in enumerate(texts):
            cut = readable(text, self._model.max_tokens)
            key = hashlib.blake2b(cut.encode("utf-8"), digest_size=16).digest()
            if key in lacking:
                lacking[key][1].append(row)
            elif (vector := self._cache.get(key)) is not None:
                rows[row] = vector
            else:
                lacking[key] = (cut, [row])
        if lacking:
            self._compute(lacking, rows)
        return rows

    def warm(self) -> Vectors:
        """Load the embedding model, return the vector of PROBE_TEXT, (dimension,): it drifts when the runtime does."""
        return self._vector(self._loaded(), PROBE_TEXT)

    def forget(self) -> None:
        """Let go of every vector that the local embedding model kept of a text."""
        self._cache.clear()

    def cache_info(self) -> CacheInfo:
        """Return how the embedder's cache of vectors does; each different text of a call is one lookup."""
        return self._cache.info()

    def _compute(self, lacking: dict[bytes, tuple[str, list[int]]], rows: Vectors) -> None:
        """Embed the texts and fill their rows, longest text first, so that no thread ends with a long one alone."""
        engine = self._loaded()

        def fill(key: bytes) -> None:
            text, owners = lacking[key]
            vector = self._vector(engine, text)
            rows[owners] = vector
            self._cache.put(key, vector)

        self._workers.run(sorted(lacking, key=lambda key: len(lacking[key][0]), reverse=True), fill)

    def _vector(self, engine: _Engine, text: str) -> Vectors:
        """Return a text's vector; one without a direction, as like one as another, where the model makes none of it."""
        try:
            vector = engine(text)
        except ModelError:
            log.exception("a text cannot be embedded")
            vector = np.zeros(self.space.dimension, np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            norm = float(np.linalg.norm(vector))
        if norm == 0.0 or not np.isfinite(norm):
            return np.full_like(vector, vector.size**-0.5)
        return vector / np.float32(norm)

    def _loaded(self) -> _Engine:
        if self._engine is None:
            with self._loading:
                if self._engine is None:
                    self._engine = self._load()
        return self._engine

    def _load(self) -> _Engine:
        """Check the files, load them and try them once, so that what fails, fails here and with a name."""
        self._model.check()
        try:
            engine = _open(self._model)
            dimension = engine(PROBE_TEXT).size
        except Exception as error:  # tokenizers raises bare Exception, onnxruntime classes derived from nothing else
            message = f"model {self._model.name!r} in {self._model.folder} cannot be loaded: {error}"
            raise ModelError(message) from error
        if dimension != self._space.dimension:
            raise ModelError(f"model {self._model.name!r} gives {dimension} dimensions, not {self._space.dimension}")
        return engine


def _open(model: LocalModel) -> _Engine:
    """Open the model from its folder and never from anywhere else."""
    if model.library_name is not None:
        return _of_library(model, model.library_name)
    network, pooling = OnnxText(model.folder, model.model_file, model.max_tokens), model.pooling

    def vector(text: str) -> Vectors:
        tokens = network.output(text)
        if pooling is Pooling.MEAN:
            return np.asarray(tokens.mean(axis=0, dtype=np.float64), np.float32)
        return np.asarray(tokens[0 if pooling is Pooling.CLS else -1], np.float32)

    return vector


def _of_library(model: LocalModel, name: str) -> _Engine:
    """Open a static model, or one that fastembed knows by its name, with fastembed."""
    from fastembed import TextEmbedding  # 40 MB, which no other model needs

    # Static models compute with numpy and warn about options of a runtime they do not use.
    runtime: dict[str, int | bool] = {} if model.pooling is Pooling.STATIC else {"threads": 1, "cuda": False}
    folder = str(model.folder)
    # Without a cache folder fastembed would make one among the system's temporary files.
    library = TextEmbedding(name, cache_dir=folder, specific_model_path=folder, **runtime)  # type: ignore[arg-type]
    return lambda text: np.asarray(next(iter(library.embed([text], batch_size=1))), np.float32)


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """How the cache does: lookups answered and not, entries held, and the most it will hold."""

    hits: int
    misses: int
    entries: int
    capacity: int


class VectorCache:
    """Vectors by the key of their text. Each operation is safe from any thread; capacity 0 keeps nothing."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._vectors: OrderedDict[bytes, Vectors] = OrderedDict()
        self._hits = 0
        self._misses = 0
        self._lock = Lock()

    def get(self, key: bytes) -> Vectors | None:
        """Return the vector of that key in the embedder's cache, now the most recently used, or None."""
        with self._lock:
            vector = self._vectors.get(key)
            if vector is None:
                self._misses += 1
            else:
                self._hits += 1
                self._vectors.move_to_end(key)
            return vector

    def put(self, key: bytes, vector: Vectors) -> None:
        """Keep the vector, shape (dimension,), in the embedder's cache; it must not be changed any more."""
        with self._lock:
            self._vectors[key] = vector
            self._vectors.move_to_end(key)
            while len(self._vectors) > self._capacity:
                self._vectors.popitem(last=False)

    def clear(self) -> None:
        """Let go of every vector in the embedder's cache."""
        with self._lock:
            self._vectors.clear()

    def info(self) -> CacheInfo:
        """Return the counts of the embedder's cache so far."""
        with self._lock:
            return CacheInfo(self._hits, self._misses, len(self._vectors), self._capacity)
