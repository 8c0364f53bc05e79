"""Memories and questions for measuring speed: recombined from this repository's own prose, with vectors to match.

A memory says parts of two real sentences, and many name a thing or touch a file, a few of these often and most once:
words are as frequent as in prose, and new names keep coming. Its vector lies between those of its sentences, so that
an index meets neighbourhoods as a model makes them, not points thrown at random.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from helix.model.memory import Kind
from helix.providers.embedder import Embedder, Vectors

ROOT = Path(__file__).resolve().parents[2]
VERSION = 1
"""Of what is made here: a kept store of another version is made anew."""

SELECTIVE = "selective"
"""The scope of one memory in a hundred."""

SENTENCES = 1_000
_SCOPES = 25
_KINDS = tuple(kind.value for kind in Kind)
_AREAS = ("api", "auth", "billing", "build", "cache", "cli", "core", "docs", "export", "graph", "jobs", "mail")
_PARTS = ("client", "config", "errors", "index", "loader", "model", "parser", "queue", "schema", "server", "store")
_WITH_FILE = 0.45
_WITH_NAME = 0.45
_WITH_SECOND_NAME = 0.1
"""Shares of memories; with their episodes, which say the same, they come to three edges for a memory."""

_FIRST_MOMENT = 1_650_000_000
_SECONDS_APART = 600
_NOISE = 0.01
_ROWS_AT_ONCE = 10_000


@cache
def sentences() -> tuple[str, ...]:
    """Return the distinct sentences of 6 to 40 words in the repository's documents and docstrings."""
    texts = [path.read_text("utf-8") for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))]
    for path in sorted((ROOT / "helix").rglob("*.py")):
        texts += re.findall(r'"""(.+?)"""', path.read_text("utf-8"), re.DOTALL)
    found = (" ".join(piece.split()) for text in texts for piece in re.split(r"(?<=[.:;])\s+|\n\n+|\|", text))
    return tuple(dict.fromkeys(sentence for sentence in found if 6 <= len(sentence.split()) <= 40))


class Phrases:
    """Draws phrases, names and files; the same numbers from the same generator give the same text."""

    def __init__(self, rng: random.Random, known: Sequence[str] = ()) -> None:
        self._rng = rng
        self._sentences = known or sentences()
        words = {word.lower() for sentence in self._sentences for word in re.findall(r"[A-Za-z]{4,}", sentence)}
        self._words = sorted(words)

    def part(self, sentence: str, words: int) -> str:
        """Return so many words of a sentence that stand together."""
        all_words = sentence.split()
        start = self._rng.randrange(max(1, len(all_words) - words + 1))
        return " ".join(all_words[start : start + words])

    def name(self, among: int) -> str:
        """Return the name of one of so many things, the first far more often than the last: `ledger.drain_queue`."""
        place = int(math.exp(self._rng.random() * math.log(max(among, 2))))
        choice = random.Random(place)
        return f"{choice.choice(_AREAS)}.{choice.choice(self._words)}_{choice.choice(self._words)}"

    def file(self, among: int) -> str:
        """Return the path of one of so many files in a folder tree."""
        place = int(math.exp(self._rng.random() * math.log(max(among, 2))))
        choice = random.Random(-place)
        folder = f"src/{choice.choice(_AREAS)}/{choice.choice(_PARTS)}"
        return f"{folder}/{choice.choice(self._words)}_{place}.py"

    def question(self) -> str:
        """Return some words that, in this order, nobody has asked for before."""
        chosen = self._rng.sample(self._sentences, 3)
        return " ".join(self.part(sentence, self._rng.randint(3, 5)) for sentence in chosen)


def write(folder: Path, count: int, embedder: Embedder, say: Callable[[str], None]) -> tuple[Path, Path]:
    """Write `count` memories and their vectors as a file of JSON lines and a .npy file; return both paths."""
    known = random.Random(VERSION).sample(sentences(), min(SENTENCES, len(sentences()), max(20, count)))
    say(f"embedding {len(known):,} sentences")
    vectors = np.concatenate([embedder.embed(known[start : start + 50]) for start in range(0, len(known), 50)])
    lines, rows = folder / "memories.jsonl", folder / "memories.npy"
    say(f"writing {count:,} memories")
    chosen = np.random.default_rng(VERSION).integers(0, len(known), (count, 2))
    with lines.open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(memory) + "\n" for memory in _memories(known, chosen))
    np.save(rows, _mixed(vectors, chosen))
    return lines, rows


def _memories(known: Sequence[str], chosen: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> Iterator[object]:
    rng = random.Random(VERSION)
    phrases = Phrases(rng, known)
    names = files = max(10, len(chosen) // 10)
    for place, (first, second) in enumerate(chosen.tolist()):
        trigger, resolution = phrases.part(known[first], 11), phrases.part(known[second], 13)
        if rng.random() < _WITH_NAME:
            trigger += f" `{phrases.name(names)}`"
        if rng.random() < _WITH_SECOND_NAME:
            resolution += f" and `{phrases.name(names)}`"
        yield {
            "id": f"m{place}",
            "trigger": trigger,
            "resolution": resolution,
            "kind": rng.choice(_KINDS),
            "scope": SELECTIVE if place % 100 == 0 else f"project-{min(int(rng.expovariate(0.3)), _SCOPES)}",
            "files": [phrases.file(files)] if rng.random() < _WITH_FILE else [],
            "ts": _FIRST_MOMENT + place * _SECONDS_APART,
        }


def _mixed(vectors: Vectors, chosen: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> Vectors:
    """Return unit rows between the two sentences of each memory, nearer to one of them, and a little beside."""
    rng = np.random.default_rng(VERSION + 1)
    rows = np.empty((len(chosen), vectors.shape[1]), np.float32)
    for start in range(0, len(chosen), _ROWS_AT_ONCE):
        first, second = chosen[start : start + _ROWS_AT_ONCE].T
        share = rng.uniform(0.5, 0.95, (len(first), 1))
        noise = rng.normal(0.0, _NOISE, (len(first), vectors.shape[1]))
        mixed = share * vectors[first] + (1 - share) * vectors[second] + noise
        rows[start : start + _ROWS_AT_ONCE] = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    return rows
