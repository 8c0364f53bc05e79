"""Given: text and JSON that a command takes as an argument, or from stdin where that is `-`."""

from __future__ import annotations

import json
import sys
from typing import Any

from helix.errors import InvalidInputError

STDIN = "-"


def text(value: str) -> str:
    """Return what was given; stdin's text for `-`. Raises InvalidInputError where that is no UTF-8."""
    if value != STDIN:
        return value
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"stdin is not UTF-8 text: {error}") from error


def json_object(value: str, what: str) -> dict[str, Any]:
    """Return the JSON object that was given; raises InvalidInputError for anything else."""
    found = _read(value, what)
    if not isinstance(found, dict):
        raise InvalidInputError(f"{what} is no JSON object", hint='such as {"id": "1", "status": "pending"}')
    return found


def json_objects(value: str, what: str) -> list[dict[str, Any]]:
    """Return the list of JSON objects that was given; raises InvalidInputError for anything else."""
    found = _read(value, what)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise InvalidInputError(
            f"{what} are no JSON list of objects", hint='such as [{"id": "1", "status": "pending"}]'
        )
    return found


def json_texts(value: str, what: str) -> list[str]:
    """Return the list of texts that was given as JSON; raises InvalidInputError for anything else."""
    found = _read(value, what)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise InvalidInputError(f"{what} are no JSON list of texts", hint='such as ["src/api.py"]')
    return found


def _read(value: str, what: str) -> Any:
    try:
        return json.loads(text(value))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{what} cannot be read as JSON: {error}", hint="`-` reads it from stdin") from error
