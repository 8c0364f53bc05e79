"""Completion: what a shell offers for names, scopes, sessions, relations and recipes, from a daemon that runs."""

from __future__ import annotations

import re
from collections.abc import Callable

import click

from helix.errors import HelixError
from helix.settings import load

Completer = Callable[[click.Context, click.Parameter, str], list[str]]

_MOST = 50
_SECONDS = 1.0
_PLAIN = re.compile(r"\w[\w.@+/:%=-]*", re.ASCII)
"""Words that mean nothing to a shell: bash puts what is offered into the line as it is, and an import names scopes."""


def completer(of: str) -> Completer:
    """Return what completes words of that kind in a shell. Without a daemon there are none, and nothing is said."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        from helix import daemon  # HTTP and processes: not for a command's help

        flags = ctx.find_root().params
        try:
            settings = load({"db_path": flags.get("store"), "home": flags.get("home")})
            client = daemon.running(settings, timeout=_SECONDS)
            if client is None:
                return []
            with client:
                found: list[str] = client.run("completions", of=of, prefix=incomplete, limit=_MOST)["completions"]
        except (HelixError, OSError):
            return []  # who presses a key waits for words, not for trouble: the command itself tells of that
        return [word for word in found if _PLAIN.fullmatch(word)]

    return complete


MEMORIES, SCOPES, SESSIONS = completer("NAMES"), completer("SCOPES"), completer("SESSIONS")
RELATIONS, RECIPES = completer("RELATIONS"), completer("RECIPES")
