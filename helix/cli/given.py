"""Given: text and JSON that a command takes as an argument, from stdin where that is `-`, JSON from a file as @FILE."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import click

from helix import files
from helix.errors import InvalidInputError

STDIN = "-"
_TAKEN = "stdin was read"


class ReadParam(click.ParamType[Any]):
    """What `read` makes of an argument and of what the argument is called; `-` stands for stdin."""

    def __init__(self, name: str, read: Callable[[str, str], Any]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return what was read; InvalidInputError where it cannot be, or where stdin was read already."""
        if not isinstance(value, str) or ctx is None or ctx.resilient_parsing:
            return value
        if value == STDIN and ctx.meta.setdefault(_TAKEN, param) is not param:
            raise InvalidInputError("only one argument can be read from stdin", hint="give the others in the line")
        return self._read(value, str(param and param.name).replace("_", " "))


def text_of(value: str) -> str:
    """Return a command's text argument; stdin's for `-`, with replacement characters for bytes that are not UTF-8.

    What programs write is full of such bytes, whatever the locale says of them.
    """
    if value != STDIN:
        return value
    return stdin().decode("utf-8", "replace").replace("\r\n", "\n")


def stdin() -> bytes:
    """Return all of a command's stdin; raises InvalidInputError where it does not end within what a request holds."""
    from helix.client import REQUEST_BYTES  # help needs no client

    data = sys.stdin.buffer.read(REQUEST_BYTES + 1)
    if len(data) > REQUEST_BYTES:
        raise InvalidInputError(f"stdin holds more than {REQUEST_BYTES:,} bytes", hint="send it in parts")
    return data


def json_object(value: str, what: str) -> dict[str, Any]:
    """Return the JSON object of a command's argument; raises InvalidInputError for anything else."""
    found = _parse_json(value, what)
    if not isinstance(found, dict):
        raise InvalidInputError(f"{what} is not a JSON object", hint='such as {"id": "1", "status": "pending"}')
    return found


def json_objects(value: str, what: str) -> list[dict[str, Any]]:
    """Return the JSON objects of a command's argument: a list, the list `tasks` of one, or one after another.

    Raises InvalidInputError for anything else.
    """
    whole = _each(_held(value).strip(), what)
    found = _listed(whole[0]) if len(whole) == 1 else whole
    if whole == [{}] or not all(isinstance(one, dict) for one in found):
        raise InvalidInputError(
            f"{what} are not a JSON list of objects", hint='such as [{"id": "1", "status": "pending"}]'
        )
    return found


def json_texts(value: str, what: str) -> list[str]:
    """Return the list of texts in a command's JSON argument; raises InvalidInputError for anything else."""
    found = _parse_json(value, what)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise InvalidInputError(f"{what} are not a JSON list of texts", hint='such as ["src/api.py"]')
    return found


def _file_text(value: str, what: str) -> str:
    if value == STDIN:
        return text_of(value)
    try:
        return files.read_text(value, errors="replace")
    except OSError as error:
        hint = f"name a file that holds the {what}, or - for stdin"
        raise InvalidInputError(f"{value} cannot be read: {error.strerror or error}", hint=hint) from error


def _held(value: str) -> str:
    if not value.startswith("@"):
        return text_of(value)
    try:
        return files.read_text(value[1:])
    except (OSError, UnicodeDecodeError) as error:
        hint = "after @ stands a file that holds JSON"
        raise InvalidInputError(f"{value[1:]} cannot be read: {error}", hint=hint) from error


def _listed(value: Any) -> list[Any]:
    if isinstance(value, dict) and isinstance(value.get("tasks"), list):
        value = value["tasks"]
    return value if isinstance(value, list) else [value]


def _each(said: str, what: str) -> list[Any]:
    """Return the JSON values that stand one after another in a text."""
    found, at = list[Any](), 0
    while at < len(said) or not found:
        try:
            value, at = json.JSONDecoder().raw_decode(said, at)
        except (ValueError, RecursionError) as error:
            raise _unreadable(what, error, 'such as [{"id": "1", "status": "pending"}]') from error
        found.append(value)
        at += len(said[at:]) - len(said[at:].lstrip())
    return found


def _parse_json(value: str, what: str) -> Any:
    said = _held(value)
    try:
        return json.loads(said)
    except (ValueError, RecursionError) as error:
        hint = "give a JSON text on stdin" if value == STDIN else "`-` reads it from stdin"
        raise _unreadable(what, error, hint) from error


def _unreadable(what: str, error: Exception, hint: str) -> InvalidInputError:
    return InvalidInputError(f"{what} cannot be read, it is not JSON: {error}", hint=hint)


TEXT = ReadParam("text", lambda value, what: text_of(value))
FILE = ReadParam("file", _file_text)
JSON = ReadParam("JSON", json_object)
JSON_LIST = ReadParam("JSON", json_objects)
TEXT_LIST = ReadParam("JSON", json_texts)
