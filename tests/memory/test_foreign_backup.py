"""A backup from elsewhere names files as its copies: none of them is touched that is not a copy of that journal."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
import zlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from working import job

from helix.errors import ConflictError, InvalidInputError, StoreCorruptError
from helix.journal import journal_copy
from helix.journal.chain import GENESIS, chained_digest, digest_of
from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.erasure import unfinished
from helix.memory.erasure.hard_forget import hard_forget, note, plan_hard_forget
from helix.memory.extraction import excluded
from helix.memory.remember.remember import remember
from helix.memory.remember.request import StoreRequest
from helix.model.edge import Label, Ref
from helix.model.erasure_report import EraseReport
from helix.model.operations import DropNode, PutNode, encode_operation
from helix.model.tombstone import is_erased
from helix.operations import capture, strands
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store import erasing
from helix.store.backup import back_up, restore, restore_closed
from helix.store.erasing import ERASE
from helix.store.jobs import Ticket
from helix.store.store import WORK_PAUSED, Store
from helix.strands import arriving, rollback, sync_state, whole
from helix.strands.rows import Selection
from helix.strands.sync_state import SyncState
from tests.sampling import some
from tests.waiting import all_ended

pytestmark = pytest.mark.file

WORDS = b"the kingfisher ledger"
DEEP = "[" * 100_000
PUT = json.dumps(encode_operation(PutNode(label=Label.MEMORY, id="x", props={})))
WAITS = (
    "INSERT INTO work (id, kind, key, payload, state, not_before, created_at)"
    f" VALUES ('j', 'reflect', 'k', '{{}}', 'queued', {(1 << 53)}, 0)"
)
_ITEM = {"label": "Memory", "id": "MEMORY", "arms": [], "factors": 7, "score": 1.0, "relevance": 1.0, "recency": 1.0}
_ITEM |= {"effectiveness": 1.0, "confidence_label": "", "text": "t", "tokens": 1}
WRONG_ANSWER = json.dumps(
    {"s": {"query": "q", "session": "s", "mode": "hybrid", "recipe": "x", "tokens": 1, "at": None, "items": [_ITEM]}}
)


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


@pytest.mark.soak
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


@pytest.mark.soak
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
        assert is_erased(store.records.node(Ref.memory(memory)))
        assert erasing.under_way(store.journal) is None
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


@pytest.mark.soak
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
        assert sync_state.every(store.journal) == [SyncState(ours, scopes=["shop"], minutes=1.0)]


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
        assert whole.under_way(helix.store.journal) is None
        assert helix.store.records.node(Ref.memory(memory)) is not None


@pytest.mark.parametrize("note", [DEEP, '{"": 7}', WRONG_ANSWER], ids=["deep", "number", "wrong"])
def test_damaged_last_answers_of_a_backup_are_in_no_start_s_and_no_end_s_way(
    settings: Settings, tmp_path: Path, note: str
) -> None:
    backup = tmp_path / "backup.db"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        memory = made(store, backup)
    change(backup, "INSERT OR REPLACE INTO meta VALUES ('last_answers', ?)", note.replace("MEMORY", memory))
    restore_closed(settings.store_path, backup, datetime(2026, 3, 2, tzinfo=UTC))
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        assert helix.answers.of("s") is None
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        assert helix.store.kept_answers() == "{}"


@pytest.mark.parametrize("since", some(["x", "9" * 5_000, "-1"], 1), ids=["word", "huge", "negative"])
def test_secrets_that_are_owed_are_taken_out_whatever_stands_for_since_when(settings: Settings, since: str) -> None:
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        remember(store, StoreRequest(trigger=WORDS.decode(), resolution="It is kept.", kind="fact"))
        store.journal.set_meta(erasing.OWED, since)
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        assert unfinished.finish(store)
        assert erasing.under_way(store.journal) is None


@pytest.mark.parametrize("parents", [DEEP, "x", "7", "[7]"])
def test_damaged_versions_of_a_backup_stop_no_strand(settings: Settings, tmp_path: Path, parents: str) -> None:
    backup = tmp_path / "backup.db"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        memory = made(store, backup)
    row = "INSERT INTO strand_version VALUES ('v', ?, 1, ?, '', ?, '', '', '', ?)"
    change(backup, row, Selection().named, 1 << 62, parents, 1 << 62)
    change(backup, "INSERT INTO undone VALUES ('j', 1, ?)", 1 << 62)
    change(backup, "INSERT INTO meta VALUES ('strand_under_way', ?)", json.dumps({"kind": arriving.JOB, "job": "j"}))
    restore_closed(settings.store_path, backup, datetime(2026, 3, 2, tzinfo=UTC))
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        all_ended(helix)
        assert [(one.id, one.parents) for one in helix.store.journal.versions.all()] == [("v", ())]
        assert [one.id for one in strands.strand_log(helix)] == ["v"]
        assert helix.store.records.node(Ref.memory(memory)) is not None


@pytest.mark.parametrize("kind", some(["", rollback.KIND, arriving.JOB], 1))
@pytest.mark.parametrize(
    "damaged", ["seq = 'x'", "key = 'x'", f"key = '{DEEP}'", "before = '{}'", f"before = '{PUT}'", WAITS]
)
def test_a_job_that_a_backup_tells_wrong_of_is_in_no_start_s_way(
    settings: Settings, tmp_path: Path, kind: str, damaged: str
) -> None:
    backup = tmp_path / "backup.db"
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        memory = made(helix.store, backup)
        change(backup, "INSERT INTO job_step VALUES ('j', '', 1)")
        key = json.dumps(encode_operation(DropNode(label=Label.MEMORY, id=memory)))
        change(backup, "INSERT INTO effect VALUES ('j', ?, '', 1, NULL, NULL, 0, NULL, NULL)", key)
    table = "job_step" if damaged.startswith("seq") else "effect"
    change(backup, damaged if damaged is WAITS else f"UPDATE {table} SET {damaged}")
    change(backup, "INSERT INTO meta VALUES ('strand_under_way', ?)", json.dumps({"kind": kind, "job": "j"}))
    restore_closed(settings.store_path, backup, datetime(2026, 3, 2, tzinfo=UTC))
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        all_ended(helix)
        assert whole.under_way(helix.store.journal) is None
        assert helix.store.records.node(Ref.memory(memory)) is not None


@pytest.mark.parametrize("note", ["x", DEEP, "[]", '{"scope": "GLOBAL", "digests": [{}, 7]}', '{"scope": "GLOBAL"}'])
def test_damaged_notes_of_what_was_undone_stop_no_consolidation(settings: Settings, note: str) -> None:
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        store.journal.set_meta("undone/x", note)
        assert not any(excluded.held(store, "GLOBAL").held.get("x", ()))
        excluded.lift(store.journal, "GLOBAL")


@pytest.mark.parametrize("own_salt", [False, True])
def test_a_backup_with_private_sessions_without_end_is_refused_before_anything_is_replaced(
    settings: Settings, tmp_path: Path, own_salt: bool
) -> None:
    """Whatever a hook tells was compared with each: seconds, for a salt each."""
    backup = tmp_path / "backup.db"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        memory = made(store, backup)
    count, salt = (100_001, "''") if own_salt else (1_001, "'salt' || n")
    change(
        backup,
        "WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ?)"
        f" INSERT INTO meta SELECT 'private/' || n, {salt} FROM counted",
        count,
    )
    with pytest.raises(InvalidInputError, match="private sessions"):
        restore_closed(settings.store_path, backup, datetime(2026, 3, 2, tzinfo=UTC))
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        assert store.records.node(Ref.memory(memory)) is not None


@pytest.mark.soak
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
        assert store.records.node(Ref.memory(memory)) is not None


@pytest.mark.parametrize("count", [-(10**15), math.inf, "x", b"x"])
def test_a_backup_that_lifts_a_budget_is_refused_before_anything_is_replaced(
    settings: Settings, tmp_path: Path, count: object
) -> None:
    backup = tmp_path / "backup.db"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        memory = made(store, backup)
    change(backup, "INSERT INTO model_spend VALUES ('2026-03', 'openai', 1, 0, ?, 0, 0.0)", count)
    with pytest.raises(InvalidInputError, match="language model"):
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


@pytest.mark.soak
def test_a_restore_reads_the_very_file_that_it_has_checked(settings: Settings, tmp_path: Path) -> None:
    """Another file may have its name by then, or a pipe, at which SQLite waited for ever."""
    shared = tmp_path / "shared.db"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        kept = made(store, shared)

        def watched(ticket: Ticket) -> Mapping[str, object]:
            tell = ticket.progress

            def swapping(done: int, total: int, message: str = "") -> None:
                tell(done, total, message)
                if message == "restoring":
                    shared.unlink()
                    shared.write_bytes(b"SQLite format 3\0" + bytes(84))

            ticket.progress = swapping  # type: ignore[method-assign]
            return restore(store, shared, ticket)

        job(store, watched)
        assert store.records.node(Ref.memory(kept)) is not None
    assert not list(settings.store_path.glob("restore-in-work*"))


@pytest.mark.parametrize(
    "damage", ["candidates = 'x'", f"candidates = '{DEEP}'", "candidates = '[5]'", "vectors = x''", "vectors = x'00'"]
)
def test_what_was_found_in_episodes_and_is_kept_damaged_is_found_once_more(settings: Settings, damage: str) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        said = [f"We decided to use tool {n} for module {n} because it is faster." for n in range(3)]
        for words in said[:2]:
            capture.record_episode(helix, EpisodeRequest(content=words))
        helix.worker.flush()
        helix.worker.settle()
        change(settings.store_path / "journal.db", f"UPDATE extracted SET {damage}")
        capture.record_episode(helix, EpisodeRequest(content=said[2]))
        helix.worker.flush()
        helix.worker.settle()
        assert [item.error for item in helix.store.work.items() if item.error] == []


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize(
    ("name", "value"),
    [("recorded_at", 1 << 62), ("kind", None), ("attributes", "7"), ("trigger", 7), ("name", "\ud800")],
)
def test_a_backup_whose_log_says_what_cannot_be_is_refused_before_anything_is_replaced(
    settings: Settings, tmp_path: Path, name: str, value: object, closed: bool
) -> None:
    """Its chain may be whole, and its state what the log comes to: nothing would tell that from what Helix wrote."""
    backup = tmp_path / "backup.db"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        memory = made(store, backup)
    with closing(sqlite3.connect(backup, isolation_level=None)) as connection:
        before = GENESIS
        for seq, at, payload, salt, *_ in connection.execute("SELECT * FROM log ORDER BY seq").fetchall():
            said = json.loads(zlib.decompress(payload))
            for op in said["ops"]:
                if op.get("label") == "Memory":
                    op["props"][name] = value
            payload = zlib.compress(json.dumps(said).encode())
            digest = digest_of(salt, payload)
            before = chained_digest(before, seq, at, digest)
            row = (payload, digest, before, seq)
            connection.execute("UPDATE log SET payload = ?, digest = ?, chain = ? WHERE seq = ?", row)

    def restored(ticket: Ticket) -> None:
        with pytest.raises(InvalidInputError, match="does not write"):
            restore(store, backup, ticket)

    if closed:
        with pytest.raises(InvalidInputError, match="does not write"):
            restore_closed(settings.store_path, backup, datetime(2026, 3, 2, tzinfo=UTC))
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        if not closed:
            job(store, restored)
        assert store.records.node(Ref.memory(memory)) is not None


@pytest.mark.parametrize(("said", "times"), [("[],", 6_000_000), (" ", 1 << 28)], ids=["values", "text"])
def test_a_backup_with_a_small_row_that_says_very_much_is_refused_before_it_is_read(
    settings: Settings, tmp_path: Path, said: str, times: int
) -> None:
    backup = tmp_path / "backup.db"
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        made(store, backup)
    packed = zlib.compress(b'{"ops": [], "pad": [' + said.encode() * times + b"0]}", 1)
    assert len(packed) < 2_000_000
    change(backup, "UPDATE log SET payload = ? WHERE seq = 1", packed)
    with pytest.raises(InvalidInputError, match="more than Helix writes"):
        restore_closed(settings.store_path, backup, datetime(2026, 3, 2, tzinfo=UTC))
