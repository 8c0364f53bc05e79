"""Tool server: the protocol's server, whose tools tell every error in Helix's words.

An error begins with its code, says what is wrong with which argument, and ends with what to do. What the protocol's
library says of arguments that do not fit is for programmers, and it passes over an argument that no tool knows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mcp.server.mcpserver import Context as Call
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, InputRequiredResult
from pydantic import ValidationError

from helix.api.api_errors import as_known, logged
from helix.errors import HelixError, InvalidInputError, NotFoundError, did_you_mean

_MOST_TOLD = 3
"""Arguments that are told of where more are wrong."""
_LONGEST_NAME = 60
_SEE_LOG = "look into helix.log in the folder `logs` of the store"
_KINDS: Mapping[type, str] = {str: "a text", list: "a list", dict: "an object"}
_PLAIN = {"string": "a text", "boolean": "true or false", "integer": "a whole number"}

Result = CallToolResult | InputRequiredResult


class ToolServer(MCPServer[Any]):
    """An MCP server whose tool errors are those of Helix."""

    def __init__(self, *args: Any, tools: Sequence[Tool], **options: Any) -> None:
        super().__init__(*args, tools=list(tools), **options)
        self._offered = {tool.name: tool for tool in tools}

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Call[Any, Any] | None = None) -> Result:
        """Call an MCP tool; raises ToolError with `CODE: what is wrong. What to do.`."""
        try:
            return await self._called(name, arguments, context)
        except ToolError as error:
            raise ToolError(told(_reason(error, self._offered[name]), self._offered[name])) from error
        except HelixError as error:
            raise ToolError(told(error, self._offered.get(name))) from error

    async def _called(self, name: str, arguments: dict[str, Any], context: Call[Any, Any] | None) -> Result:
        tool = self._offered.get(name)
        if tool is None:
            near = did_you_mean(name, self._offered) or f"there are {', '.join(self._offered)}"
            raise NotFoundError(f"no tool is called {_named(name)}", hint=near)
        known = _arguments(tool)
        if unknown := [one for one in arguments if one not in known]:
            hint = f"{did_you_mean(unknown[0], known)} {_takes(tool)}".strip()
            raise InvalidInputError(f"{name} has no argument {_listed(unknown)}", hint=hint)
        return await super().call_tool(name, arguments, context)


def told(error: HelixError, tool: Tool | None) -> str:
    """Return an error of an MCP tool as an agent reads it; the hint is general where the error has none."""
    hint = _hint(error, tool).rstrip(".")
    return f"{error.code}: {error.message}. {hint[:1].upper()}{hint[1:]}{'' if hint.endswith('?') else '.'}"


def _hint(error: HelixError, tool: Tool | None) -> str:
    if isinstance(error, NotFoundError) and "`helix" in (error.hint or "`helix"):  # commands, for who has no tools
        return "see what there is by memory.search or memory.list"
    if isinstance(error, InvalidInputError) and not error.hint and tool is not None:
        return _takes(tool)
    return error.hint or "`helix doctor` says what is wrong with the store, if anything is"


def _reason(error: ToolError, tool: Tool) -> HelixError:
    """Return why a call failed of which the protocol's library says so, with what it met as the cause."""
    cause = error.__cause__
    if isinstance(error, UnexpectedToolError):  # so it calls whatever a tool raises
        return as_known(cause) or HelixError(f"internal error {logged(cause, tool.name)}", hint=_SEE_LOG)
    if isinstance(cause, ValidationError):
        return _misfit(tool, cause)
    return InvalidInputError("the answer to the question cannot be read", hint="say an id instead of a query")


def _misfit(tool: Tool, error: ValidationError) -> InvalidInputError:
    """Return what is wrong with arguments that do not fit a tool's schema."""
    wrong = error.errors(include_url=False, include_context=False)
    said = list(dict.fromkeys(_problem_of(tool, one["loc"], one["type"], one["input"]) for one in wrong))
    about = _arguments(tool).get(str(wrong[0]["loc"][0]), {}).get("description")
    return InvalidInputError("; ".join(said[:_MOST_TOLD]), hint=about or _takes(tool))


def _problem_of(tool: Tool, where: Sequence[int | str], kind: str, value: object) -> str:
    name, schema = str(where[0]), _arguments(tool).get(str(where[0]), {})
    if kind == "missing":
        return f"`{name}` is missing: it must be {_expected(schema)}"
    if len(where) > 1:
        return f"`{name}` must be {_expected(schema)}, but one of it is {_shown(value)}"
    return f"`{name}` must be {_expected(schema)}, not {_shown(value)}"


def _expected(schema: Mapping[str, Any]) -> str:
    if schema.get("type") == "array":
        return "a list of texts" + (", at least one" if schema.get("minItems") else "")
    if schema.get("format") == "date-time":
        return "a time, such as 2026-01-31T14:00:00Z"
    bounds = f" from {schema['minimum']:,} to {schema['maximum']:,}" if "maximum" in schema else ""
    return _PLAIN.get(str(schema.get("type")), "what the tool's schema says") + bounds


def _shown(value: object) -> str:
    """Return a value in words: of what may be long or a secret, only what it is."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    return _KINDS.get(type(value)) or _named(str(value)).strip("`")


def _takes(tool: Tool) -> str:
    needed = tool.parameters.get("required", ())
    names = [f"{name} (needed)" if name in needed else name for name in _arguments(tool)]
    return f"It takes {', '.join(names)}"


def _arguments(tool: Tool) -> Mapping[str, Mapping[str, Any]]:
    arguments: Mapping[str, Mapping[str, Any]] = tool.parameters["properties"]
    return arguments


def _listed(names: Collection[str]) -> str:
    return ", ".join(_named(name) for name in list(names)[:_MOST_TOLD])


def _named(name: str) -> str:
    return f"`{name[:_LONGEST_NAME]}`"
