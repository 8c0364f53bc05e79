"""Address: where a server of PostgreSQL is, without a secret in it, and what is said to whoever answers there."""

from __future__ import annotations

import os

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from helix.errors import ConfigError
from helix.settings import holds_secret


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
