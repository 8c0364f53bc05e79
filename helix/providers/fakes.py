"""Embedding, reranking and answering without a model, for tests: chosen by whoever constructs them, by no setting."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from helix.providers.embedder import EmbeddingSpace, Vectors
from helix.providers.llm import Absence, Answer, ModelQuestion, fits_schema
from helix.providers.reranker import Scores

_WORD = re.compile(r"\w+")


class HashEmbedder:
    """A hashed bag of words: equal texts have equal vectors in every process, shared words bring texts closer."""

    def __init__(self, dimension: int = 64) -> None:
        digest = hashlib.sha256(f"fake-hash/{dimension}".encode("ascii")).hexdigest()
        self._space = EmbeddingSpace(model="fake-hash", dimension=dimension, digest=digest)

    @property
    def space(self) -> EmbeddingSpace:
        """The space `fake-hash` of this dimension, of the embedder without a model."""
        return self._space

    @property
    def query_prefix(self) -> str:
        """Nothing: the embedder without a model reads a question like any text."""
        return ""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the texts' fake embeddings: float32 rows of unit length, shape (len(texts), dimension), in order."""
        rows = np.empty((len(texts), self._space.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            rows[row] = self._vector(text)
        return rows

    def forget(self) -> None:
        """Do nothing: the fake embedder keeps no vector."""

    def _vector(self, text: str) -> Vectors:
        total = np.zeros(self._space.dimension, dtype=np.float64)
        for word, count in Counter(_WORD.findall(text.lower())).items():
            total += count * self._direction(word)
        norm = np.linalg.norm(total)
        if norm == 0.0:
            return np.full(self._space.dimension, self._space.dimension**-0.5, dtype=np.float32)
        return (total / norm).astype(np.float32)

    def _direction(self, word: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """Return a word's own direction; those of two words are nearly orthogonal."""
        noise = hashlib.shake_256(word.encode("utf-8", "replace")).digest(self._space.dimension)
        return np.frombuffer(noise, dtype=np.uint8).astype(np.float64) - 127.5


class OverlapReranker:
    """Scores a text by the words of the query that it has: from -4 for none of them to 4 for all."""

    def scores(self, query: str, texts: Sequence[str]) -> Scores:
        """Return the fake reranker's scores, float32 of shape (len(texts),), in order.

        A query without words is in no text.
        """
        asked = set(_WORD.findall(query.lower()))
        shared = [len(asked.intersection(_WORD.findall(text.lower()))) / max(1, len(asked)) for text in texts]
        return 8.0 * np.array(shared, np.float32) - 4.0


class ScriptedModel:
    """A language model that answers as a script says; `asked` holds the task and text of every question, in order."""

    def __init__(self, script: Callable[[ModelQuestion, str], Mapping[str, Any] | Absence]) -> None:
        """`script` returns the object to answer with, or why there is none."""
        self._script = script
        self.asked: list[tuple[str, str]] = []

    def answer(self, question: ModelQuestion, texts: Sequence[str]) -> list[Answer]:
        """Return the fake language model's answer to each text, by its script.

        One that does not fit the schema is an absence, as always.
        """
        return [self._answer(question, text) for text in texts]

    def _answer(self, question: ModelQuestion, text: str) -> Answer:
        self.asked.append((question.task, text))
        value = self._script(question, text)
        if isinstance(value, Absence):
            return Answer(absence=value, model="scripted")
        if not fits_schema(value, question.schema):
            return Answer(absence=Absence.MISFIT, model="scripted")
        return Answer(value=value, model="scripted")
