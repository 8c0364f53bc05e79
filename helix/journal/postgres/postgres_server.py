"""Server: connections to a server of PostgreSQL, its tables, its tenants, and commits that are known to be durable."""

from __future__ import annotations

import hashlib
import re
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import errors

from helix.errors import (
    ConfigError,
    ConflictError,
    EngineError,
    HelixError,
    NotFoundError,
    NotHomeError,
    StoreError,
    StoreLockedError,
    StoreTooNewError,
)
from helix.journal.postgres import memberships, own_tables, vector_index
from helix.journal.postgres.dialect import scripts, tables
from helix.journal.postgres.server_connections import ServerConnections, check_address, hearing
from helix.journal.postgres.server_errors import mapped
from helix.journal.postgres.tenant_states import ACTIVE, CLAIM, DELETING, SUSPENDED, WHOSE, not_claimed, step_drawn
from helix.model.reports import Durability
from helix.settings import TENANT_NAME

MOST_CONNECTIONS = 20
_LOOK_SECONDS = 0.25
_OLDEST = 160_000
_MIGRATIONS = (
    "CREATE TABLE IF NOT EXISTS migration (number bigint PRIMARY KEY, name text NOT NULL, hash text NOT NULL)",
    "ALTER TABLE migration ADD COLUMN IF NOT EXISTS least bigint NOT NULL DEFAULT 0",
)
_ALONE = "SELECT pg_advisory_xact_lock(hashtextextended('helix: ' || current_schema, 0))"
"""Two that make the tables at once would get in each other's way: even what is made only where it is not there."""
_LEAST = re.compile(r"^-- runs beside: (\d+)$", re.MULTILINE)
"""How a migration says that code which knows no more than that one may go on serving: it takes nothing from it."""
_RENEW = (
    "INSERT INTO process (id, name, url, until) SELECT $1, $2, $3, now() + make_interval(secs => $4)"
    " FROM set_config('synchronous_commit', 'local', true) ON CONFLICT (id) DO UPDATE SET until = excluded.until"
)
"""Waits for no standby: a process lives, and answers what is asked, where one is lost and nothing can be written."""
_WHERE = (
    "SELECT tenant.id, slug, state, quota, home, coalesce(process.url, ''), coalesce(process.until > now(), false),"
    " epoch"
    " FROM tenant JOIN head ON head.tenant = tenant.id LEFT JOIN process ON process.id = home WHERE slug = $1"
)
_WITH_WORK = (
    "SELECT slug FROM tenants_with_work($1) due JOIN tenant ON tenant.id = due JOIN head ON head.tenant = due"
    f" WHERE state = '{ACTIVE}' AND NOT EXISTS (SELECT 1 FROM process WHERE id = home AND until > now())"
    " ORDER BY random() LIMIT $2"
)
_ON_EACH_MACHINE = ("tenant", "process", "cluster", "account", "member", "api_key", "audit")
"""Tables that Citus keeps whole on every machine: they are small, and others refer to them."""
_LOCKED = "SELECT epoch, commits FROM head WHERE tenant = $1 FOR UPDATE"
_WAITS_A_SECOND = (
    "SELECT set_config('lock_timeout', '1s', true), set_config('client_min_messages', 'warning', true),"
    " set_config('idle_in_transaction_session_timeout', '10s', true)"
)
"""Told at the beginning of a transaction, for it alone: what holds a row is waited for a second, and a warning is heard
whatever the role's settings are."""
_END_ITS_HOLDER = (
    "SELECT pg_terminate_backend(held.pid) FROM head JOIN pg_locks held"
    " ON held.locktype = 'transactionid' AND held.transactionid = head.xmax AND held.granted WHERE head.tenant = $1"
)
"""A row says by its `xmax` which transaction has it. The server ends by itself a session that is idle in one, but not
one that waits for the rest of what travels together."""
SETTLED_WITHIN_SECONDS = 15.0
"""How long it is tried to find out what became of a commit: longer than a session that was cut off may hold a row."""


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where a tenant is served: `home` is a process, which is reached at `url` and may be gone (`lives`)."""

    id: int
    slug: str
    state: str
    quota: str
    home: uuid.UUID | None
    url: str
    lives: bool
    epoch: int


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
        self._connections = ServerConnections(url, most)

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[Any]]:
        """Lend a connection to PostgreSQL outside of any transaction."""
        with self._connections.lent() as connection:
            yield connection

    @contextmanager
    def changing(self) -> Iterator[psycopg.Connection[Any]]:
        """Lend a connection within a transaction of PostgreSQL. EngineError where nobody knows that it is durable."""
        with mapped(), self.connection() as connection, hearing(connection) as said:
            with connection.transaction():
                connection.execute("SELECT set_config('client_min_messages', 'warning', true)")
                yield connection
                said.clear()
            _check_durable(said)

    def close(self) -> None:
        """End every connection to PostgreSQL; twice is no error."""
        self._connections.close()

    def cut(self) -> None:
        """Cut every connection to PostgreSQL, which does not answer: who waits there is told so."""
        self._connections.cut()

    def answers(self) -> bool:
        """Return whether PostgreSQL gives a connection, as far as is known.

        It may block for seconds where none could be had.
        """
        return self._connections.can_lend()

    def migrate(self) -> list[str]:
        """Make the tables that PostgreSQL lacks; return the names of the scripts that were run.

        Raises StoreTooNewError where the server has tables of a newer Helix, and StoreError for an old server.
        """
        self._reach()
        with mapped(), self.connection() as connection, connection.transaction():
            if connection.info.server_version < _OLDEST:
                raise StoreError(
                    f"the server runs PostgreSQL {connection.info.server_version // 10_000}",
                    hint="Helix needs 16 or newer",
                )
            connection.execute(_ALONE)
            own_tables.check_foreign(connection)
            for statement in _MIGRATIONS:
                connection.execute(statement)
            connection.execute("LOCK TABLE migration IN EXCLUSIVE MODE")
            lacking = self._lacking(connection)
            for number, name, text in lacking:
                connection.execute(text.encode())
                digest = hashlib.sha256(text.encode()).hexdigest()
                least = _LEAST.search(text)
                beside = int(least[1]) if least is not None else number
                row = (number, name, digest, beside)
                connection.execute("INSERT INTO migration (number, name, hash, least) VALUES ($1, $2, $3, $4)", row)
        self._distribute()
        return [name for _, name, _ in lacking]

    def _distribute(self) -> None:
        """Spread the tables over the machines of Citus, where it is installed; a tenant's rows lie together."""
        with mapped(), self.connection() as connection:
            if connection.execute("SELECT FROM pg_extension WHERE extname = 'citus'").fetchone() is None:
                return
            there = {name for (name,) in connection.execute("SELECT table_name::text FROM citus_tables").fetchall()}
            for name in [name for name in _ON_EACH_MACHINE if name not in there]:
                connection.execute("SELECT create_reference_table($1::text::regclass)", (name,))
            for name in [name for name in tables() if name not in there]:
                beside = "none" if name == "head" else "head"
                statement = "SELECT create_distributed_table($1::text::regclass, 'tenant', colocate_with => $2)"
                connection.execute(statement, (name, beside))

    def _reach(self) -> None:
        """Connect once, beside the pool, which would try for long and not say why it fails."""
        with mapped():
            self._connections.one_more().close()

    def check(self) -> None:
        """Raise StoreError where PostgreSQL's tables are not those that this Helix knows."""
        self._reach()
        with mapped(), self.connection() as connection:
            prepared = own_tables.check_foreign(connection)
            lacking = self._lacking(connection) if prepared else []
        if lacking or not prepared:
            command = "`helix engine migrate`" if prepared else "`helix engine init`"
            raise StoreError("the server lacks tables of this Helix", hint=f"make them: {command}, as a role that may")

    def durability(self) -> Durability:
        """Return what a commit is worth on this server of PostgreSQL."""
        with mapped(), self.connection() as connection:
            return self.durability_of(*_one(connection.execute(f"SELECT {DURABILITY}")))

    def durability_of(self, fsync: str, waits: str, standbys: str) -> Durability:
        """Return what a commit is worth in PostgreSQL, by what `DURABILITY` found."""
        if fsync != "on" or waits == "off":
            return Durability.UNSAFE
        if self._vouched:
            return Durability.ENGINE
        return Durability.QUORUM if standbys.strip() and waits in ("on", "remote_apply") else Durability.SINGLE

    def _lacking(self, connection: psycopg.Connection[Any]) -> list[tuple[int, str, str]]:
        rows = connection.execute("SELECT number, hash, least FROM migration").fetchall()
        known = {int(name[:4]): (name, text) for name, text in scripts().items()}
        applied = {number: digest for number, digest, least in rows if number in known or least > max(known)}
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
        """Make an empty tenant in PostgreSQL. Raises ConfigError or ConflictError for its name."""
        if not TENANT_NAME.fullmatch(slug):
            raise ConfigError(
                f"{slug!r} is not the name of a tenant", hint="use up to 63 small letters, digits and inner hyphens"
            )
        with self.changing() as connection:
            made = connection.execute(
                "INSERT INTO tenant (slug, state) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id", (slug, state)
            ).fetchone()
            if made is None:
                raise ConflictError(f"there is a tenant {slug!r} already", hint="`helix tenant list` shows them")
            connection.execute("INSERT INTO head (tenant) VALUES ($1)", made)
        return self.tenant(slug)

    def set_state(self, tenant: int, state: str) -> None:
        """Say in PostgreSQL that a tenant is `active`, `incoming` while it is carried here, or `moved`."""
        with self.changing() as connection:
            connection.execute("UPDATE tenant SET state = $2 WHERE id = $1", (tenant, state))

    def set_quota(self, tenant: int, quota: str) -> None:
        """Say in PostgreSQL how much a tenant may use, as JSON."""
        with self.changing() as connection:
            connection.execute("UPDATE tenant SET quota = $2 WHERE id = $1", (tenant, quota))

    def check_deletable(self, tenant: int) -> None:
        """Raise StoreError where this process's role in PostgreSQL may not remove all that a tenant holds."""
        with mapped(), self.connection() as connection:
            vector_index.check_may_drop(connection, tenant)

    def delete(self, tenant: int) -> None:
        """Remove a tenant from PostgreSQL with all it holds, for good; nobody serves it from its `deleting` on.

        Raises what `check_deletable` raises, with nothing changed.
        """
        self.check_deletable(tenant)
        self.set_state(tenant, DELETING)
        with self.changing() as connection:
            connection.execute("SELECT set_config('helix.tenant', $1::bigint::text, true)", (tenant,))
            for table in (*tables(), "api_key"):
                connection.execute(f"DELETE FROM {table} WHERE tenant = $1", (tenant,))
            memberships.remove(connection, tenant)
            connection.execute("DELETE FROM tenant WHERE id = $1", (tenant,))
            vector_index.drop(connection, tenant)

    def index_vectors(self, slug: str) -> int:
        """Make PostgreSQL's index of a large tenant's vectors; return how many it holds.

        Raises NotFoundError, and StoreError where the server has no pgvector or the tenant no vectors.
        """
        tenant = self.tenant(slug)
        with mapped(), closing(self._connections.one_more()) as connection:
            return vector_index.make(connection, tenant.id)

    def drop_index(self, slug: str) -> int:
        """Drop PostgreSQL's index of a tenant's vectors, also one that lost pgvector; return how many there were."""
        tenant = self.tenant(slug)
        with mapped(), closing(self._connections.one_more()) as connection:
            return vector_index.give_up(connection, tenant.id)

    def tenants(self) -> list[Tenant]:
        """Return every tenant in PostgreSQL, by name."""
        return self._tenants("", ())

    def tenant(self, slug: str) -> Tenant:
        """Return a tenant in PostgreSQL by its name. Raises NotFoundError."""
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

    def claim(
        self,
        tenant: int,
        process: uuid.UUID | None = None,
        states: Sequence[str] = (ACTIVE,),
        url: str = "",
        step: int | None = None,
    ) -> int:
        """Become a tenant's home in PostgreSQL; return the epoch that its transactions have from now on.

        That is the one before and a `step`, which is drawn: a standby that was promoted without the newest claims gives
        no process the epoch that another one has of the server before.

        A process that others reach at `url` takes the place of one that they reached there: that one has ended.

        Raises StoreLockedError while another process lives that is its home or a session that was cut off holds it,
        and StoreError for a tenant in another state. Without a `process` nobody else is told.
        """
        with mapped(), self.connection() as connection:
            connection.execute("BEGIN")
            try:
                connection.execute(_WAITS_A_SECOND)
                row = connection.execute(CLAIM, (tenant, process, list(states), url, step or step_drawn())).fetchone()
                if row is None:
                    raise not_claimed(connection.execute(WHOSE, (tenant,)).fetchone(), states)
            except errors.LockNotAvailable as error:
                connection.execute("ROLLBACK")
                # A home that lives is not waited for. One that sleeps would have the row for as long as it does.
                with suppress(errors.InsufficientPrivilege):  # it came as another role
                    connection.execute(_END_ITS_HOLDER, (tenant,))
                words = "a session that was cut off still writes the tenant"
                raise StoreLockedError(words, hint="try again: the server ends it within seconds") from error
            except StoreError:
                connection.execute("ROLLBACK")
                raise
            self.commit(connection, tenant, row[0], row[1])
            return int(row[0])

    def renew(self, process: uuid.UUID, name: str, url: str, seconds: float) -> None:
        """Tell PostgreSQL that a process lives, for so many seconds by its clock, and where it is reached."""
        with mapped(), self.connection() as connection:
            connection.execute(_RENEW, (process, name, url, seconds))

    def living_at(self, url: str) -> list[str]:
        """Return the names of the processes that live at an address by PostgreSQL."""
        statement = "SELECT name FROM process WHERE url = $1 AND until > now() ORDER BY name"
        with mapped(), self.connection() as connection:
            return [str(name) for (name,) in connection.execute(statement, (url,)).fetchall()]

    def release(self, tenant: int, process: uuid.UUID) -> None:
        """Tell PostgreSQL that a process is no longer home to a tenant."""
        with mapped(), self.connection() as connection:
            connection.execute("UPDATE head SET home = NULL WHERE tenant = $1 AND home = $2", (tenant, process))

    def whereabouts(self, slug: str) -> Whereabouts | None:
        """Return where a tenant is served, by PostgreSQL; None where there is no such tenant."""
        with mapped(), self.connection() as connection:
            row = connection.execute(_WHERE, (slug,)).fetchone()
        return None if row is None else Whereabouts(*row)

    def epochs(self, tenants: list[int]) -> dict[int, int]:
        """Return the epoch of the newest home of each of some tenants, by PostgreSQL, of those that there are."""
        statement = "SELECT tenant, epoch FROM head WHERE tenant = ANY($1::bigint[])"
        with mapped(), self.connection() as connection:
            return dict(connection.execute(statement, (tenants,)).fetchall())

    def with_work(self, at: int, most: int) -> list[str]:
        """Return PostgreSQL's tenants with work due `at` a moment (microseconds) and no living home, by name."""
        with mapped(), self.connection() as connection:
            rows = connection.execute(_WITH_WORK, (at, most)).fetchall()
        return [slug for (slug,) in rows]

    def secret(self) -> str:
        """Return what the processes that serve tenants show each other, as PostgreSQL keeps it."""
        with mapped(), self.connection() as connection:
            return str(_one(connection.execute("SELECT secret FROM cluster"))[0])

    def open_between_tenants(self) -> str:
        """Return why PostgreSQL's row-level security does not hold for this process's role; empty where it does."""
        with mapped(), self.connection() as connection:
            return own_tables.open_between_tenants(connection)

    def grant(self, role: str) -> None:
        """Let a PostgreSQL role that owns no table serve. Raises NotFoundError where there is no such role."""
        with mapped(), self.connection() as connection, connection.transaction():
            own_tables.grant(connection, role)

    def homes(self, process: uuid.UUID) -> dict[int, tuple[int, int]]:
        """Return the epoch and the transactions of each tenant that a process is home to by PostgreSQL.

        Those that are no longer to be served are left out.
        """
        statement = (
            "SELECT tenant, epoch, commits FROM head JOIN tenant ON id = tenant"
            " WHERE home = $1 AND state NOT IN ($2, $3)"
        )
        with mapped(), self.connection() as connection:
            rows = connection.execute(statement, (process, SUSPENDED, DELETING)).fetchall()
        return {tenant: (epoch, commits) for tenant, epoch, commits in rows}

    def leave(self, process: uuid.UUID) -> None:
        """Tell PostgreSQL that a process ends: its tenants are free at once. Those killed long ago are forgotten."""
        with mapped(), self.connection() as connection:
            connection.execute("UPDATE head SET home = NULL WHERE home = $1", (process,))
            connection.execute("DELETE FROM process WHERE id = $1 OR until < now() - interval '1 day'", (process,))

    def commit(self, connection: psycopg.Connection[Any], tenant: int, epoch: int | None, commits: int) -> None:
        """Commit to PostgreSQL, and return once the change is as durable as it promises.

        Raises EngineError where that stays unknown, and NotHomeError where another process has the tenant by then.
        """
        done = ""
        with hearing(connection) as said:
            try:
                done = connection.execute("COMMIT").statusmessage or ""
            except psycopg.OperationalError as error:
                said.append(str(error).strip())
        self.committed(done, said, tenant, epoch, commits)

    def committed(self, done: str, said: Sequence[str], tenant: int, epoch: int | None, commits: int) -> None:
        """Return once PostgreSQL has a commit for good, by its answer and what else it said; raises as `commit`."""
        if done == "ROLLBACK":
            raise EngineError("the server took the change back", hint="try again")
        if said:
            self._settle_commit(tenant, epoch, commits, "; ".join(said))

    def _settle_commit(self, tenant: int, epoch: int | None, commits: int, why: str) -> None:
        """Find out whether a commit came in; where it did, have another one prove that all before it is durable."""
        until = time.monotonic() + SETTLED_WITHIN_SECONDS
        while True:
            try:
                # A connection of its own: those of the pool may all be held by others that ask the same.
                with closing(self._connections.one_more()) as connection:
                    said = self._proved(connection, tenant, epoch, commits, why)
                break
            except psycopg.OperationalError as error:  # a lock that is held is one of these, too
                if time.monotonic() >= until:
                    hint = "look at the server, then try again with the same idempotency key"
                    raise EngineError(f"what became of the change is not known: {why}", hint=hint) from error
            time.sleep(_LOOK_SECONDS)
        _check_durable(said, " with the same idempotency key")

    def _proved(
        self, connection: psycopg.Connection[Any], tenant: int, epoch: int | None, commits: int, why: str
    ) -> list[str]:
        """Commit once more behind a commit that came in; return what the server warned of."""
        connection.execute("BEGIN")
        try:
            connection.execute(_WAITS_A_SECOND)
            # The lock waits until the session that was cut off has ended, one way or the other.
            found = connection.execute(_LOCKED, (tenant,)).fetchone()
            if found is None or found[0] != epoch:
                raise NotHomeError("the tenant was taken over by another process", hint="ask again")
            if found[1] != commits:
                raise EngineError(f"the change was not written: {why}", hint="try again")
            connection.execute("UPDATE head SET commits = commits WHERE tenant = $1", (tenant,))
        except (HelixError, errors.LockNotAvailable):
            connection.execute("ROLLBACK")
            raise
        with hearing(connection) as said:
            connection.execute("COMMIT")
        return said


DURABILITY = ", ".join(
    f"current_setting('{name}')" for name in ("fsync", "synchronous_commit", "synchronous_standby_names")
)
"""What a statement asks to know the durability of its own commit."""


def _check_durable(said: Sequence[str], how: str = "") -> None:
    """Raise EngineError where PostgreSQL warned as it committed: a wait for its standbys was cancelled."""
    if said:
        hint = f"look at its standbys, then try again{how}"
        raise EngineError(f"the server cannot say that the change is durable: {'; '.join(said)}", hint=hint)


def _one(cursor: psycopg.Cursor[Any]) -> tuple[Any, ...]:
    row = cursor.fetchone()
    assert row is not None
    return tuple(row)
