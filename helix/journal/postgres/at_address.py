"""At an address: the server of stores, or a sentence on what is missing to speak to one; psycopg is loaded then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix.errors import lacks_extra

if TYPE_CHECKING:
    from helix.journal.postgres.postgres_server import Server


def server_at(address: str, *, vouched: bool = False) -> Server:
    """Return the PostgreSQL server of stores at an address. Raises ConfigError without the extra that speaks to one."""
    try:
        from helix.journal.postgres.postgres_server import Server
    except ImportError as error:
        raise lacks_extra("a server's journal", "server", error) from error
    return Server(address, vouched=vouched)
