"""The Cypher command: one statement, a pipe, a shell; results that people and programs can read."""

from __future__ import annotations

import csv
import io
import json
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command_line import Command
from hypothesis import example, given
from hypothesis import strategies as st
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from helix.cli.cypher_completion import CypherCompleter, GraphSchema, candidates
from helix.cli.cypher_render import RowFormat, as_csv, cell, write_table
from helix.cli.cypher_session import (
    CypherSession,
    is_finished,
    is_hidden,
    parameters,
    parse_parameter,
    pieces,
    summary,
    typed_statements,
)
from helix.cli.cypher_shell import Shell, private_file
from helix.cli.invocation import Invocation
from helix.cli.output import Output
from helix.errors import CypherRefusedError, InvalidInputError
from tests.waiting import until

TABLES = [
    {"name": "Memory", "kind": "node", "properties": ["id", "kind", "name"]},
    {"name": "Entity", "kind": "node", "properties": ["id", "name"]},
    {"name": "SOLVES", "kind": "relationship", "properties": ["weight"]},
    {"name": "SIMILAR", "kind": "relationship", "properties": ["score", "weight"]},
]
SCHEMA = GraphSchema.of(TABLES)
NODE = {"_id": {"offset": 0, "table": 1}, "_label": "Memory", "id": "m1", "name": "ports", "kind": "fact", "gone": None}
OTHER = {"_id": {"offset": 1, "table": 1}, "_label": "Memory", "id": "m2"}
EDGE = {"_src": NODE["_id"], "_dst": OTHER["_id"], "_label": "SOLVES", "_id": {"offset": 0, "table": 9}, "weight": 0.5}


def result(*rows: list[Any], columns: tuple[str, ...] = ("x",), truncated: bool = False) -> dict[str, Any]:
    return {"columns": list(columns), "rows": list(rows), "truncated": truncated, "elapsedMs": 3.4}


# One statement, and statements from stdin, against the real daemon.


@pytest.fixture
def stored(helix_command: Command) -> Command:
    """The command line of a store that holds one memory about ports."""
    for port in (8080, 9090):
        words = (
            "--trigger",
            f"port {port} is taken",
            "--resolution",
            "stop the old server",
            "--name",
            f"shell-port-{port}",
        )
        helix_command("store", "--kind", "failure", *words)
    return helix_command


def test_one_statement_writes_rows_to_stdout_and_words_to_stderr(stored: Command) -> None:
    query = "MATCH (m:Memory) WHERE m.name STARTS WITH $begins RETURN m.name AS name, m.kind ORDER BY name"
    shown = stored("cypher", query, "--param", "begins=shell-port-", "-p", "unused=1")
    assert shown.out == "name\tm.kind\nshell-port-8080\tfailure\nshell-port-9090\tfailure\n"
    assert shown.err.startswith("2 rows in ")


def test_json_is_the_answer_as_it_came(stored: Command) -> None:
    shown = stored("cypher", "--json", "UNWIND [1, 2, 3] AS n RETURN n", "--limit", "2")
    assert shown.data["cypher"]["rows"] == [[1], [2]]
    assert shown.data["cypher"]["truncated"] is True
    assert shown.err == ""
    assert stored("cypher", "--format", "json", "RETURN 1 AS n").data["cypher"]["columns"] == ["n"]


def test_rows_that_were_cut_off_are_mentioned(stored: Command) -> None:
    shown = stored("cypher", "UNWIND [1, 2, 3] AS n RETURN n", "-n", "1")
    assert "truncated at 1 row; raise it with --limit" in shown.err


def test_a_pipe_holds_statements_parted_by_semicolons(stored: Command) -> None:
    script = b"RETURN 'a;b' AS one; // ; no statement\n\nRETURN $n + 1 AS two;\n"
    for arguments in ((), ("-",)):
        shown = stored("cypher", *arguments, "-p", "n=1", "--format", "csv", stdin=script)
        assert shown.out == "one\na;b\ntwo\n2\n"
    assert stored("cypher", stdin=b"RETURN 1; CREATE (:Memory); RETURN 2").out == "1\n1\n"


def test_what_is_refused_leaves_with_its_code_and_says_what_is_allowed(stored: Command) -> None:
    shown = stored("cypher", "MATCH (m) DETACH DELETE m", "--json")
    assert (shown.code, shown.error["code"]) == (CypherRefusedError.exit_code, "CYPHER_REFUSED")
    assert "'DETACH' at line 1, column 11" in shown.error["message"]
    assert "only reading is allowed" in shown.error["hint"]


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        ((), b""),
        (("-",), b"-- \xff"),
        ((), b" // nothing\n;;"),
        (("RETURN 1", "-p", "no value"), b""),
        (("RETURN 1", "-p", "1x=2"), b""),
        (("RETURN 1", "--limit", "0"), b""),
        (("RETURN 1", "--timeout", "-1"), b""),
        (("RETURN 1", "--format", "xml"), b""),
    ],
)
def test_bad_input_is_named(helix_command: Command, arguments: tuple[str, ...], stdin: bytes) -> None:
    shown = helix_command("cypher", *arguments, "--json", stdin=stdin)
    assert (shown.code, shown.error["code"]) == (2, "INVALID_INPUT")


# Values and how they look.


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, ""),
        ("plain", "plain"),
        (True, "true"),
        (0.1 + 0.2, "0.30000000000000004"),
        ([1, "a", None], '[1, "a", null]'),
        (list(range(384)), "[0, 1, 2, 3, 4, 5, 6, 7, … 384 in all]"),
        ({"a": 1, "b": {"c": []}}, "{a: 1, b: {c: []}}"),
        (NODE, '(:Memory {name: "ports", id: "m1", kind: "fact"})'),
        (EDGE, "[:SOLVES {weight: 0.5}]"),
        ({"_nodes": [NODE, OTHER], "_rels": [EDGE]}, "(:Memory ports)-[:SOLVES]->(:Memory m2)"),
        ({"_nodes": [OTHER, NODE], "_rels": [EDGE]}, "(:Memory m2)<-[:SOLVES]-(:Memory ports)"),
        ({"_nodes": [], "_rels": [EDGE]}, "[:SOLVES {weight: 0.5}]"),
        ({"_nodes": [], "_rels": []}, ""),
    ],
)
def test_values_are_shown_as_patterns_and_literals(value: object, shown: str) -> None:
    assert cell(value) == shown


def test_long_cells_are_cut_in_a_table_for_people_only() -> None:
    text = "word " * 40
    for width, expected in ((None, text.strip()), (20, "word word word word…")):
        stream = io.StringIO()
        write_table(Output(stream), result([text]), width)
        assert stream.getvalue() == f"x\n{expected}\n"
    assert as_csv(result([text])) == f"x\n{text}\n"


def test_a_query_plan_keeps_its_lines() -> None:
    stream = io.StringIO()
    write_table(Output(stream), result(["┌──┐\n│  │"], columns=("explain result",)), 10)
    assert stream.getvalue() == "┌──┐\n│  │\n"


@given(
    st.lists(
        st.lists(st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text()), min_size=2, max_size=2)
    )
)
def test_csv_can_be_read_back(rows: list[tuple[Any, Any]]) -> None:
    text = as_csv(result(*map(list, rows), columns=("a", "b")))
    found = list(csv.reader(io.StringIO(text, newline="")))
    assert found[0] == ["a", "b"]
    for before, after in zip(rows, found[1:], strict=True):
        for value, field in zip(before, after, strict=True):
            assert field == ("" if value is None else value) or json.loads(field) == value


def test_the_summary_counts_and_says_how_to_get_more() -> None:
    assert summary(result(), "--limit") == "0 rows in 3 ms"
    assert summary(result([1], truncated=True), ":limit").endswith("truncated at 1 row; raise it with :limit")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1", ("a", 1)),
        ("$a = [1, 2]", ("a", [1, 2])),
        ("a=plain text", ("a", "plain text")),
        ('a="1"', ("a", "1")),
        ("a=x=y", ("a", "x=y")),
        ("a=", ("a", "")),
        ("a=NaN", ("a", "NaN")),
        ("a=" + "[" * 100_000, ("a", "[" * 100_000)),
    ],
)
def test_a_parameter_is_json_or_else_plain_text(text: str, expected: tuple[str, object]) -> None:
    assert parse_parameter(text) == expected


# The text as it is typed.


@given(st.text(st.sampled_from("aM1 ;:'\"`\\/*\n()[]{}$."), max_size=30))
@example("'\\")
def test_pieces_are_the_whole_text(text: str) -> None:
    assert "".join(piece for _, piece in pieces(text)) == text
    is_finished(text)
    is_hidden(text)


INSIDE = st.text(st.characters(exclude_characters="'\"`\\*\n"), max_size=8)


@given(st.lists(st.tuples(st.sampled_from(["'{}'", '"{}"', "`{}`", "/*{}*/", "//{}\n1", "x{{}}"]), INSIDE), max_size=4))
def test_only_semicolons_outside_quotes_and_comments_part_statements(drawn: list[tuple[str, str]]) -> None:
    made = [f"RETURN {shape.format(inside)}".strip() for shape, inside in drawn]
    assert typed_statements(";\n".join(made)) == made


def test_parameters_in_quotes_are_none() -> None:
    assert parameters("RETURN $a + '$b' /* $c */ // $d") == {"a"}


@pytest.mark.parametrize(
    ("text", "finished"),
    [
        ("", True),
        (":help", True),
        ("RETURN 1", False),
        ("RETURN 1;", True),
        ("RETURN 1; // done", True),
        ("RETURN 1\n", True),
        ("RETURN ';", False),
        ("RETURN ';'", False),
        ("RETURN (1\n", False),
        ("RETURN '\n", False),
        ("RETURN 1 /* ;\n", False),
        ("// only\n", False),
    ],
)
def test_a_statement_goes_on_until_a_semicolon_or_an_empty_line(text: str, finished: bool) -> None:
    assert is_finished(text) is finished


# Completion.


@pytest.mark.parametrize(
    ("before", "first"),
    [
        ("MATCH (m:", ["Entity", "Memory"]),
        ("MATCH (m:me", ["Memory"]),
        ("MATCH (:Memory)-[:", ["SIMILAR", "SOLVES"]),
        ("MATCH ()-[r:SOLVES|", ["SIMILAR", "SOLVES"]),
        ("MATCH (m:Memory) WHERE m.", ["id", "kind", "name"]),
        ("MATCH (m:Memory) WHERE m.K", ["kind"]),
        ("MATCH ()-[r:SIMILAR]->() RETURN r.", ["score", "weight"]),
        ("MATCH (x) RETURN x.", ["id", "kind", "name", "score", "weight"]),
        ("MATCH (m:Memory {", ["id", "kind", "name"]),
        ("MATCH (m:Memory {id: 1, n", ["name"]),
        ("RETURN $f", ["from"]),
        ("MATCH (memory:Memory) RETURN me", ["memory"]),
        ("ret", ["RETURN"]),
        ("RETURN to_low", []),
        ("RETURN tolow", ["tolower("]),
        ("CALL SHOW_T", ["SHOW_TABLES("]),
        ("RETURN 'm.", []),
        ("RETURN 1 // ret", []),
        ("MATCH (m:Memory {id: ", []),
        ("", []),
        ("RETURN ", []),
    ],
)
def test_completion_knows_the_graph_and_the_words(before: str, first: list[str]) -> None:
    assert candidates(before, SCHEMA, ["from", "kind"]) == first


@given(st.text(st.sampled_from("aMm:.$|([{ ,)]}'/*\n"), max_size=20))
def test_completion_only_ever_adds_to_what_was_typed(before: str) -> None:
    typed = before[len(before.rstrip("aMm")) :]
    assert all(word.lower().startswith(typed.lower()) for word in candidates(before, SCHEMA))


# The shell, typed into for real.


class Answering(Invocation):
    """An invocation whose daemon is a dictionary of answers; what it was asked is kept."""

    def __init__(self, home: Path, answers: Callable[[str, dict[str, Any]], dict[str, Any]]) -> None:
        super().__init__()
        self.flags = {"home": home}
        self.asked: list[dict[str, Any]] = []
        self._answers = answers

    @property
    def out(self) -> Output:
        return Output(sys.stdout)

    def run(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """Return the canned answer, or raise the error that is one."""
        if operation == "graph_schema":
            return {"graphSchema": TABLES}
        self.asked.append(arguments)
        return {"cypher": self._answers(str(arguments["query"]), arguments)}


def answers(query: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if "SET" in query:
        raise CypherRefusedError("'SET' at line 1, column 11 is not allowed", hint="only reading is allowed")
    if "stop" in query:
        raise KeyboardInterrupt
    return result([query])


@pytest.fixture
def typed(tmp_path: Path) -> Callable[[str], Answering]:
    """Type into a shell until it ends, and return the invocation it asked."""

    def type_in(keys: str) -> Answering:
        invocation = Answering(tmp_path / "home", answers)
        with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
            pipe.send_text(keys)
            Shell(CypherSession(invocation=invocation)).run()
        return invocation

    return type_in


ENTER, TAB, CTRL_C, CTRL_D, UP = "\r", "\t", "\x03", "\x04", "\x1b[A"


def queries(invocation: Answering) -> list[str]:
    return [asked["query"] for asked in invocation.asked]


def test_a_statement_may_take_several_lines(typed: Callable[[str], Answering]) -> None:
    keys = f"MATCH (m){ENTER}RETURN m;{ENTER}RETURN 'a;{ENTER}b'{ENTER}{ENTER}{CTRL_D}"
    assert queries(typed(keys)) == ["MATCH (m)\nRETURN m", "RETURN 'a;\nb'"]


def test_control_c_drops_the_line_and_control_d_leaves(typed: Callable[[str], Answering]) -> None:
    assert queries(typed(f"RETURN 1{ENTER}+{CTRL_C}RETURN 2;{ENTER}{CTRL_D}")) == ["RETURN 2"]


def test_an_error_is_shown_with_code_and_hint_and_the_shell_goes_on(
    typed: Callable[[str], Answering], capsys: pytest.CaptureFixture[str]
) -> None:
    invocation = typed(f"MATCH (m) SET m.x = 1;{ENTER}RETURN 'stop';{ENTER}:nope{ENTER}RETURN 1;{ENTER}:quit{ENTER}")
    assert queries(invocation)[-1] == "RETURN 1"
    shown = capsys.readouterr()
    assert "error [CYPHER_REFUSED]: 'SET' at line 1, column 11 is not allowed\nhint: only reading" in shown.err
    assert "stopped waiting" in shown.err
    assert "error [INVALID_INPUT]: there is no command :nope" in shown.err
    assert shown.out == "x\nRETURN 1\n"


def test_commands_set_what_later_statements_are_run_with(
    typed: Callable[[str], Answering], capsys: pytest.CaptureFixture[str]
) -> None:
    commands = [":param kind=fact", ":param n=[1]", ":limit 7", ":timeout 90", ":format csv", ":params", ":limit x"]
    keys = "".join(command + ENTER for command in [*commands, "RETURN $n;", ":limit", ":timeout", "RETURN 2;", ":quit"])
    first, second = typed(keys).asked
    assert first == {"query": "RETURN $n", "params": {"n": [1]}, "timeout_ms": 90, "limit": 7}
    assert second == {"query": "RETURN 2", "params": {}, "timeout_ms": None, "limit": None}
    shown = capsys.readouterr()
    assert '$kind\t"fact"' in shown.out
    assert "'x' is not a whole number" in shown.err


def test_help_and_schema_are_shown(typed: Callable[[str], Answering], capsys: pytest.CaptureFixture[str]) -> None:
    typed(f":help{ENTER}:schema{ENTER}:format xml{ENTER}{CTRL_D}")
    shown = capsys.readouterr()
    assert ":timeout MS" in shown.err
    assert "(:Entity)\tid, name\n" in shown.out
    assert "[:SOLVES]\tweight\n" in shown.out
    assert "one of: table, json, csv" in shown.err


def test_tab_completes_from_the_graph(tmp_path: Path) -> None:
    invocation = Answering(tmp_path / "home", answers)
    steps = [(f"MATCH (m:Mem{TAB}", "(m:Memory"), (f") RETURN m.na{TAB}", "m.name"), (f";{ENTER}{CTRL_D}", "")]
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()) as session:

        def is_typed(awaited: str) -> bool:
            return not awaited or (session.app is not None and session.app.current_buffer.text.endswith(awaited))

        def type_step_by_step() -> None:
            # Completion runs beside the typing: what comes next is typed when it is done.
            for keys, awaited in steps:
                pipe.send_text(keys)
                until(partial(is_typed, awaited))

        typist = threading.Thread(target=type_step_by_step)
        typist.start()
        Shell(CypherSession(invocation=invocation)).run()
        typist.join()
    assert queries(invocation) == ["MATCH (m:Memory) RETURN m.name"]


def test_history_outlives_the_shell_and_is_for_its_owner_only(
    typed: Callable[[str], Answering], tmp_path: Path
) -> None:
    typed(f"RETURN 1{ENTER}+ 1;{ENTER}{CTRL_D}")
    assert queries(typed(f"{UP}{ENTER}{CTRL_D}")) == ["RETURN 1\n+ 1"]
    history = tmp_path / "home" / "cypher_history"
    assert history.stat().st_mode & 0o777 == 0o600
    history.chmod(0o644)
    private_file(history)
    assert history.stat().st_mode & 0o777 == 0o600


def test_commands_and_formats_complete(tmp_path: Path) -> None:
    completer = CypherCompleter({":format": tuple(RowFormat), ":limit": ()}, {})
    found = {
        text: [completion.text for completion in completer.get_completions(Document(text), CompleteEvent())]
        for text in (":", ":f", ":format ", ":format c", ":limit ")
    }
    assert found == {
        ":": [":format", ":limit"],
        ":f": [":format"],
        ":format ": ["table", "json", "csv"],
        ":format c": ["csv"],
        ":limit ": [],
    }


def test_a_parameter_needs_a_name() -> None:
    with pytest.raises(InvalidInputError, match="sets no parameter"):
        parse_parameter("no value")
