"""The server edition beside the embedded one: the same answers, what a store costs, and homes that are killed."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from benchmarks.machine import described, percentiles
from benchmarks.quality_store import FOLDER
from benchmarks.speed_corpus import Phrases
from helix import settings as configuration
from helix.journal.postgres.at_address import server_at
from helix.memory.remember.request import StoreRequest
from helix.model.edge import Label
from helix.model.operations import PutNode
from helix.model.recall import RecallQuery
from helix.model.requests import request_of
from helix.operations import memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store import moves

_BEGUN, _STORED = "begun", "stored"
MOMENT = datetime(2030, 1, 1, tzinfo=UTC)
"""When questions are asked: scores fall with time, and both editions are asked one after the other."""


def settings_of(home: Path, address: str = "", tenant: str = "main") -> Settings:
    """Return the settings of a home whose journal a server keeps, or a file."""
    return configuration.load({"home": home, "engine": address, "tenant": tenant}, environ={}, cwd=home.parent)


def stored(helix: Helix, words: Phrases, count: int) -> list[float]:
    """Store so many memories; return the seconds that each took."""
    took = []
    for _ in range(count):
        request = StoreRequest(trigger=words.question(), resolution=words.question(), kind="fact", scope="bench")
        begun = time.perf_counter()
        memories.store(helix, request)
        took.append(time.perf_counter() - begun)
    return took


def answers(settings: Settings, questions: Sequence[str]) -> tuple[list[list[tuple[str, float]]], list[float]]:
    """Return the items of each question with their scores, and the seconds that each took."""
    found, took = [], []
    with Helix.open(settings, embedder=HashEmbedder(), clock=lambda: MOMENT) as helix:
        for question in questions:
            begun = time.perf_counter()
            items = helix.recall(RecallQuery(query=question, scope="bench")).items
            took.append(time.perf_counter() - begun)
            found.append([(item.node.id, item.score) for item in items])
    return found, took


class _Told:
    """What the homes of a tenant said that they store."""

    def __init__(self) -> None:
        self.acknowledged = set[str]()
        self.open = ""
        """What was begun last and not acknowledged: the next home is asked for it again, under its key."""
        self.again = 0
        """How often that was so."""

    def line(self, line: str) -> bool:
        """Take in what a home said; return whether it acknowledged something."""
        if not line.endswith("\n"):  # it was killed while it said this
            return False
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == _BEGUN:
            self.open = rest
            return False
        self.acknowledged.add(rest)
        self.open = ""
        return True


def killed(address: str, tenant: str, home: Path, kills: int, seed: int) -> dict[str, Any]:
    """Kill the tenant's home so often while it stores; compare what it acknowledged with what the next home has."""
    draw, told, writable = random.Random(seed), _Told(), []
    for number in range(kills):
        ended = time.monotonic()
        given = (address, tenant, str(home / str(number)), str(seed + number), told.open)
        told.again += bool(told.open)
        program = (sys.executable, "-m", "benchmarks.server", *given)
        with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as home_process:
            assert home_process.stdout is not None
            if not any(map(told.line, home_process.stdout)):
                raise RuntimeError("a home ended by itself")
            if number:
                writable.append(time.monotonic() - ended)
            time.sleep(draw.uniform(0, 1.5))
            home_process.kill()
            for line in home_process.stdout:
                told.line(line)
        click.echo(f"{number + 1} of {kills}: {len(told.acknowledged):,} acknowledged", err=True)
    with Helix.open(settings_of(home / "last", address, tenant), embedder=HashEmbedder()) as helix:
        there = _kept(helix)
        written = {
            (op.props["trigger"], op.id)
            for row in helix.store.journal.rows(0, helix.store.journal.last_seq)
            for op in row.change.operations
            if isinstance(op, PutNode) and op.label is Label.MEMORY
        }
        damaged = helix.store.journal.verify_chain().damaged
        differences = helix.store.journal.compare_state().differences
    return {
        "kills": kills,
        "acknowledged": len(told.acknowledged),
        "sent again": told.again,
        "lost": len(told.acknowledged - there.keys()),
        "doubled memories": len(there) - len(set(there.values())),
        "doubled writes": len(written) - len({trigger for trigger, _ in written}),
        "damaged rows": len(damaged),
        "tables that differ": len(differences),
        "writable after, s": [round(one, 1) for one in sorted(writable)],
    }


def _kept(helix: Helix) -> dict[str, str]:
    """Return what the memories that are there say, by their ids."""
    with helix.store.journal.snapshot() as (_, held):
        return {node.id: str(node.props["trigger"]) for node in held.nodes() if node.label is Label.MEMORY}


@click.command()
@click.argument("address")
@click.option("--memories", "count", default=500, help="Memories to store in each edition.")
@click.option("--questions", "asked", default=1_000, help="Questions to ask both.")
@click.option("--kills", default=20, help="How often a home is killed; each takes some ten seconds.")
@click.option("--seed", default=1, help="Which memories, questions and moments.")
def server(address: str, count: int, asked: int, kills: int, seed: int) -> None:
    """Compare both editions on an empty database of PostgreSQL at ADDRESS, and kill homes.

    \b
    scripts/bench server postgresql://postgres@localhost/bench
    """
    click.echo(described())
    home = FOLDER / "server"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    tag = f"b{int(time.time())}"
    with closing(server_at(address)) as serving:
        serving.migrate()
        for name in ("speed", "kills"):
            serving.create(f"{tag}-{name}")
    for name, engine in (("file", ""), ("server", address), ("file again", "")):
        words = Phrases(random.Random(seed))
        with Helix.open(settings_of(home / name, engine, f"{tag}-speed"), embedder=HashEmbedder()) as helix:
            click.echo(f"store, {name}: {percentiles(stored(helix, words, count))}")
    store, kept = home / "file" / "store", home / "kept"
    shutil.copytree(store, kept / "store")
    moves.carry(str(store), address, f"{tag}-twin", lambda table, rows: None)
    words = Phrases(random.Random(seed + 1))
    questions = [words.question() for _ in range(asked)]
    on_server, took_on_server = answers(settings_of(home / "twin", address, f"{tag}-twin"), questions)
    in_file, took_in_file = answers(settings_of(kept), questions)
    click.echo(f"recall, in a file: {percentiles(took_in_file)}; on the server: {percentiles(took_on_server)}")
    same = sum(one == other for one, other in zip(on_server, in_file, strict=True))
    click.echo(f"{same} of {asked} questions have the same items, order and scores")
    if kills:
        click.echo(killed(address, f"{tag}-kills", home / "kills", kills, seed))


def _be_home(address: str, tenant: str, home: Path, seed: int, begun: str) -> None:
    """Store one memory after another, what was begun before first; say of each when it is begun and stored."""
    home.mkdir(parents=True)
    words = Phrases(random.Random(seed))
    with Helix.open(settings_of(home, address, tenant), embedder=HashEmbedder()) as helix:
        while True:
            said = begun or f"{words.question()} {time.time_ns()}"
            begun = ""
            print(f"{_BEGUN} {said}", flush=True)
            request = StoreRequest(trigger=said, resolution="", kind="fact", scope="bench")
            with helix.store.writer.request(request_of("store", said.rpartition(" ")[2], {"trigger": said}, "")):
                print(f"{_STORED} {memories.store(helix, request).id}", flush=True)


if __name__ == "__main__":
    _be_home(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
