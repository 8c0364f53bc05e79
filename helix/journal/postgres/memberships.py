"""Memberships: whom a tenant lets in. An account, a person as an issuer knows them, is kept while any tenant does."""

from __future__ import annotations

from typing import Any

import psycopg

_REMOVE = (
    "DELETE FROM member USING account WHERE account.id = member.account AND tenant = $1"
    " AND ($2::text IS NULL OR issuer = $2 AND subject = $3)"
)
_AT_HOME = (
    "UPDATE account SET home = NULL WHERE home = $1"
    " AND NOT EXISTS (SELECT FROM member WHERE member.account = account.id AND member.tenant = $1)"
)
"""Who is let in there once more, perhaps by somebody else, is in that tenant only where they name it."""
_UNUSED = "account WHERE NOT EXISTS (SELECT FROM member WHERE member.account = account.id)"
_LOCK = f"SELECT id FROM {_UNUSED} FOR UPDATE SKIP LOCKED"
"""Whoever lets one of them in just now holds its row: that one is left. What follows sees who did before."""


def remove(
    connection: psycopg.Connection[Any], tenant: int, issuer: str | None = None, subject: str | None = None
) -> int:
    """Take away a person's or everybody's access to a tenant; return of how many. The transaction is the caller's."""
    removed = connection.execute(_REMOVE, (tenant, issuer, subject)).rowcount
    connection.execute(_AT_HOME, (tenant,))
    unused = [number for (number,) in connection.execute(_LOCK).fetchall()]
    connection.execute(f"DELETE FROM {_UNUSED} AND id = ANY($1::bigint[])", (unused,))
    return removed
