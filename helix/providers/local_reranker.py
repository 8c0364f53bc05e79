"""Reranking with a cross-encoder on this machine: one session, one text at a time, several threads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import numpy as np

from helix.errors import ModelError
from helix.providers.install import is_complete
from helix.providers.local_model import check_files, readable, repair_hint
from helix.providers.model_catalogue import Model
from helix.providers.onnx_text import OnnxText
from helix.providers.reranker import Scores
from helix.providers.worker_pool import WorkerPool

_PROBE = ("what jumps over the dog?", "the quick brown fox jumps over the lazy dog")


class LocalReranker:
    """A Reranker over an installed model. Nothing is looked at before the first text: it may be installed later."""

    def __init__(self, model: Model, models_path: Path, *, threads: int = 2) -> None:
        self._model = model
        self._folder = models_path / model.name
        self._workers = WorkerPool(threads, "helix-rerank")
        self._engine: OnnxText | None = None
        self._loading = Lock()

    def scores(self, query: str, texts: Sequence[str]) -> Scores:
        """Return the local reranker's log-odds that each text answers the query, float32 (len(texts),), in order.

        A score depends on the query and its text alone. Equal texts are read once; of query and text together the
        model reads `max_tokens`, cutting the longer. Raises ModelError when the model is not installed, damaged, or
        cannot be loaded.
        """
        question = readable(query, self._model.max_tokens)
        cut = [readable(text, self._model.max_tokens) for text in texts]
        found = dict.fromkeys(cut, 0.0)
        if found:
            engine = self._loaded()

            def read(text: str) -> None:
                found[text] = _score(engine, question, text)

            # Longest first, so that no thread ends with a long one alone.
            self._workers.run(sorted(found, key=len, reverse=True), read)
        return np.array([found[text] for text in cut], np.float32)

    def _loaded(self) -> OnnxText:
        if self._engine is None:
            with self._loading:
                if self._engine is None:
                    self._engine = self._load()
        return self._engine

    def _load(self) -> OnnxText:
        """Check the files, load them and try them once, so that what fails, fails here and with a name."""
        name, folder = self._model.name, self._folder
        if not is_complete(self._model, folder):
            raise ModelError(f"model {name!r} is not installed in {folder.parent}", hint=repair_hint(name))
        check_files(name, folder, self._model.hashes)
        try:
            engine = OnnxText(folder, self._model.model_file, self._model.max_tokens)
            _score(engine, *_PROBE)
        except Exception as error:  # tokenizers raises bare Exception, onnxruntime classes derived from nothing else
            raise ModelError(f"model {name!r} in {folder} cannot be loaded: {error}") from error
        return engine


def _score(engine: OnnxText, query: str, text: str) -> float:
    # Alone: quantization scales activations over a whole batch, so that neighbours would change the score.
    return float(engine.output(query, text)[0])
