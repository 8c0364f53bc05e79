"""A backup from elsewhere names files as its copies: none of them is touched that is not a copy of that journal."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from working import job

from helix.lifecycle.asked import StoreRequest
from helix.lifecycle.erasure.erase import hard_forget, plan_hard_forget
from helix.lifecycle.remember import remember
from helix.model.erasure import EraseReport
from helix.providers.fakes import HashEmbedder
from helix.settings import Settings
from helix.store.backup import back_up, restore, restore_closed
from helix.store.store import Store

WORDS = b"the kingfisher ledger"


def made(store: Store, target: Path) -> str:
    """Keep a memory and a backup of it; return its id."""
    kept = remember(store, StoreRequest(trigger=WORDS.decode(), resolution="It is kept.", kind="fact")).id
    job(store, lambda ticket: back_up(store, target, ticket))
    return kept


def change(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement, values)


def forget(store: Store, memory: str) -> EraseReport:
    return job(store, lambda ticket: hard_forget(store, plan_hard_forget(store, memory), ticket))


def test_a_restored_backup_cannot_have_other_files_erased(settings: Settings, tmp_path: Path) -> None:
    backup, crafted, other = (tmp_path / name for name in ("backup.db", "crafted.db", "other.db"))
    download, link = tmp_path / "film.mkv.partial", tmp_path / "link.db"
    download.write_bytes(b"half of it")
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        memory = made(store, backup)
    for copy in (crafted, other):
        shutil.copy(backup, copy)
    change(other, "UPDATE meta SET value = 'another' WHERE key = 'store_id'")
    link.symlink_to(other)
    for named in (str(other), str(link), str(download.with_suffix("")), "relative.db", b"\xff", 7):
        change(crafted, "INSERT INTO known_copy (path, made_at) VALUES (?, 0)", named)
    before = other.read_bytes()
    fresh = replace(settings, home=tmp_path / "fresh")
    fresh.store_path.mkdir(parents=True, mode=0o700)

    restore_closed(fresh.store_path, crafted, datetime(2026, 3, 2, tzinfo=UTC))
    with closing(Store(fresh, embedder=HashEmbedder())) as store:
        report = forget(store, memory)
        assert [copy.path for copy in report.copies if copy.erased] == [str(backup)]
        assert [warning for warning in report.warnings if "does not know of" in warning]

    assert (other.read_bytes(), download.read_bytes()) == (before, b"half of it")
    assert WORDS in before
    assert WORDS not in backup.read_bytes()


def test_what_the_replaced_journal_knows_of_is_still_erased(settings: Settings, tmp_path: Path) -> None:
    backup, moved = tmp_path / "backup.db", tmp_path / "moved.db"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        memory = made(store, backup)
        backup.rename(moved)
        job(store, lambda ticket: restore(store, moved, ticket))
        moved.rename(backup)
        report = forget(store, memory)
    assert (report.warnings, [copy.path for copy in report.copies if not copy.erased]) == ((), [])
    assert WORDS not in backup.read_bytes()
