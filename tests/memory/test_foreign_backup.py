"""A backup from elsewhere names files as its copies: none of them is touched that is not a copy of that journal."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from working import job

from helix.errors import ConflictError, StoreCorruptError
from helix.journal import journal_copy
from helix.memory.erasure import unfinished
from helix.memory.erasure.hard_forget import hard_forget, note, plan_hard_forget
from helix.memory.remember.remember import remember
from helix.memory.remember.request import StoreRequest
from helix.model.edge import Label, Ref
from helix.model.erasure_report import EraseReport
from helix.model.tombstone import is_erased
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store import erasing
from helix.store.backup import back_up, restore, restore_closed
from helix.store.erasing import ERASE
from helix.store.jobs import Ticket
from helix.store.store import WORK_PAUSED, Store
from helix.strands import arriving, rollback, sync_state, whole
from helix.strands.sync_state import SyncState
from tests.waiting import all_ended

pytestmark = pytest.mark.file

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


def test_what_a_backup_says_is_being_erased_is_erased_in_it_alone(settings: Settings, tmp_path: Path) -> None:
    backup, crafted = tmp_path / "backup.db", tmp_path / "crafted.db"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        memory = made(store, backup)
        shutil.copy(backup, crafted)
        noted = json.dumps({"kind": ERASE, "refs": [["Memory", memory]], "at": 0, "keep_out": []})
        change(crafted, "INSERT INTO meta VALUES ('erasing', ?)", noted)
        kept = Path(str(job(store, lambda ticket: restore(store, crafted, ticket))["kept"]))
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        assert unfinished.finish(store)
        assert is_erased(store.records.node(Ref(label=Label.MEMORY, id=memory)))
        assert erasing.under_way(store) is None
    assert WORDS in backup.read_bytes()
    assert WORDS in kept.read_bytes()


def test_an_erasure_that_was_cut_short_is_finished_everywhere_after_a_restore(
    settings: Settings, tmp_path: Path
) -> None:
    backup = tmp_path / "backup.db"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        memory = made(store, backup)
        note(store, plan_hard_forget(store, memory))
    restored = restore_closed(settings.store_path, backup, datetime(2026, 3, 2, tzinfo=UTC))
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        assert unfinished.finish(store)
    for file in (backup, Path(str(restored["kept"])), settings.store_path / "journal.db"):
        assert WORDS not in file.read_bytes(), file


@pytest.mark.parametrize(
    "said",
    ["no JSON", "[]", {"kind": "x"}, {"kind": ERASE, "refs": []}, {"kind": ERASE, "refs": [["Nothing", "x"]]}],
    ids=str,
)
def test_a_damaged_note_of_an_erasure_is_refused_and_said(settings: Settings, tmp_path: Path, said: object) -> None:
    backup = tmp_path / "backup.db"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        made(store, backup)
    noted = said if isinstance(said, str) else json.dumps({"refs": [], "at": 0, **dict(said)})  # type: ignore[call-overload]
    for journal in (backup, settings.store_path / "journal.db"):
        change(journal, "INSERT OR REPLACE INTO meta VALUES ('erasing', ?)", noted)
    with pytest.raises(StoreCorruptError, match="the note of an erasure"):
        unfinished.finish(Store(settings, embedder=HashEmbedder()))
    with pytest.raises(StoreCorruptError, match="the note of an erasure"):
        restore_closed(settings.store_path, backup, datetime(2026, 3, 2, tzinfo=UTC))


@pytest.mark.parametrize("closed", [False, True])
def test_a_restored_backup_is_synced_with_no_place_of_its_own(settings: Settings, tmp_path: Path, closed: bool) -> None:
    """Whoever wrote it could have named one that they read, or said that more goes to one of the user's."""
    backup, (ours, theirs) = tmp_path / "backup.db", ("/media/stick", "/media/theirs")
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        for place in (ours, theirs):
            sync_state.write(store, SyncState(place, minutes=1.0, seq=1))
        made(store, backup)
        change(backup, "INSERT INTO meta VALUES ('sync:x', 'no JSON'), ('moved_to', 'postgresql://theirs')")
        sync_state.drop(store, theirs)
        sync_state.choose(store, ours, ["shop"])
        store.journal.set_meta("sync:damaged", "{")
        if not closed:
            job(store, lambda ticket: restore(store, backup, ticket))
    if closed:
        restore_closed(settings.store_path, backup, datetime(2026, 3, 2, tzinfo=UTC))
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        assert sync_state.every(store) == [SyncState(ours, scopes=["shop"], minutes=1.0)]


@pytest.mark.parametrize(
    "note", ["{", "{}", '{"a":' * 50_000, f'{{"kind": "{arriving.JOB}"}}', f'{{"kind": "{rollback.KIND}", "job": "x"}}']
)
def test_a_damaged_note_of_an_import_is_in_no_start_s_way(settings: Settings, tmp_path: Path, note: str) -> None:
    backup = tmp_path / "backup.db"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        memory = made(store, backup)
    change(backup, "INSERT OR REPLACE INTO meta VALUES ('strand_under_way', ?), ('commits', ?)", note, note)
    restore_closed(settings.store_path, backup, datetime(2026, 3, 2, tzinfo=UTC))
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        all_ended(helix)
        assert whole.under_way(helix.store) is None
        assert helix.store.records.node(Ref(label=Label.MEMORY, id=memory)) is not None


@pytest.mark.parametrize("closed", [False, True])
def test_a_restore_ends_no_pause(settings: Settings, tmp_path: Path, closed: bool) -> None:
    backup = tmp_path / "backup.db"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        made(store, backup)
        store.writer.call(lambda: store.pause(True))
        store.journal.set_meta(WORK_PAUSED, "1")
        if not closed:
            job(store, lambda ticket: restore(store, backup, ticket))
            assert store.paused
    if closed:
        restore_closed(settings.store_path, backup, datetime(2026, 3, 2, tzinfo=UTC))
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        assert store.paused
        assert store.journal.meta(WORK_PAUSED) == "1"


def test_a_backup_whose_vectors_cannot_be_is_refused_before_anything_is_replaced(
    settings: Settings, tmp_path: Path
) -> None:
    backup = tmp_path / "backup.db"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        memory = made(store, backup)
    change(backup, "UPDATE space SET dimension = 'x'")
    with pytest.raises(StoreCorruptError, match="dimension"):
        restore_closed(settings.store_path, backup, datetime(2026, 3, 2, tzinfo=UTC))
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        assert store.records.node(Ref(label=Label.MEMORY, id=memory)) is not None


def test_a_backup_goes_into_no_file_that_others_put_in_its_place(settings: Settings, tmp_path: Path) -> None:
    """In a folder where others may write, they give the name of what is being written to a file that they can read."""
    shared, theirs = tmp_path / "shared", tmp_path / "theirs.db"
    shared.mkdir()

    def swap() -> None:
        for written in list(shared.iterdir()):
            theirs.touch()
            written.unlink()
            written.hardlink_to(theirs)

    with closing(Store(settings, embedder=HashEmbedder())) as store:
        remember(store, StoreRequest(trigger=WORDS.decode(), resolution="It is kept.", kind="fact"))

        def watched(ticket: Ticket) -> Mapping[str, object]:
            tell = ticket.progress
            ticket.progress = lambda *told: (tell(*told), swap())  # type: ignore[method-assign,assignment]
            with pytest.raises(ConflictError, match="somebody put another file in the place"):
                back_up(store, shared / "backup.db", ticket)
            return {}

        job(store, watched)
        assert not journal_copy.known(store.journal.database)
    assert theirs.read_bytes() == b""
    assert not list(settings.store_path.glob("backup-in-work*"))
