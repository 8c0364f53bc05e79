"""SQLite's locks of the journal stay, whatever a link in somebody else's folder leads to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helix import files
from helix.helixignore import rules_of
from helix.identity import identify
from helix.journal.read_only import file_reader
from helix.memory.remember.request import StoreRequest
from helix.operations import erasure, ingest, memories, upkeep
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store.listing import MemoryFilter
from tests.sampling import some
from tests.waiting import finished

LOCKS = Path("/proc/locks")
pytestmark = pytest.mark.skipif(not LOCKS.is_file(), reason="only Linux tells which locks there are")
FACTS = StoreRequest(trigger="the house is red", resolution="", kind="fact")


@pytest.fixture
def helix(settings: Settings) -> Iterator[Helix]:
    with Helix.open(settings, embedder=HashEmbedder()) as opened:
        memories.store(opened, FACTS)
        yield opened


def locks(file: Path) -> int:
    """Return how many POSIX locks this process has of a file."""
    own = (" POSIX ", f" {os.getpid()} ", f":{file.stat().st_ino} ")
    return sum(all(one in line for one in own) for line in LOCKS.read_text("utf-8").splitlines())


def project(link: Path) -> None:
    identify(link.parent.parent)


READS: dict[str, tuple[str, Callable[[Helix, Path], object]]] = {
    "a project's settings": (".helix/project.toml", lambda _, link: project(link)),
    "git's settings": (".git/config", lambda _, link: project(link)),
    "rules": (".helixignore", lambda _, link: rules_of(link.parent)),
    "notes": ("notes.md", lambda helix, link: finished(helix, ingest.ingest_notes(helix, [str(link)]))),
    "a text": ("some.txt", lambda _, link: files.read_text(link)),
    "a backup": ("kept.backup", lambda helix, link: finished(helix, upkeep.restore_backup(helix, str(link)))),
    "another memory": ("mem.json", lambda helix, link: finished(helix, ingest.import_memories(helix, str(link)))),
    "lines": ("lines.jsonl", lambda helix, link: finished(helix, ingest.ingest_bulk(helix, str(link)))),
}


@pytest.mark.parametrize("end", ["", "-shm"])
@pytest.mark.parametrize("what", READS)
def test_a_link_to_the_journal_is_refused_and_its_locks_stay(helix: Helix, tmp_path: Path, what: str, end: str) -> None:
    journal = helix.settings.store_path / "journal.db"
    files_of_sqlite = (journal, journal.with_name("journal.db-shm"))
    assert all(map(locks, files_of_sqlite))
    name, read = READS[what]
    link = tmp_path / "clone" / name
    (tmp_path / "clone" / ".git").mkdir(parents=True, exist_ok=True)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(f"{journal}{end}")
    try:
        read(helix, link)
    except Exception as error:  # what is no such file may well be refused
        assert type(error).__module__ in ("helix.errors", "builtins"), error
    assert all(map(locks, files_of_sqlite))


@pytest.mark.soak
def test_a_link_in_the_place_of_a_backup_is_not_opened_when_copies_are_erased(helix: Helix, tmp_path: Path) -> None:
    journal = helix.settings.store_path / "journal.db"
    copy = tmp_path / "kept.backup"
    finished(helix, upkeep.backup(helix, str(copy)))
    copy.unlink()
    copy.symlink_to(journal)
    (memory,) = memories.memories(helix, MemoryFilter()).items
    finished(helix, erasure.hard_forget(helix, memory.name, confirm=memory.id))
    assert locks(journal)


def test_whoever_reads_the_journal_from_elsewhere_leaves_its_log_when_it_goes(helix: Helix) -> None:
    """As the graph's process does when it rests, also where the locks of who writes were lost."""
    journal = helix.settings.store_path / "journal.db"
    reader = file_reader(journal)
    with reader.look() as view:
        assert view.last_seq
    descriptor = os.open(journal, os.O_RDONLY)
    os.close(descriptor)
    assert not locks(journal), "lost, as by a program that knows nothing of them"
    reader.close()
    assert journal.with_name("journal.db-wal").exists()


def test_a_database_that_is_closed_is_a_file_like_any_other(settings: Settings) -> None:
    with Helix.open(settings, embedder=HashEmbedder()):
        journal = settings.store_path / "journal.db"
        with pytest.raises(OSError, match="database"):
            files.open_regular(journal)
    files.open_regular(journal).close()


@pytest.mark.parametrize("end", some(["-wal", "-shm", "-journal"], 1))
def test_what_lies_beside_a_backup_gets_nothing_of_it_when_it_is_erased_there(
    helix: Helix, tmp_path: Path, end: str
) -> None:
    """Whoever may write in the folder could have made the log that SQLite writes the whole journal to."""
    memories.store(helix, StoreRequest(trigger="the barn is green", resolution="", kind="fact"))
    copy = tmp_path / "kept.backup"
    finished(helix, upkeep.backup(helix, str(copy)))
    theirs = copy.with_name(f"{copy.name}{end}")
    theirs.write_bytes(b"")
    theirs.chmod(0o666)
    with theirs.open("rb") as held:
        found = [one for one in memories.memories(helix, MemoryFilter()).items if one.trigger == FACTS.trigger]
        finished(helix, erasure.hard_forget(helix, found[0].name, confirm=found[0].id))
        assert not held.read()
        assert not theirs.exists() or not theirs.stat().st_size
    assert b"house is red" not in copy.read_bytes()
    assert b"barn is green" in copy.read_bytes()
    assert copy.stat().st_mode & 0o777 == 0o600
    assert {path.name for path in tmp_path.iterdir() if path.name.startswith("kept")} <= {copy.name, theirs.name}
