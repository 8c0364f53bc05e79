"""Moves: who carries a store has both places to itself, and says on both afterwards where it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from helix import files
from helix.errors import InvalidInputError, NotFoundError
from helix.journal.backend import Backend, put
from helix.journal.database import Database
from helix.journal.mark import Mark
from helix.lock import StoreLock
from helix.store import moving
from helix.store.engine import JOURNAL_NAME, MARK_NAME, server_at

_ADDRESS = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    backend: Backend
    arrived: Callable[[], None]
    """Says that the store is here from now on."""
    left: Callable[[str], None]
    """Says where it went."""


def carry(source: str, target: str, tenant: str, progress: moving.Progress) -> moving.Moved:
    """Carry a store from one place to another; a place is a store's folder, or the address of a server.

    Raises StoreLockedError while either is served, NotFoundError where there is nothing to carry, and whatever
    `moving.move` raises.
    """
    if source == target:
        raise InvalidInputError("a store cannot move to where it is")
    with _opened(source, tenant, fresh=False) as here, _opened(target, tenant, fresh=True) as there:
        moved = moving.move(here.backend, there.backend, progress)
        there.arrived()
        here.left(target)
    return moved


def _opened(place: str, tenant: str, *, fresh: bool) -> AbstractContextManager[_Side]:
    return _on_server(place, tenant, fresh=fresh) if place.startswith(_ADDRESS) else _in_file(Path(place), fresh=fresh)


@contextmanager
def _in_file(folder: Path, *, fresh: bool) -> Iterator[_Side]:
    if not fresh and not (folder / JOURNAL_NAME).is_file():
        raise NotFoundError(f"there is no store in {folder}", hint="name the folder of one: `helix config db_path`")
    files.private_folder(folder)
    lock = StoreLock(folder)
    lock.acquire()
    with ExitStack() as opened:
        opened.callback(lock.release)
        if fresh:  # it would tell of a loss: what is carried here counts its own transactions
            Mark(folder / MARK_NAME).suspend()
        database = opened.enter_context(closing(Database(folder / JOURNAL_NAME)))

        def left(target: str) -> None:
            with database.transaction() as connection:
                connection.execute(put("meta", ("key", "value"), ("key",)), (moving.MOVED_TO, target))
            database.checkpoint()

        yield _Side(backend=database, arrived=database.checkpoint, left=left)


@contextmanager
def _on_server(address: str, slug: str, *, fresh: bool) -> Iterator[_Side]:
    with closing(server_at(address)) as server:
        from helix.journal.postgres import postgres_server
        from helix.journal.postgres.home import Home
        from helix.journal.postgres.tenant_database import TenantDatabase

        server.check()
        known = {tenant.slug: tenant for tenant in server.tenants()}
        tenant = known.get(slug) or (server.create(slug, postgres_server.INCOMING) if fresh else server.tenant(slug))
        with closing(Home(server)) as home:
            database = TenantDatabase(server, tenant.id, home.claim(tenant.id), Path(), lost=lambda: home.lost)
            yield _Side(
                backend=database,
                arrived=lambda: server.set_state(tenant.id, postgres_server.ACTIVE),
                left=lambda target: server.set_state(tenant.id, postgres_server.MOVED),
            )
