"""Ways to damage a file of a store that nobody has open."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

PAGE = 4096


def _patched(path: Path, rng: random.Random, piece: Callable[[bytes], bytes], size: int = PAGE) -> None:
    data = bytearray(path.read_bytes())
    if data:
        place = rng.randrange((len(data) - 1) // size + 1) * size
        data[place : place + size] = piece(bytes(data[place : place + size]))
        path.write_bytes(data)


def page(path: Path, rng: random.Random) -> None:
    """Put random bytes in the place of one page."""
    _patched(path, rng, lambda old: rng.randbytes(len(old)))


def zeroed(path: Path, rng: random.Random) -> None:
    """Put zeros in the place of one page."""
    _patched(path, rng, lambda old: bytes(len(old)))


def flipped(path: Path, rng: random.Random) -> None:
    """Flip one byte."""
    _patched(path, rng, lambda old: bytes([old[0] ^ 0xFF]), 1)


def pages(path: Path, rng: random.Random) -> None:
    """Put random bytes in the place of eight pages: what makes an engine that trusts its file crash."""
    for _ in range(8):
        page(path, rng)


def cut(path: Path, rng: random.Random) -> None:
    """Cut it off anywhere."""
    os.truncate(path, rng.randrange(max(1, path.stat().st_size)))


def cut_at_page(path: Path, rng: random.Random) -> None:
    """Cut it off between two pages."""
    os.truncate(path, rng.randrange(max(1, path.stat().st_size // PAGE + 1)) * PAGE)


def empty(path: Path, rng: random.Random) -> None:
    """Leave nothing in it."""
    os.truncate(path, 0)


def missing(path: Path, rng: random.Random) -> None:
    """Take it away."""
    path.unlink()


def folder(path: Path, rng: random.Random) -> None:
    """Put a folder in its place."""
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("something", "utf-8")


def fifo(path: Path, rng: random.Random) -> None:
    """Put a FIFO in its place that nobody writes to."""
    path.unlink()
    os.mkfifo(path, 0o600)


def link(path: Path, rng: random.Random) -> None:
    """Put a link to a file of somebody else in its place."""
    path.unlink()
    victim = path.parents[1] / "victim" if path.parent.name == "store" else path.parent / "victim"
    victim.write_text("not yours", "utf-8")
    path.symlink_to(victim)


def noise(path: Path, rng: random.Random) -> None:
    """Put random bytes in the place of all of it."""
    path.write_bytes(rng.randbytes(max(64, min(1 << 20, path.stat().st_size))))


def appended(path: Path, rng: random.Random) -> None:
    """Append random bytes."""
    with path.open("ab") as file:
        file.write(rng.randbytes(rng.randrange(1, 3 * PAGE)))


def triggers(path: Path, rng: random.Random) -> None:
    """Put triggers and a view into a journal that change what is written to it later."""
    statements = (
        "CREATE TRIGGER IF NOT EXISTS steal AFTER INSERT ON log BEGIN DELETE FROM node WHERE label = 'Memory'; END",
        "CREATE TRIGGER IF NOT EXISTS lie AFTER INSERT ON node BEGIN UPDATE node SET props ="
        " replace(NEW.props, 'agent_inferred', 'user_asserted') WHERE label = NEW.label AND id = NEW.id; END",
        "CREATE VIEW IF NOT EXISTS shadow AS SELECT * FROM log",
    )
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


KINDS: tuple[Callable[[Path, random.Random], None], ...] = (
    *(page, pages, zeroed, flipped, cut, cut_at_page, empty, missing, folder, fifo, link, noise, appended),
)


def replaced(path: Path, source: Path) -> None:
    """Put another file in its place; where there is none, take it away."""
    if path.is_file():
        path.unlink()
    if source.is_file():
        shutil.copy2(source, path)
