"""Any operation of the API by its name: documents are written from what the schema says of itself."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from benchmarks.soak_daemon import Running
from helix.client import Client
from helix.errors import DaemonError, HelixError, QueryTimeoutError

KEY = "idempotencyKey"
_TYPE = "type{kind name ofType{kind name ofType{kind name ofType{kind name ofType{kind name}}}}}"
_SCHEMA = f"{{__schema{{types{{kind name inputFields{{name {_TYPE}}} fields{{name args{{name {_TYPE}}} {_TYPE}}}}}}}}}"
_PLAIN = ("SCALAR", "ENUM")


class Doubt(Exception):
    """No answer came: what was asked for may or may not have been done."""


class Refused(Exception):
    """The daemon said no; `code` is the error's."""

    def __init__(self, code: str, words: str) -> None:
        super().__init__(f"{code}: {words}")
        self.code = code


class Schema:
    """Types and fields by name, read from a running daemon once."""

    def __init__(self, client: Client) -> None:
        types = client.execute(_SCHEMA)["__schema"]["types"]
        self._types = {each["name"]: each for each in types}
        self.fields: dict[str, tuple[str, Mapping[str, Any]]] = {}
        for kind in ("Query", "Mutation"):
            for field in self._types[kind]["fields"]:
                self.fields[field["name"]] = (kind.lower(), field)

    def takes_key(self, name: str) -> bool:
        """Return whether a field takes an idempotency key."""
        return KEY in self._taken(name)

    def document(self, name: str, given: Mapping[str, Any]) -> str:
        """Return a document that asks for every plain part of the answer, and for the ids in the parts of that."""
        kind, field = self.fields[name]
        types = {key: _written(argument["type"]) for key, argument in self._taken(name).items()}
        variables = ", ".join(f"${key}: {types[key]}" for key in given)
        arguments = ", ".join(f"{key}: ${key}" for key in given)
        head = f"({variables})" if given else ""
        asked = field["type"]
        if kind == "mutation":
            arguments = f"input: {{{arguments}}}"
            asked = self._types[_named(asked)["name"]]["fields"][0]["type"]
        parts = self._parts(asked, 2)
        answer = f" {{ result{parts} }}" if kind == "mutation" else parts
        return f"{kind} Soak{head} {{ {name}{f'({arguments})' if given else ''}{answer} }}"

    def _taken(self, name: str) -> Mapping[str, Any]:
        """Return what a field takes, by name: its arguments, or the fields of a mutation's input."""
        given = self.fields[name][1]["args"]
        if [argument["name"] for argument in given] == ["input"]:
            given = self._types[_named(given[0]["type"])["name"]]["inputFields"]
        return {argument["name"]: argument for argument in given}

    def _parts(self, kind: Mapping[str, Any], depth: int) -> str:
        named = _named(kind)
        if named["kind"] in _PLAIN:
            return ""
        chosen = []
        for field in self._types[named["name"]]["fields"] or ():
            inner = _named(field["type"])
            if inner["kind"] in _PLAIN and (depth == 2 or field["name"] in ("id", "status", "name")):
                chosen.append(field["name"])
            elif depth == 2 and inner["kind"] == "OBJECT" and (parts := self._parts(field["type"], 1)):
                chosen.append(field["name"] + parts)
        return f" {{ {' '.join(chosen)} }}" if chosen else ""


def _named(kind: Mapping[str, Any]) -> Mapping[str, Any]:
    while kind.get("ofType"):
        kind = kind["ofType"]
    return kind


def _written(kind: Mapping[str, Any]) -> str:
    if kind["kind"] == "NON_NULL":
        return f"{_written(kind['ofType'])}!"
    if kind["kind"] == "LIST":
        return f"[{_written(kind['ofType'])}]"
    return str(kind["name"])


class Api:
    """One client's connection to one daemon."""

    schema: Schema | None = None
    """Of the code that is judged: the same for all daemons of a run."""

    def __init__(self, running: Running, hook_token: str = "", timeout: float = 30.0) -> None:
        self._running = running
        self._hook_token = hook_token
        self.client = running.client(timeout)

    @cached_property
    def known(self) -> Schema:
        """The schema."""
        if Api.schema is None:
            Api.schema = Schema(self.client)
        return Api.schema

    def call(self, field: str, **given: Any) -> Any:
        """Return the answer of one field; raises Doubt or Refused."""
        try:
            answer = self.client.execute(self.known.document(field, given), given)[field]
            return answer["result"] if self.known.fields[field][0] == "mutation" else answer
        except (DaemonError, QueryTimeoutError) as error:
            raise Doubt(f"{field}: {error}") from error
        except HelixError as error:
            raise Refused(error.code, f"{field}: {error.message}") from error

    def hook(self, event: str, **payload: Any) -> None:
        """Tell of what happens in an agent's session."""
        address = urlsplit(self._running.url)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)
        body = json.dumps({"hook_event_name": event, **payload})
        headers = {"content-type": "application/json", "authorization": f"Bearer {self._hook_token}"}
        try:
            connection.request("POST", "/hooks/claude-code", body, headers)
            connection.getresponse().read()
        except (OSError, http.client.HTTPException) as error:
            raise Doubt(f"hook {event}: {error!r}") from error
        finally:
            connection.close()

    def close(self) -> None:
        """Hang up."""
        self.client.close()
