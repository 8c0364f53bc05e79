"""At an address: the server of stores, or a sentence on what is missing to speak to one; psycopg is loaded then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix.errors import ConfigError

if TYPE_CHECKING:
    from helix.journal.postgres.postgres_server import Server


def server_at(address: str, *, vouched: bool = False) -> Server:
    """Return the PostgreSQL server of stores at an address. Raises ConfigError without the extra that speaks to one."""
    try:
        from helix.journal.postgres.postgres_server import Server
    except ImportError as error:
        raise ConfigError(
            f"a server's journal takes more than what is installed: {error.name} is missing",
            hint="pip install 'helix-memory[server]'",
        ) from error
    return Server(address, vouched=vouched)
