"""Moves: who carries a store has both places to itself, and says on both afterwards where it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from helix import files
from helix.errors import InvalidInputError, NotFoundError, StoreError
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
    begun: Callable[[], None]
    """Says that a store is on its way here: nothing is served meanwhile."""
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
        moved = moving.move(here.backend, there.backend, progress, there.begun)
        there.arrived()
        here.left(target)
    return moved


def _opened(place: str, tenant: str, *, fresh: bool) -> AbstractContextManager[_Side]:
    if place.startswith(_ADDRESS):
        return _on_server(place, tenant, fresh=fresh)
    if "://" in place or "=" in place:
        raise InvalidInputError("this is no folder, and no address of a server", hint="postgresql://USER@HOST/DATABASE")
    return _in_file(Path(place), fresh=fresh)


@contextmanager
def _in_file(folder: Path, *, fresh: bool) -> Iterator[_Side]:
    if not fresh and not (folder / JOURNAL_NAME).is_file():
        raise NotFoundError(f"there is no store in {folder}", hint="name the folder of one: `helix config db_path`")
    files.private_folder(folder)
    lock = StoreLock(folder)
    lock.acquire()
    with ExitStack() as opened:
        opened.callback(lock.release)
        database = opened.enter_context(closing(Database(folder / JOURNAL_NAME)))

        with database.reading() as connection:
            went = connection.execute("SELECT value FROM meta WHERE key = ?", (moving.MOVED_TO,)).fetchone()
        if went is not None and not fresh:
            raise StoreError(f"this store has moved to {went[0]}", hint="move it from there")

        def left(target: str) -> None:
            with database.transaction() as connection:
                connection.execute(put("meta", ("key", "value"), ("key",)), (moving.MOVED_TO, target))
            database.checkpoint()

        # The mark would tell of a loss: what is carried here counts its own transactions.
        begun = Mark(folder / MARK_NAME).suspend
        yield _Side(backend=database, begun=begun, arrived=database.checkpoint, left=left)


@contextmanager
def _on_server(address: str, slug: str, *, fresh: bool) -> Iterator[_Side]:
    with closing(server_at(address)) as server:
        from helix.journal.postgres import postgres_server
        from helix.journal.postgres.home import Home
        from helix.journal.postgres.tenant_database import TenantDatabase

        server.check()
        known = {tenant.slug: tenant for tenant in server.tenants()}
        tenant = known.get(slug) or (server.create(slug, postgres_server.INCOMING) if fresh else server.tenant(slug))
        states = (postgres_server.ACTIVE, postgres_server.INCOMING, postgres_server.MOVED)
        with closing(Home(server)) as home:
            epoch = home.claim(tenant.id, states if fresh else states[:1])
            database = TenantDatabase(server, tenant.id, epoch, Path(), lost=lambda: home.lost(tenant.id))
            yield _Side(
                backend=database,
                begun=lambda: server.set_state(tenant.id, postgres_server.INCOMING),
                arrived=lambda: server.set_state(tenant.id, postgres_server.ACTIVE),
                left=lambda target: server.set_state(tenant.id, postgres_server.MOVED),
            )
