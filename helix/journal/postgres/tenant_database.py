"""Tenant database: the tables of one tenant on a server of PostgreSQL, as the journal asks for them.

Rules that hold in every transaction:

- It locks the tenant's row in `head`, where the epoch must be its own: a process that is no longer the tenant's home
  writes nothing.
- It counts itself in that row. So a commit whose answer was lost is found, or found missing, and nobody who wrote
  meanwhile goes unnoticed.
- It says whose it is: row-level security shows it that tenant's rows alone, where the role owns no table.
- It counts as durable only when the server said so without a warning. A wait for a standby that was cancelled ends in a
  warning, and the change is then on one machine alone.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from helix.errors import EngineError, NotHomeError, StoreError
from helix.journal.backend import DatabaseConnection, StatementRows
from helix.journal.postgres import vector_index
from helix.journal.postgres.dialect import translated
from helix.journal.postgres.postgres_server import DURABILITY, Server
from helix.journal.postgres.server_connections import hearing
from helix.journal.postgres.server_errors import mapped
from helix.model.reports import ENOUGH_FOR_A_QUORUM, Durability

_SAFELY = (
    f"SELECT {DURABILITY}, set_config('helix.tenant', $1::bigint::text, true), set_config('lock_timeout', '30s', true),"
    " set_config('client_min_messages', 'warning', true),"
    " set_config('idle_in_transaction_session_timeout', CASE WHEN $2 THEN '10min' ELSE '10s' END, true)"
)
"""Told for the transaction alone: whose rows it may see, that it waits for no lock of another session without end, that
a warning at its end is heard, and that the server ends a session that was cut off."""
_AS_TENANT = "SELECT set_config('helix.tenant', $1::bigint::text, true)"
_BEGIN = (
    "UPDATE head SET commits = commits + 1 WHERE tenant = $1 AND epoch = $2 RETURNING commits",
    "SELECT epoch FROM head WHERE tenant = $1",
)
_REACHED = (
    "UPDATE head SET seq = newest.seq, chain = newest.chain"
    " FROM (SELECT seq, chain FROM log WHERE tenant = $1 ORDER BY seq DESC LIMIT 1) newest"
    " WHERE head.tenant = $1 AND head.seq <> newest.seq"
)
_CURSORS = itertools.count()
_ROWS_AT_ONCE = 2_000


class _Statements:
    """Runs the journal's statements for one tenant."""

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        tenant: int,
        *,
        pipeline: psycopg.Pipeline | None = None,
        in_parts: bool = False,
        alone: bool = False,
    ) -> None:
        """`alone`: each statement is a transaction of its own, and says so in the same trip."""
        self._connection = connection
        self._pipeline = pipeline
        self._tenant = tenant
        self._in_parts = in_parts
        self._alone = alone
        self._open: list[psycopg.RawServerCursor[Any]] = []

    def close(self) -> None:
        """Let go of what was not read to its end: PostgreSQL's connection is lent to others from here on."""
        for cursor in self._open:
            with suppress(psycopg.Error):  # a connection that broke has none any more
                cursor.close()

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> StatementRows:
        given = (self._tenant, *values)
        if self._in_parts:
            named = psycopg.RawServerCursor(self._connection, f"helix_{next(_CURSORS)}")
            named.itersize = _ROWS_AT_ONCE
            self._open = [one for one in self._open if not one.closed]
            self._open.append(named)
            return _Parts(named.execute(translated(statement), given))
        if self._alone:
            with self._connection.pipeline():
                self._connection.execute(_AS_TENANT, (self._tenant,))
                return psycopg.RawCursor(self._connection).execute(translated(statement), given)
        found = psycopg.RawCursor(self._connection).execute(translated(statement), given)
        return found if self._pipeline is None else _Awaited(found, self._pipeline)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> None:
        given = [(self._tenant, *row) for row in rows]
        if given:
            psycopg.RawCursor(self._connection).executemany(translated(statement), given)


class _Awaited:
    """What was found within a transaction: the server is told that nothing more is on its way before it is waited for.

    Only then does it count how long the session is idle, and end it where this process falls asleep.
    """

    def __init__(self, cursor: psycopg.RawCursor[Any], pipeline: psycopg.Pipeline) -> None:
        self._cursor, self._pipeline = cursor, pipeline

    def _there(self) -> psycopg.RawCursor[Any]:
        if self._cursor.pgresult is None:
            self._pipeline.sync()
        return self._cursor

    def __iter__(self) -> Iterator[Any]:
        return iter(self._there())

    def fetchone(self) -> Any:
        return self._there().fetchone()

    def fetchall(self) -> list[Any]:
        return self._there().fetchall()

    def fetchmany(self, size: int = 1, /) -> list[Any]:
        return self._there().fetchmany(size)


class _Parts:
    """What was found, which the server keeps and sends some of at a time; it lets go of it when that is read."""

    def __init__(self, cursor: psycopg.ServerCursor[Any]) -> None:
        self._cursor = cursor

    def __iter__(self) -> Iterator[Any]:
        with self._cursor:
            yield from self._cursor

    def fetchone(self) -> Any:
        with self._cursor:
            return self._cursor.fetchone()

    def fetchall(self) -> list[Any]:
        with self._cursor:
            return self._cursor.fetchall()

    def fetchmany(self, size: int = 1, /) -> list[Any]:
        found = self._cursor.fetchmany(size)
        if not found:
            self._cursor.close()
        return found


def _roll_back(connection: psycopg.Connection[Any], error: BaseException) -> None:
    """End a transaction without a trace; a connection on which PostgreSQL refused something is lent no more.

    psycopg takes statements of a pipeline that was aborted for prepared ones, which the server then does not know.
    """
    status = connection.info.transaction_status
    if isinstance(error, psycopg.Error) or status is TransactionStatus.INERROR:
        connection.close()
    elif status is not TransactionStatus.UNKNOWN:
        connection.execute("ROLLBACK")


class TenantDatabase:
    """One tenant's tables. A process that writes them has claimed the tenant first."""

    def __init__(
        self,
        server: Server,
        tenant: int,
        epoch: int | None,
        beside: Path,
        *,
        closing: Callable[[], object] = lambda: None,
        lost: Callable[[], bool] = lambda: False,
        committed: Callable[[int], object] = lambda _: None,
        requires_quorum: bool = False,
        archive_days: int = 0,
    ) -> None:
        """`epoch` is what `Server.claim` answered; None for who only reads. `beside` is a place for scratch files.

        `closing` is called at its end, `committed` with how many transactions are durable, and `lost` asked whether
        another process may write the tenant by now, or the server lost some of those. With `requires_quorum` nothing is
        written that would be on one machine alone. `archive_days` is how long the server's archives are kept; 0: nobody
        said.
        """
        self.durability = Durability.SINGLE if epoch is None else server.durability()
        self.beside = beside
        self.closed = False
        self.tenant = tenant
        self._server = server
        self._epoch = epoch
        self._requires_quorum = requires_quorum
        self._archive_days = archive_days
        self._closing = closing
        self._lost = lost
        self._committed = committed
        self._refused = False
        self._commits: int | None = None
        self._turn = threading.Lock()
        self._within = 0

    @property
    def fenced(self) -> bool:
        """Whether another process may write the tenant in PostgreSQL by now, or that lost what it had acknowledged.

        Memory here is no longer sure then.
        """
        return self._refused or self._lost()

    @contextmanager
    def transaction(self, *, long: bool = False) -> Iterator[DatabaseConnection]:
        """Run a durable transaction of a tenant in PostgreSQL; NotHomeError where another process writes it.

        Raises EngineError where the server cannot be reached, or does not say that the change is durable: it is not
        acknowledged then, though it may be there.
        """
        if self._within == threading.get_ident():
            raise StoreError(
                "a transaction cannot begin within another one", hint="this is a fault of Helix: report it"
            )
        self._check_lost()
        ended: psycopg.Cursor[Any] | None = None
        with self._turn, mapped(), self._server.connection() as connection, hearing(connection) as said:
            self._within = threading.get_ident()
            try:
                with connection.pipeline() as pipeline:  # what nobody waits for is on its way together
                    connection.execute("BEGIN")
                    commits = self._begun(connection, pipeline, long)
                    yield _Statements(connection, self.tenant, pipeline=pipeline)
                    connection.execute(_REACHED, (self.tenant,))
                    pipeline.sync()
                    said.clear()
                    # Before the pipeline ends: it asks for what is left then, and a server that is asked no longer
                    # counts how long the session is idle.
                    ended = connection.execute("COMMIT")
            except BaseException as error:
                if ended is None or not isinstance(error, psycopg.OperationalError):
                    _roll_back(connection, error)
                    raise
                said.append(str(error).strip())
            finally:
                self._within = 0
            self._server.committed(ended.statusmessage or "", said, self.tenant, self._epoch, commits)
            self._commits = commits
            self._committed(commits)

    def _begun(self, connection: psycopg.Connection[Any], pipeline: psycopg.Pipeline, long: bool) -> int:
        """Lock the tenant's head and count the transaction; return how many there are with it."""
        count, look = _BEGIN
        told = connection.execute(_SAFELY, (self.tenant, long))
        locked = psycopg.RawCursor(connection).execute(count, (self.tenant, self._epoch))
        row = _Awaited(locked, pipeline).fetchone()
        if row is None:
            self._refused = True
            found = connection.execute(look, (self.tenant,)).fetchone()
            whose = "was removed" if found is None else f"was taken over by another process (epoch {found[0]})"
            raise NotHomeError(f"the tenant {whose}", hint="ask again: the request goes to its new home")
        commits = int(row[0])
        self.durability = self._server.durability_of(*told.fetchall()[0][:3])
        if self._requires_quorum and self.durability not in ENOUGH_FOR_A_QUORUM:
            raise EngineError(
                f"the server's commits are worth too little: {self.durability.said.lower()}",
                hint="give it a standby (`synchronous_standby_names`), or do without `require_quorum`",
            )
        if self._commits is not None and commits != self._commits + 1:
            self._refused = True
            raise NotHomeError(
                "the tenant holds changes that this process has not seen",
                hint="ask again: the tenant is opened anew",
            )
        return commits

    @contextmanager
    def reading(self) -> Iterator[DatabaseConnection]:
        """Lend a connection that reads what is committed of a tenant in PostgreSQL."""
        self._check_lost()
        with mapped(), self._server.connection() as connection:
            yield _Statements(connection, self.tenant, alone=True)

    @contextmanager
    def snapshot(self) -> Iterator[DatabaseConnection]:
        """Lend a connection that goes on seeing a tenant in PostgreSQL as it is now; what it finds comes in parts."""
        self._check_lost()
        with mapped(), self._server.connection() as connection:
            with connection.pipeline():
                connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                connection.execute(_AS_TENANT, (self.tenant,))
            statements = _Statements(connection, self.tenant, in_parts=True)
            try:
                yield statements
            finally:
                statements.close()
                if connection.info.transaction_status is not TransactionStatus.UNKNOWN:
                    connection.execute("ROLLBACK")

    def vector_search(self, vector: Sequence[float], k: int) -> list[tuple[str, float]]:
        """Return (passage id, cosine) of `k` near ones in PostgreSQL, best first. No index: GraphUnavailableError."""
        self._check_lost()
        with mapped(), self._server.connection() as connection:
            return vector_index.nearest(connection, self.tenant, vector, k)

    def _check_lost(self) -> None:
        """Raise NotHomeError where the server is out of reach or gave the tenant away: nobody waits for it then."""
        if self._lost():
            raise NotHomeError("the tenant may have another home by now", hint="ask again")

    def checkpoint(self) -> None:
        """Do nothing: PostgreSQL writes its log by itself."""

    def scrub(self) -> str:
        """Return what may hold what was removed: that is the business of whoever runs PostgreSQL."""
        kept = "as long as they are kept (`archive_days` says how long)"
        if self._archive_days:
            kept = f"until {datetime.now(UTC).date() + timedelta(days=self._archive_days):%Y-%m-%d}"
        return f"the server's files hold it until it has vacuumed its tables, and its archives and backups {kept}"

    def close(self) -> None:
        """Stop reading and writing the tenant in PostgreSQL; twice is no error."""
        if not self.closed:
            self.closed = True
            self._closing()
