"""Point in time: one tenant as it was before a mistake, out of the server's own archive, beside all that came since."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from helix import settings as configuration
from helix.journal.postgres.postgres_server import Server
from helix.memory.remember.request import StoreRequest
from helix.operations import memories
from helix.service import Helix, open_embedded
from helix.store import moves
from tests.postgres_cluster import NEWEST, Cluster, running
from tests.waiting import until


@pytest.fixture
def archived() -> Iterator[Cluster]:
    """A server that archives what it writes, as operators have theirs do."""
    archive = "mkdir -p ../archived && cp %p ../archived/%f"
    with running(NEWEST, "archive_mode=on", f"archive_command='{archive}'", "archive_timeout=1s") as cluster:
        yield cluster


def _store(helix: Helix, words: str) -> str:
    return memories.store(helix, StoreRequest(trigger=words, resolution="so it is", kind="fact", scope="shop")).id


def _restored(cluster: Cluster, moment: str) -> Cluster:
    """Return the server as it was at a moment, started beside the other one."""
    beside = replace(cluster, port=cluster.port + 1)
    base = cluster.folder / "base"
    base.rename(beside.data)
    with (beside.data / "postgresql.auto.conf").open("a") as settings:
        settings.write(f"\nrestore_command = 'cp ../archived/%f %p'\nrecovery_target_time = '{moment}'\n")
        settings.write("recovery_target_action = 'promote'\narchive_mode = off\n")
    (beside.data / "recovery.signal").touch()
    beside.start()
    with psycopg.connect(beside.address, autocommit=True) as asked:
        until(lambda: asked.execute("SELECT NOT pg_is_in_recovery()").fetchone() == (True,))
    return beside


@pytest.mark.soak
def test_one_tenant_goes_back_to_before_a_mistake(archived: Cluster, tmp_path: Path) -> None:
    told = {"home": tmp_path / "home", "engine": archived.address, "tenant": "shop", "embedding_model": "none"}
    settings = configuration.load(told, environ={}, cwd=tmp_path)
    with closing(Server(archived.address)) as server, psycopg.connect(archived.address, autocommit=True) as asked:
        server.migrate()
        server.create("shop")
        connect = f"host={archived.folder} port={archived.port} user=postgres"
        with Helix.open(settings) as helix:
            kept = {_store(helix, f"thing {number} before") for number in range(5)}
            archived.run("pg_basebackup", "-D", str(archived.folder / "base"), "-d", connect, "-c", "fast")
            kept |= {_store(helix, f"thing {number} after the backup") for number in range(5)}
            (moment,) = asked.execute("SELECT clock_timestamp()::text").fetchone() or ("",)
            for one in kept:  # the mistake
                memories.forget(helix, one)
            late = _store(helix, "what came later")
        (file,) = asked.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchone() or ("",)
        until(lambda: (archived.folder / "archived" / file).exists())
    beside = _restored(archived, moment)
    try:
        moves.carry(beside.address, str(tmp_path / "back"), "shop", lambda table, rows: None)
    finally:
        beside.stop()
    with open_embedded(tmp_path / "back", home=tmp_path / "other", embedding_model="none") as helix:
        wanted = memories.MemoryFilter(scope="shop")
        there = {one.id for one in memories.memories(helix, wanted).items}
        assert there == kept
        assert helix.store.journal.verify_chain().damaged == ()
    with Helix.open(settings) as helix:
        there = {one.id for one in memories.memories(helix, memories.MemoryFilter(scope="shop")).items}
        assert there == {late}
