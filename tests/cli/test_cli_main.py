"""The command line as a whole: help, `--json` anywhere, errors and exit codes, pipes and interrupts, completion."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import string
import subprocess
import sys
from pathlib import Path

import click
import pytest
from command_line import Command

from helix import __version__
from helix.cli.invocation import Invocation
from helix.cli.main import ALIASES, SECTIONS, LazyGroup, cli, run
from helix.client import REQUEST_BYTES
from helix.errors import DiskFullError, HelixError, InvalidInputError, NotFoundError, StoreError
from helix.settings import described

NAMES = [name for section in SECTIONS.values() for name in section]
PROMISED = {
    "serve",
    "status",
    "stop",
    "open",
    "doctor",
    "init",
    "models",
    "store",
    "recall",
    "recall-by-type",
    "similar-recent",
    "suggest-edges",
    "get",
    "list",
    "edit",
    "confirm",
    "forget",
    "restore",
    "edge",
    "edges",
    "feedback",
    "ingest",
    "decay",
    "decay-edges",
    "prune",
    "health",
    "stats",
    "last",
    "why",
    "pause",
    "cypher",
    "rebuild",
    "recover",
    "reembed",
    "backup",
    "config",
}


def commands() -> list[tuple[str, click.Command]]:
    """Return every command by how it is called, with those of groups."""
    context = click.Context(cli, info_name="helix", obj=Invocation())
    found: list[tuple[str, click.Command]] = []
    for name in NAMES:
        command = cli.get_command(context, name)
        assert command is not None
        found.append((name, command))
        if isinstance(command, click.Group):
            found += [(f"{name} {below}", inner) for below, inner in command.commands.items()]
    return found


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command `broken` that fails as its argument says."""

    @click.command()
    @click.argument("how")
    def fail(how: str) -> None:
        failures: dict[str, BaseException] = {
            "expected": NotFoundError("there is no x", hint="try y"),
            "unexpected": RuntimeError("the password is hunter2"),
            "full": OSError(28, "No space left on device", "/x"),
            "denied": PermissionError(13, "Permission denied", "/x"),
            "interrupted": KeyboardInterrupt(),
        }
        raise failures[how]

    plain = LazyGroup.get_command
    monkeypatch.setattr(
        LazyGroup, "get_command", lambda self, ctx, name: fail if name == "broken" else plain(self, ctx, name)
    )


@pytest.mark.parametrize("option", ["--home", "--store"])
def test_an_empty_folder_is_not_the_one_somebody_stands_in(helix_command: Command, option: str) -> None:
    refused = helix_command(option, "", "--json", "status")
    assert refused.code == 2
    assert "the path is empty" in refused.error["message"]


def test_every_command_that_was_promised_is_there() -> None:
    assert not PROMISED - set(NAMES)


@pytest.mark.parametrize(("name", "command"), commands(), ids=lambda value: value if isinstance(value, str) else "")
def test_every_command_has_help_with_an_example_and_takes_json(name: str, command: click.Command) -> None:
    assert command.help is not None
    assert re.search(rf"helix (-\S+ )*{name}\b", command.help), "no example"
    assert any(param.name == "json" for param in command.params)
    assert not [param.name for param in command.params if isinstance(param, click.Option) and not param.help]


def test_help_lists_every_command_and_loads_none_of_them(helix_command: Command) -> None:
    shown = helix_command("--help")
    assert shown.code == 0
    assert not [name for name in NAMES if not re.search(rf"^  {name}[, ]", shown.out, re.MULTILINE)]
    assert helix_command().out == shown.out

    program = (
        "import sys; from helix.cli.main import run; run(['--help']); "
        "heavy = {'http.client', 'numpy', 'kuzu', 'rich', 'helix.client', 'helix.cli.recall_commands'}; "
        "heavy.add('helix.providers'); "
        "print(sorted(heavy & sys.modules.keys()), file=sys.stderr)"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert process.stderr.strip() == "[]"


def test_one_thing_has_one_name_wherever_it_is_asked_for() -> None:
    options = {name: {opt for param in command.params for opt in param.opts} for name, command in commands()}
    shows = {"import", "strand import", "strand merge"}  # what would come in, and no plan of tasks
    plans = {name for name, opts in options.items() if opts & {"--plan", "--plan-id"}} - shows
    assert len(plans) > 8
    assert not [name for name in plans if not {"--plan", "--plan-id"} <= options[name]], "and its older one everywhere"
    assert not [name for name, opts in options.items() if "--limit" in opts and "-n" not in opts and "git" not in name]


def test_the_help_says_which_word_is_for_what(helix_command: Command) -> None:
    epilogue = helix_command("--help").out.partition("How is it?")[2]
    assert [word for word in ("status", "stats", "health", "doctor", "verify") if f"`{word}`" not in epilogue] == []


@pytest.mark.parametrize(
    "line",
    [
        "edges --relation decided_by",
        "list --scope nobodys",
        "session list --scope nobodys",
        "reflections --scope nobodys",
        "workspace list --scope nobodys",
        "queue list --scope nobodys",
    ],
)
def test_an_empty_list_says_so(helix_command: Command, line: str) -> None:
    said = helix_command(*line.split())
    assert (said.code, "nothing " in said.out + said.err) == (0, True)


def test_an_alias_is_the_command_it_stands_for() -> None:
    context = click.Context(cli, obj=Invocation())
    assert [cli.get_command(context, alias) for alias in ALIASES] == [
        cli.get_command(context, name) for name in ALIASES.values()
    ]


def test_version(helix_command: Command) -> None:
    assert helix_command("--version").out == f"helix {__version__}\n"


def test_config_shows_what_is_named_and_where_the_store_is(helix_command: Command, home: Path) -> None:
    listed = helix_command("config", "db_path", "tenant", "--json").data["config"]
    assert {entry["name"]: entry["value"] for entry in listed} == {"db_path": str(home / "store"), "tenant": "main"}
    assert helix_command("config", "db_pth").code == 2


@pytest.mark.parametrize("line", [("--json", "config"), ("config", "--json")])
def test_json_may_stand_before_or_behind_the_command(helix_command: Command, line: tuple[str, ...]) -> None:
    listed = helix_command(*line).data["config"]
    assert {entry["name"] for entry in listed} == {name for name, _, _ in described()}
    assert {entry["source"] for entry in listed if entry["name"] == "home"} == {"environment"}


def test_an_expected_error_is_its_code_message_hint_and_exit_code(helix_command: Command, broken: None) -> None:
    said = helix_command("broken", "expected")
    assert (said.code, said.out) == (NotFoundError.exit_code, "")
    assert said.err == "error [NOT_FOUND]: there is no x\nhint: try y\n"
    assert helix_command("--json", "broken", "expected").error == {
        "code": "NOT_FOUND",
        "message": "there is no x",
        "hint": "try y",
    }


@pytest.mark.parametrize(
    "line",
    [
        ("no-such-command",),
        ("recall",),
        ("recall", "x", "--kind", "fable"),
        ("recall", "x", "--since", "soon"),
        ("--no",),
    ],
)
def test_a_wrong_command_line_is_invalid_input_in_words_and_in_json(
    helix_command: Command, line: tuple[str, ...]
) -> None:
    said = helix_command(*line)
    assert said.code == InvalidInputError.exit_code
    assert said.err.startswith("error [INVALID_INPUT]: ")
    assert "hint: helix" in said.err
    assert helix_command(*line, "--json").error["code"] == "INVALID_INPUT"


def test_a_usage_error_does_not_echo_the_secret_that_was_typed(helix_command: Command) -> None:
    body = "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=256))
    shown = helix_command("record", f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----")
    assert shown.code == InvalidInputError.exit_code
    assert "[REDACTED:private-key]" in shown.err
    assert body[:16] not in shown.err


def test_an_unexpected_error_is_short_and_its_place_is_in_the_log_but_not_what_it_quotes(
    helix_command: Command, broken: None, home: Path
) -> None:
    said = helix_command("broken", "unexpected")
    assert said.code == HelixError.exit_code
    assert "RuntimeError" in said.err
    assert "Traceback" not in said.err
    (log,) = re.findall(r"hint: (\S+client\.log)", said.err)
    last = json.loads(Path(log).read_text("utf-8").splitlines()[-1])
    assert "RuntimeError" in last["message"]
    assert "in fail" in last["message"]
    assert "hunter2" not in said.err + last["message"]
    assert "hunter2" in helix_command("--debug", "broken", "unexpected").err


@pytest.mark.parametrize(("how", "cls"), [("full", DiskFullError), ("denied", StoreError)])
def test_the_systems_own_errors_get_a_code_and_name_the_place(
    helix_command: Command, broken: None, how: str, cls: type[HelixError]
) -> None:
    said = helix_command("broken", how)
    assert said.code == cls.exit_code
    assert said.err.startswith(f"error [{cls.code}]: ")
    assert "/x" in said.err


def test_an_interrupt_is_quiet(helix_command: Command, broken: None) -> None:
    said = helix_command("broken", "interrupted")
    assert (said.code, said.out, said.err) == (128 + signal.SIGINT, "", "")


def test_a_reader_that_has_seen_enough_is_no_error(home: Path) -> None:
    line = f"{sys.executable} -m helix.cli.main --help | head -n 1"
    process = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, check=False)
    assert process.stdout.startswith("Usage: helix")
    assert (process.stderr, process.returncode in (0, 141)) == ("", True)

    program = "import sys; from helix.cli.main import run; sys.exit(run(['config', '--json']))"
    read, write = os.pipe()
    os.close(read)
    closed = subprocess.run([sys.executable, "-c", program], stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (closed.returncode, closed.stderr) == (128 + signal.SIGPIPE, b"")


def test_a_setting_that_cannot_be_read_names_its_source(
    helix_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELIX_PORT", "many")
    said = helix_command("config")
    assert said.code == 2
    assert said.err.startswith("error [CONFIG]: setting 'port' from environment")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_script_of_the_shell(helix_command: Command, shell: str) -> None:
    said = helix_command("completion", shell)
    assert said.code == 0
    assert f"_HELIX_COMPLETE={shell}_complete" in said.out


def test_the_shell_is_offered_commands_options_and_kinds(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_HELIX_COMPLETE", "bash_complete")
    for words, offered in (
        ("helix rec", "recall-by-type"),
        ("helix recall --si", "--since"),
        ("helix store --kind conv", "convention"),
        ("helix ingest g", "git"),
    ):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
        assert run([]) == 0
        assert f"plain,{offered}" in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("line", [("record", "-"), ("cypher", "-")])
def test_an_input_without_end_is_not_read_to_its_end(helix_command: Command, line: tuple[str, str]) -> None:
    refused = helix_command(*line, stdin=b"x" * (REQUEST_BYTES + 1))
    assert refused.code == 2
    assert "stdin holds more than" in refused.err
