"""One session of Cypher: the parameters, limits and format that hold for its statements, and the running of them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from helix.cli.cypher_render import Format, write
from helix.cli.cypher_text import parameters
from helix.cli.invocation import Invocation
from helix.errors import InvalidInputError

_PARAMETER = re.compile(r"\s*\$?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)", re.DOTALL)


@dataclass(slots=True, kw_only=True)
class Session:
    """What statements are run with. `limit` is in rows, `timeout_ms` in milliseconds; None: as the settings say."""

    invocation: Invocation
    format: Format = Format.TABLE
    limit: int | None = None
    timeout_ms: int | None = None
    params: dict[str, Any] = field(default_factory=dict)
    raise_limit: str = "--limit"

    def define(self, text: str) -> None:
        """Set a parameter from `name=value`; raises InvalidInputError when it is not of that form."""
        name, value = parse_parameter(text)
        self.params[name] = value

    def run(self, statement: str) -> None:
        """Run one statement: its rows go to stdout, how many and how long to stderr."""
        used = parameters(statement)
        result = self.invocation.run(
            "cypher",
            query=statement,
            params={name: value for name, value in self.params.items() if name in used},
            timeout_ms=self.timeout_ms,
            limit=self.limit,
        )["cypher"]
        write(self.invocation.out, result, self.format)
        if not self.invocation.json:
            self.invocation.say(summary(result, self.raise_limit))


def parse_parameter(text: str) -> tuple[str, Any]:
    """Return the name and value of `name=value`: a JSON value where it is one, the plain text otherwise."""
    match = _PARAMETER.fullmatch(text)
    if match is None:
        raise InvalidInputError(f"{text!r} sets no parameter", hint="write name=value, such as kind=failure or days=7")
    try:
        return match[1], json.loads(match[2], parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        return match[1], match[2].strip()


def summary(result: dict[str, Any], raise_limit: str) -> str:
    """Return how many rows came in which time, and how to get those that were cut off."""
    count = len(result["rows"])
    rows = f"{count:,} row{'' if count == 1 else 's'}"
    words = f"{rows} in {result['elapsedMs']:.0f} ms"
    return f"{words}\ntruncated at {rows}; raise it with {raise_limit}" if result["truncated"] else words


def _reject_constant(name: str) -> Any:
    raise ValueError(name)  # NaN and Infinity are no JSON: taken as texts
