"""Stores to ask: a set ingested through Helix's own import, in a home that is thrown away, or kept for the next run."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.machine import share_models
from benchmarks.quality_data import SOURCE, EvaluationSet, in_scope
from benchmarks.vectors import KeptVectors
from helix import settings as configuration
from helix.errors import ModelError, StoreError
from helix.model.reports import JobState
from helix.operations import ingest, upkeep
from helix.providers import install
from helix.providers.choose import embedder_for
from helix.providers.embedder import Embedder
from helix.providers.model_catalogue import KNOWN, RERANKER
from helix.service import Helix

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "bench"
_PAUSE = 0.05
_TELL_EVERY = 5.0
# What decides how a store is asked, and not what is in it.
_READING = frozenset({"api", "cli", "client.py", "daemon.py", "hooks", "recall", "service.py"})

Say = Callable[[str], None]


def models_folder(*, rerank: bool) -> Path:
    """Return a folder with the models that are set, those of this machine's home or, installed if need be, of `build`.

    Raises ModelError where they cannot be had.
    """
    settings = configuration.load()
    names = (settings.embedding_model, *([RERANKER.name] if rerank else []))
    wanted = [KNOWN[name] for name in names if name in KNOWN]
    if all(install.is_complete(model, settings.models_path / model.name) for model in wanted):
        return settings.models_path
    install.install_all(wanted, ROOT / "build" / "models")
    return ROOT / "build" / "models"


@contextmanager
def real_embedder(models: Path) -> Iterator[Embedder]:
    """Yield the embedding model that is set, behind a file of vectors.

    Raises ModelError where there is none: a comparison without vectors would measure something else.
    """
    choice = embedder_for(configuration.load({"home": models.parent}))
    if choice.embedder is None:
        raise ModelError(f"quality is measured with an embedding model: {choice.reason}")
    with closing(KeptVectors(choice.embedder, FOLDER / "vectors.db")) as kept:
        yield kept


class Stores:
    """Opens stores of evaluation sets; one in `kept` is taken up again while nothing that writes it has changed.

    `models` is where the other models of a store are, the cross-encoder for one.
    """

    def __init__(
        self, embedder: Embedder, recipes: Mapping[str, Any], say: Say, *, models: Path | None, kept: Path | None
    ) -> None:
        self._embedder = embedder
        self._models = models
        self._recipes = recipes
        self._say = say
        self._kept = kept

    @contextmanager
    def holding(self, data: EvaluationSet, *, pooled: bool) -> Iterator[tuple[Helix, int]]:
        """Yield an open service with the set in it, and how many lines of it were refused.

        Each haystack is in a scope of its own unless the set is pooled.
        """
        with tempfile.TemporaryDirectory() as passing:
            home = Path(passing) if self._kept is None else self._kept / f"{data.name}{'-pooled' if pooled else ''}"
            filled, digest = home / "filled", self._digest(data, pooled)
            known = filled.read_text("ascii").split() if filled.exists() else []
            refused = int(known[1]) if len(known) == 2 and known[0] == digest else None
            if refused is None:
                shutil.rmtree(home, ignore_errors=True)
                home.mkdir(parents=True)
            if self._models is not None:
                share_models(home, self._models)
            settings = configuration.load({"home": home, "db_path": home / "store", "recipes": self._recipes})
            with Helix.open(settings, embedder=self._embedder) as helix:
                if refused is None:
                    refused = self._fill(helix, data, pooled, home)
                    filled.write_text(f"{digest} {refused}", "ascii")
                yield helix, refused

    def _fill(self, helix: Helix, data: EvaluationSet, pooled: bool, home: Path) -> int:
        """Take the set in; return how many of its lines were refused."""
        path = home / "passages.jsonl"
        path.write_text("\n".join(_lines(data, pooled)), "utf-8")
        job = ingest.ingest_bulk(helix, str(path), source=SOURCE)
        told = 0.0
        while job.state is JobState.RUNNING:
            time.sleep(_PAUSE)
            job = upkeep.job(helix, job.id)
            if time.monotonic() - told > _TELL_EVERY:
                told = time.monotonic()
                self._say(f"{data.name}: {job.message or 'taking in'} {job.done} of {job.total}")
        path.unlink()
        if job.state is not JobState.DONE:
            raise StoreError(f"{data.name} was not ingested: {job.error}")
        refused = len(job.result["problems"])
        self._say(f"{data.name}: {job.result['episodes']} passages, {refused} lines refused")
        return refused

    def _digest(self, data: EvaluationSet, pooled: bool) -> str:
        """Return what stands for all that decides what is in a store: passages, their scopes, the model, the code."""
        digest = hashlib.sha256(self._embedder.space.digest.encode())
        for line in _lines(data, pooled):
            digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
        package = ROOT / "helix"
        for path in sorted(package.rglob("*.py")):
            if path.relative_to(package).parts[0] not in _READING:
                digest.update(path.read_bytes())
        return digest.hexdigest()


def haystack_scope(data: EvaluationSet, question: str) -> str:
    """Return the scope that the haystack of a question is in."""
    return f"haystack {list(data.haystacks).index(question) + 1}"


def _lines(data: EvaluationSet, pooled: bool) -> Iterator[str]:
    """Yield what is ingested: the corpus as it is, or each haystack's part of it, in the haystack's scope."""
    if pooled or not data.haystacks:
        yield from data.lines
        return
    for question, places in data.haystacks.items():
        scope = haystack_scope(data, question)
        yield from (in_scope(data.lines[place], scope) for place in places)
