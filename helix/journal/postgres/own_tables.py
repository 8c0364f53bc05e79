"""Own tables: which of a database's tables are Helix's, who may use them, and whether the second wall is up in them."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import psycopg

from helix.errors import NotFoundError, StoreError
from helix.journal.postgres import vector_index
from helix.journal.postgres.dialect import dropped, scripts, tables

_MADE = re.compile(r"^CREATE TABLE (\w+)", re.MULTILINE)
_MIGRATION = "migration"
_COLUMNS = ["hash", "name", "number"]
"""What the table of migrations had from the first on."""
_THERE = "SELECT relname FROM pg_class WHERE relnamespace = current_schema::regnamespace AND relname = ANY($1)"
_HAS = (
    "SELECT array_agg(attname::text ORDER BY attname) FROM pg_attribute"
    " WHERE attrelid = to_regclass($1) AND attname = ANY($2) AND NOT attisdropped"
)
_GRANTS = (
    "GRANT USAGE ON SCHEMA {schema} TO {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {role}",
    "REVOKE INSERT, UPDATE, DELETE ON migration, cluster FROM {role}",
    "REVOKE UPDATE, DELETE ON audit FROM {role}",
)
_OPEN = (
    "SELECT relname, row_security_active(oid), relrowsecurity, pg_has_role(relowner, 'USAGE') FROM pg_class"
    " WHERE relnamespace = current_schema::regnamespace AND relname = ANY($1) ORDER BY relname"
)


@cache
def _made() -> dict[int, list[str]]:
    """Return the tables that each migration makes, by its number."""
    return {int(name[:4]): _MADE.findall(text) for name, text in scripts().items()}


def check_foreign(connection: psycopg.Connection[Any]) -> bool:
    """Return whether Helix has been in PostgreSQL; StoreError where another program has a table of such a name."""
    known = connection.execute(_THERE, ([_MIGRATION],)).fetchone() is not None
    foreign = []
    if known and connection.execute(_HAS, (_MIGRATION, _COLUMNS)).fetchone() != (_COLUMNS,):
        known, foreign = False, [_MIGRATION]
    rows = connection.execute("SELECT number FROM migration").fetchall() if known else []
    lacking = [name for number, names in _made().items() if (number,) not in rows for name in names]
    foreign += [name for (name,) in connection.execute(_THERE, (lacking,)).fetchall()]
    if foreign:
        raise StoreError(
            f"the database has another program's table {', '.join(sorted(foreign))}, of a name that Helix needs",
            hint="give Helix a database of its own, or a schema: set `search_path` for each of its roles, `ALTER ROLE`",
        )
    return known


def grant(connection: psycopg.Connection[Any], role: str) -> None:
    """Let a PostgreSQL role that owns no table serve, nothing with other tables. NotFoundError for no such role."""
    asked = "SELECT quote_ident(rolname), quote_ident(current_schema) FROM pg_roles WHERE rolname = $1"
    row = connection.execute(asked, (role,)).fetchone()
    if row is None:
        raise NotFoundError(f"the server has no role {role!r:.63}", hint="make it there: CREATE ROLE ... LOGIN")
    own = ", ".join([_MIGRATION, *(name for names in _made().values() for name in names if name not in dropped())])
    for statement in _GRANTS:
        connection.execute(statement.format(role=row[0], schema=row[1], tables=own).encode())
    vector_index.grant(connection, row[0])


def open_between_tenants(connection: psycopg.Connection[Any]) -> str:
    """Return why PostgreSQL's row-level security does not hold for the role that asks; empty: it does."""
    found = connection.execute(_OPEN, ([name for name in tables() if name != "head"],)).fetchall()
    if lacking := [name for name, _, walled, _ in found if not walled]:
        return f"not in {', '.join(lacking)}"
    if all(active for _, active, _, _ in found):
        return ""
    passes = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
    if connection.execute(passes).fetchone() == (True,):
        return "not for this role, which may pass it by (SUPERUSER or BYPASSRLS)"
    owned = [name for name, active, _, owner in found if owner and not active]
    return "not for this role, which owns the tables" if owned else "not for this role"
