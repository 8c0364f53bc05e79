"""Server: connections to a server of PostgreSQL, its tables, its tenants, and commits that are known to be durable."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolTimeout

from helix.errors import (
    ConfigError,
    ConflictError,
    DiskFullError,
    EngineError,
    HelixError,
    NotFoundError,
    NotHomeError,
    StoreError,
    StoreLockedError,
    StoreTooNewError,
)
from helix.journal.postgres.dialect import scripts
from helix.model.durability import Durability

MOST_CONNECTIONS = 20
ACTIVE, INCOMING, MOVED = "active", "incoming", "moved"
_CONNECT_SECONDS = 10
_OLDEST = 160_000
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_MIGRATIONS = "CREATE TABLE IF NOT EXISTS migration (number bigint PRIMARY KEY, name text NOT NULL, hash text NOT NULL)"
_CLAIM = (
    "UPDATE head SET epoch = epoch + 1, commits = commits + 1, home = $2::uuid WHERE tenant = $1 AND NOT EXISTS"
    " (SELECT 1 FROM process WHERE id = head.home AND id IS DISTINCT FROM $2::uuid AND until > now())"
    " RETURNING epoch, commits"
)
_WHOSE = "SELECT coalesce(name, 'another process') FROM head LEFT JOIN process ON id = home WHERE tenant = $1"
_RENEW = (
    "INSERT INTO process (id, name, until) VALUES ($1, $2, now() + make_interval(secs => $3))"
    " ON CONFLICT (id) DO UPDATE SET until = excluded.until"
)
_ANEW = "check that the server runs and that its address is right, then try again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """One store on a server. `rows` is the number of its newest row of the log, `epoch` counts its homes."""

    id: int
    slug: str
    state: str
    rows: int
    epoch: int


class Server:
    """One server, by its address; any thread may use it."""

    def __init__(self, url: str, *, vouched: bool = False, most: int = MOST_CONNECTIONS) -> None:
        """Connect when it is first asked for something. Raises ConfigError for an address that cannot be one.

        `vouched`: whoever runs the server says that a commit survives a machine, of which its settings do not tell.
        """
        check_address(url)
        self.url = url
        self._vouched = vouched
        self._pool = ConnectionPool(
            url,
            min_size=0,
            max_size=most,
            open=True,
            timeout=_CONNECT_SECONDS,
            kwargs={"autocommit": True, "cursor_factory": psycopg.RawCursor, "application_name": "helix"},
        )

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[Any]]:
        """Lend a connection outside of any transaction."""
        with self._pool.connection() as connection:
            yield connection

    def close(self) -> None:
        """End every connection; twice is no error."""
        self._pool.close()

    def migrate(self) -> list[str]:
        """Make the tables that are lacking; return the names of the scripts that were run.

        Raises StoreTooNewError where the server has tables of a newer Helix, and StoreError for an old server.
        """
        with mapped(), self.connection() as connection, connection.transaction():
            if connection.info.server_version < _OLDEST:
                raise StoreError(
                    f"the server runs PostgreSQL {connection.info.server_version // 10_000}",
                    hint="Helix needs 16 or newer",
                )
            connection.execute(_MIGRATIONS)
            connection.execute("LOCK TABLE migration IN EXCLUSIVE MODE")
            lacking = self._lacking(connection)
            for number, name, text in lacking:
                connection.execute(text.encode())
                digest = hashlib.sha256(text.encode()).hexdigest()
                connection.execute("INSERT INTO migration VALUES ($1, $2, $3)", (number, name, digest))
        return [name for _, name, _ in lacking]

    def check(self) -> None:
        """Raise StoreError where the tables are not those that this Helix knows."""
        with mapped(), self.connection() as connection:
            (there,) = _one(connection.execute("SELECT to_regclass('migration') IS NOT NULL"))
            lacking = self._lacking(connection) if there else [(1, "", "")]
        if lacking:
            raise StoreError(
                "the server lacks tables of this Helix",
                hint="make them: `helix engine init ADDRESS`, as a role that may",
            )

    def durability(self) -> Durability:
        """Return what a commit is worth on this server."""
        with mapped(), self.connection() as connection:
            return self.durability_of(*_one(connection.execute(f"SELECT {DURABILITY}")))

    def durability_of(self, fsync: str, waits: str, standbys: str) -> Durability:
        """Return what a commit is worth, by what `DURABILITY` found."""
        if fsync != "on" or waits == "off":
            return Durability.UNSAFE
        if self._vouched:
            return Durability.ENGINE
        return Durability.QUORUM if standbys.strip() and waits in ("on", "remote_apply") else Durability.SINGLE

    def _lacking(self, connection: psycopg.Connection[Any]) -> list[tuple[int, str, str]]:
        applied = dict(connection.execute("SELECT number, hash FROM migration").fetchall())
        known = {int(name[:4]): (name, text) for name, text in scripts().items()}
        if newer := sorted(applied.keys() - known.keys()):
            raise StoreTooNewError(
                f"the server has tables of a newer Helix: migration {newer[-1]}, and this Helix ends at {max(known)}",
                hint="update Helix",
            )
        for number, digest in applied.items():
            name, text = known[number]
            if hashlib.sha256(text.encode()).hexdigest() != digest:
                raise StoreError(f"migration {name} has changed since it was applied", hint="reinstall Helix")
        return [(number, *script) for number, script in sorted(known.items()) if number not in applied]

    def create(self, slug: str, state: str = ACTIVE) -> Tenant:
        """Make an empty tenant. Raises ConfigError or ConflictError for its name."""
        if not _SLUG.fullmatch(slug):
            raise ConfigError(
                f"{slug!r} is no name of a tenant", hint="use up to 63 small letters, digits and inner hyphens"
            )
        with mapped(), self.connection() as connection, connection.transaction():
            made = connection.execute(
                "INSERT INTO tenant (slug, state) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id", (slug, state)
            ).fetchone()
            if made is None:
                raise ConflictError(f"there is a tenant {slug!r} already", hint="`helix tenant list` shows them")
            connection.execute("INSERT INTO head (tenant) VALUES ($1)", made)
        return self.tenant(slug)

    def set_state(self, tenant: int, state: str) -> None:
        """Say that a tenant is `active`, `incoming` while it is carried here, or `moved`."""
        with mapped(), self.connection() as connection:
            connection.execute("UPDATE tenant SET state = $2 WHERE id = $1", (tenant, state))

    def tenants(self) -> list[Tenant]:
        """Return every tenant, by name."""
        return self._tenants("", ())

    def tenant(self, slug: str) -> Tenant:
        """Return a tenant by its name. Raises NotFoundError."""
        found = self._tenants(" WHERE slug = $1", (slug,))
        if not found:
            raise NotFoundError(
                f"the server has no tenant {slug!r}",
                hint="`helix tenant list` shows them, `helix tenant create` makes one",
            )
        return found[0]

    def _tenants(self, where: str, values: tuple[str, ...]) -> list[Tenant]:
        statement = f"SELECT id, slug, state, seq, epoch FROM tenant JOIN head ON head.tenant = tenant.id{where}"
        with mapped(), self.connection() as connection:
            rows = connection.execute(f"{statement} ORDER BY slug", values).fetchall()
        return [Tenant(id=row[0], slug=row[1], state=row[2], rows=row[3], epoch=row[4]) for row in rows]

    def claim(self, tenant: int, process: uuid.UUID | None = None) -> int:
        """Become the home of a tenant; return the epoch that its transactions have from now on.

        Raises StoreLockedError while another process lives that is its home. Without a `process` nobody else is told.
        """
        with mapped(), self.connection() as connection:
            connection.execute("BEGIN")
            row = connection.execute(_CLAIM, (tenant, process)).fetchone()
            if row is None:
                there = connection.execute(_WHOSE, (tenant,)).fetchone()
                connection.execute("ROLLBACK")
                if there is None:
                    raise NotFoundError(f"the server has no tenant {tenant}")
                raise StoreLockedError(f"the tenant is served by {there[0]}", hint="ask there, or end that process")
            self.commit(connection, tenant, row[0], row[1])
            return int(row[0])

    def renew(self, process: uuid.UUID, name: str, seconds: float) -> None:
        """Say that a process lives, for so many seconds by the server's clock."""
        with mapped(), self.connection() as connection:
            connection.execute(_RENEW, (process, name, seconds))

    def homes(self, process: uuid.UUID) -> set[int]:
        """Return the tenants that a process is home to."""
        with mapped(), self.connection() as connection:
            rows = connection.execute("SELECT tenant FROM head WHERE home = $1", (process,)).fetchall()
        return {tenant for (tenant,) in rows}

    def leave(self, process: uuid.UUID) -> None:
        """Say that a process ends: its tenants are free at once."""
        with mapped(), self.connection() as connection:
            connection.execute("UPDATE head SET home = NULL WHERE home = $1", (process,))
            connection.execute("DELETE FROM process WHERE id = $1", (process,))

    def commit(self, connection: psycopg.Connection[Any], tenant: int, epoch: int | None, commits: int) -> None:
        """Commit, and return once the change is durable as far as the server promises it.

        Raises EngineError where that stays unknown, and NotHomeError where another process has the tenant by then.
        """
        said: list[str] = []
        connection.add_notice_handler(heard := lambda notice: said.append(notice.message_primary or ""))
        try:
            done = connection.execute("COMMIT").statusmessage
        except psycopg.OperationalError as error:
            said.append(str(error))
            done = ""
        finally:
            connection.remove_notice_handler(heard)
        if done == "ROLLBACK":
            raise EngineError("the server took the change back", hint="try again")
        if said:
            self._settle(tenant, epoch, commits, "; ".join(said))

    def _settle(self, tenant: int, epoch: int | None, commits: int, why: str) -> None:
        """Find out whether a commit came in; where it did, have another one prove that all before it is durable."""
        with self._pool.connection() as connection:
            connection.execute("BEGIN")
            # The lock waits until the session that was cut off has ended, one way or the other.
            found = connection.execute(
                "SELECT epoch, commits FROM head WHERE tenant = $1 FOR UPDATE", (tenant,)
            ).fetchone()
            if found is None or found[0] != epoch:
                connection.execute("ROLLBACK")
                raise NotHomeError(f"tenant {tenant} was taken over by another process", hint="ask again")
            if found[1] != commits:
                connection.execute("ROLLBACK")
                raise EngineError(f"the change was not written: {why}", hint="try again")
            connection.execute("UPDATE head SET commits = commits WHERE tenant = $1", (tenant,))
            said: list[str] = []
            connection.add_notice_handler(heard := lambda notice: said.append(notice.message_primary or ""))
            try:
                connection.execute("COMMIT")
            finally:
                connection.remove_notice_handler(heard)
            if said:
                raise EngineError(
                    f"the server cannot say that the change is durable: {'; '.join(said)}",
                    hint="look at its standbys, then try again with the same idempotency key",
                )


DURABILITY = ", ".join(
    f"current_setting('{name}')" for name in ("fsync", "synchronous_commit", "synchronous_standby_names")
)
"""What a statement asks to know the durability of its own commit."""


def check_address(url: str) -> None:
    """Raise ConfigError for what is no address of a server, and for a password in it: others could see that."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise ConfigError(
            f"this is no address of a PostgreSQL server: {error}", hint="postgresql://USER@HOST/DATABASE"
        ) from error
    if parts.get("password"):
        raise ConfigError(
            "the address holds a password, which other users of the machine could read",
            hint="put it into PGPASSWORD or a password file (PGPASSFILE)",
        )


@contextmanager
def mapped() -> Iterator[None]:
    """Turn the server's errors into Helix's own."""
    try:
        yield
    except HelixError:
        raise
    except errors.DiskFull as error:
        raise DiskFullError("the server has no room left", hint="nothing was lost: free some space there") from error
    except (PoolTimeout, psycopg.OperationalError) as error:
        raise EngineError(f"the server cannot be used: {str(error).strip()}", hint=_ANEW) from error
    except psycopg.Error as error:
        raise StoreError(
            f"the server refused a statement: {str(error).strip()}", hint="`helix engine check ADDRESS`"
        ) from error


def _one(cursor: psycopg.Cursor[Any]) -> tuple[Any, ...]:
    row = cursor.fetchone()
    assert row is not None
    return tuple(row)
