"""One very large tenant of a server: what it takes to open, hold and ask, with an index of vectors and without."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks import speed_corpus
from benchmarks.machine import described, percentiles
from benchmarks.quality_store import FOLDER
from benchmarks.server import settings_of, stored
from benchmarks.server_tenants import held
from benchmarks.speed_corpus import SELECTIVE, Phrases
from helix.ingest import sources
from helix.journal.postgres.at_address import server_at
from helix.journal.postgres.postgres_server import Server
from helix.model.recall import RecallQuery
from helix.model.reports import JobState
from helix.providers.fakes import HashEmbedder
from helix.recall.vector import vector_arm
from helix.service import Helix
from helix.settings import Settings

_DIMENSION = 384
_TOP = 20
_TOLD_SECONDS = 60.0
_COPIED = {
    "node": "label, id || {mark}, props",
    "edge": "type, source_label, source || {mark}, target_label, target || {mark}, props",
    "passage": "number + {numbers}, replace(id, '#', {mark} || '#'), owner_label, owner || {mark}, text",
    "vector": "space, number + {numbers}, vector",
    "token": "number + {numbers}, tokens",
}
"""Tables with the columns of a copy of their rows, in their order."""
_FIRST = {
    "node": "strpos(id, '~') = 0",
    "edge": "strpos(source, '~') = 0",
    **dict.fromkeys(("passage", "vector", "token"), "number < {numbers}"),
}


def _opened(settings: Settings) -> Helix:
    return Helix.open(replace(settings, one_of_many=True), embedder=HashEmbedder(_DIMENSION))


def _filled(settings: Settings, count: int, say: Callable[[str], None]) -> float:
    """Have so many memories imported in bulk, with their vectors; return the seconds of the import alone."""
    lines, vectors = speed_corpus.write(settings.home, count, HashEmbedder(_DIMENSION), say)
    with _opened(settings) as helix:
        work = sources.bulk(helix.store, str(lines), vectors=str(vectors), scope=None, source="large", agent="")
        begun = time.perf_counter()
        job = helix.jobs.start("bulk", work)
        while (now := helix.jobs.get(job.id)).state is JobState.RUNNING:
            say(f"{now.done:,} of {now.total:,} lines")
            time.sleep(_TOLD_SECONDS if count > 100_000 else 1)
        if now.error:
            raise RuntimeError(now.error)
        took = time.perf_counter() - begun
        helix.worker.settle()
    lines.unlink()
    vectors.unlink()
    return took


def _multiplied(server: Server, tenant: int, copies: int) -> None:
    """Have a tenant hold all its rows so many times, under other ids; its log tells of the first alone."""
    with server.connection() as connection:
        found = connection.execute("SELECT max(number) + 1 FROM passage WHERE tenant = $1", (tenant,)).fetchone()
        (numbers,) = found or (0,)
        for copy in range(1, copies):
            for table, columns in _COPIED.items():
                taken = columns.format(mark=f"'~{copy}'", numbers=copy * numbers)
                statement = f"INSERT INTO {table} SELECT tenant, {taken} FROM {table} WHERE tenant = $1"
                first = f" AND {_FIRST[table].format(numbers=numbers)}"
                connection.execute((statement + first).encode(), (tenant,))


def _asked(settings: Settings, questions: int, seed: int) -> dict[str, Any]:
    """Open the tenant, ask it, and store in it."""
    begun = time.perf_counter()
    with _opened(settings) as helix:
        told: dict[str, Any] = {"opened in, s": round(time.perf_counter() - begun, 1), "held": held("self")}
        words, took = Phrases(random.Random(seed)), {"all": [0.0][:0], "a scope of 1 %": [0.0][:0]}
        for _ in range(questions):
            for name, scope in (("all", None), ("a scope of 1 %", SELECTIVE)):
                begun = time.perf_counter()
                helix.recall(RecallQuery(query=words.question(), scope=scope))
                took[name].append(time.perf_counter() - begun)
        told |= {f"recall, {name}": percentiles(seconds) for name, seconds in took.items()}
        told["vector arm"] = _vector_arm(helix, words, questions)
        return told | {"store": percentiles(stored(helix, words, questions)), "held at the end": held("self")}


def _vector_arm(helix: Helix, words: Phrases, questions: int) -> dict[str, Any]:
    """Compare what the index finds with what an exact scan does; without an index both are the scan."""
    view, shared, took = helix.store.catalogue.view, 0, {0: [0.0][:0], sys.maxsize: [0.0][:0]}
    mask, note = np.ones(view.count, np.bool_), ""
    for _ in range(questions):
        vector, found = HashEmbedder(_DIMENSION).embed([words.question()])[0], []
        for exact_below, seconds in took.items():
            begun = time.perf_counter()
            ranked, said = vector_arm(view, mask, helix.store.vectors, vector, exact_below=exact_below)
            seconds.append(time.perf_counter() - begun)
            found.append(set(ranked.rows[:_TOP].tolist()))
            note = note or said
        shared += len(found[0] & found[1])
    by_index, by_scan = took.values()
    same = round(shared / questions / _TOP, 4)
    return {f"recall@{_TOP}": same, "index": percentiles(by_index), "scan": percentiles(by_scan), "note": note}


@click.command()
@click.argument("address")
@click.option("--memories", "count", default=1_000_000)
@click.option("--copies", default=1, help="Import so much less, and have the tables hold it so many times.")
@click.option("--questions", default=200)
@click.option("--seed", default=1)
def large(address: str, count: int, copies: int, questions: int, seed: int) -> None:
    """Measure one tenant of many memories in an empty database of PostgreSQL with pgvector, at ADDRESS.

    \b
    scripts/bench large postgresql://postgres@localhost/bench
    """
    click.echo(described())
    home, slug = FOLDER / "large", f"large-{int(time.time())}"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    settings = settings_of(home, address, slug)
    with closing(server_at(address)) as server:
        server.migrate()
        tenant = server.create(slug)
        imported = count // copies
        seconds = _filled(settings, imported, lambda text: click.echo(text, err=True))
        click.echo(f"{imported:,} memories imported in {seconds:.0f} s, {imported / seconds:,.0f} lines/s")
        _multiplied(server, tenant.id, copies)
        with server.connection() as connection:
            connection.execute("ANALYZE")
            (size,) = connection.execute("SELECT pg_database_size(current_database())").fetchone() or (0,)
        click.echo(f"in the database {size >> 20:,} MB; beside it {_size(home) >> 20:,} MB")
        for image in home.rglob("memory.image"):
            image.unlink()
        for name in ("from rows", "from the image", "with the index"):
            if name == "with the index":
                begun = time.perf_counter()
                vectors = server.index_vectors(slug)
                with server.connection() as connection:
                    size_of = f"SELECT pg_total_relation_size('nearest_{tenant.id}_1')"
                    (size,) = connection.execute(size_of.encode()).fetchone() or (0,)
                took = time.perf_counter() - begun
                click.echo(f"the index of {vectors:,} vectors took {took:.0f} s and {size >> 20:,} MB")
            words = (
                sys.executable,
                "-m",
                "benchmarks.server_large",
                address,
                slug,
                str(home),
                str(questions),
                str(seed),
            )
            told = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout)
            click.echo(f"{name}:")
            for key, value in told.items():
                click.echo(f"  {key}: {value}")


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    _address, _slug, _home, _questions, _seed = sys.argv[1:]
    print(json.dumps(_asked(settings_of(Path(_home), _address, _slug), int(_questions), int(_seed))))
