"""Zygote: a process that has loaded Helix and forks daemons from it, so that a start takes no second of imports.

Run as a module. It reads one JSON object a line: {"serve": [arguments], "env": {}, "words": FILE} starts a daemon with
these arguments of `helix` and answers {"pid": N}; {"poll": N} answers {"ended": wait status, or null while it runs}.
The daemons embed with the shipped hash embedder: same text, same vector, no model to load.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

import helix.api.app
import helix.cli.daemon_commands
import helix.cli.serve
from helix.cli.main import run as command
from helix.providers.choose import EmbedderChoice
from helix.providers.fakes import HashEmbedder
from helix.settings import Settings
from helix.store import opening


class WarmHash(HashEmbedder):
    """The hash embedder, which is always warm."""

    def warm(self) -> None:
        """Do nothing: there is nothing to load."""


def hashed(settings: Settings) -> EmbedderChoice:
    """Return the hash embedder, unless the settings want none."""
    if settings.embedding_model == "none":
        return EmbedderChoice(None, "no model")
    return EmbedderChoice(WarmHash(), "hash embedder")  # type: ignore[arg-type]  # it stands in for the real one


def serve(arguments: list[str], environment: dict[str, str], words: str) -> None:
    """Be the daemon; never returns."""
    status = 1
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        log = os.open(words, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        null = os.open(os.devnull, os.O_RDONLY)
        for target, source in ((0, null), (1, log), (2, log)):
            os.dup2(source, target)
        for name in [name for name in os.environ if name.startswith("HELIX_")]:
            del os.environ[name]  # what whoever measures has set is none of the daemon's
        os.environ.update(environment)
        os.chdir(environment["HELIX_HOME"])
        setattr(opening, "embedder_for", hashed)  # noqa: B010  # no setting chooses a fake, by intent
        status = command(arguments)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def answer(request: dict[str, Any], ended: dict[int, int]) -> dict[str, Any]:
    """Start a daemon or say how one ended."""
    if "serve" in request:
        pid = os.fork()
        if pid == 0:
            serve(request["serve"], request["env"], request["words"])
        return {"pid": pid}
    pid = request["poll"]
    if pid not in ended:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            ended[pid] = status
    return {"ended": ended.get(pid)}


def main() -> None:
    """Answer until there are no more questions."""
    ended: dict[int, int] = {}
    begun: set[int] = set()
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    lines = Path("/dev/stdin").open(encoding="utf-8")  # noqa: SIM115  # until the end of the process
    for line in lines:
        told = answer(json.loads(line), ended)
        begun.add(told.get("pid", 0))
        print(json.dumps(told), file=out, flush=True)
    for pid in begun - ended.keys() - {0}:  # whoever asked is gone without a word: nothing of it stays
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    assert helix.api.app and helix.cli.serve and helix.cli.daemon_commands, "loaded before the first fork"
    main()
