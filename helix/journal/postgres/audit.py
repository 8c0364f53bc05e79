"""Audit: what was administered on a server, and by whom; nobody who serves changes or removes anything of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import psycopg

from helix.journal.postgres.postgres_server import Server
from helix.journal.postgres.server_errors import mapped

_NOTE = (
    "INSERT INTO audit (tenant, slug, actor, action, detail)"
    " SELECT $1::bigint, coalesce((SELECT slug FROM tenant WHERE id = $1), ''), $2, $3, $4"
)


_CHANGERS = (
    "SELECT DISTINCT coalesce(rolname, 'PUBLIC') FROM pg_class, aclexplode(relacl) given"
    " LEFT JOIN pg_roles ON pg_roles.oid = given.grantee WHERE pg_class.oid = 'audit'::regclass"
    " AND given.grantee <> relowner AND privilege_type IN ('UPDATE', 'DELETE', 'TRUNCATE') ORDER BY 1"
)


def changers(server: Server) -> list[str]:
    """Return the PostgreSQL roles that may change or remove what the audit says, but for the one that owns it."""
    with mapped(), server.connection() as connection:
        return [role for (role,) in connection.execute(_CHANGERS).fetchall()]


def note(
    connection: psycopg.Connection[Any], tenant: int | None, by: str, action: str, detail: Mapping[str, object]
) -> None:
    """Write down in PostgreSQL's audit what somebody administers, in the transaction that does it."""
    connection.execute(_NOTE, (tenant, by, action, json.dumps(detail)))


def set_state(server: Server, tenant: int, state: str, by: str, action: str, detail: Mapping[str, object]) -> None:
    """Say in PostgreSQL what a tenant is from now on, with a line of audit where it was something else before."""
    with server.changing() as connection:
        changed = connection.execute("UPDATE tenant SET state = $2 WHERE id = $1 AND state <> $2", (tenant, state))
        if changed.rowcount:
            note(connection, tenant, by, action, detail)
