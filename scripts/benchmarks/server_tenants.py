"""Many tenants of a server: what the first answer of one takes that was closed, and what so many open ones hold."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import click
import httpx

from benchmarks.machine import described, percentiles
from benchmarks.quality_store import FOLDER
from benchmarks.server import settings_of, stored
from benchmarks.server_team import RECALL, STORE, Processes
from benchmarks.speed_corpus import Phrases
from helix.journal.postgres.at_address import server_at
from helix.journal.postgres.dialect import tables
from helix.journal.postgres.postgres_server import Server
from helix.model.principal import Role
from helix.server.accounts import Accounts
from helix.service import Helix

_COPIED_AT_ONCE = 100
_REST_SECONDS = 30
"""After these no thread is left that waits for more to do."""


def _copied(server: Server, source: int, targets: Sequence[int]) -> None:
    """Give tenants all the rows of another one."""
    with server.connection() as connection, connection.transaction():
        for table, columns in tables().items():
            if table == "head":
                continue
            names = ", ".join(f'"{name}"' for name in columns if name != "rowid")
            chosen = f"SELECT to_, {names} FROM {table}, unnest($1::bigint[]) AS made(to_) WHERE tenant = $2"
            connection.execute(f"INSERT INTO {table} (tenant, {names}) {chosen}".encode(), (list(targets), source))
        connection.execute(
            "UPDATE head SET seq = from_.seq, chain = from_.chain FROM head from_"
            " WHERE head.tenant = ANY($1) AND from_.tenant = $2",
            (list(targets), source),
        )


def held(pid: int | str) -> dict[str, int]:
    """Return what a process holds: resident MB, and threads."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    told = {
        line.partition(":")[0]: line.split()[1] for line in status.splitlines() if line.startswith(("VmRSS", "Thr"))
    }
    return {"resident MB": int(told["VmRSS"]) // 1024, "threads": int(told["Threads"])}


@click.command()
@click.argument("address")
@click.option("--tenants", "count", default=1_000)
@click.option("--open", "opened", default=1_000, help="How many of them are opened, at most.")
@click.option("--memories", default=1_000, help="Of each tenant.")
@click.option("--cold", default=200, help="First answers of closed tenants to measure, one after the other.")
@click.option("--seed", default=1)
def tenants(address: str, count: int, opened: int, memories: int, cold: int, seed: int) -> None:
    """Measure many tenants on an empty database of PostgreSQL at ADDRESS.

    \b
    scripts/bench tenants postgresql://postgres@localhost/bench
    """
    click.echo(described())
    folder, tag, draw = FOLDER / "tenants", f"n{int(time.time())}", random.Random(seed)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with closing(server_at(address)) as server:
        server.migrate()
        first = server.create(f"{tag}-0")
        settings = settings_of(folder / "first", address, first.slug)
        with Helix.open(settings, embedder=None) as helix:
            stored(helix, Phrases(draw), memories)
            helix.worker.flush()
            helix.worker.settle()  # else every copy would have this work to do while it is measured
        accounts = Accounts(server)
        made = [first, *(server.create(f"{tag}-{number}") for number in range(1, count))]
        for at in range(1, count, _COPIED_AT_ONCE):
            _copied(server, first.id, [tenant.id for tenant in made[at : at + _COPIED_AT_ONCE]])
            click.echo(f"{at + _COPIED_AT_ONCE - 1:,} tenants", err=True)
        draw.shuffle(made)
        keys = [accounts.create_key(tenant, "bench", Role.EDITOR, by="the benchmark") for tenant in made[:opened]]
        with server.connection() as connection:
            connection.execute("ANALYZE")
        processes = Processes(folder, address, 1)
        try:
            url, pid = processes.urls[0], processes.pids[0]
            words = Phrases(draw)
            client = httpx.Client(timeout=60, trust_env=False)

            def asked(key: str, document: str = RECALL) -> float:
                variables = {"q": words.question(), "t": "one more", "r": "so it is", "k": key}
                begun = time.perf_counter()
                answer = client.post(
                    f"{url}/graphql",
                    json={"query": document, "variables": variables},
                    headers={"authorization": f"Bearer {key}"},
                ).json()
                if "errors" in answer:
                    raise RuntimeError(answer)
                return time.perf_counter() - begun

            click.echo(f"nothing open: {held(pid)}")
            click.echo(f"first answer: {percentiles([asked(key) for key in keys[:cold]])}")
            click.echo(f"second answer: {percentiles([asked(key) for key in keys[:cold]])}")
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(asked, keys[cold:]))
            with server.connection() as connection:
                (used,) = connection.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'helix'"
                    " AND datname = current_database()"
                ).fetchone() or (0,)
            open_now = f"{len(keys)} of {count} open, of {memories} memories each"
            click.echo(f"{open_now}: {held(pid)}, connections of all processes: {used}")
            for clients in (16, 64):
                begun, asked_in_all = time.perf_counter(), 20 * clients
                with ThreadPoolExecutor(clients) as pool:
                    took = list(pool.map(lambda _: asked(draw.choice(keys[:100])), range(asked_in_all)))
                rate = asked_in_all / (time.perf_counter() - begun)
                click.echo(f"{clients} clients, 100 tenants, 1 process: {rate:.0f} answers/s, {percentiles(took)}")
            click.echo(
                f"store in {min(cold, len(keys))} of them: {percentiles([asked(key, STORE) for key in keys[:cold]])}"
            )
            click.echo(f"with those written to: {held(pid)}")
            time.sleep(_REST_SECONDS)
            click.echo(f"at rest: {held(pid)}")
        finally:
            processes.end()
