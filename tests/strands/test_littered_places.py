"""Holds that a place where a stranger leaves any number of files costs a store little, and nothing for good."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from test_carrying import store
from test_sync import folder_of, left_in, pair, settle, synced

from helix.operations import memories
from helix.service import Helix
from helix.store.erasing import SYNCED
from helix.strands import folder_remote, sync, sync_state
from helix.strands.folder_remote import FolderRemote
from helix.strands.place import StrandName, check_size
from tests.strands.conftest import Machines

MANY = 2 * sync._MOST_PROBLEMS


def litter(place: Path, signer: str, number: int) -> None:
    file = place / str(StrandName(signer, number, os.urandom(8).hex(), "0" * 16))
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"x" * 1_000)


def kept(helix: Helix) -> int:
    return sum(map(len, helix.store.journal.metas(SYNCED).values()))


def test_nothing_is_kept_of_signers_that_nobody_knows(machines: Machines, tmp_path: Path) -> None:
    place, (one, other) = folder_of(tmp_path), pair(machines)
    store(one, "the proxy listens on port 8080")
    settle(place, one, other)
    for _ in range(MANY):
        litter(place, os.urandom(8).hex(), 1)
    assert len(synced(one, place)["problems"]) == sync._MOST_PROBLEMS + 1
    assert len(sync_state.read(one.store.journal, str(place)).seen) <= 2
    before = kept(one)
    for folder in place.iterdir():
        for name in folder.glob(f"*{'0' * 16}.dna"):
            name.unlink()
    for _ in range(MANY):
        litter(place, os.urandom(8).hex(), 1)
    report = synced(one, place)
    assert not [problem for problem in report["problems"] if "turned back" in problem]
    assert kept(one) <= before


def test_what_is_no_strand_does_not_stay_while_others_are_fetched(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, (one, other) = folder_of(tmp_path), pair(machines)
    rule = store(one, "deploys run on friday")
    synced(one, place)
    (name,) = left_in(place)
    for number in range(MANY):
        litter(place, name.signer, 2 + number)
    fetch, beside = FolderRemote.fetch, list[int]()

    def watched(remote: FolderRemote, name: str, target: Path, most: int) -> None:
        beside.append(len(list(target.parent.iterdir())))
        fetch(remote, name, target, most)

    monkeypatch.setattr(FolderRemote, "fetch", watched)
    report = synced(other, place)
    assert report["taken"] == 1 and memories.get(other, rule)
    assert report["problems"][-1] == f"and {MANY - sync._MOST_PROBLEMS} more like these"
    assert len(beside) == MANY + 1 and max(beside) == 0


def test_a_file_that_is_named_nearly_as_a_strand_stops_no_sync(machines: Machines, tmp_path: Path) -> None:
    place, (one, other) = folder_of(tmp_path), pair(machines)
    rule = store(one, "deploys run on friday")
    synced(one, place)
    (name,) = left_in(place)
    for version in ("0" * 16, "f" * 16):
        (place / str(replace(name, version=version))).write_bytes(b"x")
    report = synced(other, place)
    assert (report["taken"], len(report["problems"])) == (1, 2) and memories.get(other, rule)


@pytest.mark.soak
def test_a_strand_that_grows_while_it_is_fetched_fills_no_disk(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, (one, other) = folder_of(tmp_path), pair(machines)
    rule = store(one, "deploys run on friday")
    synced(one, place)
    (name,) = left_in(place)
    litter(place, name.signer, 2)
    growing = place / str(max(left_in(place)))
    fetch, fetched = FolderRemote.fetch, list[int]()

    def grown(size: int, most: int) -> None:
        check_size(size, most)
        if size == 1_000:
            os.truncate(growing, 1 << 26)  # once it was looked at

    def watched(remote: FolderRemote, name: str, target: Path, most: int) -> None:
        try:
            fetch(remote, name, target, most)
        finally:
            fetched.append(target.stat().st_size)

    monkeypatch.setattr(folder_remote, "check_size", grown)
    monkeypatch.setattr(FolderRemote, "fetch", watched)
    report = synced(other, place)
    assert report["taken"] == 1 and memories.get(other, rule)
    assert report["problems"] == [f"{max(left_in(place))} was passed over: it grew while it was fetched"]
    assert growing.stat().st_size == 1 << 26 and min(fetched) == 1_000
