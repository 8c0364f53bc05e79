"""Moves: who carries a store has both places to itself, and says on both afterwards where it is."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from helix import files
from helix.errors import EngineError, InvalidInputError, NotFoundError, StoreError
from helix.journal.backend import Backend, put
from helix.journal.database import Database
from helix.journal.mark import MarkFile
from helix.journal.postgres.at_address import server_at
from helix.journal.value_check import check_values
from helix.lock import StoreLock
from helix.store import moving
from helix.store.engine import JOURNAL_NAME, MARK_NAME

_ADDRESS = ("postgresql://", "postgres://")
_TENANT = ", tenant "
_STORE = "store_id"
_GONE_FOR_GOOD = (
    "have it answer (PGPASSWORD, PGPASSFILE); where it is gone for good, say --yes: it must not be served again"
)
_NO_STORE = "name a store's folder (`helix config db_path`); a move that was cut off goes on without: --source-gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class _MoveSide:
    name: str
    """What the other side knows this place by."""
    backend: Backend
    went: str
    """Where the store went that was here; empty while it is here."""
    keeps: Mapping[str, str]
    """What the place says of itself while its store is elsewhere."""
    begun: Callable[[], object]
    """Called before anything of a store is carried here."""
    left: Callable[[Mapping[str, object]], object]
    """Called before the store says where it went: from then on nobody serves it. Told what it was, for the audit."""
    arrived: Callable[[Mapping[str, object]], bool]
    """Called before the store no longer says that it is on its way here; returns whether it is not served yet."""


def carry(source: str, target: str, tenant: str, progress: moving.Progress, by: str = "operator") -> moving.Moved:
    """Carry a store from one place to another; a place is a store's folder, or the address of a server.

    `by` is who does it, for the audit of a server. Raises StoreLockedError while either is served, NotFoundError where
    there is nothing to carry, and whatever `moving.move` raises.
    """
    if source == target:
        raise InvalidInputError("a store cannot move to where it is")
    with (
        _opened(source, tenant, by, doubted=target.startswith(_ADDRESS)) as here,
        _opened(target, tenant, by, into=True, fresh=True) as there,
    ):
        if comes := _meta_of(here.backend, moving.MOVED_FROM):
            raise StoreError(f"the move of this store from {comes} was cut off", hint="end that one: `helix migrate`")
        number = _meta_of(here.backend, moving.MOVE)
        goes_on = number and _meta_of(there.backend, moving.MOVE) == number
        if here.went and not goes_on and not (here.went == there.name and _is_empty(there.backend)):
            hint = "move it from there; where that place lost it, it goes there again, and `--to` has to be written so"
            raise StoreError(f"this store has moved to {here.went}", hint=hint)

        number = number if goes_on else uuid.uuid4().hex

        def begun() -> None:
            there.begun()
            _say(there.backend, {moving.MOVED_FROM: here.name, moving.MOVE: number})
            _forget(there.backend, moving.WHOLE)
            _note(here.backend, {moving.MOVE: number, **here.keeps})  # it is being read: to fold its log in would wait

        moved = moving.move(here.backend, there.backend, progress, begun)
        # Each of these may be the last one: what says that it left, or is on its way, is opened by nobody. And none
        # says that it left before another one no longer needs it.
        _say(there.backend, {moving.WHOLE: "yes"})
        told = {"rows": moved.rows["log"], "chain": moved.chain}
        here.left(told)
        _say(here.backend, {moving.MOVED_TO: there.name})
        return replace(moved, suspended=_arrive(there, told))


def end(target: str, tenant: str, by: str = "operator", *, unseen: bool = False) -> bool:
    """End a move that was cut off and whose source is gone: what arrived is the store from now on.

    Return whether it is a tenant that is suspended, as it was. Raises InvalidInputError where no such move is, and
    StoreError where the source is there, or not all arrived, or the source's server cannot be asked; with `unseen` the
    operator says that such a server is gone.
    """
    with _opened(target, tenant, by, into=True) as there:
        comes = _meta_of(there.backend, moving.MOVED_FROM)
        if not comes:
            raise InvalidInputError("no move to here was cut off", hint="say where the store is: --from")
        if _is_there(comes, there.backend, unseen=unseen):
            hint = "end the move: --from in its place; take a copy away that is from a backup older than the move"
            raise StoreError(f"the source of this move is there: {comes}", hint=hint)
        if not _meta_of(there.backend, moving.WHOLE):
            hint = "remove what did: the folder, or with `helix tenant delete`; bring the source back from a backup"
            raise StoreError(f"not all of the store in {comes} arrived here", hint=hint)
        return _arrive(there, {"source": "gone"})


def _is_there(source: str, arrived: Backend, *, unseen: bool) -> bool:
    """Return whether a place has the store that is on its way, also as a backup has it, and not another one by now."""
    address, _, slug = source.rpartition(_TENANT) if source.startswith(_ADDRESS) else (source, "", "")
    try:
        with _opened(address, slug, "") as side:
            return any(
                (said := _meta_of(arrived, key)) and _meta_of(side.backend, key) == said
                for key in (moving.MOVE, _STORE)
            )
    except NotFoundError:
        return False
    except EngineError as error:  # what does not answer here, or takes another password, may go on serving others
        if unseen:
            return False
        words = f"whether the source of this move is gone cannot be told ({source}): {error.message}"
        raise StoreError(words, hint=_GONE_FOR_GOOD) from error


def _arrive(there: _MoveSide, told: Mapping[str, object]) -> bool:
    suspended = there.arrived(told)
    _forget(there.backend, *moving.OF_THE_PLACE)
    return suspended


def _forget(backend: Backend, *keys: str) -> None:
    with backend.transaction() as connection:
        connection.execute(f"DELETE FROM meta WHERE key IN ({', '.join('?' for _ in keys)})", keys)
    backend.checkpoint()


def _is_empty(backend: Backend) -> bool:
    with backend.reading() as connection:
        return connection.execute("SELECT seq FROM log LIMIT 1").fetchone() is None


def _meta_of(backend: Backend, key: str) -> str:
    with backend.reading() as connection:
        row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return "" if row is None else str(row[0])


def _note(backend: Backend, values: Mapping[str, str]) -> None:
    with backend.transaction() as connection:
        connection.executemany(put("meta", ("key", "value"), ("key",)), values.items())


def _say(backend: Backend, values: Mapping[str, str]) -> None:
    _note(backend, values)
    backend.checkpoint()


def _opened(
    place: str, tenant: str, by: str, *, into: bool = False, fresh: bool = False, doubted: bool = False
) -> AbstractContextManager[_MoveSide]:
    """Open one side of a move, the one that it goes to with `into`; `fresh`: make the place where there is none.

    `doubted`: it goes where others are served too, so a file is refused that says what Helix does not write.
    """
    if place.startswith(_ADDRESS):
        return _on_server(place, tenant, by, into=into, fresh=fresh)
    if "://" in place or "=" in place:
        raise InvalidInputError(
            "this is neither a folder nor the address of a server", hint="postgresql://USER@HOST/DATABASE"
        )
    return _in_file(Path(place), fresh=fresh, doubted=doubted)


@contextmanager
def _in_file(folder: Path, *, fresh: bool, doubted: bool) -> Iterator[_MoveSide]:
    if not fresh and not (folder / JOURNAL_NAME).is_file():
        raise NotFoundError(f"there is no store in {folder}", hint=_NO_STORE)
    files.private_folder(folder)
    lock = StoreLock(folder)
    lock.acquire()
    with ExitStack() as opened:
        opened.callback(lock.release)
        database = opened.enter_context(closing(Database(folder / JOURNAL_NAME)))
        if doubted:
            with database.reading() as connection:
                check_values(connection, folder)

        # The mark would tell of a loss: what is carried here counts its own transactions.
        yield _MoveSide(
            name=str(files.real_path(folder)),
            backend=database,
            went=_meta_of(database, moving.MOVED_TO),
            keeps={},
            begun=MarkFile(folder / MARK_NAME).suspend,
            left=lambda told: None,
            arrived=lambda told: False,
        )


@contextmanager
def _on_server(address: str, slug: str, by: str, *, into: bool, fresh: bool) -> Iterator[_MoveSide]:
    with closing(server_at(address)) as server:
        from helix.journal.postgres import audit
        from helix.journal.postgres import tenant_states as states
        from helix.journal.postgres.home import Home
        from helix.journal.postgres.tenant_database import TenantDatabase

        server.check()
        known = {tenant.slug: tenant for tenant in server.tenants()}
        tenant = known.get(slug) or (server.create(slug, states.INCOMING) if fresh else server.tenant(slug))
        stays = (states.ACTIVE, states.SUSPENDED)
        way = (*stays, states.MOVED, states.INCOMING) if into else (*stays, states.MOVED)
        keeps = {moving.LEFT_AS: tenant.state} if tenant.state in stays else {}
        with closing(Home(server)) as home:
            epoch = home.claim(tenant.id, way).epoch
            database = TenantDatabase(server, tenant.id, epoch, Path(), lost=lambda: home.lost(tenant.id))

            def begun() -> None:
                _say(database, keeps)
                server.set_state(tenant.id, states.INCOMING)

            def arrived(told: Mapping[str, object]) -> bool:
                state = _meta_of(database, moving.LEFT_AS) or states.ACTIVE
                audit.set_state(server, tenant.id, state, by, "tenant.arrived", told)
                return state == states.SUSPENDED

            yield _MoveSide(
                name=f"{address}{_TENANT}{slug}",
                backend=database,
                went=_meta_of(database, moving.MOVED_TO),
                keeps=keeps,
                begun=begun,
                # Not where to: the tenant's own people read its audit.
                left=lambda told: audit.set_state(server, tenant.id, states.MOVED, by, "tenant.moved", told),
                arrived=arrived,
            )
