"""What a job did is recorded by the transaction that does it: before, after, and whether somebody came between."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from helix import resources
from helix.errors import ConflictError
from helix.journal import effects
from helix.journal.database import Database
from helix.journal.effects import digest
from helix.journal.log import Journal
from helix.model.edge import Label, Ref, Relation
from helix.model.operations import (
    Change,
    Drop,
    DropEdge,
    DropNode,
    DropPassage,
    Operation,
    PutEdge,
    PutNode,
    PutPassage,
)
from tests.journal.conftest import Opened

VECTOR = np.array([1, 0], np.float32).tobytes()
A, B = (Ref.entity(name) for name in "ab")
EDGE = DropEdge(type=Relation.SIMILAR, source=A, target=B)
PASSAGE = DropPassage(id="a#0")


def node(ref: Ref, **props: str | float | None) -> PutNode:
    return PutNode(label=ref.label, id=ref.id, props={"name": ref.id, "kind": "file", "scope": "global", **props})


def drop(ref: Ref) -> DropNode:
    return DropNode(label=ref.label, id=ref.id)


def link(weight: float) -> PutEdge:
    return PutEdge(type=Relation.SIMILAR, source=A, target=B, props={"weight": weight})


def passage(number: int, text: str) -> PutPassage:
    return PutPassage(id="a#0", number=number, owner=A, text=text, vector=VECTOR)


@pytest.fixture
def journal(tables: Opened) -> Iterator[Journal]:
    opened = Journal(tables(), tokenise=str.split)
    opened.spaces.activate(opened.spaces.prepare(model="m", dimension=2, digest="d"))
    opened.append([Change(kind="test", operations=(node(A), node(B), link(1.0), passage(1, "one")))], at=1)
    yield opened
    opened.close()


def write(journal: Journal, *operations: Operation, **note: str) -> None:
    journal.append([Change(kind="test", operations=operations, note=note)], at=2)


def test_before_and_after_of_everything_touched_are_kept(journal: Journal) -> None:
    write(journal, node(A, kind="url"), link(0.5), DropPassage(id="a#0"), job="j", step="one")
    found = {effect.drop: effect for effect in journal.effects.of("j")}
    assert found.keys() == {drop(A), EDGE, PASSAGE}
    assert found[drop(A)].before == node(A)
    assert found[EDGE].before == link(1.0)
    assert found[PASSAGE].before == passage(1, "one")
    assert [found[each].after for each in (drop(A), EDGE, PASSAGE)] == [
        digest(node(A, kind="url")),
        digest(link(0.5)),
        None,
    ]
    assert not any(effect.crossed for effect in found.values())
    assert journal.effects.held([drop(A), EDGE, PASSAGE]) == [node(A, kind="url"), link(0.5), None]


def test_the_first_before_and_the_last_after_of_a_job_count(journal: Journal) -> None:
    for number, kind in enumerate(("url", "test", "symbol")):
        write(journal, node(A, kind=kind), job="j", step=str(number))
    (effect,) = journal.effects.of("j")
    assert (effect.before, effect.after, effect.crossed) == (node(A), digest(node(A, kind="symbol")), False)
    assert journal.effects.steps("j") == {"0": 2, "1": 3, "2": 4}


def test_two_steps_of_one_transaction_are_told_apart(journal: Journal) -> None:
    new = Ref.entity("new")
    notes = [{"job": "j", "step": "one"}, {"job": "k", "step": "one"}]
    puts = (node(new), node(new, kind="url"))
    journal.append(
        [Change(kind="t", operations=(put,), note=note) for put, note in zip(puts, notes, strict=True)], at=2
    )
    (first,), (second,) = journal.effects.of("j"), journal.effects.of("k")
    assert (first.before, second.before) == (None, node(new))


def test_what_somebody_wrote_between_two_steps_is_marked(journal: Journal) -> None:
    write(journal, node(A, kind="url"), node(B, kind="url"), job="j", step="one")
    write(journal, node(A, kind="test"))
    write(journal, node(A, kind="symbol"), node(B, kind="symbol"), job="j", step="two")
    assert {effect.drop: effect.crossed for effect in journal.effects.of("j")} == {drop(A): True, drop(B): False}


def test_a_dropped_node_is_recorded_with_all_it_took_along(journal: Journal) -> None:
    write(journal, drop(A), job="j", step="one")
    assert {effect.drop: effect.before for effect in journal.effects.of("j")} == {
        EDGE: link(1.0),
        PASSAGE: passage(1, "one"),
        drop(A): node(A),
    }


def test_other_changes_leave_no_trace(journal: Journal) -> None:
    write(journal, node(A, kind="url"), session="s")
    with journal.database.reading() as raw:
        for table in ("effect", "job_step", "undone"):
            assert raw.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_a_step_is_refused_twice_with_all_that_came_with_it(journal: Journal) -> None:
    write(journal, node(A, kind="url"), job="j", step="one")
    with pytest.raises(ConflictError, match="'one'"):
        write(journal, node(A, kind="test"), job="j", step="one")
    assert journal.effects.held([drop(A)]) == [node(A, kind="url")]
    assert journal.last_seq == 2


def test_the_same_content_has_the_same_digest_however_it_came_about() -> None:
    episode = PutNode(label=Label.EPISODE, id="e", props={"content": "c"})
    said = PutNode(label=Label.EPISODE, id="e", props={"status": "active", "content": "c", "session": None})
    assert digest(episode) == digest(said)
    assert digest(passage(1, "x")) == digest(passage(2, "x")) != digest(passage(1, "y"))
    assert digest(link(1.0)) == digest(PutEdge(type=Relation.SIMILAR, source=A, target=B, props={}))
    assert digest(None) is None


def test_effects_are_kept_for_the_last_jobs_only(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects, "KEPT_JOBS", 3)
    for number in range(6):
        for step in ("one", "two"):
            write(journal, node(A, rank=float(number)), job=f"j{number}", step=step)
    kept = [f"j{number}" for number in range(6) if journal.effects.of(f"j{number}")]
    assert kept == ["j3", "j4", "j5"]
    assert [bool(journal.effects.steps(f"j{number}")) for number in range(6)] == [False] * 3 + [True] * 3


def test_an_undone_job_has_no_effects_any_more(journal: Journal) -> None:
    write(journal, node(A, kind="url"), job="j", step="one")
    assert journal.effects.undone_at("j") is None
    write(journal, node(A), undo="j")
    assert journal.effects.of("j") == []
    assert journal.effects.undone_at("j") is not None


def test_what_hangs_on_nodes_is_found(journal: Journal) -> None:
    assert list[Drop](journal.effects.attached([A])) == [EDGE, PASSAGE]
    assert list[Drop](journal.effects.attached([B])) == [EDGE]


class Compared(str):
    """An id that counts how often one is compared with another."""

    times = 0

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return str.__eq__(self, other)  # type: ignore[arg-type]

    __hash__ = str.__hash__


@pytest.mark.parametrize("tables", ["sqlite"], indirect=True)
def test_each_of_many_nodes_is_dropped_in_the_time_that_hangs_on_it(journal: Journal) -> None:
    ends = [Ref.entity(Compared(number)) for number in range(200)]
    ring = list(zip(ends, [*ends[1:], ends[0]], strict=True))
    drawn = [PutEdge(type=Relation.SIMILAR, source=one, target=other, props={}) for one, other in ring]
    told = [PutPassage(id=f"{one.id}#0", number=3 + at, owner=one, text="one") for at, one in enumerate(ends)]
    write(journal, *map(node, ends), *drawn, *told)
    Compared.times = 0
    write(journal, *drawn, *told, *map(drop, ends))
    assert Compared.times < 10_000, "every node is looked for among all edges and passages of the change"
    assert list(journal.effects.attached(ends)) == []


@pytest.mark.parametrize("tables", ["sqlite"], indirect=True)
def test_a_journal_from_before_background_work_gets_its_tables_and_keeps_all_it_holds(
    journal: Journal, tmp_path: Path
) -> None:
    with journal.snapshot() as (_, state):
        before = list(state.operations())
    path = journal.file.path
    journal.close()
    scripts = sorted((resources.directory("schema") / "journal").glob("[0-9]*.sql"))
    old = tmp_path / "old.db"
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("CREATE TABLE migration (number INTEGER PRIMARY KEY, name TEXT, hash TEXT)")
        for script in scripts[:2]:
            connection.executescript(script.read_text("utf-8"))
            row = (int(script.name[:4]), script.name, hashlib.sha256(script.read_bytes()).hexdigest())
            connection.execute("INSERT INTO migration VALUES (?, ?, ?)", row)
        connection.execute("ATTACH ? AS new", (str(path),))
        for table in ("log", "node", "edge", "passage", "token", "space", "vector", "meta"):
            connection.execute(f"INSERT INTO main.{table} SELECT * FROM new.{table}")
        connection.commit()
    migrated = Journal(Database(old), tokenise=str.split)
    with migrated.snapshot() as (_, state):
        assert list(state.operations()) == before
    write(migrated, drop(A), job="j", step="one")
    assert len(migrated.effects.of("j")) == 3
    assert migrated.verify_chain().damaged == ()
    migrated.close()
    with closing(sqlite3.connect(old)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert {"work", "effect", "job_step", "undone", "model_answer", "model_spend", "known_copy"} <= tables
