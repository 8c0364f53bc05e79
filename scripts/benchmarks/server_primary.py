"""A primary that is killed among writes: how soon its tenant is written again once the standby is promoted."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import click
import httpx

from benchmarks.machine import described, percentiles
from benchmarks.quality_store import FOLDER
from benchmarks.server_team import KEPT, STORE, Processes
from benchmarks.speed_corpus import Phrases
from helix.journal.postgres.at_address import server_at
from helix.model.principal import Role
from helix.server.accounts import Accounts
from tests.journal.test_standby import with_standby
from tests.postgres_cluster import Cluster, running

_PATIENCE = 60.0
_FIRST = 20
"""Memories that are stored before the primary is killed."""
_PAUSE = 0.02


class _Client:
    """Stores one memory after another, each under a key of its own; sends again what was not acknowledged."""

    def __init__(self, url: str, key: str, words: Phrases) -> None:
        self._url = f"{url}/graphql"
        self._words = words
        self._client = httpx.Client(timeout=_PATIENCE, trust_env=False, headers={"authorization": f"Bearer {key}"})
        self.acknowledged: set[str] = set()
        self._open: dict[str, str | None] | None = None
        self.at = 0.0
        """When one was acknowledged last."""

    def store(self) -> bool:
        """Store one; return whether that was acknowledged."""
        if self._open is None:
            key = f"{random.getrandbits(64):x}"
            self._open = {"t": f"{self._words.question()} {key}", "r": "so it is", "k": key}
        answer = self._asked(STORE, self._open)
        if "errors" in answer:
            return False
        self._open = None
        self.acknowledged.add(answer["data"]["store"]["result"]["id"])
        self.at = time.monotonic()
        return True

    def store_on(self, stopped: threading.Event) -> None:
        """Store one after the other, whatever comes of them."""
        while not stopped.is_set():
            if not self.store():
                time.sleep(_PAUSE)

    def kept(self) -> dict[str, str]:
        """Return what all memories that are there say, by their ids."""
        found, after = dict[str, str](), None
        while True:
            page = self._asked(KEPT, {"after": after})["data"]["memories"]
            found |= {edge["node"]["id"]: edge["node"]["trigger"] for edge in page["edges"]}
            if not page["pageInfo"]["hasNextPage"]:
                return found
            after = page["pageInfo"]["endCursor"]

    def _asked(self, document: str, variables: Mapping[str, str | None]) -> dict[str, Any]:
        asked = self._client.post(self._url, json={"query": document, "variables": variables})
        answer: dict[str, Any] = asked.json()
        return answer


def _killed(serving: Cluster, client: _Client) -> tuple[Cluster, float, float]:
    """Kill a primary; return the promoted standby, how long none served, and from then to the next store, seconds."""
    standby = with_standby(serving)
    before, stopped = len(client.acknowledged), threading.Event()
    storing = threading.Thread(target=client.store_on, args=(stopped,))
    storing.start()
    while len(client.acknowledged) < before + _FIRST:
        time.sleep(_PAUSE)
    serving.kill()
    killed = time.monotonic()
    standby.run("pg_ctl", "-D", str(standby.data), "-w", "promote")
    promoted = time.monotonic()
    while client.at <= promoted:
        if time.monotonic() > promoted + _PATIENCE:
            raise RuntimeError("the tenant has not been written again")
        time.sleep(_PAUSE)
    seconds = client.at - promoted
    stopped.set()
    storing.join()
    return standby, promoted - killed, seconds


@click.command()
@click.option("--kills", default=50, help="How often the primary is killed; each takes some ten seconds.")
@click.option("--seed", default=1, help="Which memories.")
def primary(kills: int, seed: int) -> None:
    """Kill the primary of a quorum so often and promote its standby, while one process serves a tenant of it."""
    click.echo(described())
    folder = FOLDER / "primary"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    took = list[float]()
    with running() as first:
        with closing(server_at(first.address)) as server:
            server.migrate()
            key = Accounts(server).create_key(server.create("team"), "bench", Role.EDITOR, by="the benchmark")
        ports = range(first.port, first.port + kills + 1)
        places = f"host={','.join(str(first.folder) for _ in ports)}&port={','.join(map(str, ports))}"
        address = f"postgresql://postgres@/postgres?{places}&target_session_attrs=read-write"
        processes, serving = Processes(folder, address, 1), first
        try:
            client = _Client(processes.urls[0], key, Phrases(random.Random(seed)))
            for number in range(kills):
                old = serving
                serving, without, seconds = _killed(old, client)
                took.append(seconds)
                shutil.rmtree(old.data)
                told = f"{len(client.acknowledged):,} acknowledged, no primary for {without:.1f} s"
                click.echo(f"{number + 1} of {kills}: {told}, written {seconds:.2f} s later", err=True)
            kept = client.kept()
        finally:
            processes.end()
            if serving is not first:
                serving.stop()
    lost, doubled = client.acknowledged - kept.keys(), len(kept) - len(set(kept.values()))
    click.echo(f"{len(client.acknowledged):,} acknowledged, {len(lost)} lost, {doubled} doubled")
    click.echo(f"from the promotion to a store that is acknowledged: {percentiles(took)}")
