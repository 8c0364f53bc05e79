"""A full disk is met with a clear error: nothing acknowledged is lost, recall goes on, writing resumes with room."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from helix import daemon
from helix import settings as configuration
from helix.errors import DiskFullError
from helix.lock import StoreLock, is_locked
from helix.memory.remember.request import StoreRequest
from helix.model.recall import RecallQuery
from helix.operations import graph, memories, upkeep
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from tests.waiting import UNHURRIED


def mount(*arguments: str) -> bool:
    return (
        shutil.which("mount") is not None and subprocess.run(["mount", *arguments], capture_output=True).returncode == 0
    )


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 40 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if not mount("-t", "tmpfs", "-o", "size=40m", "tmpfs", str(folder)):
        pytest.skip("mounting a small file system needs root and Linux")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


ROOM = 20 << 20
"""Bytes that others have left on it in an ordinary run."""


def fill(helix: Helix, acknowledged: list[str]) -> DiskFullError:
    """Store until it is refused; return the refusal."""
    rng = random.Random(len(acknowledged))
    for _ in range(2_000):
        number = len(acknowledged)
        try:
            stored = memories.store(
                helix,
                StoreRequest(
                    trigger=f"item{number} of many",
                    resolution=" ".join(f"{rng.random()}" for _ in range(400)),
                    kind="fact",
                ),
            )
        except DiskFullError as error:
            return error
        acknowledged.append(stored.id)
    raise AssertionError("the disk never filled up")


def flood(ballast: Path) -> None:
    """Leave no room at all."""
    with pytest.raises(OSError, match="No space left"), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)


def check(helix: Helix, acknowledged: list[str]) -> None:
    served = {row[0] for row in graph.cypher(helix, "MATCH (m:Memory) RETURN m.id", limit=100_000).rows}
    assert served == set(acknowledged)
    for number in (0, len(acknowledged) - 1):
        answer = helix.recall(RecallQuery(query=f"item{number}", limit=1))
        assert answer.items[0].node.id == acknowledged[number]
    assert [finding.check for finding in upkeep.doctor(helix).findings if not finding.ok] in ([], ["disk"])


def test_a_full_disk_refuses_clearly_and_loses_nothing(small_disk: Path, pytestconfig: pytest.Config) -> None:
    """Of a disk on which other files have left little room, where it is not a soak."""
    overrides = {"home": small_disk, "buffer_pool_mb": 64, "max_db_gb": 1, "reopen_after": 20}
    settings = configuration.load(overrides, environ=UNHURRIED, cwd=small_disk)
    acknowledged: list[str] = []
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        if not pytestconfig.getoption("--soak"):
            assert helix.store.graph.settle()
            (small_disk / "others").write_bytes(bytes(shutil.disk_usage(small_disk).free - ROOM))
        refusal = fill(helix, acknowledged)
        assert refusal.code == "DISK_FULL"
        assert "free some space" in str(refusal)
        assert any("disk" in warning for warning in upkeep.status(helix).warnings)
        assert len(acknowledged) > 5
        check(helix, acknowledged)
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        check(helix, acknowledged)
        assert mount("-o", "remount,size=200m", str(small_disk))
        stored = memories.store(
            helix, StoreRequest(trigger=f"item{len(acknowledged)}, with room again", resolution="x", kind="fact")
        )
        check(helix, [*acknowledged, stored.id])


def test_a_disk_that_another_program_fills_loses_nothing(small_disk: Path) -> None:
    settings = configuration.load(
        {"home": small_disk, "buffer_pool_mb": 64, "max_db_gb": 1}, environ=UNHURRIED, cwd=small_disk
    )
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        stored = memories.store(helix, StoreRequest(trigger="before the flood", resolution="x", kind="fact"))
        helix.store.graph.settle()  # or it meets the full disk too, and is being rebuilt when it is asked
        ballast = small_disk / "ballast"
        flood(ballast)
        with pytest.raises(DiskFullError):
            memories.store(helix, StoreRequest(trigger="in the flood", resolution="y", kind="fact"))
        assert helix.recall(RecallQuery(query="before the flood")).items[0].node.id == stored.id
        ballast.unlink()
        after = memories.store(helix, StoreRequest(trigger="after the flood", resolution="z", kind="fact"))
        served = {row[0] for row in graph.cypher(helix, "MATCH (m:Memory) RETURN m.id").rows}
        assert served == {stored.id, after.id}


@pytest.mark.soak
def test_no_daemon_starts_on_a_full_disk_and_that_is_what_its_client_says(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parent.parent), prepend=os.pathsep)
    overrides = {"home": small_disk, "buffer_pool_mb": 64, "max_db_gb": 1, "embedding_model": "none"}
    settings = configuration.load(overrides, environ=UNHURRIED, cwd=small_disk)
    with daemon.connect(settings) as client:
        name = client.store(trigger="before the flood", resolution="x", kind="fact").name
    daemon.stop(settings)
    ballast = small_disk / "ballast"
    flood(ballast)
    for _ in range(2):
        with pytest.raises(DiskFullError) as refused:
            daemon.connect(settings)
        assert "room" in f"{refused.value.message} {refused.value.hint}"
    ballast.unlink()
    with daemon.connect(settings) as client:
        assert client.recall("before the flood").items[0].node.name == name
    daemon.stop(settings)


def test_a_store_on_a_disk_that_turned_read_only_is_still_known_to_be_owned(tmp_path: Path) -> None:
    with StoreLock(tmp_path):
        if not mount("--bind", str(tmp_path), str(tmp_path)):
            pytest.skip("mounting needs root and Linux")
        try:
            assert mount("-o", "remount,ro,bind", str(tmp_path))
            assert is_locked(tmp_path)
        finally:
            subprocess.run(["umount", "-l", str(tmp_path)], check=True)
    assert not is_locked(tmp_path)
