"""Copies of a journal that cannot be read, or that others have put something beside: told of, and in nobody's way."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from working import job

from helix.errors import ConflictError, InvalidInputError, NotFoundError, StoreCorruptError
from helix.memory.capture.sessions import SessionRequest, is_private, open_session
from helix.memory.erasure.hard_forget import hard_forget, plan_hard_forget
from helix.memory.remember.curate import EditRequest, edit
from helix.memory.remember.remember import remember
from helix.memory.remember.request import StoreRequest
from helix.memory.worker.undo import undo
from helix.model.edge import Ref
from helix.model.erasure_report import EraseReport
from helix.operations import upkeep
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store import erasing, jobs
from helix.store.backup import back_up, restore, restore_closed
from helix.store.store import Store
from helix.strands import arriving, rollback, whole
from helix.strands.lineage import note_version
from helix.strands.rows import Selection
from tests.sampling import some
from tests.waiting import MOST_SECONDS, finished, until

WORDS = b"quaxlotl harvester"


def stored(store: Store, trigger: str = f"the {WORDS.decode()} waits") -> str:
    return remember(store, StoreRequest(trigger=trigger, resolution="", kind="fact")).id


def erased(store: Store, memory: str) -> EraseReport:
    return job(store, lambda ticket: hard_forget(store, plan_hard_forget(store, memory), ticket))


def damage_a_name(journal: Path) -> None:
    """Make what a file says of one of its tables no text: a bit that turned in the first page is enough."""
    held = journal.read_bytes()
    at = held.index(b"CREATE TABLE log") + len(b"CREATE TABLE ")
    journal.write_bytes(held[:at] + b"\xf1" + held[at + 1 :])


def moved_away(copy: Path) -> Callable[[], object]:
    aside = copy.rename(copy.with_name("elsewhere"))
    return lambda: aside.rename(copy)


def blocked(copy: Path) -> Callable[[], object]:
    (at := copy.with_name(f"{copy.name}.partial")).mkdir()
    return at.rmdir


def damaged(copy: Path) -> Callable[[], object]:
    whole = copy.read_bytes()
    damage_a_name(copy)
    return lambda: copy.write_bytes(whole)


@pytest.mark.parametrize("what", some([blocked, moved_away, damaged], 1))
def test_a_copy_that_could_not_be_erased_in_is_told_of_and_is_erased_in_later(
    settings: Settings, tmp_path: Path, what: Callable[[Path], Callable[[], object]]
) -> None:
    copy = tmp_path / "monday.backup"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        memory, other = stored(store), stored(store, "the barn is green")
        job(store, lambda ticket: back_up(store, copy, ticket))
        put_right = what(copy)
        assert [one.erased for one in erased(store, memory).copies] == [False]
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        put_right()
        assert WORDS in copy.read_bytes()
        report = erased(store, memory)
        assert ([one.erased for one in report.copies], report.erased) == ([True], ())
        assert WORDS not in copy.read_bytes()
        assert b"barn is green" in copy.read_bytes()
    restore_closed(settings.store_path, copy, store.runtime.clock())
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        assert store.records.node(Ref.memory(other)) is not None
        assert not plan_hard_forget(store, memory).goes


def test_a_journal_with_a_name_that_is_no_text_is_damaged_and_a_backup_takes_its_place(
    settings: Settings, tmp_path: Path
) -> None:
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        memory = stored(store)
        job(store, lambda ticket: back_up(store, tmp_path / "good.backup", ticket))
    damage_a_name(settings.store_path / "journal.db")
    with pytest.raises(StoreCorruptError, match="is damaged"):
        Store(settings, embedder=HashEmbedder())
    restore_closed(settings.store_path, tmp_path / "good.backup", store.runtime.clock())
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        assert store.records.node(Ref.memory(memory)) is not None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
@pytest.mark.parametrize("how", ["theirs", "a link", "sticky", "of a group"])
def test_a_log_that_somebody_else_put_beside_a_backup_is_not_read(settings: Settings, tmp_path: Path, how: str) -> None:
    """Its pages stand for those of the backup: they can say anything, as the user's own words."""
    (shared := tmp_path / "shared").mkdir()
    shared.chmod(0o700 if how in ("theirs", "a link") else 0o1777 if how == "sticky" else 0o770)
    copy = shared / "shared.backup"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        stored(store)
        job(store, lambda ticket: back_up(store, copy, ticket))
    (log := tmp_path / "log").write_bytes(b"pages of another journal")
    if how == "a link":
        Path(f"{copy}-wal").symlink_to(log)
    else:
        log.rename(f"{copy}-wal")
        if how == "theirs":
            os.chown(f"{copy}-wal", 65534, 65534)
    with pytest.raises((InvalidInputError, OSError)):
        restore_closed(settings.store_path, copy, store.runtime.clock())
    Path(f"{copy}-wal").unlink()
    restore_closed(settings.store_path, copy, store.runtime.clock())


@pytest.mark.soak
def test_a_file_larger_than_the_room_for_it_is_not_copied(settings: Settings, tmp_path: Path) -> None:
    copy = tmp_path / "shared.backup"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        memory = stored(store)
        job(store, lambda ticket: back_up(store, copy, ticket))
        with copy.open("r+b") as file:
            file.truncate(1 << 42)
        (outcome,) = erased(store, memory).copies
        assert not outcome.erased
        assert "larger than half of the room" in outcome.why


@pytest.mark.soak
def test_what_is_acknowledged_while_a_backup_is_restored_is_in_the_journal_that_is_kept(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a session that became private meanwhile is private afterwards."""
    copy, late, cleared = tmp_path / "monday.backup", list[str](), erasing.without_the_erased
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        job(store, lambda ticket: back_up(store, copy, ticket))

        @contextmanager
        def slowly(backup: Path, left: erasing.Legacy, folder: Path, at: int) -> Iterator[Path]:
            with cleared(backup, left, folder, at) as path:
                late.append(stored(store, f"said while it was restored, {len(late)}"))
                if len(late) == 1:
                    open_session(store, SessionRequest(name="hidden", private=True))
                yield path

        monkeypatch.setattr(erasing, "without_the_erased", slowly)
        kept = str(job(store, lambda ticket: restore(store, copy, ticket))["kept"])
        assert is_private(store.journal, "hidden")
        assert len(late) == 2, "what it leaves has changed the first time"
        assert store.records.present([Ref.memory(one) for one in late]) == [None, None]
    with closing(sqlite3.connect(kept)) as connection:
        assert {*late} <= {one for (one,) in connection.execute("SELECT id FROM node")}


@pytest.mark.soak
def test_an_erasure_that_came_from_elsewhere_waits_for_a_backup_and_reaches_it(
    settings: Settings, tmp_path: Path
) -> None:
    """As by a strand: no job of its own, which the backup's would be refused beside."""
    copy = tmp_path / "monday.backup"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        memory, reports = stored(store), list[EraseReport]()
        erasing_it = threading.Thread(target=lambda: reports.append(erased(store, memory)))

        def backing_up(ticket: jobs.Ticket) -> Mapping[str, object]:
            tell = ticket.progress
            ticket.progress = lambda *told: (tell(*told), begin(told[2]))  # type: ignore[method-assign,assignment]
            return back_up(store, copy, ticket)

        def begin(message: str) -> None:
            if message == "checking the copy":
                erasing_it.start()
                until(lambda: erasing.under_way(store.journal) is not None)

        job(store, backing_up)
        erasing_it.join(MOST_SECONDS)
        assert [one.erased for one in reports[0].copies] == [True]
        assert WORDS not in copy.read_bytes()


@pytest.mark.soak
def test_an_erasure_waits_for_a_rollback_and_reaches_what_that_brought_back(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        memory = stored(store)
        before = note_version(store, Selection(), who="", why="test")
        edit(store, memory, EditRequest(trigger=f"the {WORDS.decode()} goes on"))
        reports, write = list[EraseReport](), rollback._write
        erasing_it = threading.Thread(target=lambda: reports.append(erased(store, memory)))

        def written(*args: Any) -> None:
            erasing_it.start()
            erasing_it.join(1.0)  # it has time to go before, and must not
            write(*args)

        monkeypatch.setattr(rollback, "_write", written)
        job(store, lambda ticket: rollback.roll_back(store, before, "a job", ticket))
        erasing_it.join(MOST_SECONDS)
        assert reports[0].erased
        with closing(sqlite3.connect(store.path / "journal.db")) as connection:
            assert not connection.execute("SELECT 1 FROM node WHERE props LIKE '%quaxlotl%'").fetchone()
    assert WORDS not in (settings.store_path / "journal.db").read_bytes()


@pytest.mark.soak
def test_a_backup_that_was_made_in_the_midst_of_an_import_is_served_without_its_half(
    settings: Settings, tmp_path: Path
) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        note = json.dumps({"kind": arriving.JOB, "job": "a job", "rows": "gone"})
        helix.store.writer.call(lambda: helix.store.journal.set_meta(whole.UNDER_WAY, note))
        finished(helix, upkeep.backup(helix, str(tmp_path / "half.backup")))
        helix.store.writer.call(lambda: helix.store.journal.drop_meta(whole.UNDER_WAY))
        finished(helix, upkeep.restore_backup(helix, str(tmp_path / "half.backup")))
        until(lambda: whole.under_way(helix.store.journal) is None)


def test_no_undo_runs_beside_what_puts_a_copy_in_place(lone_store: Store) -> None:
    asked = threading.Event()

    def undoing() -> None:
        with pytest.raises(NotFoundError):
            undo(lone_store, "none")
        asked.set()

    with lone_store.copying:
        thread = threading.Thread(target=undoing)
        thread.start()
        assert not asked.wait(0.3)
    thread.join(MOST_SECONDS)
    assert asked.is_set()


@pytest.mark.parametrize("other", ["restore", "reembed"])
def test_nothing_is_embedded_anew_in_a_store_that_is_being_replaced(lone_store: Store, other: str) -> None:
    held = jobs.Jobs(clock=lone_store.runtime.clock, make_id=lone_store.runtime.make_id)
    go_on = threading.Event()
    held.start(other, lambda _: {"waited": go_on.wait(MOST_SECONDS)})
    with pytest.raises(ConflictError, match="is running already"):
        held.start({"restore": "reembed", "reembed": "restore"}[other], lambda _: {})
    if other == "reembed":
        held.start("erase", lambda _: {})
    go_on.set()
    held.close()


@pytest.mark.parametrize("second", ["backup", "restore", "recover", "erase"])
@pytest.mark.parametrize("first", ["backup", "restore", "recover", "erase"])
def test_no_copy_is_made_while_another_is_made_or_something_is_erased(
    lone_store: Store, first: str, second: str
) -> None:
    """It could be begun before and end after, or take the other's file for its own."""
    running, go_on = threading.Event(), threading.Event()

    def work(_: jobs.Ticket) -> dict[str, object]:
        running.set()
        assert go_on.wait(MOST_SECONDS)
        return {}

    held = jobs.Jobs(clock=lone_store.runtime.clock, make_id=lone_store.runtime.make_id)
    held.start(first, work)
    try:
        assert running.wait(MOST_SECONDS)
        with pytest.raises(ConflictError, match=f"^{'an' if first == 'erase' else 'a'} {first} job is running already"):
            held.start(second, work)
        held.start("import", lambda _: {})
    finally:
        go_on.set()
        held.close()
