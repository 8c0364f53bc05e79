"""What a store says of places and of jobs under way, where it was damaged or came from somewhere else."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_carrying import store

from helix import settings as configuration
from helix.operations import memories, syncing
from helix.operations import strand_keys as keys
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store.engine import JOURNAL_NAME
from helix.store.erasing import STAGED, STRANDS
from helix.strands.arriving import JOB
from helix.strands.lineage import rows_known
from helix.strands.packed_lines import PackedLines
from helix.strands.rows import Selection
from helix.strands.watching import Watching
from tests.strands.conftest import Machines
from tests.waiting import UNHURRIED, at_rest

DAMAGED = {
    "no JSON": "{",
    "no object": "7",
    "another's": '{"place": "x", "published": [], "and": 1}',
    "nested": "[" * 99_999,
    "no place": '{"place": [], "minutes": 1, "published": []}',
    "no minutes": '{"place": "x", "minutes": [], "published": []}',
}


@pytest.fixture
def closed(machines: Machines, tmp_path: Path) -> Settings:
    """The settings of a store that is synced with the folder `place` every minute, and closed."""
    (tmp_path / "place").mkdir()
    helix = machines()
    keys.new_key(helix, "laptop")
    store(helix, "the proxy listens on port 8080")
    syncing.watch_sync(helix, str(tmp_path / "place"), 1)
    at_rest(helix)
    home = helix.settings.home
    helix.close()
    return configuration.load({"home": home}, environ=UNHURRIED, cwd=home)


def say(settings: Settings, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(settings.store_path / JOURNAL_NAME, isolation_level=None)) as raw:
        assert raw.execute(statement, values).rowcount > 0


def opened(settings: Settings, **changed: Any) -> Helix:
    return Helix.open(replace(settings, **changed), embedder=HashEmbedder(256))


def watching() -> bool:
    return any(thread.name == "helix-sync" for thread in threading.enumerate())


@pytest.mark.parametrize(("changed", "watches"), [({}, True), ({"one_of_many": True}, False)], ids=["own", "tenant"])
def test_a_tenant_s_store_is_synced_with_no_place_that_it_brought(
    closed: Settings, changed: Mapping[str, Any], watches: bool
) -> None:
    with opened(closed, **changed):
        assert watching() is watches


@pytest.mark.parametrize("note", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_note_of_a_place_stops_nothing(closed: Settings, note: str) -> None:
    say(closed, "UPDATE meta SET value = ? WHERE key LIKE 'sync:%'", note)
    with opened(closed) as helix:
        assert memories.memories(helix).total == 1
        assert syncing.synced_places(helix) == []
        (place,) = syncing.watch_sync(helix, str(closed.home.parent / "place"), 9)
        assert place.minutes == 9


def test_a_store_that_cannot_go_on_is_closed_and_opens_once_it_can(
    closed: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Watching) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(Watching, "start", refuse)
        with pytest.raises(RuntimeError, match="thread"):
            opened(closed)
    with opened(closed) as helix:
        assert memories.memories(helix).total == 1


def test_a_note_of_a_job_leads_to_no_file_outside_of_the_store(closed: Settings, tmp_path: Path) -> None:
    (closed.store_path / STRANDS).mkdir(exist_ok=True)
    there = os.path.relpath(tmp_path / "theirs", closed.store_path / STRANDS)
    files = [tmp_path / f"theirs-{part}{STAGED}" for part in ("rows", "known")]
    for file in files:
        PackedLines(file).close()
    version = {"id": there, "selection": Selection().named, "parents": [], "ancestry": [], "why": "", "tag": ""}
    job = {"kind": JOB, "job": there, "rows": 0, "batch": 1, "signer": "x", "trust": "web", "root": ""}
    say(
        closed,
        "INSERT INTO meta VALUES ('strand_under_way', ?)",
        json.dumps({**job, "version": version, "complete": True}),
    )
    with opened(closed) as helix:
        at_rest(helix)
        assert memories.memories(helix).total == 1
    assert all(file.is_file() for file in files)
    assert not (tmp_path / "theirs.rows").exists()


def test_a_version_that_a_strand_names_is_no_file_elsewhere(closed: Settings, tmp_path: Path) -> None:
    PackedLines(tmp_path / "theirs.rows").close()
    with opened(closed) as helix:
        assert rows_known(helix.store.path, os.path.relpath(tmp_path / "theirs", closed.store_path / STRANDS)) is None
