"""Holds docs/formats.md to what Helix writes: its reader checks a real journal, and it names all that is kept."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from helix.journal.database import Database
from helix.journal.log import Journal
from helix.model.edge import Ref, Relation
from helix.model.operations import Change, PutEdge, PutNode, PutPassage
from helix.model.records import CLASS_OF, property_types
from helix.text.tokens import lexical_tokens

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "formats.md").read_text("utf-8")
VECTOR = np.eye(1, 8, dtype=np.float32)[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a journal of three rows, the second of them erased."""
    journal = Journal(Database(tmp_path / "journal.db"), tokenise=lexical_tokens)
    journal.spaces.activate(journal.spaces.prepare(model="eight", dimension=8, digest="d"))
    a, b = (Ref.memory(name) for name in "ab")
    for at, op in enumerate(
        (
            PutNode(label=a.label, id=a.id, props={"name": "a"}),
            PutPassage(id="a#0", number=1, owner=a, text="the disk is full", vector=VECTOR.tobytes()),
            PutEdge(type=Relation.SOLVES, source=a, target=b, props={}),
        )
    ):
        journal.append([Change(kind="test", operations=(op,))], at=at - 1)
    with journal.database.transaction() as connection:
        connection.execute("UPDATE log SET payload = NULL, salt = NULL WHERE seq = 2")
    journal.close()
    return tmp_path


def read_by_the_page(folder: Path) -> str:
    """Run the page's reader in a folder, which has no Helix on its path; return what it complained of."""
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    command = [sys.executable, "-I", "-S", "-c", program]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stderr


def test_the_reader_of_the_page_verifies_a_journal_and_finds_what_was_changed(folder: Path) -> None:
    assert read_by_the_page(folder) == ""
    with closing(sqlite3.connect(folder / "journal.db")) as journal, journal:
        journal.execute("UPDATE log SET at = 7 WHERE seq = 2")
    assert "row 2 does not follow" in read_by_the_page(folder)
    with closing(sqlite3.connect(folder / "journal.db")) as journal, journal:
        journal.execute("UPDATE log SET payload = x'00' WHERE seq = 1")
    assert "row 1 was changed" in read_by_the_page(folder)


def test_the_page_names_every_table_and_column_and_reads_a_vector(folder: Path) -> None:
    log_and_migration, _, state = PAGE.partition("## `journal.db`")[2].partition("### The state")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", state, re.MULTILINE))
    with closing(sqlite3.connect(folder / "journal.db")) as journal:
        tables = [name for (name,) in journal.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        assert {"log", "migration"} == {table for table in tables if table not in rows}
        for table in tables:
            named = re.findall(r"`(\w+)`", rows.get(table, log_and_migration))
            columns = {row[1] for row in journal.execute(f"PRAGMA table_info({table})")}
            assert columns <= set(named), table
            assert table not in rows or columns == set(named), table
        (stored,) = journal.execute("SELECT vector FROM vector").fetchone()
    assert '"<f4"' in PAGE
    assert np.array_equal(np.frombuffer(stored, "<f4"), VECTOR)


def test_the_page_names_every_label_property_and_relation() -> None:
    for label, cls in CLASS_OF.items():
        (row,) = re.findall(rf"^\| `{label.value}` \| (.*) \|$", PAGE, re.MULTILINE)
        everywhere = {"id", "slice", "extractor", "model", "agent", "trust"}
        assert set(re.findall(r"`(\w+)`", row)) == property_types(cls).keys() - everywhere, label
    assert [relation for relation in Relation if f"`{relation.value}`" not in PAGE] == []
