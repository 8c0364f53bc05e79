"""Invocation: one run of the command line, with its flags, settings, daemon and what it writes where."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from helix.cli.output import Output, escape
from helix.errors import ConfigError, did_you_mean
from helix.model.loss import LOST_FILE, RECOVER_HINT, losses
from helix.model.memory import GLOBAL_SCOPE
from helix.processes import TEAM_KEY
from helix.scopes import EVERYWHERE, same_scope
from helix.settings import Settings, load

if TYPE_CHECKING:
    from helix.client import Client

_UNDECODED = re.compile("[\ud800-\udfff]")
"""What Python makes of the bytes of an argument that are no UTF-8."""


_SCOPES, _LIKE_SCOPE = 200, 0.45
"""Most scopes that one nobody knows is compared with, and how like one must be: names of projects have long ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """Where a command looks: a scope, or None for all, and what is global `beside` it; `chosen` by `--scope`."""

    scope: str | None
    beside: bool = False
    chosen: bool = False

    def words(self) -> str:
        """Return in a line what was looked at, and how to look further where nobody has chosen."""
        if self.scope is None:
            return "in every project"
        where = f"in {self.scope}" + (f" and {GLOBAL_SCOPE}" if self.beside and self.scope != GLOBAL_SCOPE else "")
        return where if self.chosen else f"{where}; `--scope {EVERYWHERE}` looks everywhere"


class Invocation:
    """What every command gets: results go to stdout through `emit`, words to stderr through `say`.

    `json` is what `--json` set; `flags` are settings given as flags.
    """

    def __init__(self) -> None:
        self.json = False
        self.debug = False
        self.said_asked = False
        self.looked: Looked | None = None
        self.flags: dict[str, Any] = {}
        self._client: Client | None = None

    @cached_property
    def settings(self) -> Settings:
        """The settings of this run, read once."""
        settings = load(self.flags)
        for words in settings.warnings:
            self.say(f"warning: {words}")
        return settings

    @cached_property
    def out(self) -> Output:
        """Standard output for people."""
        return Output(sys.stdout)

    def client(self) -> Client:
        """Return the client of the daemon, which is started when none runs, or of the team's server that is set."""
        if self._client is None and self.settings.server:
            self._client = self._of_the_team(self.settings.server)
        if self._client is None:
            from helix.daemon import ensure_running  # HTTP and processes: not for commands that ask no daemon

            self._client = ensure_running(self.settings)
            self._tell_of_losses()
        return self._client

    def _of_the_team(self, url: str) -> Client:
        from helix.client.sync_client import Client

        key = os.environ.get(TEAM_KEY, "")
        if not key:
            raise ConfigError(f"no key for {url}", hint=f"put the key that its owner gave you into {TEAM_KEY}")
        return Client(url, key, team=True)

    def _tell_of_losses(self) -> None:
        """Say first of all, whatever was asked, that the store lost something, until a person acknowledges it."""
        if (self.settings.store_path / LOST_FILE).exists():
            for loss in losses(self.settings.store_path):
                self.say(f"warning: {loss.sentence}: {RECOVER_HINT}")

    def run(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """Run a named operation in the daemon and return its `data`; see `Client.run`."""
        return self.client().run(operation, **_readable(arguments))

    def emit(self, data: Mapping[str, Any], show: Callable[[Output], None]) -> None:
        """Write the data as JSON with `--json`, otherwise let `show` write it for people."""
        if not self.json:
            show(self.out)
            return
        unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
        click.echo(escape(json.dumps(data, indent=2, ensure_ascii=not unicode)))

    def say(self, words: str) -> None:
        """Write words to stderr: progress, advice, warnings; never data."""
        self.out.say(words)

    def say_where(self) -> None:
        """Say to people, below all else, where a command looked that looks at a scope."""
        if self.looked is not None and not self.json:
            self.say(self.looked.words())
            if self.looked.chosen and self.looked.scope not in (None, GLOBAL_SCOPE):
                self._say_if_unknown(str(self.looked.scope))

    def _say_if_unknown(self, scope: str) -> None:
        """Say what was meant by a scope in which nothing is kept."""
        known = self.run("completions", of="SCOPES", limit=_SCOPES)["completions"]
        if not any(same_scope(one, scope) for one in known) and (
            meant := did_you_mean(scope, known, cutoff=_LIKE_SCOPE)
        ):
            self.say(f"nothing is kept in {scope}; {meant}")

    def close(self) -> None:
        """Close the connection to the daemon, if there is one."""
        if self._client is not None:
            self._client.close()


def _readable(value: Any) -> Any:
    """Return what was given as arguments, with replacement characters for bytes that are not UTF-8."""
    if type(value) is str:  # members of enums are texts too, and go by their names
        return _UNDECODED.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, Mapping):
        return {name: _readable(one) for name, one in value.items()}
    return [_readable(one) for one in value] if isinstance(value, tuple | list) else value
