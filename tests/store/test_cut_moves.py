"""Moves that are killed on the way: at no moment both places take writes, and the same command ends them well."""

from __future__ import annotations

import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from helix import settings as configuration
from helix.errors import HelixError, InvalidInputError, NotFoundError, StoreError, StoreLockedError
from helix.journal.backend import DatabaseConnection
from helix.journal.database import Database
from helix.journal.postgres import audit, home
from helix.journal.postgres.postgres_server import Server
from helix.journal.postgres.tenant_database import TenantDatabase
from helix.journal.postgres.tenant_states import INCOMING, MOVED, SUSPENDED
from helix.memory.remember.request import StoreRequest
from helix.operations import memories
from helix.server.accounts import Accounts
from helix.service import Helix
from helix.settings import Settings
from helix.store import moves, moving
from helix.store.engine import JOURNAL_NAME
from helix.store.store import Store
from tests.machine import Machine
from tests.postgres_cluster import running
from tests.sampling import some
from tests.waiting import until

_ALL = 4
"""So many writes say that a store has moved: each may be the last one that comes through."""


MOMENTS: tuple[str | int, ...] = ("node", "meta", *range(_ALL))
TOLD = some(MOMENTS, 2)
"""While rows are carried, once all are, and when all but the last write is done; in a soak at every moment."""


class Killed(BaseException):
    """Ends a move as a kill does: nothing is written any more."""


class Writes:
    """Counts what is written in either place once all is carried, and lets no more than so many through."""

    def __init__(self, patch: pytest.MonkeyPatch, most: int) -> None:
        self._most, self._carried, self.done = most, False, 0
        for owner in (Database, TenantDatabase):
            patch.setattr(owner, "transaction", self._transaction(owner.transaction))
        patch.setattr(Server, "set_state", self._call(Server.set_state))
        patch.setattr(audit, "set_state", self._call(audit.set_state))
        patch.setattr(moving, "move", self._move(moving.move))

    def _count(self) -> None:
        if self._carried and self.done >= self._most:
            raise Killed
        self.done += self._carried

    def _move(self, real: Callable[..., moving.Moved]) -> Callable[..., moving.Moved]:
        def carried(*values: Any) -> moving.Moved:
            moved = real(*values)
            self._carried = True
            return moved

        return carried

    def _transaction(self, real: Callable[..., Any]) -> Callable[..., Any]:
        @contextmanager
        def counted(*values: Any, **named: Any) -> Iterator[DatabaseConnection]:
            self._count()
            with real(*values, **named) as connection:
                yield connection

        return counted

    def _call(self, real: Callable[..., None]) -> Callable[..., None]:
        def counted(*values: Any) -> None:
            self._count()
            real(*values)

        return counted


@pytest.fixture
def places(server: Server, tmp_path: Path) -> tuple[Settings, Settings]:
    """A store in a folder, and as a tenant of a server."""
    given: list[dict[str, str]] = [{}, {"engine": server.url, "tenant": f"cut{len(server.tenants())}"}]
    settings = [
        configuration.load(
            {"home": tmp_path / f"home{number}", "embedding_model": "none", **one}, environ={}, cwd=tmp_path
        )
        for number, one in enumerate(given)
    ]
    with Helix.open(settings[0]) as helix:
        stored(helix, "before")
    return settings[0], settings[1]


def stored(helix: Helix, words: str) -> str:
    return memories.store(helix, StoreRequest(trigger=words, resolution="so it is", kind="fact", scope="shop")).id


def names(settings: Settings) -> set[str] | None:
    """Return what a store holds that can be written; None for one that is not opened."""
    try:
        with Helix.open(settings) as helix:
            return {one.trigger for one in memories.memories(helix, first=50).items}
    except HelixError:
        return None


def carried_until(moment: str | int, monkeypatch: pytest.MonkeyPatch, source: str, target: str, tenant: str) -> None:
    """Carry a store, and be killed at a table that is carried, or with so many writes done once all are."""

    def kill(table: str, rows: int) -> None:
        if table == moment:
            raise Killed

    with monkeypatch.context() as patch:
        writes = Writes(patch, moment if isinstance(moment, int) else _ALL)
        moves.carry(source, target, tenant, kill)
    assert writes.done == _ALL


@pytest.mark.soak
def test_a_move_that_is_killed_leaves_one_place_to_write_and_is_ended_by_another_try(
    server: Server, places: tuple[Settings, Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    where, opened, told = [str(places[0].store_path), server.url], list(places), {"before"}

    def carried(moment: str | int) -> None:
        carried_until(moment, monkeypatch, where[0], where[1], places[1].tenant)

    for moment in MOMENTS:
        for _ in ("there", "and back"):
            with pytest.raises(Killed):
                carried(moment)
            source, target = (names(one) for one in opened)
            assert target is None, moment
            assert source == (None if isinstance(moment, int) and moment > 1 else told), moment
            if source is not None:  # it goes on being used, and what is told it meanwhile is carried, too
                told.add(f"told {len(told)} times")
                with Helix.open(opened[0]) as helix:
                    stored(helix, f"told {len(told) - 1} times")
            carried("never")
            assert [names(one) for one in opened] == [None, told], moment
            where.reverse()
            opened.reverse()


@pytest.mark.soak
@pytest.mark.parametrize("moment", TOLD)
def test_a_cut_move_goes_on_however_its_places_are_written(
    server: Server, places: tuple[Settings, Settings], monkeypatch: pytest.MonkeyPatch, moment: str | int
) -> None:
    folder, tenant = places[0].store_path, places[1].tenant
    with pytest.raises(Killed):
        carried_until(moment, monkeypatch, str(folder), server.url, tenant)
    renamed = folder.rename(folder.with_name("renamed"))
    again = server.url.replace("postgresql://", "postgres://")
    with pytest.raises(Killed):
        carried_until(moment, monkeypatch, str(renamed), again, tenant)
    moves.carry(str(renamed), server.url, tenant, lambda table, rows: None)
    assert names(places[1]) == {"before"}


@pytest.mark.parametrize("left", some(range(2, _ALL), 1))
def test_a_tenant_that_has_left_is_not_served_again_though_its_move_was_cut_off(
    server: Server, places: tuple[Settings, Settings], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, left: int
) -> None:
    folder, tenant = str(places[0].store_path), places[1].tenant
    moves.carry(folder, server.url, tenant, lambda table, rows: None)
    server.set_state(server.tenant(tenant).id, SUSPENDED)
    with pytest.raises(Killed):
        carried_until(left, monkeypatch, server.url, folder, tenant)
    operator = Machine(tmp_path / "operator", {"HELIX_ENGINE": server.url})
    assert "the same `helix migrate` once more" in operator.run("tenant", "resume", tenant).stderr
    assert server.tenant(tenant).state == MOVED
    moves.carry(server.url, folder, tenant, lambda table, rows: None)
    assert names(places[0]) == {"before"}


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE node SET props = json_replace(props, '$.confidence', 'much')",
        "UPDATE log SET payload = zeroblob(0)",  # what the test puts there instead: a row that unpacks to much
    ],
)
def test_a_folder_that_says_what_helix_does_not_write_is_not_carried_to_a_server(
    server: Server, places: tuple[Settings, Settings], change: str
) -> None:
    folder, tenant = places[0].store_path, places[1].tenant
    with closing(sqlite3.connect(folder / JOURNAL_NAME, isolation_level=None)) as connection:
        connection.execute(change)
        bomb = zlib.compress(b'{"ops": [], "pad": [' + b"[]," * 6_000_000 + b"0]}", 1)
        connection.execute("UPDATE log SET payload = ? WHERE length(payload) = 0", (bomb,))
    with pytest.raises(InvalidInputError, match=r"does not write|more than Helix writes"):
        moves.carry(str(folder), server.url, tenant, lambda table, rows: None)
    assert tenant not in {one.slug for one in server.tenants()}


def test_a_suspended_tenant_that_is_empty_stays_suspended_when_a_store_arrives(
    server: Server, places: tuple[Settings, Settings]
) -> None:
    made = server.create(places[1].tenant, SUSPENDED)
    assert moves.carry(str(places[0].store_path), server.url, made.slug, lambda table, rows: None).suspended
    assert server.tenant(made.slug).state == SUSPENDED


@pytest.mark.parametrize("moment", ["never", *TOLD])
def test_a_tenant_comes_back_in_the_state_in_which_it_left_and_the_audit_says_that_it_moved(
    server: Server, places: tuple[Settings, Settings], monkeypatch: pytest.MonkeyPatch, moment: str | int
) -> None:
    folder, tenant = str(places[0].store_path), places[1].tenant
    comes = moves.carry(folder, server.url, tenant, lambda table, rows: None, "ada")
    assert not comes.suspended
    server.set_state(server.tenant(tenant).id, SUSPENDED)
    if moment != "never":
        with pytest.raises(Killed):
            carried_until(moment, monkeypatch, server.url, folder, tenant)
    moves.carry(server.url, folder, tenant, lambda table, rows: None, "ada")
    assert names(places[0]) == {"before"}
    if moment != "never":
        with pytest.raises(Killed):
            carried_until(moment, monkeypatch, folder, server.url, tenant)
    back = moves.carry(folder, server.url, tenant, lambda table, rows: None, "ada")
    assert back.suspended
    assert server.tenant(tenant).state == SUSPENDED
    told = Accounts(server).audit(tenant)
    said = [action for action, _ in groupby(one.action for one in told)]  # a move that is ended anew says so again
    assert said == ["tenant.arrived", "tenant.moved", "tenant.arrived"]
    assert told[-1].actor == "ada"
    assert told[-1].detail == {"rows": comes.rows["log"], "chain": comes.chain}
    assert folder not in str(told)


@pytest.mark.parametrize("moment", TOLD)
@pytest.mark.parametrize("from_server", some([True, False], 1))
def test_what_arrived_whole_is_opened_although_its_source_is_gone(
    server: Server,
    places: tuple[Settings, Settings],
    monkeypatch: pytest.MonkeyPatch,
    moment: str | int,
    from_server: bool,
) -> None:
    where, opened, tenant = [str(places[0].store_path), server.url], list(places), places[1].tenant
    if from_server:
        moves.carry(*where, tenant, lambda table, rows: None)
        where.reverse()
        opened.reverse()
    with pytest.raises(Killed):
        carried_until(moment, monkeypatch, *where, tenant)
    with pytest.raises(StoreError, match="the source of this move is there"):
        moves.end(where[1], tenant)
    if from_server:
        server.delete(server.tenant(tenant).id)
    else:
        shutil.rmtree(where[0])
    with pytest.raises(NotFoundError):
        moves.carry(*where, tenant, lambda table, rows: None)
    if from_server:  # another store may be in its place by then
        server.create(tenant)
    else:
        names(opened[0])
    if isinstance(moment, str) or moment == 0:
        with pytest.raises(StoreError, match="not all of the store"):
            moves.end(where[1], tenant)
        assert names(opened[1]) is None
        return
    moves.end(where[1], tenant)
    assert names(opened[1]) == {"before"}
    with pytest.raises(InvalidInputError, match="no move to here was cut off"):
        moves.end(where[1], tenant)


@pytest.mark.soak
def test_a_source_that_cannot_be_asked_is_gone_when_the_operator_says_so_alone(
    server: Server, places: tuple[Settings, Settings], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder, tenant = str(places[0].store_path), places[1].tenant
    with running() as cluster, closing(Server(cluster.address)) as far:
        far.migrate()
        moves.carry(folder, far.url, tenant, lambda table, rows: None)
        far.set_state(far.tenant(tenant).id, SUSPENDED)
        with pytest.raises(Killed):
            carried_until(1, monkeypatch, far.url, folder, tenant)
        cluster.stop()
        words = ("migrate", "--source-gone", "--to", folder, "--tenant", tenant)
        operator = Machine(tmp_path / "operator")
        told = operator.run(*words).stderr
        assert "whether the source of this move is gone cannot be told" in told
        assert "--yes" in told
        assert names(places[0]) is None
        cluster.start()
        assert "the source of this move is there" in operator.run(*words, "--yes").stderr
        cluster.stop()
        operator(*words, "--yes")
    assert names(places[0]) == {"before"}


def test_a_source_that_a_backup_brought_back_is_there(
    places: tuple[Settings, Settings], server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, tenant = places[0].store_path, places[1].tenant
    before = shutil.copytree(folder, folder.with_name("before"))
    with pytest.raises(Killed):
        carried_until(2, monkeypatch, str(folder), server.url, tenant)
    shutil.rmtree(folder)
    before.rename(folder)
    with pytest.raises(StoreError, match="the source of this move is there"):
        moves.end(server.url, tenant)
    assert names(places[1]) is None


@pytest.mark.soak
def test_a_store_that_has_moved_goes_to_no_third_place(server: Server, places: tuple[Settings, Settings]) -> None:
    """Not even to one where a move of it was given up before."""
    folder, tenant = places
    other = f"other{len(server.tenants())}"

    class GivenUp(Exception):
        """Ends a move that is never taken up again."""

    def give_up(table: str, rows: int) -> None:
        if table == "node":
            raise GivenUp

    with pytest.raises(GivenUp):
        moves.carry(str(folder.store_path), server.url, other, give_up)
    assert server.tenant(other).state == INCOMING
    moves.carry(str(folder.store_path), server.url, tenant.tenant, lambda table, rows: None)
    for slug in (other, tenant.tenant):
        with pytest.raises(StoreError, match="has moved"):
            moves.carry(str(folder.store_path), server.url, slug, lambda table, rows: None)
    assert names(tenant) == {"before"}


@pytest.mark.soak
def test_a_tenant_that_is_served_is_suspended_to_be_moved_away(
    server: Server, places: tuple[Settings, Settings], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(home, "_CLAIMED_WITHIN_SECONDS", 0.5)  # its home lives, however long one waits
    folder, tenant = places
    moves.carry(str(folder.store_path), server.url, tenant.tenant, lambda table, rows: None)
    number = server.tenant(tenant.tenant).id
    with Helix.open(tenant) as helix:
        stored(helix, "on the server")
        with pytest.raises(StoreLockedError, match="is served") as refused:
            moves.carry(server.url, str(tmp_path / "away"), tenant.tenant, lambda table, rows: None)
        assert f"helix tenant suspend {tenant.tenant}" in refused.value.hint
        server.set_state(number, SUSPENDED)
        assert until(lambda: helix.store.journal.database.fenced)
    moves.carry(server.url, str(folder.store_path), tenant.tenant, lambda table, rows: None)
    assert server.tenant(tenant.tenant).state == MOVED
    assert names(folder) == {"before", "on the server"}


def test_clients_of_a_server_are_told_no_place_of_a_move(settings: Settings) -> None:
    with closing(Store(settings, embedder=None)) as store:
        store.writer.call(lambda: store.journal.set_meta(moving.MOVED_TO, "/somewhere/secret"))
    for shown, many in (("to /somewhere/secret", False), ("elsewhere", True)):
        with pytest.raises(StoreError) as refused:
            Store(replace(settings, one_of_many=many), embedder=None)
        assert refused.value.message == f"this store has moved {shown}"
