"""Dialect: a statement of the journal, written for one store and SQLite, as PostgreSQL runs it for one tenant.

What is written once is the same in both editions, and no statement can forget its tenant: `$1` is the tenant in each of
them. A table that is read is read by its rows of the tenant, what is put gets the tenant as its first column, and what
is changed or removed is so where the tenant fits.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache

import sqlglot
from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from helix import resources

_TENANT = "tenant"
_TABLES = re.compile(r"^CREATE TABLE .*?^\)", re.MULTILINE | re.DOTALL)
_DROPPED = re.compile(r"^DROP TABLE (\w+)", re.MULTILINE)
_TEXTS = frozenset({"tokens"})
"""Columns of text that are read as bytes; all others that are hold bytes already."""


@cache
def translated(statement: str) -> str:
    """Return a statement in PostgreSQL's SQL, `$1` for the tenant, `$2` and on for each `?`, in their order."""
    tree = sqlglot.parse_one(_numbered(statement), read="sqlite")
    common = {cte.alias for cte in tree.find_all(exp.CTE)}
    if hidden := common & tables().keys():
        raise ValueError(f"{hidden} names a table and a part of the statement")
    for mark in list(tree.find_all(exp.Placeholder)):
        mark.replace(_parameter(int(mark.name[1:])))
    tree = tree.transform(_plain)
    for table in list(tree.find_all(exp.Table)):
        if isinstance(table.parent, exp.From | exp.Join) and table.name in tables() and table.name not in common:
            table.replace(_of_tenant(table))
    for insert in list(tree.find_all(exp.Insert)):
        _put(insert)
    changes: list[exp.Update | exp.Delete] = [*tree.find_all(exp.Update), *tree.find_all(exp.Delete)]
    for change in changes:
        change.where(exp.column(_TENANT, change.this.name).eq(_parameter(1)), copy=False)
    _check(tree, common)
    return tree.sql(dialect="postgres", identify=True)


@cache
def tables() -> Mapping[str, Sequence[str]]:
    """Return the columns of each PostgreSQL table that holds rows of tenants, but for the tenant's own."""
    found: dict[str, Sequence[str]] = {}
    written = "".join(scripts().values())
    for statement in _TABLES.findall(written):
        made = sqlglot.parse_one(statement, read="postgres")
        columns = [column.name for column in made.this.expressions if isinstance(column, exp.ColumnDef)]
        if columns[0] == _TENANT:
            found[made.this.this.name] = columns[1:]
    for name in dropped():
        found.pop(name, None)
    return found


@cache
def dropped() -> frozenset[str]:
    """Return the PostgreSQL tables that a migration made and a later one removed."""
    return frozenset(_DROPPED.findall("".join(scripts().values())))


def scripts() -> dict[str, str]:
    """Return the texts of PostgreSQL's migrations in `schema/postgres`, by their names, in their order."""
    names = sorted(path.name for path in resources.directory("schema").joinpath("postgres").glob("[0-9]*.sql"))
    return {name: resources.text("schema", f"postgres/{name}") for name in names}


def _check(tree: exp.Expr, common: Collection[str]) -> None:
    """Raise ValueError for a statement in which some table may not be the tenant's own."""
    for table in tree.find_all(exp.Table):
        inside = table.find_ancestor(exp.Select)
        filtered = isinstance(table.parent, exp.From) and inside is not None and _names_tenant(inside)
        changed = isinstance(table.parent, exp.Insert | exp.Update | exp.Delete | exp.Schema)
        made = isinstance(table.this, exp.Func) or table.name in common
        if not (filtered or changed or made) or (changed and table.name not in tables()):
            raise ValueError(f"the table {table.name} is not looked through for one tenant alone")
    for insert in tree.find_all(exp.Insert):
        if not isinstance(insert.expression, exp.Values | exp.Select):
            raise ValueError("a row is put in a way that gives it no tenant")


def _names_tenant(select: exp.Select) -> bool:
    where = select.args.get("where")
    return where is not None and where.this == exp.column(_TENANT).eq(_parameter(1))


def _numbered(statement: str) -> str:
    """Return the statement with a name for each `?`: a tree does not keep the order in which they stood."""
    tokens = sqlglot.tokenize(statement, read="sqlite")
    marks = [token.start for token in tokens if token.token_type is TokenType.PLACEHOLDER]
    parts = [statement[start:end] for start, end in zip([0, *(at + 1 for at in marks)], [*marks, None], strict=True)]
    return parts[0] + "".join(f":p{number}{part}" for number, part in enumerate(parts[1:], 2))


def _plain(node: exp.Expr) -> exp.Expr:
    """Return what stands for a part of a statement that PostgreSQL writes in another way."""
    match node:
        case exp.Ordered():  # where nulls go is never asked for, and this is how PostgreSQL keeps its indexes
            node.set("nulls_first", bool(node.args.get("desc")))
        case exp.Cast() if node.to.this is exp.DataType.Type.VARBINARY:
            return exp.func("convert_to", node.this, exp.Literal.string("UTF8")) if node.name in _TEXTS else node.this
        case exp.Cast() if node.to.this is exp.DataType.Type.INT:  # SQLite's have 64 bits
            node.set("to", exp.DataType.build("bigint"))
        case exp.Join() if node.args.get("on") and node.kind == "CROSS":
            node.set("kind", None)
        case exp.Table() if isinstance(node.this, exp.Anonymous) and node.this.name.lower() == "json_each":
            (given,) = node.this.expressions
            listed = exp.func("json_array_elements_text", exp.cast(given, "json"))
            alias = exp.TableAlias(this=exp.to_identifier("json_each"), columns=[exp.to_identifier("value")])
            return exp.Table(this=listed, alias=alias)
        case exp.JSONExtract() | exp.JSONExtractScalar():
            keys = (exp.Literal.string(key.name) for key in node.expression.find_all(exp.JSONPathKey))
            return exp.func("json_extract_path_text", exp.cast(_without_nul(node.this), "json"), *keys)
    return node


def _without_nul(text: exp.Expr) -> exp.Expr:
    """Return JSON without U+0000, which PostgreSQL cannot hold in a text: reading any of the JSON would fail."""
    written = (r"(?<!\\)((?:\\\\)*)\\u0000", r"\1", "g")
    return exp.Anonymous(this="regexp_replace", expressions=[text, *map(exp.Literal.string, written)])


def _of_tenant(table: exp.Table) -> exp.Expr:
    """Return the rows of a table that are the tenant's, without saying so."""
    columns = [exp.column(name) for name in tables()[table.name]]
    rows = exp.select(*columns).from_(exp.table_(table.name)).where(exp.column(_TENANT).eq(_parameter(1)))
    return rows.subquery(table.alias or table.name)


def _put(insert: exp.Insert) -> None:
    """Have a statement put the tenant first."""
    if isinstance(insert.this, exp.Schema):
        insert.this.set("expressions", [exp.to_identifier(_TENANT), *insert.this.expressions])
    match insert.expression:
        case exp.Values() as values:
            for row in values.expressions:
                row.set("expressions", [_parameter(1), *row.expressions])
        case exp.Select() as select:
            select.set("expressions", [exp.cast(_parameter(1), "bigint"), *select.expressions])
    conflict = insert.args.get("conflict")
    if conflict is not None and conflict.args.get("conflict_keys"):
        conflict.set("conflict_keys", [exp.to_identifier(_TENANT), *conflict.args["conflict_keys"]])


def _parameter(number: int) -> exp.Expr:
    return exp.Parameter(this=exp.Literal.number(number))
