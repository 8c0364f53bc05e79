"""What a journal says beside its log may be damaged, or somebody else's: the store opens all the same."""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from helix.errors import HelixError
from helix.journal import journal_copy
from helix.journal.chain import digest_of
from helix.journal.decoding import inflated
from helix.memory.remember.remember import remember
from helix.memory.remember.request import StoreRequest
from helix.model.work_item import EPISODES_READ
from helix.operations import background_work, memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store.store import Store
from tests.sampling import some

WORK = "INSERT INTO work VALUES ('w', 'consolidate', 'x', '{}', ?, 0, ?, ?, NULL, NULL, '', ?, NULL)"
META = "INSERT OR REPLACE INTO meta VALUES (?, ?)"
SALT = bytes(16)


def row(at: int, payload: bytes, seq: int = 2) -> tuple[str, tuple[object, ...]]:
    packed = zlib.compress(payload)
    return "INSERT INTO log VALUES (?, ?, ?, ?, ?, x'00')", (seq, at, packed, SALT, digest_of(SALT, packed))


SAID: dict[str, tuple[str, tuple[object, ...]]] = {
    "no JSON": (META, ("consolidated", "nope")),
    "a list": (META, ("consolidated", "[1]")),
    "no moments": (META, ("consolidated", '{"*": "x", "a": 1e400, "b": -1}')),
    "no moment": (META, ("round_began", "xx")),
    "moments too late": (WORK, ("queued", -(2**62), 2**62, "{}")),
    "moments of text": (WORK, ("queued", 0, "abc", "{}")),
    "due too late": (WORK, ("queued", 2**62, 0, "{}")),
    "no counts": (WORK, ("done", 0, 0, json.dumps({EPISODES_READ: "x"}))),
    "a row too late": row(2**62, b'{"kind": "x", "ops": []}'),
    "a row too early": row(-(2**62), b'{"kind": "x", "ops": []}'),
    "a row too deep": row(1, b'{"kind": "x", "ops": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
}


@pytest.mark.file
@pytest.mark.parametrize("said", some(((said,) for said in SAID.values()), 6), ids=SAID)
def test_a_store_opens_and_answers(settings: Settings, said: tuple[str, tuple[object, ...]]) -> None:
    with closing(Store(settings, embedder=HashEmbedder())) as store:
        remember(store, StoreRequest(trigger="the kingfisher ledger", resolution="It is kept.", kind="fact"))
    with closing(sqlite3.connect(settings.store_path / "journal.db", isolation_level=None)) as connection:
        connection.execute(*said)
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        assert background_work.background(helix).items is not None
        assert [memory.resolution for memory in memories.memories(helix).items] == ["It is kept."]
        memories.store(helix, StoreRequest(trigger="another one", resolution="", kind="fact"))


@pytest.mark.file
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO space VALUES (9, 'm', 1099511627776, 'd', 1)",
        "UPDATE meta SET value = x'ff' WHERE key = 'store_id'",
    ],
)
def test_what_nothing_can_be_made_of_is_called_damaged(settings: Settings, statement: str) -> None:
    Store(settings, embedder=None).close()
    with closing(sqlite3.connect(settings.store_path / "journal.db", isolation_level=None)) as connection:
        connection.execute(statement)
    with pytest.raises(HelixError, match="damaged"):
        Store(settings, embedder=None)


@pytest.mark.file
def test_a_backup_whose_rows_have_no_possible_number_is_refused(settings: Settings) -> None:
    Store(settings, embedder=None).close()
    journal = settings.store_path / "journal.db"
    with closing(sqlite3.connect(journal, isolation_level=None)) as connection:
        connection.execute(*row(1, b"{}", seq=2**62))
    with pytest.raises(HelixError, match="damaged"):
        journal_copy.check(Path(journal))


def test_a_payload_is_not_unpacked_without_end() -> None:
    assert inflated(zlib.compress(bytes(1 << 20)), most=1 << 20) == bytes(1 << 20)
    for payload in (zlib.compress(bytes(2 << 20)), zlib.compress(b"cut")[:-1]):
        with pytest.raises(zlib.error, match="more than any change"):
            inflated(payload, most=1 << 20)
