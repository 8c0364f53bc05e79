"""What the journal lost of what was acknowledged is noticed at the next start, said until a person has read it, and
taken back from what was put aside."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from helix import settings as configuration
from helix.errors import ConflictError, HelixError, StoreCorruptError
from helix.journal.mark import MarkFile, reached
from helix.memory.erasure import hard_forget
from helix.memory.remember.request import StoreRequest
from helix.model.loss import losses
from helix.model.memory import Status
from helix.model.recall import Expand, RecallQuery
from helix.model.reports import JobState
from helix.operations import capture, erasure, memories, upkeep
from helix.providers.fakes import HashEmbedder
from helix.service import Helix, restore_closed, set_aside_closed
from helix.settings import Settings
from helix.store.listing import MemoryFilter
from tests.sampling import some
from tests.waiting import UNHURRIED, ended

FACTS = 8
_FRAME = 24 + 4096


def settings_of(home: Path) -> Settings:
    return configuration.load({"home": home}, environ=UNHURRIED, cwd=home)


def opened(home: Path) -> Helix:
    return Helix.open(settings_of(home), embedder=HashEmbedder())


def tell(helix: Helix, number: int) -> str:
    return memories.store(
        helix, StoreRequest(trigger=f"unique{number} is known", resolution=f"answer {number}", kind="fact")
    ).id


def found_by_words(helix: Helix, number: int) -> bool:
    answer = helix.recall(RecallQuery(query=f"unique{number}", expand=Expand.NONE))
    return any(f"unique{number} " in item.node.trigger for item in answer.items if hasattr(item.node, "trigger"))


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store as a kill leaves it: everything that was acknowledged lies in SQLite's log alone."""
    home, frozen = tmp_path_factory.mktemp("killed"), tmp_path_factory.mktemp("frozen")
    with opened(home) as helix:
        store = helix.store
        store.folding.close()
        for number in range(FACTS):
            tell(helix, number)
        store.graph.settle()
        shutil.copytree(home, frozen, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*-shm"))
    assert (frozen / "store" / "journal.db-wal").stat().st_size > 10 * _FRAME
    return frozen


@pytest.fixture
def home(killed: Path, tmp_path: Path) -> Path:
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    return tmp_path


def journal(home: Path) -> Path:
    return home / "store" / "journal.db"


def wal(home: Path) -> Path:
    return home / "store" / "journal.db-wal"


def delete_the_log(home: Path) -> None:
    wal(home).unlink()


def empty_the_log(home: Path) -> None:
    wal(home).write_bytes(b"")


def empty_the_journal(home: Path) -> None:
    journal(home).write_bytes(b"")


def delete_the_journal(home: Path) -> None:
    journal(home).unlink()


def delete_all_of_it(home: Path) -> None:
    journal(home).unlink()
    wal(home).unlink()


def cut_the_log(home: Path) -> None:
    wal(home).write_bytes(wal(home).read_bytes()[: wal(home).stat().st_size // 2])


def put_an_empty_store_in_its_place(home: Path) -> None:
    with opened(home / "other"):
        pass
    wal(home).unlink()
    shutil.copy(journal(home / "other"), journal(home))


WAYS: tuple[Callable[[Path], None], ...] = (
    *(delete_the_log, empty_the_log, empty_the_journal, delete_the_journal, delete_all_of_it, cut_the_log),
    put_an_empty_store_in_its_place,
)


def assert_loud(helix: Helix) -> None:
    assert losses(helix.store.path)
    assert any("lost what was acknowledged" in warning for warning in upkeep.status(helix).warnings)
    assert upkeep.health(helix).status == "failing"
    assert any(not one.ok and one.check == "acknowledged changes" for one in upkeep.doctor(helix).findings)


@pytest.mark.parametrize("way", some(reversed(WAYS), 1))
def test_a_loss_is_loud_until_it_is_acknowledged_and_is_taken_back(home: Path, way: Callable[[Path], None]) -> None:
    way(home)
    with opened(home) as helix:
        assert_loud(helix)
        lost = [number for number in range(FACTS) if not found_by_words(helix, number)]
        assert lost
    with opened(home) as helix:
        assert_loud(helix)
        with pytest.raises(ConflictError, match="taken back"):
            erasable = tell(helix, 99)
            erasure.hard_forget(helix, erasable, erasable)
        job = ended(helix, upkeep.recover(helix))
        assert job.state is JobState.DONE, job.error
        kept = {
            memory.trigger for memory in (*memories.memories(helix, MemoryFilter(any_status=True), first=100).items,)
        }
        if way is not cut_the_log or job.result["missing rows"] == 0:
            assert {f"unique{number} is known" for number in range(FACTS)} <= kept
        again = ended(helix, upkeep.recover(helix))
        assert (again.result["rows"], again.result["nodes"]) == (0, 0), "nothing comes back twice"
        assert upkeep.acknowledge_loss(helix) == 1
        assert upkeep.health(helix).status != "failing"
    with opened(home) as helix:
        assert not losses(helix.store.path)
        assert helix.store.images is not None


@pytest.mark.soak
def test_whatever_page_of_the_log_is_damaged_nothing_is_lost_in_silence(
    killed: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """Of the last page and of one before it in an ordinary run, of the first and of more in a soak."""
    first, more = ([0], 5) if pytestconfig.getoption("--soak") else ([], 1)
    whole = wal(killed).read_bytes()
    draw, frames = random.Random(5), (len(whole) - 32) // _FRAME
    back = 0
    for place in sorted({*first, frames - 1, *draw.sample(range(1, frames - 1), more)}):
        home = tmp_path / str(place)
        shutil.copytree(killed, home)
        start = 32 + place * _FRAME
        damage = draw.choice([draw.randbytes(_FRAME), b"\0" * _FRAME])
        wal(home).write_bytes(whole[:start] + damage + whole[start + _FRAME :])
        with opened(home) as helix:
            lost = [number for number in range(FACTS) if not found_by_words(helix, number)]
            if not losses(helix.store.path):
                assert not lost, f"page {place} lost {lost} in silence"
                continue
            assert_loud(helix)
            job = ended(helix, upkeep.recover(helix))
            assert job.state is JobState.DONE, job.error
            kept = {
                memory.trigger for memory in memories.memories(helix, MemoryFilter(any_status=True), first=100).items
            }
            back += {f"unique{number} is known" for number in range(FACTS)} <= kept
    assert back, "undamaged pages behind a damaged one are taken back"


def files_with(home: Path, text: str) -> list[str]:
    return [file.name for file in home.rglob("*") if file.is_file() and text.encode() in file.read_bytes()]


@pytest.mark.parametrize("redacting", [False, True])
def test_what_is_erased_after_a_loss_is_in_no_kept_file_either(home: Path, redacting: bool) -> None:
    with opened(home) as helix:
        helix.store.folding.close()
        secret = "hunter2quaxlotl"
        kept = tell(helix, 80)
        with_secret = memories.store(
            helix, StoreRequest(trigger=f"the word is {secret}", resolution="keep it", kind="fact")
        ).id
        for name in ("journal.db", "journal.db-wal", "memory.image", "graph.kuzu", "graph.kuzu.wal"):
            (home / "store" / f"{name}.knows-more-1").write_bytes(b"page " + secret.encode())
        assert files_with(home, secret)
        if redacting:
            assert ended(helix, erasure.scan_secrets(helix, apply=True)).state is JobState.DONE
        else:
            job = ended(helix, erasure.hard_forget(helix, with_secret, with_secret))
            assert job.state is JobState.DONE, job.error
        assert not list((home / "store").glob("*.knows-more-*"))
        if not redacting:
            assert not files_with(home, secret)
        assert found_by_words(helix, 80), kept


@pytest.mark.soak
def test_an_erasure_that_a_loss_interrupts_keeps_what_can_be_recovered_until_it_is_acknowledged(home: Path) -> None:
    with opened(home) as helix:
        gone = tell(helix, 81)
        store = helix.store
        hard_forget.note(store, hard_forget.plan_hard_forget(store, gone))
    with opened(home) as helix:  # finished at this start
        pass
    with opened(home) as helix:
        gone = tell(helix, 82)
        hard_forget.note(helix.store, hard_forget.plan_hard_forget(helix.store, gone))
        helix.store.folding.close()
    older = (home / "store" / "journal.mark").read_bytes()
    reach = MarkFile(home / "store" / "journal.mark").read()
    assert reach is not None
    mark = MarkFile(home / "store" / "journal.mark")
    mark.write(replace(reach, commits=reach.commits + 5))
    mark.close()
    assert (home / "store" / "journal.mark").read_bytes() != older
    with opened(home) as helix:
        assert_loud(helix)
        assert list((home / "store").glob("journal.db.knows-more-*"))
        upkeep.acknowledge_loss(helix)
        assert not list((home / "store").glob("*.knows-more-*"))
        assert not found_by_words(helix, 82)


@pytest.fixture
def rolled_back(home: Path) -> Path:
    """A store whose journal, mark and image are older than its graph."""
    with opened(home):
        pass
    older = journal(home).read_bytes()
    with opened(home) as helix:
        tell(helix, 90)
        assert helix.store.graph.settle()
    journal(home).write_bytes(older)
    (home / "store" / "journal.mark").unlink()
    (home / "store" / "memory.image").unlink(missing_ok=True)
    return home


@pytest.mark.soak
def test_a_graph_that_is_ahead_tells_of_a_loss_and_gives_back(rolled_back: Path) -> None:
    with opened(rolled_back) as helix:
        assert not found_by_words(helix, 90)
        helix.store.graph.settle()
        assert_loud(helix)
        assert list((rolled_back / "store").glob("graph.kuzu.knows-more-*"))
        assert ended(helix, upkeep.recover(helix)).state is JobState.DONE
        assert "unique90 is known" in {
            memory.trigger for memory in memories.memories(helix, MemoryFilter(any_status=True), first=100).items
        }
    with opened(rolled_back) as helix:
        assert_loud(helix)
        assert len(losses(rolled_back / "store")) == 1


@pytest.mark.soak
def test_a_restore_leaves_no_graph_to_tell_of_a_loss(home: Path, tmp_path: Path) -> None:
    backup = tmp_path / "kept.backup"
    with opened(home) as helix:
        assert ended(helix, upkeep.backup(helix, str(backup))).state is JobState.DONE
        tell(helix, 91)
        assert helix.store.graph.settle()
        helix.store.writer.call(lambda: helix.store.take_over(backup))  # and killed before the graph is built anew
        assert not (home / "store" / "graph.kuzu").exists()
    with opened(home) as helix:
        helix.store.graph.settle()
        assert not losses(home / "store")
        assert upkeep.health(helix).status == "ok"


def test_an_older_copy_of_the_whole_store_but_its_mark_is_noticed(home: Path, tmp_path: Path) -> None:
    with opened(home):
        pass
    older = journal(home).read_bytes()
    with opened(home) as helix:
        tell(helix, 50)
    journal(home).write_bytes(older)
    with opened(home) as helix:
        assert_loud(helix)


@pytest.mark.soak
def test_lost_notes_that_are_no_rows_of_the_log_are_noticed(home: Path) -> None:
    with opened(home):
        pass
    older = journal(home).read_bytes()
    with opened(home) as helix:
        seq = helix.store.journal.last_seq
        capture.pause(helix, True)
        assert helix.store.journal.last_seq == seq
    journal(home).write_bytes(older)
    with opened(home) as helix:
        assert_loud(helix)


def test_a_whole_store_is_quiet_however_it_ended(home: Path) -> None:
    for _ in range(2):
        with opened(home) as helix:
            assert not losses(helix.store.path)
            assert all(found_by_words(helix, number) for number in range(FACTS))
            assert upkeep.health(helix).status == "ok"


def test_a_store_without_a_mark_gets_one(home: Path) -> None:
    (home / "store" / "journal.mark").unlink()
    with opened(home) as helix:
        assert not losses(helix.store.path)
    reach = MarkFile(home / "store" / "journal.mark").read()
    found = reached(journal(home))
    assert reach is not None
    assert found is not None
    assert (reach.seq, reach.chain, reach.commits) == (found[0].seq, found[0].chain, found[0].commits)


@pytest.mark.parametrize("content", [b"", b"\0" * 256, b"00000000 {}", random.Random(1).randbytes(255)])
def test_a_damaged_mark_stops_nothing_and_is_written_anew(home: Path, content: bytes) -> None:
    (home / "store" / "journal.mark").write_bytes(content)
    with opened(home) as helix:
        assert not losses(helix.store.path)
        tell(helix, 60)
    assert MarkFile(home / "store" / "journal.mark").read() is not None


@pytest.mark.soak
def test_restoring_a_backup_is_no_loss(home: Path, tmp_path: Path) -> None:
    backup = tmp_path / "kept.backup"
    with opened(home) as helix:
        assert ended(helix, upkeep.backup(helix, str(backup))).state is JobState.DONE
        tell(helix, 70)
        assert ended(helix, upkeep.restore_backup(helix, str(backup))).state is JobState.DONE
    with opened(home) as helix:
        assert not losses(helix.store.path)
        tell(helix, 71)
    restore_closed(settings_of(home), backup)
    with opened(home) as helix:
        assert not losses(helix.store.path)
        assert upkeep.stats(helix).total == FACTS


@pytest.mark.soak
def test_a_restore_that_was_cut_short_is_loud(home: Path, tmp_path: Path) -> None:
    backup = tmp_path / "kept.backup"
    with opened(home) as helix:
        ended(helix, upkeep.backup(helix, str(backup)))
    journal(home).rename(home / "store" / "journal.kept-1.db")
    with opened(home) as helix:
        assert_loud(helix)


def test_the_log_is_folded_in_when_nobody_writes(tmp_path: Path) -> None:
    with opened(tmp_path) as helix:
        store = helix.store
        store.folding.close()
        tell(helix, 1)
        assert wal(tmp_path).stat().st_size
        while not store.journal.fold_in_now():
            store.graph.settle()
        assert not wal(tmp_path).stat().st_size
        wal(tmp_path).read_bytes()
    with opened(tmp_path) as helix:
        assert found_by_words(helix, 1)


def damaged_pages(path: Path) -> Iterator[int]:
    yield from range(0, path.stat().st_size, 4096)


@pytest.mark.soak
def test_whatever_page_of_the_journal_is_damaged_it_is_named_or_nothing_is_lost(
    killed: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """Of a few drawn pages in an ordinary run, of all in a soak."""
    folded = tmp_path / "folded"
    shutil.copytree(killed, folded)
    with opened(folded):
        pass
    whole = journal(folded).read_bytes()
    draw = random.Random(9)
    pages = range(0, len(whole), 4096)
    for start in pages if pytestconfig.getoption("--soak") else draw.sample(pages, 2):
        home = tmp_path / f"page{start}"
        shutil.copytree(folded, home)
        journal(home).write_bytes(whole[:start] + draw.randbytes(4096) + whole[start + 4096 :])
        try:
            with opened(home) as helix:
                lost = [number for number in range(FACTS) if not found_by_words(helix, number)]
                damaged = bool(losses(helix.store.path)) or not upkeep.doctor(helix).healthy
                assert damaged or not lost, f"page at {start}: {lost} are lost in silence"
        except HelixError as error:
            assert isinstance(error, StoreCorruptError), error
            assert "journal.db" in str(error)
            assert error.hint


def overwrite(path: Path, start: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(content)


def a_header_of_noise(home: Path) -> None:
    overwrite(journal(home), 0, random.Random(3).randbytes(100))


def no_header(home: Path) -> None:
    overwrite(journal(home), 0, bytes(100))


def a_first_page_of_noise(home: Path) -> None:
    overwrite(journal(home), 0, random.Random(4).randbytes(4096))


def cut_to_a_page(home: Path) -> None:
    os.truncate(journal(home), 4096)


def cut_within_a_page(home: Path) -> None:
    os.truncate(journal(home), 10)


@pytest.fixture(scope="module")
def closed_well(killed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose journal is one whole file, written anew once, and its graph beside it."""
    home = tmp_path_factory.mktemp("closed")
    shutil.copytree(killed, home, dirs_exist_ok=True)
    with opened(home) as helix:
        helix.store.journal.database.write_anew()
        assert helix.store.graph.settle()
    return home


@pytest.mark.parametrize("graph", [True, False], ids=["with its graph", "alone"])
@pytest.mark.parametrize(
    "way", some([cut_within_a_page, a_header_of_noise, no_header, a_first_page_of_noise, cut_to_a_page], 1)
)
def test_a_journal_that_cannot_be_opened_is_kept_and_what_can_be_read_of_it_comes_back(
    closed_well: Path, tmp_path: Path, way: Callable[[Path], None], graph: bool
) -> None:
    home = tmp_path / "home"
    shutil.copytree(closed_well, home)
    if not graph:
        (home / "store" / "graph.kuzu").unlink()
    way(home)
    damaged = journal(home).read_bytes()
    for _ in range(2):
        with pytest.raises(StoreCorruptError, match=r"journal\.db is damaged") as refused, opened(home):
            raise AssertionError("an empty store in its place")
        assert refused.value.hint is not None and "helix recover" in refused.value.hint
        assert journal(home).read_bytes() == damaged
    set_aside_closed(settings_of(home))
    assert [path.read_bytes() for path in (home / "store").glob("journal.db.knows-more-*")] == [damaged]
    with opened(home) as helix:
        assert_loud(helix)
        job = ended(helix, upkeep.recover(helix))
        assert job.state is JobState.DONE, job.error
        assert_loud(helix)
        held = {
            memory.trigger: memory.status
            for memory in memories.memories(helix, MemoryFilter(any_status=True), first=100).items
        }
        every = {f"unique{number} is known" for number in range(FACTS)}
        if len(damaged) > 4096:
            assert held == dict.fromkeys(every, Status.ACTIVE), "the log proves them"
        else:
            assert held == (dict.fromkeys(every, Status.QUARANTINED) if graph else {})
        assert upkeep.acknowledge_loss(helix) == 1
        tell(helix, 90)
    with opened(home) as helix:
        assert found_by_words(helix, 90)


def test_sqlite_says_nothing_of_a_lost_log(home: Path) -> None:
    """Why there is a mark: the store is whole as far as SQLite can tell."""
    wal(home).unlink()
    with sqlite3.connect(journal(home)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    raw.close()
