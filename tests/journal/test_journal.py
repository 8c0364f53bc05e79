"""The journal keeps every accepted change, in order, verifiably, beside the state it comes to."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from helix import resources
from helix.errors import (
    ConflictError,
    DiskFullError,
    InvalidInputError,
    NotFoundError,
    StoreCorruptError,
    StoreError,
    StoreTooNewError,
)
from helix.journal.backend import Backend, DatabaseConnection
from helix.journal.database import Database
from helix.journal.journal_copy import check
from helix.journal.log import Journal
from helix.journal.state import Records
from helix.journal.strand_versions import StoredVersion, Versions
from helix.model.edge import Label, Ref, Relation
from helix.model.operations import Change, DropEdge, DropPassage, Operation, PutEdge, PutNode, PutPassage
from tests.journal.conftest import Opened


def tokens(text: str) -> list[str]:
    return text.lower().split()


def node(node_id: str, **props: object) -> PutNode:
    return PutNode(label=Label.ENTITY, id=node_id, props={"name": node_id, "kind": "file", "scope": "global", **props})  # type: ignore[dict-item]


def passage(number: int, text: str, passage_id: str = "", vector: bytes | None = None) -> PutPassage:
    return PutPassage(id=passage_id or f"p{number}", number=number, owner=Ref.entity("a"), text=text, vector=vector)


def write(journal: Journal, *operations: Operation) -> None:
    journal.append([Change(kind="test", operations=operations)], at=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def journal(tables: Opened) -> Iterator[Journal]:
    opened = Journal(tables(), tokenise=tokens)
    yield opened
    opened.close()


@pytest.fixture
def in_a_file(path: Path) -> Iterator[Journal]:
    opened = Journal(Database(path), tokenise=tokens)
    yield opened
    opened.close()


def test_rows_come_back_in_order_after_a_restart(journal: Journal, tables: Opened) -> None:
    for name in "abc":
        write(journal, node(name))
    journal.close()
    again = Journal(tables(), tokenise=tokens)
    assert [row.seq for row in again.rows(0, 10)] == [1, 2, 3]
    assert [row.seq for row in again.rows(1, 1)] == [2]
    assert again.last_seq == 3
    again.close()


def test_a_partial_change_is_completed_from_the_state(journal: Journal) -> None:
    write(journal, node("a", scope="x"))
    (row,) = journal.append(
        [Change(kind="t", operations=(PutNode(label=Label.ENTITY, id="a", props={"kind": "url"}),))], 2
    )
    (operation,) = row.change.operations
    assert isinstance(operation, PutNode)
    assert operation.props == {"name": "a", "kind": "url", "scope": "x"}


def test_replay_brings_a_follower_straight_to_the_present(journal: Journal) -> None:
    write(journal, node("a", kind="file"))
    write(journal, node("a", kind="url"))
    first = journal.rows(0, 1)[0].change.operations[0]
    assert isinstance(first, PutNode)
    assert first.props["kind"] == "url"


def test_a_replaced_passage_is_left_out_of_replay(journal: Journal) -> None:
    write(journal, passage(1, "old words", "p"))
    write(journal, passage(2, "new words", "p"))
    replayed = [op for row in journal.rows(0, 10) for op in row.change.operations]
    assert [op.number for op in replayed if isinstance(op, PutPassage)] == [2]


def test_tokens_are_kept_by_number_until_their_passage_is_replaced_or_dropped(journal: Journal) -> None:
    write(journal, node("a"), passage(2, "fold the log"), passage(1, "Grüße WAL"), passage(3, ""))
    write(journal, passage(4, "fold it", "p2"), DropPassage(id="p1"))
    ((numbers, texts),) = journal.tokens()
    assert (list(numbers), list(texts)) == ([3, 4], [b"", b"fold it"])
    write(journal, passage(5, "Grüße WAL"))
    assert [text.decode() for _, texts in journal.tokens() for text in texts][-1] == "grüße wal"


def test_a_passage_takes_the_place_of_no_other_nodes(journal: Journal) -> None:
    write(journal, node("a"), passage(1, "the words of a memory", "a#0"))
    of_another = PutPassage(id="a#0", number=2, owner=Ref.episode("a"), text="other words")
    for episode in (of_another, replace(of_another, id="b#0")):
        with pytest.raises(ConflictError):
            write(journal, passage(3, "the words of another memory", "b#0"), episode)
    with journal.snapshot() as (seq, state):
        assert (seq, state.texts_of(Ref.entity("a"))) == (1, ["the words of a memory"])


def test_dropped_edges_are_gone_from_the_state(journal: Journal) -> None:
    records = Records(journal.database)
    edge = PutEdge(type=Relation.SIMILAR, source=Ref.entity("a"), target=Ref.entity("b"), props={"weight": 1.0})
    write(journal, node("a"), node("b"), edge)
    assert [op.target.id for op in records.edges_at(Ref.entity("a"))] == ["b"]
    write(journal, DropEdge(type=Relation.SIMILAR, source=Ref.entity("a"), target=Ref.entity("b")))
    assert records.edges_at(Ref.entity("a")) == []


def test_vectors_belong_to_the_active_space(journal: Journal) -> None:
    space = journal.spaces.prepare(model="m", dimension=2, digest="d")
    journal.spaces.activate(space)
    vector = np.array([1, 0], np.float32).tobytes()
    write(journal, passage(1, "x", vector=vector), passage(2, "y"))
    with journal.snapshot() as (seq, state):
        vectors = {op.number: op.vector for op in state.passages()}
    assert (seq, vectors) == (1, {1: vector, 2: None})
    assert journal.spaces.missing(space, 9) == [(2, "y")]
    other = journal.spaces.prepare(model="n", dimension=2, digest="e")
    assert journal.spaces.count_missing(other) == 2
    journal.spaces.activate(other)
    assert journal.spaces.count_missing(space) == 2, "the vectors of a space that was left are dropped"


def test_the_chain_holds_and_names_a_row_that_was_tampered_with(in_a_file: Journal, path: Path) -> None:
    for name in "abcd":
        write(in_a_file, node(name))
    assert in_a_file.verify_chain().damaged == ()
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE log SET payload = 'edited by hand' WHERE seq = 2")
    raw.close()
    assert in_a_file.verify_chain().damaged == (2,)
    assert in_a_file.unreadable(0, 10) == [2]
    assert [row.seq for row in in_a_file.rows(0, 10)] == [1, 3, 4]


def test_an_erased_payload_leaves_the_chain_verifiable(in_a_file: Journal, path: Path) -> None:
    for name in "abc":
        write(in_a_file, node(name))
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE log SET payload = NULL, salt = NULL WHERE seq = 2")
    raw.close()
    report = in_a_file.verify_chain()
    assert (report.rows, report.erased, report.damaged) == (3, 1, ())


def test_a_newer_journal_is_refused(in_a_file: Journal, path: Path) -> None:
    with in_a_file.database.transaction() as connection:
        connection.execute("INSERT INTO migration VALUES (9999, '9999_future.sql', 'x')")
    in_a_file.close()
    with pytest.raises(StoreTooNewError, match="newer Helix"):
        Journal(Database(path), tokenise=tokens)


def test_a_migration_that_changed_is_refused(in_a_file: Journal, path: Path) -> None:
    with in_a_file.database.transaction() as connection:
        connection.execute("UPDATE migration SET hash = 'x'")
    in_a_file.close()
    with pytest.raises(StoreError, match="has changed"):
        Journal(Database(path), tokenise=tokens)


def as_first_written(journal: Journal, path: Path, old: Path) -> None:
    """Write the journal as the first schema had it: its script run by hand, and rows of every table."""
    journal.close()
    script = resources.directory("schema") / "journal" / "0001_log.sql"
    with closing(sqlite3.connect(old)) as connection:
        connection.executescript(script.read_text("utf-8"))
        connection.execute("CREATE TABLE migration (number INTEGER PRIMARY KEY, name TEXT, hash TEXT)")
        digest = hashlib.sha256(script.read_bytes()).hexdigest()
        connection.execute("INSERT INTO migration VALUES (1, ?, ?)", (script.name, digest))
        connection.execute("ATTACH ? AS new", (str(path),))
        for table in ("log", "node", "edge", "passage", "space", "vector", "meta"):
            connection.execute(f"INSERT INTO main.{table} SELECT * FROM new.{table}")
        connection.execute("INSERT INTO poison VALUES (2, 1, 'refused')")
        connection.execute("INSERT INTO lexical (rowid, tokens) SELECT number, tokens FROM token")
        connection.commit()


def populated(journal: Journal) -> None:
    space = journal.spaces.prepare(model="m", dimension=2, digest="d")
    journal.spaces.activate(space)
    link = PutEdge(type=Relation.SOLVES, source=Ref.entity("a"), target=Ref.entity("b"), props={"weight": 0.5})
    write(journal, node("a", name="one"), node("b"), link)
    vectors = {number: np.array([1, number], np.float32).tobytes() for number in range(1, 40)}
    write(journal, *(passage(number, f"word{number} und Öl_{number}", vector=vectors[number]) for number in vectors))
    write(journal, passage(40, "no vector"))
    journal.set_meta("word", "kept")


def everything(journal: Journal) -> list[object]:
    with journal.snapshot() as (seq, state):
        held = [seq, [*state.nodes()], [*state.edges()], [*state.passages()]]
    tokens = [pair for numbers, texts in journal.tokens() for pair in zip(numbers, texts, strict=True)]
    told = (journal.store_id, journal.meta("word"), journal.spaces.active())
    return [*held, tokens, *told, journal.rows(0, 100), journal.verify_chain()]


def test_a_journal_of_the_first_schema_is_brought_up_to_date_with_all_it_holds(
    in_a_file: Journal, path: Path, tmp_path: Path
) -> None:
    populated(in_a_file)
    before = everything(in_a_file)
    old = tmp_path / "old.db"
    as_first_written(in_a_file, path, old)
    for _ in range(2):  # the second time there is nothing left to do
        migrated = Journal(Database(old), tokenise=tokens)
        assert everything(migrated) == before
        migrated.close()
    with closing(sqlite3.connect(old)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        assert not any(name.startswith("lexical") for name in tables)
        pages, empty = (connection.execute(f"PRAGMA {what}").fetchone()[0] for what in ("page_count", "freelist_count"))
        assert 2 * empty <= pages


def test_a_migration_waits_for_room_and_changes_nothing_before(
    in_a_file: Journal, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    populated(in_a_file)
    before = everything(in_a_file)
    old = tmp_path / "old.db"
    as_first_written(in_a_file, path, old)
    with monkeypatch.context() as scarce:
        usage = shutil.disk_usage(tmp_path)._replace(free=1_000)
        scarce.setattr(shutil, "disk_usage", lambda folder: usage)
        with pytest.raises(DiskFullError) as refused:
            Journal(Database(old), tokenise=tokens)
        assert refused.value.hint
    migrated = Journal(Database(old), tokenise=tokens)
    assert everything(migrated) == before
    migrated.close()


def test_a_garbage_file_is_told_as_damaged(path: Path) -> None:
    path.write_bytes(b"\x07garbage" * 4096)
    with pytest.raises(StoreCorruptError, match="damaged"):
        Journal(Database(path), tokenise=tokens)


def test_a_failed_transaction_leaves_nothing(journal: Journal) -> None:
    bad = PutNode(label=Label.ENTITY, id="bad", props={"name": object()})  # type: ignore[dict-item]
    with pytest.raises(TypeError):
        write(journal, node("good"), bad)
    assert journal.last_seq == 0
    assert Records(journal.database).counts() == {"edges": 0, "passages": 0}
    write(journal, node("good"))
    assert journal.last_seq == 1


def test_reads_of_unknown_ids_say_so(journal: Journal) -> None:
    with pytest.raises(NotFoundError, match="no entity has the id 'x'"):
        Records(journal.database).node(Ref.entity("x"))


def test_a_backup_is_checked_before_it_is_trusted(in_a_file: Journal, tmp_path: Path) -> None:
    write(in_a_file, node("a"))
    copy = tmp_path / "copy.db"
    in_a_file.database.backup_to(copy)
    assert check(copy) == 1
    stranger = tmp_path / "other.db"
    with sqlite3.connect(stranger) as raw:
        raw.execute("CREATE TABLE t (x)")
    raw.close()
    for wrong in (stranger, tmp_path / "text.db"):
        if not wrong.exists():
            wrong.write_text("not a database at all")
        with pytest.raises(InvalidInputError, match="not a backup"):
            check(wrong)
    with copy.open("r+b") as file:
        file.truncate(copy.stat().st_size // 2)
    with pytest.raises(StoreCorruptError):
        check(copy)


def test_a_backup_takes_the_place_of_what_is_there(in_a_file: Journal, tmp_path: Path) -> None:
    write(in_a_file, node("a"))
    copy = tmp_path / "copy.db"
    in_a_file.database.backup_to(copy)
    write(in_a_file, node("b"))
    in_a_file.restore_from(copy)
    assert in_a_file.last_seq == 1
    assert Records(in_a_file.database).counts()["Entity"] == 1
    write(in_a_file, node("c"))
    assert in_a_file.verify_chain().damaged == ()


def test_a_thread_that_has_ended_leaves_no_file_open(in_a_file: Journal) -> None:
    """A store at rest begins a thread for each thing that comes: a day of them would leave no file to be opened."""
    write(in_a_file, node("a"))

    def read_in_a_thread() -> int:
        reading = threading.Thread(target=lambda: in_a_file.rows(0, 10))
        reading.start()
        reading.join()
        return len(list(Path("/dev/fd").iterdir()))

    few = read_in_a_thread() + 4  # SQLite closes some of them a little later
    assert max(read_in_a_thread() for _ in range(40)) <= few
    assert len(in_a_file.rows(0, 10)) == 1
    assert in_a_file.verify_chain().damaged == ()


def test_versions_that_nobody_has_are_asked_for_together(journal: Journal) -> None:
    """A stranger's strands may each say that they come from a thousand of them."""

    class Counted:
        times = 0

        @contextmanager
        def reading(self) -> Iterator[DatabaseConnection]:
            self.times += 1
            with journal.database.reading() as connection:
                yield connection

    line = [f"{number:032x}" for number in range(20)]
    journal.versions.keep(
        StoredVersion(id=one, parents=(*(f"{one}-{number}" for number in range(900)), *line[at + 1 : at + 2], line[0]))
        for at, one in enumerate(line)
    )
    counted = Counted()
    found = Versions(cast(Backend, counted)).ancestry([line[0], line[0]], 1_000)
    assert [one.id for one in found] == line
    assert counted.times <= len(line) + 1
    assert [one.id for one in journal.versions.ancestry(line[5:7], 3)] == [*line[5:7], line[0]]
