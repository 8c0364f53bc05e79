"""Vector index: pgvector's, for a tenant with more passages than can be looked at one by one.

What it finds is near, and not surely the nearest: hierarchical navigable small worlds (Malkov and Yashunin, 2018) over
vectors of half precision. The tables are in `schema/postgres/vector_index.sql`.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import errors

from helix import resources
from helix.errors import GraphUnavailableError, StoreError

_NAME = "nearest_{}_{}"
_MOST = 1_000
"""The most that pgvector looks through (`hnsw.ef_search`), and so the most that can be asked for."""
_LOOKS = 200
"""How many it looks through at least: with fewer it finds less."""
_ROWS_AT_ONCE = 5_000
_BYTES_BESIDE = 512
"""What the index takes for a vector beside its numbers while it is built, generously."""
_LEAST_MEMORY_KB = 64 << 10
_ACTIVE = "SELECT id, dimension FROM space WHERE tenant = $1 AND active"
_READY = (
    "SELECT id, dimension FROM space WHERE tenant = $1 AND active AND EXISTS (SELECT FROM pg_index"
    " WHERE indexrelid = to_regclass(format('nearest_%s_%s_hnsw', tenant, id)) AND indisvalid)"
    " AND to_regprocedure(format('keep_nearest_%s_%s()', tenant, id)) IS NOT NULL"
)
"""Where nothing has it follow any more, what it finds is not what is there."""
_WHOLE = (
    "SELECT FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = 'embedding' AND NOT attisdropped"
    " AND to_regprocedure(format('keep_%s()', $1::text)) IS NOT NULL"
)
"""Whether an index lost neither its vectors, as with its extension, nor what has it follow each change."""

_WHO = (
    "SELECT quote_ident(current_user), relowner::regrole::text, pg_has_role(relowner, 'USAGE') FROM pg_class"
    " WHERE oid = to_regclass('vector')"
)
_SCHEMA = "pgvector"
"""Where its types are put: among Helix's tables is one called `vector`, as its first type is."""
_WITH_PGVECTOR = (
    "set_config('search_path', concat_ws(', ', current_setting('search_path'),"
    " (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace"
    " WHERE extname = 'vector')), {})"
)
_SEARCHING = (
    "SELECT set_config('helix.tenant', $1::bigint::text, true), set_config('hnsw.ef_search', $2, true),"
    f" {_WITH_PGVECTOR.format('true')}"
)
"""Told for the transaction alone: whose rows it may see, and how many are looked through."""


def make(connection: psycopg.Connection[Any], tenant: int) -> int:
    """Make a tenant's PostgreSQL index, or what it lacks, and drop those of former models; return how many it holds.

    `connection` is in no transaction. Tenants are served meanwhile. Raises StoreError where its role owns no table, the
    server has no pgvector, or the tenant no vectors.
    """
    _have_pgvector(connection)
    active = connection.execute(_ACTIVE, (tenant,)).fetchone()
    if active is None:
        raise StoreError("the tenant has no vectors", hint="serve it with an embedding model first")
    space, dimension = active
    name = _NAME.format(tenant, space)
    whole = connection.execute(_WHOLE, (name,)).fetchone() is not None
    drop(connection, tenant, but=name if whole else "")
    script = resources.text("schema", "postgres/vector_index.sql")
    for part, value in (("{tenant}", tenant), ("{space}", space), ("{dimension}", dimension)):
        script = script.replace(part, str(int(value)))
    with connection.transaction():
        connection.execute(script.encode())
    of_space = f"FROM vector v WHERE v.tenant = {tenant:d} AND v.space = {space:d}"
    with connection.transaction():
        _copy(connection, name, of_space, dimension)
    # What was removed while it was copied; what is removed from here on takes its copy with it.
    connection.execute(f"DELETE FROM {name} n WHERE NOT EXISTS (SELECT {of_space} AND v.number = n.number)".encode())
    (count,) = connection.execute(f"SELECT count(*) FROM {name}".encode()).fetchone() or (0,)
    if connection.execute(_READY, (tenant,)).fetchone() is None:
        connection.execute(f"DROP INDEX IF EXISTS {name}_hnsw".encode())  # one that was not finished
        memory = max(_LEAST_MEMORY_KB, count * (2 * dimension + _BYTES_BESIDE) >> 10)
        connection.execute("SELECT set_config('maintenance_work_mem', $1, false)", (f"{memory}kB",))
        made = f"CREATE INDEX CONCURRENTLY {name}_hnsw ON {name} USING hnsw (embedding halfvec_ip_ops)"
        connection.execute(made.encode())
    return int(count)


def _have_pgvector(connection: psycopg.Connection[Any]) -> None:
    """Make the extension where it is not there, and have its types known; raises StoreError where that cannot be."""
    role, owner, owns = connection.execute(_WHO).fetchone() or ("", "", False)
    if not owns:
        hint = f"ask as that role: `helix engine index postgresql://{owner}@HOST/DATABASE --tenant NAME`"
        raise StoreError(f"{role} may make no index: the tables are {owner}'s", hint=hint)
    try:
        if connection.execute("SELECT FROM pg_extension WHERE extname = 'vector'").fetchone() is None:
            with connection.transaction():
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}".encode())
                connection.execute(f"CREATE EXTENSION vector SCHEMA {_SCHEMA}".encode())
    except (errors.FeatureNotSupported, errors.UndefinedFile) as error:
        hint = "install it on the server's machine; until then recall looks at all vectors, which is exact"
        raise StoreError("the server has no pgvector", hint=hint) from error
    except errors.InsufficientPrivilege as error:
        made = f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA} AUTHORIZATION {role}; CREATE EXTENSION vector SCHEMA {_SCHEMA};"
        hint = f"have a superuser say in this database, once: {made}"
        raise StoreError(f"{role} may not create the extension pgvector", hint=hint) from error
    connection.execute(f"SELECT {_WITH_PGVECTOR.format('false')}".encode())


def _copy(connection: psycopg.Connection[Any], name: str, of_space: str, dimension: int) -> None:
    """Put the vectors into the table that are not there yet: so many are read here in a tenth of the server's time."""
    kept, halves = struct.Struct(f"<{dimension}f"), struct.Struct(f">HH{dimension}e")
    lacking = f"NOT EXISTS (SELECT FROM {name} n WHERE n.number = v.number)"
    found = psycopg.RawServerCursor(connection, "vectors_to_copy")
    found.itersize = _ROWS_AT_ONCE
    connection.execute(f"CREATE TEMP TABLE copied ON COMMIT DROP AS SELECT * FROM {name} LIMIT 0".encode())
    with found, found.execute(f"SELECT number, vector {of_space} AND {lacking}".encode()) as rows:
        while some := rows.fetchmany(_ROWS_AT_ONCE):
            with connection.cursor().copy(b"COPY copied FROM STDIN (FORMAT BINARY)") as copy:
                copy.set_types(("int8", "bytea"))  # the second is sent as it is, and read as the type of its column
                for number, vector in some:
                    copy.write_row((number, halves.pack(dimension, 0, *kept.unpack(vector))))
    connection.execute(f"INSERT INTO {name} SELECT * FROM copied ON CONFLICT DO NOTHING".encode())


def drop(connection: psycopg.Connection[Any], tenant: int, but: str = "") -> int:
    """Drop a tenant's indexes of vectors in PostgreSQL, all of them or all but one; return how many."""
    names = [name for name, _, _ in _found(connection, str(int(tenant))) if name != but]
    for name in names:  # first, with its triggers: nothing is in the way of a write then, whatever becomes of the rest
        connection.execute(f"DROP FUNCTION IF EXISTS keep_{name} CASCADE".encode())
    for name in names:
        connection.execute(f"DROP TABLE {name}".encode())
    return len(names)


def give_up(connection: psycopg.Connection[Any], tenant: int) -> int:
    """Drop a tenant's indexes in PostgreSQL, not within a transaction; return how many.

    Raises StoreError where a table has to stay for the moment. In the way of a write it is no more.
    """
    try:
        return drop(connection, tenant)
    except errors.UndefinedFile as error:
        raise StoreError(
            "the tenant's vectors have no index any more; its table stays, which no server opens without pgvector",
            hint="the same command removes it once pgvector is installed again",
        ) from error


def check_may_drop(connection: psycopg.Connection[Any], tenant: int) -> None:
    """Raise StoreError where the PostgreSQL role that asks owns not all of a tenant's indexes."""
    for _, owner, owns in _found(connection, str(int(tenant))):
        if not owns:
            hint = f"ask as that role: `helix tenant delete NAME --confirm NAME --engine postgresql://{owner}@...`"
            raise StoreError(f"the tenant has an index of its vectors, which {owner} alone may remove", hint=hint)


def _found(connection: psycopg.Connection[Any], tenant: str) -> list[tuple[str, str, bool]]:
    """Return the tables that are indexes of a tenant (a pattern), who owns them, and whether who asks may as well."""
    statement = (
        "SELECT relname, relowner::regrole::text, pg_has_role(relowner, 'USAGE') FROM pg_class"
        " WHERE relkind = 'r' AND relnamespace = current_schema::regnamespace AND relname ~ $1"
    )
    return connection.execute(statement, (f"^nearest_{tenant}_[0-9]+$",)).fetchall()


def grant(connection: psycopg.Connection[Any], role: str) -> None:
    """Let a PostgreSQL role, by its quoted name, read what there is of indexes, each as its tenant."""
    for name, _, _ in _found(connection, "[0-9]+"):
        connection.execute(f"GRANT SELECT ON {name} TO {role}".encode())
    owned = "SELECT FROM pg_namespace WHERE nspname = $1 AND pg_has_role(nspowner, 'USAGE')"
    if connection.execute(owned, (_SCHEMA,)).fetchone() is not None:
        connection.execute(f"GRANT USAGE ON SCHEMA {_SCHEMA} TO {role}".encode())


def nearest(
    connection: psycopg.Connection[Any], tenant: int, vector: Sequence[float], k: int
) -> list[tuple[str, float]]:
    """Return (passage id, cosine) of up to `k` near ones by PostgreSQL, best first; not within a transaction.

    Raises GraphUnavailableError where the tenant has no index of the vectors that it is searched by.
    """
    given = "[" + ",".join(format(number, ".6g") for number in vector) + "]"
    with connection.pipeline(), connection.transaction():
        connection.execute(_SEARCHING, (tenant, str(min(_MOST, max(k, _LOOKS)))))
        ready = connection.execute(_READY, (tenant,)).fetchone()
        if ready is None or k > _MOST:
            reason = "the tenant's vectors have no index" if ready is None else f"more than {_MOST:,} are wanted"
            raise GraphUnavailableError(reason, hint="an operator makes it: `helix engine index --tenant NAME`")
        space, dimension = ready
        asked = f"embedding <#> $2::halfvec({dimension:d})"
        statement = (
            f"SELECT id, -product FROM (SELECT number, {asked} AS product FROM {_NAME.format(tenant, space)}"
            f" ORDER BY {asked} LIMIT {k:d}) near JOIN passage USING (number) WHERE tenant = $1 ORDER BY product"
        )
        return connection.execute(statement.encode(), (tenant, given)).fetchall()
