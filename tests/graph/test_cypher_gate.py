"""Claims about the Cypher gate, held against a real Kuzu: what it refuses would have worked, what it passes does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kuzu
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from helix.errors import CypherRefusedError
from helix.graph import cypher_gate, cypher_tokens
from helix.model.cypher import FUNCTIONS, KEYWORDS, PROCEDURES, REFUSED

SCHEMA = (
    "CREATE NODE TABLE Memory(id STRING PRIMARY KEY, kind STRING, uses INT64, vector FLOAT[2])",
    "CREATE REL TABLE SOLVES(FROM Memory TO Memory, weight DOUBLE)",
    "UNWIND range(1, 4) AS i CREATE (:Memory {id: CAST(i AS STRING), kind: 'pattern', uses: i, vector: [1.0, 0.0]})",
    "MATCH (a:Memory), (b:Memory) WHERE a.uses + 1 = b.uses CREATE (a)-[:SOLVES {weight: 0.5}]->(b)",
)
CONTENT = "MATCH (m:Memory) OPTIONAL MATCH (m)-[r:SOLVES]->(n) RETURN m.id, m.kind, m.uses, r.weight, n.id ORDER BY m.id"


def opened(path: Path) -> kuzu.Database:
    return kuzu.Database(str(path), buffer_pool_size=64 << 20, max_db_size=1 << 30)


def filled(path: Path) -> kuzu.Connection:
    connection = kuzu.Connection(opened(path), num_threads=1)
    for statement in SCHEMA:
        connection.execute(statement)
    return connection


def rows(connection: kuzu.Connection, statement: str, params: dict[str, Any] | None = None) -> list[Any]:
    result = connection.execute(statement, params or {})
    return list((result[-1] if isinstance(result, list) else result).get_all())


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[kuzu.Connection]:
    connection = filled(tmp_path_factory.mktemp("graph") / "graph.kuzu")
    yield connection
    connection.close()


READING = (
    "MATCH (m:Memory) RETURN m ORDER BY m.uses DESC SKIP 1 LIMIT 2",
    "OPTIONAL MATCH (m:Memory {kind: 'none'}) RETURN m.id IS NULL",
    "UNWIND $ids AS id MATCH (m:Memory {id: id}) RETURN m.uses",
    "MATCH (m:Memory) WHERE m.id IN $ids AND NOT m.kind STARTS WITH 'x' OR m.uses <> 3 RETURN count(DISTINCT m.id)",
    "MATCH (m:Memory) WITH m.kind AS kind, count(*) AS n WHERE n > 1 RETURN kind, n",
    "MATCH (a)-[r:SOLVES]->(b) WHERE a <> b RETURN label(a), label(r), r.weight",
    "MATCH p = (a:Memory)-[:SOLVES*1..3]->(b) UNWIND nodes(p) AS n RETURN label(n), length(p)",
    "MATCH p = (a:Memory {id: '1'})-[:SOLVES* SHORTEST 1..30]->(b), q = (c:Memory) RETURN p LIMIT 3",
    "MATCH (a:Memory)-[:SOLVES* SHORTEST]->(b) RETURN count(*)",
    "MATCH (a:Memory)-[:SOLVES* WSHORTEST(weight) 1..4]->(b) RETURN count(*)",
    "MATCH (a)<--(b) WHERE EXISTS { MATCH (a)-[]->(:Memory) } AND COUNT { MATCH (a)--() } > 1 RETURN a.id",
    "RETURN 1 AS n UNION ALL RETURN 2 AS n",
    "RETURN CASE WHEN 1 < 2 THEN 'yes' ELSE NULL END, [1, 2][1], {a: 1}.a, 2 ^ 3 % 5, -1.5e-3, any(x IN [1] WHERE x = 1)",
    "CALL SHOW_TABLES() WHERE type = 'NODE' RETURN name",
    "CALL table_info('Memory') RETURN *",
    "CALL SHOW_CONNECTION('SOLVES') RETURN *",
    "CALL DB_VERSION() RETURN version",
    "CALL SHOW_INDEXES() RETURN table_name",
    "EXPLAIN MATCH (m:Memory) RETURN m.id",
    "EXPLAIN LOGICAL MATCH (m:Memory) RETURN m.id",
    "MATCH (`set`:Memory) RETURN `set`.id AS `DROP TABLE`, `set`.kind AS `a``b`;",
    "MATCH (set:Memory) RETURN {set: 1, load: 'x'}, set:Memory" if False else "RETURN {set: 1, load: 'x'} AS words",
    "RETURN 'it''s; DROP TABLE Memory'" if False else r"RETURN 'DROP TABLE \'Memory\'; // no comment', \"a /* b\" ;".replace("\\\"", '"'),
    "/* DROP TABLE Memory; */ RETURN 1 // ; CREATE (:Memory)",
    "RETURN /**/ 1 /* a **/ + /***/ 2",
    "RETURN\u00a01\x1f+\u20281",
    "\n\n MATCH (m:Memory)\n RETURN m.id\n ; ; ",
)
