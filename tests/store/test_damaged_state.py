"""Whatever stands in place of a row of the journal's state, it is made good from the log, or said aloud."""

from __future__ import annotations

import random
import shutil
import sqlite3
import string
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helix import settings as configuration
from helix.journal import pages, restating
from helix.journal.database import make_tables
from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.remember.request import StoreRequest
from helix.memory.upkeep.reembed import fill_in, lacking
from helix.model.edge import Ref
from helix.model.loss import losses
from helix.model.memory import Memory
from helix.model.recall import Expand, RecallQuery
from helix.operations import capture, erasure, memories, upkeep
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.store import store
from helix.store.engine import JOURNAL_NAME
from tests.sampling import some
from tests.waiting import UNHURRIED, at_rest, finished

TABLES = ("node", "edge", "passage", "token", "vector")
FACTS = 3
DAMAGE = {
    "bytes": "x'fffe00'",
    "no UTF-8": "CAST(x'fffe' AS TEXT)",
    "text": "'{\"a\": [1]}'",
    "number": "7",
}


def columns() -> Iterator[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as empty:
        make_tables(empty, None)
        for table in TABLES:
            for row in empty.execute(f"PRAGMA table_info({table})"):
                yield table, row[1]


def turned(turn: int) -> list[str]:
    """The kinds of damage, beginning with another one each turn: an ordinary run does one kind to each column."""
    kinds = list(DAMAGE)
    return kinds[turn % len(kinds) :] + kinds[: turn % len(kinds)]


def opened(home: Path, **changed: Any) -> Helix:
    settings = configuration.load({"home": home}, environ=UNHURRIED, cwd=home)
    return Helix.open(replace(settings, **changed), embedder=HashEmbedder())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("whole")
    with opened(home) as helix:
        for number in range(FACTS):
            memories.store(
                helix,
                StoreRequest(
                    trigger=f"unique{number} is known",
                    resolution=f"see src/part{number}.py for answer {number}",
                    kind="fact",
                ),
            )
        gone = memories.store(
            helix, StoreRequest(trigger="the secret of the house", resolution="erased since", kind="fact")
        ).id
        assert erasure.hard_forget(helix, gone, gone)
        at_rest(helix)
    return home


@pytest.fixture
def home(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    return tmp_path


def damage(home: Path, statement: str) -> None:
    with closing(sqlite3.connect(home / "store" / JOURNAL_NAME, isolation_level=None)) as raw:
        raw.execute("PRAGMA ignore_check_constraints = ON")
        assert raw.execute(statement).rowcount > 0, statement


def one(table: str, column: str) -> str:
    """A condition that holds for one row of a memory that was stored, in the middle of the table."""
    return f"{column} IS (SELECT {column} FROM {table} ORDER BY {column} LIMIT 1 OFFSET 1)"


def assert_all_is_back(helix: Helix) -> None:
    store = helix.store
    while lacking(store):
        fill_in(store, lambda: False)
    assert store.journal.compare_state().differences == ()
    for number in range(FACTS):
        for query in (f"unique{number}", f"answer {number} of part{number}"):
            answer = helix.recall(RecallQuery(query=query, expand=Expand.NONE))
            nodes = [item.node for item in answer.items]
            assert any(isinstance(node, Memory) and node.trigger == f"unique{number} is known" for node in nodes), query
    for page in pages.edges(store.journal):
        assert all(store.records.present([edge.source, edge.target]) for edge in page)
    told = helix.recall(RecallQuery(query="secret of the house"))
    assert all("secret" not in str(item.node) for item in told.items), "what was erased stays so"
    assert not losses(store.path)


@pytest.mark.parametrize(
    ("table", "column", "kind"),
    some(((*place, kind) for turn, place in enumerate(columns()) for kind in turned(turn)), len(list(columns())) // 2),
)
def test_whatever_stands_in_a_column_of_the_state_it_is_made_good_at_start(
    home: Path, table: str, column: str, kind: str
) -> None:
    try:
        damage(home, f"UPDATE {table} SET {column} = {DAMAGE[kind]} WHERE {one(table, column)}")
    except sqlite3.IntegrityError:
        pytest.skip("SQLite lets nothing else than a number stand there")
    with opened(home) as helix:
        assert_all_is_back(helix)


@pytest.mark.soak
def test_no_start_waits_for_the_replay_of_rows_that_say_much(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of so few bytes here that four rows say too much."""
    monkeypatch.setattr(store, "_CHECKED_BYTES", 20_000)
    dice = random.Random(1)
    with opened(home) as helix:
        for number in range(4):
            words = " ".join("".join(dice.choices(string.ascii_lowercase, k=7)) for _ in range(1_500))
            capture.record_episode(helix, EpisodeRequest(content=f"{number} {words}"))
        at_rest(helix)
    damage(home, f"DELETE FROM edge WHERE {one('edge', 'source')}")
    with opened(home) as helix:
        assert helix.store.journal.compare_state().differences
        assert not {one.check: one for one in upkeep.doctor(helix).findings}["state against log"].ok


@pytest.mark.soak
@pytest.mark.parametrize("table", some(TABLES, 1))
def test_what_is_damaged_while_helix_runs_is_made_good_when_it_is_met(home: Path, table: str) -> None:
    with opened(home) as helix:
        column = {"node": "props", "edge": "props", "passage": "text", "token": "tokens", "vector": "vector"}[table]
        damage(home, f"UPDATE {table} SET {column} = x'fffe00'")
        kept = memories.memories(helix, first=10).items
        assert len(kept) == FACTS
        memories.confirm(helix, kept[0].id)
        for memory in kept:
            assert memories.node(helix, memory.id)
            assert helix.store.records.edges_at(Ref.memory(memory.id))
        found = {one.check: one for one in upkeep.doctor(helix).findings}["state against log"]
        assert found.ok or ("unreadable" in found.detail and "helix rebuild" in found.hint)
        at_rest(helix)
        finished(helix, upkeep.rebuild(helix))
        assert_all_is_back(helix)
        assert_healthy(helix)


def assert_healthy(helix: Helix) -> None:
    at_rest(helix)  # the graph is built anew from what was made good
    assert not [one for one in upkeep.doctor(helix).findings if not one.ok]


@pytest.mark.parametrize("table", some(TABLES, 1))
def test_missing_rows_come_back(home: Path, table: str) -> None:
    with opened(home) as helix:
        damage(home, f"DELETE FROM {table}")
        found = {one.check: one for one in upkeep.doctor(helix).findings}["state against log"]
        assert "missing" in found.detail or table == "vector"
    with opened(home) as helix:
        assert_all_is_back(helix)
        assert_healthy(helix)


@pytest.mark.parametrize("at_once", [1, 7])
def test_a_log_is_replayed_in_pieces_to_the_same(home: Path, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restating, "_OPERATIONS_AT_ONCE", at_once)
    with opened(home) as helix:
        assert_all_is_back(helix)


def test_rows_that_nobody_wrote_go(home: Path) -> None:
    damage(home, "INSERT INTO node SELECT label, id || 'x', props FROM node")
    damage(home, "INSERT INTO edge SELECT type, source_label, source, target_label, target || 'x', props FROM edge")
    damage(home, "INSERT INTO passage SELECT number + 100, id || 'x', owner_label, owner, text FROM passage")
    damage(home, "INSERT INTO token SELECT number + 100, tokens FROM token")
    with opened(home) as helix:
        assert_all_is_back(helix)
        assert upkeep.stats(helix).by_status["active"] == FACTS


@pytest.mark.parametrize("number", ["-7", "1 << 29", "1 << 62"])
def test_no_number_of_a_passage_has_memory_filled(home: Path, number: str) -> None:
    for table in ("passage", "token", "vector"):
        damage(home, f"UPDATE {table} SET number = ({number}) + number")
    with opened(home, one_of_many=True) as helix:  # nobody compares a tenant's state with its log
        assert_all_is_back(helix)
        assert helix.store.catalogue.next_passage_number < 100


def test_a_vector_of_the_right_size_that_is_none_is_made_anew(home: Path) -> None:
    damage(home, f"UPDATE vector SET vector = x'{random.Random(3).randbytes(64 * 4).hex()}'")
    with opened(home) as helix:
        assert_all_is_back(helix)


def test_a_row_that_is_damaged_in_the_log_and_in_the_state_is_told_of(home: Path) -> None:
    damage(home, "UPDATE log SET payload = x'00' WHERE seq = 1")
    damage(home, "UPDATE node SET props = x'00' WHERE id IN (SELECT id FROM node WHERE label = 'Memory' LIMIT 1)")
    with opened(home) as helix:
        assert losses(helix.store.path)
        assert upkeep.health(helix).status == "failing"


@pytest.mark.soak
def test_a_damaged_log_takes_nothing_from_a_whole_state(home: Path) -> None:
    damage(home, "UPDATE log SET payload = x'00' WHERE payload IS NOT NULL")
    for _ in range(2):
        with opened(home) as helix:
            assert upkeep.stats(helix).by_status["active"] == FACTS
            assert not losses(helix.store.path)
            assert not {one.check: one for one in upkeep.doctor(helix).findings}["journal chain"].ok


@pytest.mark.parametrize("column", ["seq", "at", "payload", "salt", "digest", "chain"])
@pytest.mark.parametrize("kind", some(["no UTF-8", "number"], 1))
def test_whatever_stands_in_the_log_health_and_doctor_say_which_row(home: Path, column: str, kind: str) -> None:
    try:
        damage(home, f"UPDATE log SET {column} = {DAMAGE[kind]} WHERE seq = 2")
    except sqlite3.IntegrityError:
        pytest.skip("SQLite lets nothing else than a free number stand there")
    with opened(home) as helix:
        damaged = helix.store.journal.verify_chain().damaged
        assert damaged
        assert f"in the journal's log: {', '.join(map(str, damaged))} (" in helix.store.log_check.wait()
        assert upkeep.health(helix).status == "degraded"
        assert helix.store.log_check.trouble in upkeep.health(helix).issues
        assert upkeep.stats(helix).by_status["active"] == FACTS


@pytest.mark.soak
def test_a_restored_log_is_checked_anew(home: Path, tmp_path: Path) -> None:
    with opened(home) as helix:
        finished(helix, upkeep.backup(helix, str(tmp_path / "kept.db")))
    damage(home, "UPDATE log SET payload = x'00' WHERE seq = 2")
    with opened(home) as helix:
        assert helix.store.log_check.wait()
        finished(helix, upkeep.restore_backup(helix, str(tmp_path / "kept.db")))
        assert not helix.store.log_check.wait()
        assert upkeep.health(helix).status == "ok"


def test_a_log_that_only_the_writer_meets_is_made_good(home: Path) -> None:
    with opened(home) as helix:
        (memory, *_) = memories.memories(helix, first=1).items
        damage(home, "UPDATE node SET props = x'00'")
        memories.store(helix, StoreRequest(trigger="written beside damage", resolution="and kept", kind="fact"))
        assert memories.node(helix, memory.id) == memory


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE token SET tokens = x'fffe00'",
        "DELETE FROM token",
        "UPDATE vector SET vector = x'fffe00'",
        "UPDATE token SET tokens = 7 WHERE number = (SELECT max(number) FROM token)",
    ],
)
def test_what_is_made_of_other_rows_is_no_loss_beside_a_damaged_log(home: Path, statement: str) -> None:
    damage(home, "UPDATE log SET payload = x'00' WHERE payload IS NOT NULL")
    damage(home, statement)
    with opened(home) as helix:
        assert_all_is_back(helix)
        tables = helix.store.journal.read(
            lambda connection: [
                connection.execute(f"SELECT number FROM {name} ORDER BY number").fetchall()
                for name in ("passage", "token")
            ]
        )
        assert tables[0] == tables[1]


def test_a_row_that_another_row_of_the_log_tells_is_no_loss_beside_a_damaged_one(home: Path) -> None:
    newest = "(SELECT id FROM node WHERE label = 'Memory' AND props LIKE '%unique2%')"
    damage(home, "UPDATE log SET payload = x'00' WHERE seq = 1")
    damage(home, f"UPDATE node SET props = x'00' WHERE id = {newest}")
    with opened(home) as helix:
        assert_all_is_back(helix)


def test_several_compare_the_state_with_the_log_at_the_same_time(home: Path) -> None:
    with opened(home) as helix, ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: helix.store.journal.compare_state().differences, range(40)))
    assert found == [()] * 40
    assert not [file for file in home.rglob("*.replay*")]
