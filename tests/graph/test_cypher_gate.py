"""Claims about the Cypher gate, held against a real Kuzu: what it refuses would have worked, what it passes does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import kuzu
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from helix.errors import CypherRefusedError
from helix.graph import cypher_gate, cypher_tokens
from helix.text.word_lists import word_list
from tests.sampling import draws

FUNCTIONS = word_list("graph/cypher_words", "functions")
KEYWORDS = word_list("graph/cypher_words", "keywords")
PROCEDURES = word_list("graph/cypher_words", "procedures")
REFUSED = word_list("graph/cypher_words", "refused")

SCHEMA = (
    "CREATE NODE TABLE Memory(id STRING PRIMARY KEY, kind STRING, uses INT64, vector FLOAT[2])",
    "CREATE REL TABLE SOLVES(FROM Memory TO Memory, weight DOUBLE)",
    "UNWIND range(1, 4) AS i CREATE (:Memory {id: string(i), kind: 'pattern', uses: i, vector: [1.0, 0.0]})",
    "MATCH (a:Memory), (b:Memory) WHERE a.uses + 1 = b.uses CREATE (a)-[:SOLVES {weight: 0.5}]->(b)",
    "CALL CREATE_VECTOR_INDEX('Memory', 'near', 'vector')",
)
VALUES = {"ids": ["1", "2"], "vector": [1.0, 0.5], "unused": 1}
CONTENT = "MATCH (m) OPTIONAL MATCH (m)-[r]->(n) RETURN m.id, m.kind, m.uses, r.weight, n.id ORDER BY m.id"


def filled(path: Path) -> kuzu.Connection:
    connection = kuzu.Connection(kuzu.Database(str(path), buffer_pool_size=64 << 20, max_db_size=1 << 30), 1)
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


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (m:Memory) RETURN m ORDER BY m.uses DESC SKIP 1 LIMIT 2",
        "OPTIONAL MATCH (m:Memory {kind: 'none'}) RETURN m.id IS NULL",
        "UNWIND $ids AS id MATCH (m:Memory {id: id}) RETURN m.uses",
        "MATCH (m:Memory) WHERE m.id IN $ids AND NOT m.kind STARTS WITH 'x' OR m.uses <> 3 RETURN count(DISTINCT m.id)",
        "MATCH (m:Memory) WITH m.kind AS kind, count(*) AS n WHERE n > 1 RETURN kind, n",
        "MATCH (a)-[r:SOLVES]->(b) WHERE a <> b RETURN label(a), label(r), r.weight",
        "MATCH p = (a:Memory)-[:SOLVES*1..3]->(b) UNWIND nodes(p) AS n RETURN label(n), length(p)",
        "MATCH p = (a)-[:SOLVES* SHORTEST 1..30]->(b), q = (c:Memory) RETURN properties(nodes(p), 'id') LIMIT 3",
        "MATCH (a:Memory)-[:SOLVES* ALL SHORTEST]->(b) RETURN count(*)",
        "MATCH (a:Memory)-[:SOLVES* WSHORTEST(weight) 1..4]->(b) RETURN count(*)",
        "MATCH (a:Memory)-[r:SOLVES*..2 (e, n | WHERE e.weight > 0.1)]->(b) RETURN count(*)",
        "MATCH (a)<--(b) WHERE EXISTS { MATCH (a)-[]->(:Memory) } AND COUNT { MATCH (a)--() } > 1 RETURN a.id",
        "RETURN 1 AS n UNION ALL RETURN 2 AS n",
        "RETURN CASE WHEN 1 < 2 THEN 'yes' ELSE NULL END, [1, 2][1], {a: 1}.a, 2 ^ 3 % 5, -1.5e-3",
        "MATCH (m:Memory) WHERE any(x IN [1, 2] WHERE x = m.uses) RETURN m.*",
        "CALL SHOW_TABLES() WHERE type = 'NODE' RETURN name",
        "CALL table_info('Memory') RETURN *",
        "CALL SHOW_CONNECTION('SOLVES') RETURN *",
        "CALL DB_VERSION() RETURN version",
        "CALL SHOW_INDEXES() RETURN table_name",
        "CALL QUERY_VECTOR_INDEX('Memory', 'near', $vector, 2, efs := 50) RETURN node.id, distance ORDER BY distance",
        "CALL QUERY_VECTOR_INDEX('Memory', 'near', [1.0, 0.5], 2) YIELD node, distance RETURN node.id",
        "EXPLAIN MATCH (m:Memory) RETURN m.id",
        "EXPLAIN LOGICAL MATCH (m:Memory) RETURN m.id",
        "MATCH (`set`:Memory) RETURN `set`.id AS `DROP TABLE`, `set`.kind AS `a``b`;",
        "WITH {set: 1, load: 'x'} AS words RETURN words.set, words.load",
        "RETURN 'DROP TABLE \\'Memory\\'; // no comment', \"a /* b\"",
        "/* DROP TABLE Memory; */ RETURN 1 // ; CREATE (:Memory)",
        "RETURN /**/ 1 /* a **/ + /***/ 2 // x\r\n",
        "RETURN\u00a01\x1f+\u20281",
        "\n\n MATCH (m:Memory)\n RETURN m.id\n ; ; ",
    ],
)
def test_reading_statements_pass_and_run(graph: kuzu.Connection, statement: str) -> None:
    checked = cypher_gate.check(statement)
    graph.execute("BEGIN TRANSACTION READ ONLY")
    try:
        assert rows(graph, checked, cypher_gate.bind(checked, VALUES)) is not None
    finally:
        graph.execute("ROLLBACK")


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_allowed_function_is_there(graph: kuzu.Connection, name: str) -> None:
    arguments = {"range": "1, 2", "label": "m", "labels": "m"}.get(name, "")
    checked = cypher_gate.check(f"MATCH (m:Memory) RETURN {name}({arguments})")
    try:
        rows(graph, checked)
    except RuntimeError as error:
        assert "does not exist" not in str(error)


@pytest.mark.parametrize(
    "statement",
    [
        "COPY (MATCH (m:Memory) RETURN m.id) TO '{folder}/stolen.csv'",
        "EXPORT DATABASE '{folder}/export'",
        "ATTACH '{folder}/other.kuzu' AS other (dbtype kuzu)",
        "LOAD FROM '{folder}/secret.csv' (header = false) RETURN *",
        "CALL threads = 1",
        "CALL spill_to_disk=false",
        "COMMIT",
        "COMMIT; MATCH (m:Memory) DETACH DELETE m",
        "ROLLBACK; DROP TABLE SOLVES",
        "/* DROP */ COMMIT",
        "CALL STORAGE_INFO('Memory') RETURN *",
        "CALL SHOW_OFFICIAL_EXTENSIONS() RETURN *",
        "PROFILE MATCH (m) RETURN m.id",
    ],
)
def test_what_runs_in_a_read_only_transaction_and_must_not_is_refused(tmp_path: Path, statement: str) -> None:
    (tmp_path / "secret.csv").write_text("a,b\n", "utf-8")
    filled(tmp_path / "other.kuzu").close()
    statement = statement.format(folder=tmp_path)
    connection = filled(tmp_path / "graph.kuzu")
    connection.execute("BEGIN TRANSACTION READ ONLY")
    connection.execute(statement)
    connection.close()
    with pytest.raises(CypherRefusedError):
        cypher_gate.check(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE (:Memory {id: '9'})",
        "MATCH (m:Memory) SET m.uses = 9",
        "MATCH (m:Memory) DETACH DELETE m",
        "MERGE (m:Memory {id: '9'})",
        "UNWIND [1] AS AS WITH AS CREATE (:Memory {id: '9'})",
        "MATCH (m:Memory) WITH m AS m SET m.uses = 9 RETURN m",
        "DROP TABLE SOLVES",
        "ALTER TABLE Memory DROP kind",
        "COMMENT ON TABLE Memory IS 'x'",
        "CREATE SEQUENCE s",
        "CREATE MACRO m(x) AS x + 1",
        "CALL CREATE_VECTOR_INDEX('Memory', 'v', 'vector')",
        "CALL PROJECT_GRAPH('g', ['Memory'], ['SOLVES'])",
        "RETURN 1; DROP TABLE SOLVES",
        "EXPLAIN RETURN 1; DROP TABLE SOLVES",
    ],
)
def test_what_writes_is_refused(tmp_path: Path, statement: str) -> None:
    connection = filled(tmp_path / "graph.kuzu")
    connection.execute(statement)
    connection.close()
    with pytest.raises(CypherRefusedError):
        cypher_gate.check(statement)


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("MATCH (m)\nDELETE m", "'DELETE' at line 2, column 1"),
        ("RETURN 1;\n  drop TABLE x", "';' at line 1, column 9"),
        ("RETURN nextval('s')", "'nextval' at line 1, column 8"),
        ("MATCH (m) RETURN `nextval`('s')", "'`nextval`' at line 1, column 18"),
        ("MATCH (m) CALL `show_tables`() RETURN *", "'`show_tables`' at line 1, column 16"),
        ("CALL SHOW_FUNCTIONS() RETURN *", "'SHOW_FUNCTIONS' at line 1, column 6"),
        ("RETURN m.vector =~ 'a'", "line 1, column 18"),
        ("MATCH (m) WHER m.uses > 1 RETURN m", "'WHER' at line 1, column 11"),
        ("MATCH (m) FOREACH (x IN [1] | RETURN x)", "'FOREACH' at line 1, column 11"),
        ("MATCH (m)-[*]->(n) RETURN n", "'*' at line 1, column 12"),
        ("MATCH (m)-[*1..11]->(n) RETURN n", "'*' at line 1, column 12"),
        ("MATCH (m)-[* TRAIL 1..]->(n) RETURN n", "'*' at line 1, column 12"),
        ("MATCH (m)-[* SHORTEST 1..31]->(n) RETURN n", "'*' at line 1, column 12"),
        ("MATCH (m)-[*1..2+9]->(n) RETURN n", "'*' at line 1, column 12"),
        ("MATCH (m)-[*1..", "'*' at line 1, column 12"),
        ("UNWIND range(1, 10000000) AS x RETURN x", "'range' at line 1, column 8"),
        ("MATCH (m) UNWIND range(1, m.uses) AS x RETURN x", "'range' at line 1, column 18"),
        ("RETURN \uff24\uff32\uff2f\uff30", "U+FF24"),
        ("RETURN\u200b1", "U+200B"),
        ("RETURN 'a\\q'", "line 1, column 8"),
        ("RETURN 'open", "line 1, column 8"),
        ("RETURN /* open", "line 1, column 8"),
        ("RETURN a$b", "line 1, column 9"),
        ("RETURN \ud800", "half a character"),
        ("RETURN (1]", "']' at line 1, column 10"),
        ("RETURN (1", "'(' at line 1, column 8"),
        ("RETURN 1 EXPLAIN", "'EXPLAIN' at line 1, column 10"),
        ("EXPLAIN", "nothing"),
        ("CALL", "nothing"),
        ("  // only a comment", "no statement"),
        (f"RETURN '{'x' * 20_000}'", "20,009 characters"),
        (f"RETURN [{','.join('1' * 1_100)}]", "words and marks"),
        (f"RETURN {'(' * 17}1{')' * 17}", "'('"),
        (f"RETURN {'CASE WHEN true THEN ' * 9}1{' END' * 9}", "'CASE'"),
        (f"MATCH {','.join('(a)-[]->(b)' for _ in range(13))} RETURN 1", "'-'"),
    ],
)
def test_a_refusal_names_the_word_and_its_place_and_says_what_next(statement: str, word: str) -> None:
    with pytest.raises(CypherRefusedError) as refusal:
        cypher_gate.check(statement)
    assert word in refusal.value.message
    assert refusal.value.hint


def test_a_misspelt_function_gets_a_suggestion() -> None:
    with pytest.raises(CypherRefusedError, match="did you mean starts_with"):
        cypher_gate.check("MATCH (m) WHERE startswith(m.id, 'a') RETURN m")


def test_the_lists_do_not_contradict_each_other() -> None:
    assert not KEYWORDS & REFUSED
    assert not PROCEDURES & {name.upper() for name in FUNCTIONS}
    assert not FUNCTIONS & {"nextval", "show_functions", "repeat"}


# Where a word hides, and the characters that would let it out.
HIDEOUTS = {
    "RETURN '{}'": "'\\",
    'RETURN "{}"': '"\\',
    "RETURN 1 AS `{}`": "`",
    "RETURN 1 // {}": "\r\n",
    "RETURN /* {} */ 1": "*",
}
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
REFUSED_WORDS = st.tuples(st.sampled_from(sorted(REFUSED)), st.sampled_from([str.upper, str.lower, str.title])).map(
    lambda pair: pair[1](pair[0])
)


@given(REFUSED_WORDS, st.sampled_from(sorted(HIDEOUTS)), TEXTS, TEXTS)
@example("DROP", "RETURN '{}'", "'; ", "//")
@example("DROP", "RETURN /* {} */ 1", "/", "//")
@example("DROP", "RETURN 1 // {}", "/*", "\u2028")
def test_a_refused_word_hides_in_quotes_and_comments_and_nowhere_else(
    word: str, hideout: str, before: str, after: str
) -> None:
    inside = f"{before} {word} {after}".translate(dict.fromkeys(map(ord, HIDEOUTS[hideout])))
    hidden = hideout.format(inside)
    checked = cypher_gate.check(hidden)
    assert [token.text for token in cypher_tokens.tokens(checked)] == [
        token.text for token in cypher_tokens.tokens(hidden)
    ]
    with pytest.raises(CypherRefusedError):
        cypher_gate.check(f"{hidden}\n{word} x")


@given(st.text())
@example("RETURN range(1, 2")
@example("MATCH ()-[*")
@example("RETURN n.")
@example("$")
@example(")" * 20)
def test_any_text_is_either_a_statement_or_a_refusal(text: str) -> None:
    for judge in (cypher_gate.check, cypher_gate.parameters):
        try:
            judge(text)
        except CypherRefusedError as refusal:
            assert refusal.message
            assert refusal.hint


SOUP = st.lists(
    st.sampled_from(
        [
            *("MATCH", "RETURN", "WITH", "AS", "WHERE", "UNWIND", "CALL", "EXPLAIN", "UNION", "AND", "NOT", "IN", "IS"),
            *(
                "SET",
                "DELETE",
                "DETACH DELETE",
                "CREATE",
                "MERGE",
                "DROP TABLE SOLVES",
                "ALTER TABLE",
                "COMMIT",
                "COPY",
            ),
            *("(m)", "(m:Memory)", "(m {id: '1'})", "-[r]->", "-[:SOLVES]-", "(", ")", "[", "]", "{", "}", "[1, 2]"),
            *(
                "m",
                "x",
                "m.uses",
                "m.set",
                "= 9",
                "=",
                "1",
                "'a'",
                "`DROP`",
                "$p",
                "*",
                ",",
                ";",
                ":",
                ".",
                "|",
                "-",
                "\n",
            ),
            *("CREATE (:Memory {id: '9'})", "SET m.uses = 9", "/*", "*/", "//", "'", "`", "COMMIT;", "show_tables()"),
        ]
    ),
    max_size=12,
).map(" ".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=draws(150), deadline=None)
@given(
    SOUP, st.sampled_from(["", "MATCH (m:Memory) ", "MATCH (m:Memory) RETURN m.id ", "MATCH (m:Memory) WITH m AS m "])
)
@example("AS WITH AS SET m.uses = 9", "MATCH (m:Memory) UNWIND [1] AS ")
@example("; CREATE (:Memory {id: '9'})", "RETURN 1 /***/")
def test_what_passes_leaves_the_graph_as_it_was_even_in_a_writing_transaction(
    graph: kuzu.Connection, soup: str, opening: str
) -> None:
    try:
        checked = cypher_gate.check(opening + soup)
        values = cypher_gate.bind(checked, {"p": 1})
    except CypherRefusedError:
        return
    before = rows(graph, CONTENT), rows(graph, "CALL SHOW_TABLES() RETURN *")
    try:
        rows(graph, checked, values)
    except RuntimeError as error:
        assert "exception" in str(error)
    assert (rows(graph, CONTENT), rows(graph, "CALL SHOW_TABLES() RETURN *")) == before


def test_the_checked_statement_keeps_every_word_at_its_place() -> None:
    assert cypher_gate.check("MATCH (m) // all\n/* a\nb */RETURN 'x // y'\u00a0;;") == (
        "MATCH (m)       \n    \n    RETURN 'x // y'"
    )
    with pytest.raises(CypherRefusedError, match="line 3, column 14"):
        cypher_gate.check("MATCH (m) // all\n/* a\nb */RETURN m.'")


def test_parameters_are_those_outside_quotes_in_order() -> None:
    assert cypher_gate.parameters("RETURN $b, $a + '$c' /* $d */ AS `$e`, $b // $f") == ("b", "a")


DEEP: list[Any] = reduce(lambda inner, _: [inner], range(20), [1])


def test_only_the_parameters_a_statement_uses_are_bound() -> None:
    assert cypher_gate.bind("RETURN $a, $b", {"a": [1, 2.5], "b": ("x",), "c": None}) == {"a": [1, 2.5], "b": ["x"]}


@pytest.mark.parametrize(
    "value", [[1, "a"], [[1, "a"]], {"a": [True, 1]}, 2**63, "\ud800", b"x", {"\ud800": 1}, {1: 1}, [{"a": b""}], DEEP]
)
def test_a_value_that_kuzu_cannot_take_is_refused(value: object) -> None:
    with pytest.raises(CypherRefusedError, match=r"\$p"):
        cypher_gate.bind("RETURN $p", {"p": value})


def test_a_parameter_without_a_value_is_refused(graph: kuzu.Connection) -> None:
    assert rows(graph, "RETURN $p") == [[None]], "Kuzu takes a missing parameter for null"
    with pytest.raises(CypherRefusedError, match=r"\$p has no value"):
        cypher_gate.bind("RETURN $p", {"q": 1})


@given(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"])),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False),
        st.booleans(),
        st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), min_size=1),
        st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1),
        st.sampled_from([None, {}, {"a": 1}, [1, None], [[1], [2]], {"a": {"b": ["x"]}}, [{"a": 1}]]),
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_what_is_bound_comes_back_from_kuzu(graph: kuzu.Connection, value: object) -> None:
    assert rows(graph, "RETURN $p", cypher_gate.bind("RETURN $p", {"p": value})) == [[value]]


# A length of 30 and an address, as a text would have them: where these are followed, any memory can be read.
FORGED = "interval('30 months 1 microsecond')"


@pytest.mark.parametrize(
    "statement",
    [
        f"RETURN {FORGED} =~ 'a'",
        f"RETURN regexp_full_match({FORGED}, 'a')",
        f"RETURN regexp_replace({FORGED}, 'a', 'b')",
        f"RETURN split_part({FORGED}, 1, 1)",
        *(f"RETURN {name}({FORGED}, 'a')" for name in ("str_split", "string_split", "string_to_array")),
    ],
)
def test_what_follows_an_address_that_a_statement_gives_is_refused(statement: str) -> None:
    with pytest.raises(CypherRefusedError):
        cypher_gate.check(statement)


def test_no_allowed_function_takes_another_type_for_a_text() -> None:
    """Each runs in a process of its own: one that follows the address ends it."""
    arguments = (f"{FORGED}", f"{FORGED}, 'a'", f"'a', {FORGED}", f"['a'], {FORGED}", f"{FORGED}, 'a', 'b'")
    statements = [f"RETURN {name}({given})" for name in sorted(FUNCTIONS) for given in (*arguments, f"{FORGED}, 1, 1")]
    script = (
        "import json, kuzu, sys\n"
        "connection = kuzu.Connection(kuzu.Database(':memory:', buffer_pool_size=32 << 20, max_db_size=1 << 28), 1)\n"
        "for statement in json.load(sys.stdin):\n"
        "    print(statement, flush=True)\n"
        "    try:\n"
        "        connection.execute(statement).get_all()\n"
        "    except RuntimeError:\n"
        "        continue\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], input=json.dumps(statements), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout.splitlines()[-1]
