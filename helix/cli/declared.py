"""Declared: commands that follow from the one list of operations.

`command` makes one of an operation: its help, arguments, options and their words come from `queries/operations.json`,
which `scripts/schema` writes. What is said here is only how it differs, and how its answer is shown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

import click

from helix import resources
from helix.cli.given import JSON, JSON_LIST, ReadParam
from helix.cli.invocation import Invocation, Looked
from helix.cli.options import EVERY, LISTED, PROJECT, USUAL, As, TimeParam, WordParam
from helix.cli.output import Output
from helix.cli.progress import follow
from helix.cli.render import anything, sentence
from helix.errors import StoreError

Show = Callable[[Output, Any], None] | str
"""Writes an answer for people, or the sentence that says it: `{name} is open again`."""

F = TypeVar("F", bound=Callable[..., Any])

COMMANDS: dict[str, click.Command] = {}
"""Every command that was declared so far, by its path: `gap`, `gap reopen`."""

_TYPES: Mapping[str, Any] = {
    "Int": click.INT,
    "Float": click.FLOAT,
    "DateTime": TimeParam(),
    "JSON": JSON,
    "[JSON]": JSON_LIST,
}
_KEY = "idempotency_key"


@cache
def operations() -> Mapping[str, Any]:
    """Return the `operations` that commands are declared from by name, and the `words` of enums (api/described.py)."""
    found: Mapping[str, Any] = json.loads(resources.text("queries", "operations.json"))
    return found


def group(name: str, says: str, *examples: str) -> None:
    """Declare a command that has others below it."""
    COMMANDS[name] = click.Group(name, help=_help(says, examples))


def command(
    path: str,
    operation: str = "",
    /,
    *examples: str,
    show: Show | None = None,
    says: str = "",
    none: str = "",
    code: Callable[[Any], int] | None = None,
    everywhere: bool = False,
    cancels: bool = False,
    **ways: As | None,
) -> Callable[[F], F]:
    """Declare the command `path` (`gap reopen`), which asks for an operation, by default that of its own name.

    `show`, or the function that this decorates, writes the answer; without one the answer is shown field by field.
    `none` is said of an empty answer, `code` returns the exit code. `everywhere` says that every project is looked at,
    `cancels` that Ctrl-C stops the job that is asked for. `ways` say of an argument how it is given where that is not
    the usual way; None leaves it out.
    """

    def ask_and_show(invocation: Invocation, **asked: Any) -> None:
        if everywhere:
            invocation.looked = Looked(scope=None)
        answer = ask(invocation, name, asked, shows[-1], none=none, cancels=cancels)
        if code is not None and (failed := code(answer)):
            raise click.exceptions.Exit(failed)

    name, shows = operation or _operation_of(path), [show or anything]
    answers = operations()["operations"][name]["answers"].removesuffix("!")
    if isinstance(show, str) and (answers.startswith("[") or answers.endswith("Connection")):
        raise TypeError(f"{path}: a sentence is about one record, not {answers}; without `show` it is a table")
    asking(path, name, *examples, says=says, **ways)(ask_and_show)

    def shown_by(function: F) -> F:
        shows.append(function)
        return function

    return shown_by


def asking(path: str, operation: str = "", /, *examples: str, says: str = "", **ways: As | None) -> Callable[[F], F]:
    """Declare a command whose body is the function that this decorates: `function(invocation, **asked)`.

    `asked` are the arguments of the operation that were given, and all of those `ways` that the operation knows nothing
    of. The body asks for the operation itself, by `ask`.
    """
    operation = operation or _operation_of(path)
    told = operations()["operations"][operation]

    def declare(function: F) -> F:
        def run(**values: Any) -> None:
            known = told["takes"]
            asked = {name: value for name, value in values.items() if name not in known or _says(known[name], value)}
            function(click.get_current_context().find_object(Invocation), **asked)

        names = [name for name in {**told["takes"], **ways} if name in ways or name != _KEY]
        params = [_parameter(name, told, ways.get(name) or As()) for name in names if ways.get(name, As()) is not None]
        parent, _, name = path.rpartition(" ")
        COMMANDS[path] = click.Command(
            name, params=params, help=_help(says or told["says"], examples or (f"helix {path}",)), callback=run
        )
        if parent:
            above = COMMANDS[parent]
            assert isinstance(above, click.Group)
            above.add_command(COMMANDS[path])
        return function

    return declare


def check_erased(invocation: Invocation, report: Mapping[str, Any]) -> None:
    """End a command with the code of a store's error where a copy still holds what was to be erased."""
    if not all(copy["erased"] for copy in report["copies"]):
        invocation.say("hint: once it can be reached, the same command erases it there too")
        raise click.exceptions.Exit(StoreError.exit_code)


def ask(
    invocation: Invocation,
    operation: str,
    asked: Mapping[str, Any],
    show: Show = anything,
    *,
    none: str = "",
    cancels: bool = False,
) -> Any:
    """Ask the daemon for a command's operation, show the answer, and return that: a page's nodes, a job's result.

    A job is followed to its end; with `cancels` Ctrl-C stops it.
    """
    data = invocation.run(operation, **asked)
    ((field, answer),) = data.items()
    told = operations()["operations"][operation]["answers"].removesuffix("!")
    page = answer if told.endswith("Connection") else None
    if told == "Job":
        data[field] = follow(invocation, answer, cancels=cancels)
        answer = data[field]["result"]
    found = answer if page is None else [edge["node"] for edge in page["edges"]]

    def write(out: Output) -> None:
        if found is not None:
            sentence(out, show, found) if isinstance(show, str) else show(out, found)
        if none and not found:
            out.say(none)
        elif page is not None:
            out.say(f"{len(found)} of {page['totalCount']}" if page["totalCount"] else "nothing is stored that fits")
            if page["pageInfo"]["hasNextPage"]:
                out.say(f"more: the same command with --after {page['pageInfo']['endCursor']}")

    invocation.emit(data, write)
    return found


def _operation_of(path: str) -> str:
    return path.replace(" ", "_").replace("-", "_")


def _says(takes: Mapping[str, Any], value: Any) -> bool:
    """Whether a value says anything: nothing at all does not, nor a flag that is not given."""
    return value not in (None, ()) and (value is not False or takes.get("default") is not False)


def _help(says: str, examples: tuple[str, ...]) -> str:
    return "\n".join((says, "", "\b", *examples))


def _parameter(name: str, told: Mapping[str, Any], way: As) -> click.Parameter:
    """Return the click parameter of an argument: by its type, then what is usual for its name, then what `way` says."""
    takes = told["takes"].get(name)
    if name == "scope" and not way.attributes:
        way = PROJECT if takes["default"] else EVERY if told["writes"] else LISTED
    usual = USUAL.get(name, As()) if takes is not None else As()
    attributes = {**(_derived(takes) if takes is not None else {}), **usual.attributes, **way.attributes}
    names = way.names or usual.names or ((name,) if attributes.get("required") else (_option(name, attributes),))
    if names[0].startswith("-"):
        if attributes.get("multiple"):
            attributes["help"] += " Repeatable."
        if isinstance(attributes.get("type"), ReadParam):
            attributes["help"] = f"{attributes['help'].removesuffix('.')}; - reads stdin."
        return click.Option([*names, name], **attributes)
    if attributes.pop("multiple", False):
        attributes["nargs"] = -1
    for of_options in ("help", "is_flag", "show_default", "metavar"):
        attributes.pop(of_options, None)
    word = f"{names[0].upper()}{'...' if attributes.get('nargs') == -1 else ''}"
    return click.Argument(
        [name], **{"metavar": word if attributes.get("required", True) else f"[{word}]", **attributes}
    )


def _option(name: str, attributes: Mapping[str, Any]) -> str:
    """Return the option of an argument: `--file` for `files`, `--rerank/--no-rerank` for what is neither by default."""
    word = name.replace("_", "-")
    if attributes.get("multiple"):
        word = word.removesuffix("s")
    return f"--{word}" if "is_flag" not in attributes or attributes["is_flag"] else f"--{word}/--no-{word}"


def _derived(takes: Mapping[str, Any]) -> dict[str, Any]:
    kind, default = takes["type"].replace("!", ""), takes.get("default")
    made: dict[str, Any] = {"help": takes["says"], "required": "default" not in takes}
    if kind == "Boolean":
        return {**made, "is_flag": default is False or None, "default": default}
    if kind.startswith("[") and kind not in _TYPES:
        kind, made["multiple"], default = kind.strip("[]"), True, None
    words = operations()["words"].get(kind)
    made["type"] = WordParam(words) if words else _TYPES.get(kind)
    if kind == "ID":
        made["metavar"] = "ID"
    return made if not default or default == "global" else {**made, "default": default, "show_default": True}
