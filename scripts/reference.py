"""Writes docs/reference from the code: every operation, every command, every setting. `scripts/schema` runs it."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from types import ModuleType

import click
from graphql import GraphQLField

from helix.api.described import arguments_of, result_of
from helix.api.schema import build_schema
from helix.cli import main as command_line
from helix.cli.invocation import Invocation
from helix.errors import HelixError
from helix.operations import OPERATIONS
from helix.operations.listed import Operation
from helix.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs/reference"
SAYS = ROOT / "queries/commands.json"
_MADE = "<!-- written by scripts/schema; change the code instead -->\n"


def pages() -> dict[str, str]:
    """Return each page by its path below the folder."""
    made = {**operations(), **commands(), "settings.md": settings()}
    return {name: f"{_MADE}{text.rstrip()}\n" for name, text in made.items()}


def operations() -> dict[str, str]:
    """Return what can be asked over GraphQL: an index, and a page for each file of operations."""
    schema = build_schema()._schema
    roots = {
        kind: root.fields
        for kind, root in (
            ("query", schema.query_type),
            ("mutation", schema.mutation_type),
            ("subscription", schema.subscription_type),
        )
        if root is not None
    }
    index = [
        "# Operations",
        "",
        "Everything that can be asked of Helix over GraphQL. GraphiQL (`helix open`) shows the fields of each answer. "
        "An argument with `!` has to be given; another one that is left out or null stands for its default. A mutation "
        "takes its arguments as one `input`, and answers with a payload that holds the `result`: "
        '`mutation { forget(input: {nameOrId: "x"}) { result { status } } }`. A field that fails is null, and its '
        "error says why by a code, which stays the same, and a sentence: [the codes](#errors). The others stand.",
        "",
        "| page | operations |",
        "|---|---|",
    ]
    made: dict[str, str] = {}

    def add(stem: str, title: str, words: str, held: Mapping[str, tuple[str, Operation | None]]) -> None:
        path = f"operations/{stem}.md"
        lines = [f"# {title}", "", words]
        for name, (kind, one) in held.items():
            lines += ["", *_operation(kind, name, roots[kind][name], one)]
        made[path] = "\n".join(lines)
        index.append(f"| [{title}]({path}) | {', '.join(f'`{name}`' for name in held)} |")

    listed: set[str] = set()
    for module, ones in _by_module().items():
        title, _, words = (inspect.getdoc(module) or "").partition(": ")
        held = {_camel(one.name): ("mutation" if one.writes else "query", one) for one in ones}
        listed.update(held)
        add(_file(module.__name__.rpartition(".")[2]), title, words[:1].upper() + words[1:], held)
    rest = {name: (kind, None) for kind, names in roots.items() for name in names if name not in listed}
    add(
        "service",
        "The service itself",
        "What the daemon itself offers: end it, open the explorer, follow changes and jobs.",
        rest,
    )
    return {"operations.md": "\n".join([*index, "", *_errors()]), **made}


def _errors() -> Iterator[str]:
    yield "## Errors"
    yield ""
    yield (
        "An error has its code in `extensions.code`, and what to do next in `extensions.hint`. A command leaves with "
        "the exit status; with `--json` it tells the code too."
    )
    yield ""
    yield "| code | exit status | meaning |"
    yield "|---|---|---|"
    for one in _kinds_of(HelixError):
        yield f"| `{one.code}` | {one.exit_code} | {_cell(inspect.getdoc(one) or '')} |"
    yield f"| `{HelixError.code}` | {HelixError.exit_code} | Helix did not expect this; `helix logs` has more. |"


def _kinds_of(kind: type[HelixError]) -> Iterator[type[HelixError]]:
    """Return the errors that have a code of their own, each followed by those that are of its kind."""
    for one in kind.__subclasses__():
        if one.__module__ == kind.__module__:
            yield one
            yield from _kinds_of(one)


def _by_module() -> dict[ModuleType, list[Operation]]:
    found: dict[ModuleType, list[Operation]] = {}
    for one in OPERATIONS.values():
        found.setdefault(sys.modules[one.function.__module__], []).append(one)
    return found


def _operation(kind: str, name: str, field: GraphQLField, one: Operation | None) -> Iterator[str]:
    yield f"## `{name}` ({kind})"
    yield ""
    yield _line(field.description or "")
    if one is not None and one.person:
        yield ""
        yield f"Only a person may {one.person}: an agent's request is refused."
    if one is not None:
        for (argument, given), words in one.person_where.items():
            yield ""
            yield f"{'With' if given else 'Without'} `{_camel(argument)}` only a person may {words}."
        if one.person_if is not None:
            yield ""
            yield one.person_if.__doc__ or ""
    yield ""
    yield f"Answers `{result_of(field).type}`."
    taken = arguments_of(field)
    if taken:
        yield ""
        yield "| argument | type | meaning |"
        yield "|---|---|---|"
        for argument, given in taken.items():
            yield f"| `{argument}` | `{given.type}` | {_cell(given.description or '')} |"


def says() -> dict[str, str]:
    """Return what each command does in a few words: how its help begins."""
    helps = {name: _named(name).help or "" for held in command_line.SECTIONS.values() for name in held}
    return {name: re.split(r"[.;:](?:\s|$)", words, maxsplit=1)[0] + "." for name, words in helps.items()}


def _named(name: str) -> click.Command:
    context = click.Context(command_line.cli, info_name="helix", obj=Invocation.__new__(Invocation))
    command = command_line.cli.get_command(context, name)  # type: ignore[attr-defined]  # it is a group
    assert isinstance(command, click.Command)
    return command


def commands() -> dict[str, str]:
    """Return every command with its arguments, options and examples: an index, and a page for each section."""
    index = [
        "# Commands",
        "",
        "Each takes `--json` for the whole answer as JSON. `helix completion` sets up completion in your shell.",
    ]
    made: dict[str, str] = {}
    short = says()
    for title, held in command_line.SECTIONS.items():
        path = f"commands/{_file(title)}.md"
        lines = [f"# {title}"]
        index += ["", f"## [{title}]({path})", "", "| command | what it does |", "|---|---|"]
        for name in held:
            lines += _command(_named(name), f"helix {name}")
            index.append(f"| `helix {name}` | {_cell(short[name])} |")
        made[path] = "\n".join(lines)
    return {"commands.md": "\n".join(index), **made}


def _command(command: click.Command, path: str) -> Iterator[str]:
    words, _, examples = inspect.cleandoc(command.help or "").partition("\b")
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    below = command.commands if isinstance(command, click.Group) else {}
    usage = " ".join([path, *(_placed(one) for one in arguments), *(["COMMAND"] if below else [])])
    yield from ("", f"## `{usage}`", "", _line(words))
    if examples.strip():
        yield from ("", "```sh", *(line.strip() for line in examples.strip().splitlines()), "```")
    options = [one for one in command.params if isinstance(one, click.Option) and one.name != "json" and not one.hidden]
    if options:
        yield from ("", "| option | meaning |", "|---|---|")
        for option in options:
            names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
            yield f"| {names} | {_cell(option.help or '')}{_default(option)} |"
    for name, inner in below.items():
        yield from _command(inner, f"{path} {name}")


def _placed(argument: click.Argument) -> str:
    word = (argument.metavar or argument.human_readable_name).upper()
    word = f"{word}..." if argument.nargs == -1 and not word.endswith("...") else word
    return word if argument.required else f"[{word.replace('[', '').replace(']', '')}]"


def _default(option: click.Option) -> str:
    plain = isinstance(option.default, str | int | float) and not isinstance(option.default, bool)
    return f" Default: `{option.default}`." if option.show_default and plain else ""


def settings() -> str:
    """Return every setting with its default and its environment variable."""
    lines = [
        "# Settings",
        "",
        "A setting comes from `~/.helix/config.toml`, or from the environment as `HELIX_NAME`; `helix config` shows "
        "each with where its value came from.",
        "",
        "| setting | default | meaning |",
        "|---|---|---|",
    ]
    for field in fields(Settings):
        help_words = field.metadata.get("help")
        if help_words:
            default = "" if field.default is MISSING or field.default in (None, "") else f"`{field.default}`"
            default = default.replace(str(Path.home()), "~")
            lines.append(f"| `{field.name}` | {default} | {_cell(str(help_words))} |")
    return "\n".join(lines)


def _file(name: str) -> str:
    return name.lower().replace("_", "-").replace(" ", "-")


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _line(text: str) -> str:
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def write() -> None:
    """Write the pages; those of what is gone go."""
    made = pages()
    for path in FOLDER.rglob("*.md"):
        if path.relative_to(FOLDER).as_posix() not in made:
            path.unlink()
    for name, text in made.items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_text(text, "utf-8")
    SAYS.write_text(json.dumps(says()) + "\n", "utf-8")


if __name__ == "__main__":
    write()
