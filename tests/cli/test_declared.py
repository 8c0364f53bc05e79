"""A declared command follows from its operation: arguments, options, their words and the way its answer is shown."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from command_line import Command

from helix.cli.declared import COMMANDS, asking, command, group, operations
from helix.cli.invocation import Invocation
from helix.cli.main import cli
from helix.cli.options import As

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def declared_here() -> Iterator[None]:
    """What a test declares begins with `shelf`, and is gone after it."""
    yield
    for path in [path for path in COMMANDS if path.startswith("shelf")]:
        del COMMANDS[path]


def params(path: str) -> dict[str, click.Parameter]:
    return {str(param.name): param for param in COMMANDS[path].params}


def test_arguments_options_and_help_are_those_of_the_operation() -> None:
    command("shelf", "review")
    found = params("shelf")
    assert list(found) == ["scope", "first", "after"]
    assert found["first"].opts == ["--limit", "-n"]
    assert found["first"].default == operations()["operations"]["review"]["takes"]["first"]["default"]
    assert operations()["operations"]["review"]["says"] in str(COMMANDS["shelf"].help)


def test_documents_that_are_written_by_hand_take_what_their_operations_take() -> None:
    """What a document leaves out is dropped without a word."""
    written = sorted((ROOT / "queries" / "graphql").glob("*.graphql"))
    assert written
    for file in written:
        takes = operations()["operations"][file.stem]["takes"]
        named = {re.sub(r"_(\w)", lambda match: match[1].upper(), name) for name in takes}
        assert named <= {*re.findall(r"\$(\w+)\s*:", file.read_text("utf-8"))}, file.stem


def test_what_has_to_be_given_is_positional_what_repeats_is_one_word_and_a_flag_is_one() -> None:
    command("shelf-near", "neighbourhood")
    command("shelf-find", "memories")
    assert isinstance(params("shelf-near")["name_or_id"], click.Argument)
    kinds = params("shelf-find")["kinds"]
    assert (kinds.opts, kinds.multiple) == (["--kind", "-k"], True)
    assert getattr(params("shelf-find")["any_status"], "is_flag", None) is True


def test_a_command_may_name_word_and_leave_out_what_it_likes() -> None:
    group("shelf", "Look at shelves.", "helix shelf list")
    command("shelf list", "memories", first=As(default=7), status=None, kinds=As("--sort", help="Of which sort."))
    found = params("shelf list")
    assert "status" not in found
    assert (found["first"].default, found["kinds"].opts) == (7, ["--sort"])
    assert COMMANDS["shelf list"] is COMMANDS["shelf"].commands["list"]  # type: ignore[attr-defined]  # it is a group


def test_without_a_renderer_records_are_fields_and_lists_are_tables(
    helix_command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert helix_command("store", "The heron stands on one leg.", "--name", "heron-leg", "--scope", "birds").code == 0
    for operation, line in (("get", ["heron-leg"]), ("memories", ["--scope", "birds"])):
        command("shelf", operation)
        invocation = Invocation()
        COMMANDS["shelf"].main(line, obj=invocation, standalone_mode=False)
        invocation.close()
    shown = capsys.readouterr()
    assert re.search(r"^name: +heron-leg$", shown.out, re.MULTILINE)
    assert re.search(r"\tNAME\t.*\n.*\theron-leg\tfact\t", shown.out)
    assert "1 of 1" in shown.err


def test_a_body_gets_what_was_given_and_what_the_operation_knows_nothing_of() -> None:
    got = []

    @asking("shelf", "memories", loud=As(is_flag=True, help="Say it loudly."))
    def body(invocation: Invocation, **asked: object) -> None:
        got.append(asked)

    COMMANDS["shelf"].main(["--kind", "fact", "--scope", "all"], obj=Invocation(), standalone_mode=False)
    assert got == [{"kinds": ("FACT",), "time": "RECORDED", "order": "NEWEST", "first": 50, "loud": False}]


def test_no_is_said_where_it_is_not_what_stands_for_nothing() -> None:
    got = []

    @asking("shelf", "recall", explain=As("--explain"), on=As("--on/--off", default=True, help="Go on."))
    def body(invocation: Invocation, **asked: object) -> None:
        got.append({name: asked.get(name) for name in ("rerank", "deep", "on")})

    for line in (["x"], ["x", "--no-rerank", "--off"], ["x", "--rerank", "--deep"]):
        COMMANDS["shelf"].main([*line, "--scope", "all"], obj=Invocation(), standalone_mode=False)
    assert [tuple(one.values()) for one in got] == [(None, None, True), (False, None, False), (True, True, True)]


def test_stdin_is_read_once(helix_command: Command) -> None:
    said = helix_command("task", "state", "-", "--tasks", "-", stdin=b'{"id": "1"}')
    assert (said.code, "stdin" in said.err) == (2, True)


def test_help_of_what_is_declared_loads_neither_http_nor_the_service() -> None:
    """Options come from a file: whoever asks for them waits for no operation, engine or daemon to be imported."""
    program = (
        "import sys; from helix.cli.main import run; "
        "[run([name, '--help']) for name in ('store', 'recall', 'list', 'gap', 'task', 'plan', 'prune')]; "
        "heavy = {'http.client', 'numpy', 'kuzu', 'strawberry', 'graphql', 'helix.client', 'helix.operations'}; "
        "print(sorted(heavy & sys.modules.keys()), file=sys.stderr)"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert process.stderr.strip() == "[]"


def everything() -> list[click.Command]:
    context = click.Context(cli, info_name="helix", obj=Invocation())
    found = [command for name in cli.list_commands(context) if (command := cli.get_command(context, name))]
    return found + [inner for one in found if isinstance(one, click.Group) for inner in one.commands.values()]


def test_help_says_nothing_of_graphql() -> None:
    """Words of the operations are read here too: no null, and no name in GraphQL's writing but a key of JSON."""
    said = {
        f"{one.name} {getattr(param, 'name', '')}": words
        for one in everything()
        for param, words in [(one, one.help), *((param, getattr(param, "help", "")) for param in one.params)]
    }
    assert [
        name for name, words in said.items() if re.search(r"\bnull\b|`(?!blockedBy)[a-z]+[A-Z]\w*`", words or "")
    ] == []


def test_a_sentence_cannot_show_a_list() -> None:
    with pytest.raises(TypeError, match="a sentence is about one record"):
        command("edges-in-a-sentence", "edges", show="{type}")
    assert "edges-in-a-sentence" not in COMMANDS
