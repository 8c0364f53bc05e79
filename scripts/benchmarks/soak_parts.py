"""Parts of the kill rounds: a client for a while, a backup looked at, work taken back, a history to ingest."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from benchmarks.soak_api import Api, Refused
from benchmarks.soak_daemon import Home, Running
from benchmarks.soak_journal import read
from benchmarks.soak_ledger import Facts, Verdict
from benchmarks.soak_load import Writer


class Closing:
    """An Api that hangs up at the end of its block."""

    def __init__(self, running: Running, home: Home) -> None:
        self._api = Api(running, (home.store / "hook-token").read_text("ascii").strip(), timeout=60.0)

    def __enter__(self) -> Api:
        return self._api

    def __exit__(self, *_: object) -> None:
        self._api.close()


def copied(source: Path, target: Path) -> None:
    """Put a copy of a folder in the place of another; sockets are left out, as they are nothing without a process."""

    def sockets(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if Path(folder, name).is_socket()]

    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, symlinks=True, ignore=sockets)


def end(writers: Iterable[Writer]) -> None:
    """Have writers stop, and wait until they have."""
    for writer in writers:
        writer.stopped.set()
    for writer in writers:
        if writer.ident is not None:
            writer.join(60.0)


def joined(one: Verdict, other: Verdict) -> Verdict:
    """Return the second with what the first found added to it."""
    for name in ("lost", "doubled", "differs", "silent", "alarms"):
        getattr(other, name).extend(getattr(one, name))
    return other


def check_backup(target: Path, before: Facts, done: bool) -> None:
    """A backup that has its name is whole and holds all that was acknowledged before it was begun."""
    if not target.exists():
        if done:
            raise Refused("SOAK", f"a backup that was done is not there: {target.name}")
        return
    picture = read(target)
    lacking = [m.id for m in before.memories.values() if ("Memory", m.id) not in picture.state.nodes]
    lacking = [key for key in lacking if before.memories[key].token not in before.perhaps_erased]
    if picture.faults or lacking:
        raise Refused("SOAK", f"the backup {target.name} lacks {len(lacking)} memories: {picture.faults[:3]}")


def undone(api: Api, rng: random.Random) -> None:
    """Now and then take a piece of work back."""
    for item in api.client.execute("{ background(limit: 20) { items { id state changed } } }")["background"]["items"]:
        if item["state"] == "DONE" and item["changed"] and rng.random() < 0.3:
            with suppress(Refused):
                api.call("undo", job=item["id"])


def history(place: Path, messages: list[str]) -> None:
    """Make a repository with one commit for each message."""
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    stream = []
    for number, message in enumerate(messages):
        data = message.encode()
        who = f"Soak <soak@example.org> {1_700_000_000 + number} +0000"
        content = f"{number}\n"
        stream.append(
            f"commit refs/heads/main\nauthor {who}\ncommitter {who}\ndata {len(data)}\n{message}\n"
            f"M 100644 inline src/part{number % 5}.py\ndata {len(content)}\n{content}\n"
        )
    subprocess.run(["git", "-C", str(place), "fast-import", "--quiet"], input="".join(stream).encode(), check=True)
    subprocess.run(["git", "-C", str(place), "symbolic-ref", "HEAD", "refs/heads/main"], check=True)
