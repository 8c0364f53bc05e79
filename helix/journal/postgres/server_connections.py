"""Server connections: those to one server, lent to any thread, and made anew soon after it is back."""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from weakref import WeakSet

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from helix.errors import ConfigError
from helix.settings import holds_secret

_CONNECT_SECONDS = 10
_NEXT_HOST_SECONDS = 2
"""How long a host is waited for where the address names others: one that lost its power answers nothing at all."""
_ANEW_SECONDS = 0.5
"""How long the pool goes on trying before it is asked anew: by itself it waits longer and longer between."""
_CONNECTING = {
    "autocommit": True,
    "cursor_factory": psycopg.RawCursor,
    "application_name": "helix",
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}


def check_address(url: str) -> None:
    """Raise ConfigError for what is no PostgreSQL address, and for a secret in it; neither is repeated."""
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        hint = "write it like postgresql://USER@HOST/DATABASE"
        raise ConfigError("this is not the address of a PostgreSQL server", hint=hint) from None
    if holds_secret(url):
        raise ConfigError(
            "the address holds a password, which other users of the machine could read",
            hint="put it into PGPASSWORD or a password file (PGPASSFILE)",
        )


def guarded(url: str) -> str:
    """Return a PostgreSQL address at which no password is said in the open.

    libpq tells it to whoever listens there and asks for it, another user of the machine while the server is down.
    """
    said = conninfo_to_dict(url)
    secure = str(said.get("sslmode") or os.environ.get("PGSSLMODE", "")) in ("require", "verify-ca", "verify-full")
    if secure or "require_auth" in said or "PGREQUIREAUTH" in os.environ:
        return url
    return make_conninfo(url, require_auth="!password")


def hosts_of(url: str) -> int:
    """Return how many hosts an address of PostgreSQL names."""
    said = conninfo_to_dict(url)
    return str(said.get("host") or said.get("hostaddr") or "").count(",") + 1


class ServerConnections:
    """At most so many connections to a server; each is made when it is first needed."""

    def __init__(self, url: str, most: int) -> None:
        """`url` may name several hosts, of which the first that fits is taken."""
        self._address = guarded(url)
        hosts = hosts_of(url)
        self._how: dict[str, Any] = {
            **_CONNECTING,
            "connect_timeout": _NEXT_HOST_SECONDS if hosts > 1 else _CONNECT_SECONDS,
        }
        self._refused = False
        self._made: WeakSet[psycopg.Connection[Any]] = WeakSet()
        self._noting = threading.Lock()
        self._seconds = _CONNECT_SECONDS + hosts * _NEXT_HOST_SECONDS
        self._pool = ConnectionPool(
            self._address,
            min_size=0,
            max_size=most,
            open=True,
            reconnect_timeout=_ANEW_SECONDS,
            reconnect_failed=self._note_refused,
            configure=self._note_made,
            check=_check_if_told,
            kwargs=self._how,
        )

    @contextmanager
    def lent(self) -> Iterator[psycopg.Connection[Any]]:
        """Lend a connection to PostgreSQL outside of any transaction.

        Raises PoolTimeout where all stay lent, and psycopg.OperationalError, which says why, where none can be made.
        """
        until = time.monotonic() + self._seconds
        with ExitStack() as lent:
            while True:
                try:
                    connection = lent.enter_context(self._pool.connection(timeout=_ANEW_SECONDS))
                    break
                except PoolTimeout:
                    if time.monotonic() >= until:
                        if self._refused:
                            self._connect(connect_timeout=_NEXT_HOST_SECONDS).close()
                        raise
            self._refused = False
            yield connection

    def can_lend(self) -> bool:
        """Return whether PostgreSQL gives a connection, as far as is known; it is tried where the last failed."""
        if self._refused:
            try:
                self._connect(connect_timeout=_NEXT_HOST_SECONDS).close()
            except psycopg.OperationalError:
                return False
            self._refused = False
        return True

    def _note_refused(self, pool: ConnectionPool) -> None:
        self._refused = True

    def _note_made(self, connection: psycopg.Connection[Any]) -> None:
        with self._noting:
            self._made.add(connection)

    def _connect(self, **how: Any) -> psycopg.Connection[Any]:
        return psycopg.connect(self._address, **{**self._how, **how})

    def one_more(self) -> psycopg.Connection[Any]:
        """Return one more connection to PostgreSQL. Raises psycopg.OperationalError, which says why not."""
        made = self._connect()
        self._note_made(made)
        return made

    def cut(self) -> None:
        """Cut every connection to PostgreSQL: who waits for an answer is told so, and who asks next connects anew.

        A server that hangs keeps them open, and nothing else would end the wait.
        """
        with self._noting:
            made = list(self._made)
        for one in made:
            with (
                suppress(OSError, psycopg.Error),  # it was closed meanwhile
                socket.socket(fileno=os.dup(one.fileno())) as wire,
            ):
                wire.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End every connection to PostgreSQL; twice is no error."""
        self._pool.close()


def _check_if_told(connection: psycopg.Connection[Any]) -> None:
    """Check a connection before it is lent, where its server said something meanwhile: that it ends it, most of all.

    Asking each time would be one more trip for every read.
    """
    said = select.poll()
    said.register(connection.fileno(), select.POLLIN)
    if said.poll(0):
        ConnectionPool.check_connection(connection)


@contextmanager
def hearing(connection: psycopg.Connection[Any]) -> Iterator[list[str]]:
    """Lend a list that takes what PostgreSQL warns of on a connection."""
    said: list[str] = []

    def heard(notice: errors.Diagnostic) -> None:
        said.append(notice.message_primary or "")

    connection.add_notice_handler(heard)
    try:
        yield said
    finally:
        connection.remove_notice_handler(heard)
