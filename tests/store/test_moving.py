"""A store moves between engines whole: from a file to a server, and back."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from helix.errors import ConflictError, StoreError
from helix.journal.backend import Backend
from helix.journal.database import Database
from helix.journal.log import Journal
from helix.journal.postgres.dialect import tables
from helix.journal.postgres.postgres_server import Server
from helix.journal.postgres.tenant_database import TenantDatabase
from helix.memory.remember.request import StoreRequest
from helix.model.edge import Label, Ref
from helix.model.operations import Change, PutNode, PutPassage
from helix.operations import memories
from helix.service import Helix
from helix.store import moving
from helix.text.tokens import lexical_tokens
from tests.sampling import draws

SINCE = {"rowid"}


@pytest.fixture
def tenant(server: Server, tmp_path: Path) -> Callable[[], TenantDatabase]:
    """Return what makes a new tenant."""

    def made() -> TenantDatabase:
        found = server.create(f"m{len(server.tenants())}")
        return TenantDatabase(server, found.id, server.claim(found.id), tmp_path / found.slug)

    return made


@pytest.fixture
def lived_in(helix: Helix) -> Iterator[Database]:
    """A store in a file that has some of everything in it."""
    for number in range(30):
        memories.store(helix, StoreRequest(trigger=f"ünit {number} of the build", resolution="run it", kind="fact"))
    memories.forget(helix, memories.memories(helix, first=1).items[0].id)
    helix.worker.flush()
    helix.worker.settle()
    with helix.store.journal.database.transaction() as connection:
        connection.execute("INSERT INTO undone VALUES ('j', 1, 2)")
        connection.execute(
            "INSERT INTO effect (job, key, step, seq, before, after, crossed) VALUES ('j', 'k', 's', 1, NULL, NULL, 1)"
        )
    yield helix.store.journal.file


def journal(backend: Backend) -> Journal:
    return Journal(backend, tokenise=lexical_tokens)


def test_every_table_is_carried_but_what_belongs_to_a_file(tmp_path: Path) -> None:
    assert {name: [c for c in columns if c not in SINCE] for name, columns in tables().items() if name != "head"} == {
        **{name: list(columns) for name, columns in moving.TABLES.items()},
        "known_copy": ["path", "made_at"],
    }


@pytest.mark.file
def test_there_and_back_everything_is_as_it_was(
    lived_in: Database, tenant: Callable[[], TenantDatabase], tmp_path: Path
) -> None:
    on_server, in_file = tenant(), Database(tmp_path / "back.db")
    there = moving.move(lived_in, on_server)
    back = moving.move(on_server, in_file)
    assert there == back
    assert min(there.rows[table] for table in ("log", "node", "passage", "token", "vector", "effect", "meta")) > 0
    with closing(journal(on_server)) as carried:
        assert carried.verify_chain().damaged == ()
        assert carried.chain_at(carried.last_seq) == there.chain
        assert carried.compare_state().differences == ()
    in_file.close()


TEXTS = st.one_of(
    st.text(max_size=60),
    st.text(st.characters(codec="utf-8", exclude_categories=()), min_size=1, max_size=3).map(
        lambda some: some * 30_000
    ),
    st.text("\0\x01\x7f\u2028\ufeff\ufffe\U0010ffff'\"\\", max_size=6),
)
HALVES = st.text(st.characters(min_codepoint=0xD7FE, max_codepoint=0xE001), max_size=4)
"""Texts with halves of characters: no store takes one."""
NUMBERS = st.one_of(st.integers(-(1 << 63), (1 << 63) - 1), st.floats(allow_nan=False, allow_infinity=False))


def said(journal: Journal, number: int, text: str, value: int | float, vector: list[float]) -> None:
    """Write a node that is found by a passage."""
    node = PutNode(label=Label.ENTITY, id=f"n{number}", props={"name": text, "kind": "", "last_seen": value})
    kept = np.array(vector, np.float32).tobytes()
    passage = PutPassage(id=f"n{number}#0", number=number, owner=Ref.entity(node.id), text=text, vector=kept)
    journal.append([Change(kind="test", operations=(node, passage), note={"why": text})], number)


def whole_log(backend: Backend) -> list[tuple[int | bytes, ...]]:
    with backend.reading() as connection:
        rows = connection.execute("SELECT seq, at, payload, salt, digest, chain FROM log ORDER BY seq").fetchall()
    return [(row[0], row[1], *map(bytes, row[2:])) for row in rows]


@pytest.mark.file
@pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")  # a thread of the pool does
@settings(max_examples=draws(6), suppress_health_check=[HealthCheck.function_scoped_fixture])
@example([("a\0b", 1, [0.0] * 4)])
@example(
    [("", -0.0, [math.nan, -0.0, math.inf, 1e-45]), ("\ud800", 1, [1.0] * 4), ("\U0010ffff" * 9_000, 5e-324, [1.0] * 4)]
)
@given(st.lists(st.tuples(TEXTS | HALVES, NUMBERS, st.lists(st.floats(width=32), min_size=4, max_size=4)), max_size=6))
def test_whatever_a_store_holds_comes_back_as_it_was_or_is_named(
    tenant: Callable[[], TenantDatabase],
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, int | float, list[float]]],
) -> None:
    folder = tmp_path_factory.mktemp("moved")
    source = journal(Database(folder / "source.db"))
    source.spaces.activate(source.spaces.prepare(model="of the test", dimension=4, digest="d"))
    taken = []
    for number, one in enumerate(rows, 1):
        with suppress(UnicodeError):
            said(source, number, *one)
            taken.append(one[0])
    on_server, back = tenant(), Database(folder / "back.db")
    try:
        if any("\0" in text for text in taken):
            with pytest.raises(StoreError, match=r"passage of Entity n\d+ holds a text with U\+0000"):
                moving.move(source.database, on_server)
            return
        assert moving.move(source.database, on_server) == moving.move(on_server, back)
        assert len(whole_log(back)) == len(taken)
        assert whole_log(source.database) == whole_log(on_server) == whole_log(back)
    finally:
        source.close()
        back.close()


@pytest.mark.file
def test_a_move_that_was_cut_off_goes_on(lived_in: Database, tenant: Callable[[], TenantDatabase]) -> None:
    target = tenant()

    class Cut(Exception):
        """Ends a move on the way."""

    def cut(table: str, rows: int) -> None:
        if table == "passage":
            raise Cut

    with pytest.raises(Cut):
        moving.move(lived_in, target, cut)
    assert moving.move(lived_in, target).rows["passage"] > 0


@pytest.mark.file
def test_a_target_that_holds_another_store_is_refused(lived_in: Database, tmp_path: Path) -> None:
    other = journal(Database(tmp_path / "other.db"))
    other.append([Change(kind="test", operations=(PutNode(label=Label.ENTITY, id="x", props={}),))], 1)
    with pytest.raises(ConflictError):
        moving.move(lived_in, other.database)
    other.close()


@pytest.mark.file
def test_what_a_server_cannot_keep_is_told(lived_in: Database, tenant: Callable[[], TenantDatabase]) -> None:
    with lived_in.transaction() as connection:
        connection.execute("UPDATE passage SET text = 'a' || char(0) || 'b' WHERE number = 1")
        owner = connection.execute("SELECT owner_label, owner FROM passage WHERE number = 1").fetchone()
    assert owner is not None
    with pytest.raises(StoreError, match=f"passage of {owner[0]} {owner[1]} holds a text with U\\+0000"):
        moving.move(lived_in, tenant())
