"""A disk that gets full in the middle of an import or an export leaves nothing of it behind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from exchanging import root
from test_strand_kills import tell

from helix import settings as configuration
from helix.model.reports import JobState
from helix.operations import strand_keys as keys
from helix.operations import strands, upkeep
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.strands.whole import UNDER_WAY
from tests.sampling import some
from tests.strands.conftest import Machines
from tests.test_full_disk import small_disk  # noqa: F401  (a fixture)
from tests.waiting import UNHURRIED, ended, finished

MEMORIES = 80
ROOMS = (0, 150_000, 300_000)
"""Bytes that are left on the disk: an import meets its end before the first change, or among them."""


def leave(folder: Path, room: int) -> Path:
    """Fill the disk but for so many bytes; return what fills it."""
    ballast = folder / "ballast"
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
    ballast.write_bytes(bytes(max(0, free - room)))
    return ballast


@pytest.mark.parametrize("room", some(ROOMS, 1))
def test_an_import_that_fills_the_disk_is_not_there(
    small_disk: Path,  # noqa: F811
    machines: Machines,
    put_empty_store: Callable[[Settings, HashEmbedder], None],
    tmp_path: Path,
    room: int,
) -> None:
    many = MEMORIES if room else 8  # where there is no room at all the first change meets that
    there = machines()
    keys.new_key(there, "me")
    tell(there, range(many))
    strand = tmp_path / "all.dna"
    finished(there, strands.export_strand(there, str(strand), recipients=["me"]))
    overrides = {"home": small_disk, "buffer_pool_mb": 64, "max_db_gb": 1}
    settings = configuration.load(overrides, environ=UNHURRIED, cwd=small_disk)
    put_empty_store(settings, HashEmbedder(256))
    (small_disk / "keys").symlink_to(there.settings.home / "keys")
    with Helix.open(settings, embedder=HashEmbedder(256)) as here:
        tell(here, range(MEMORIES, MEMORIES + 4))
        here.store.graph.settle()
        before = root(here.store)
        ballast = leave(small_disk, room)
        failed = ended(here, strands.import_strand(here, str(strand)))
        assert failed.state is JobState.FAILED
        assert "room" in str(failed.error) or "space" in str(failed.error)
        ballast.unlink()
    with Helix.open(settings, embedder=HashEmbedder(256)) as here:
        assert root(here.store) == before
        assert not here.store.journal.meta(UNDER_WAY)
        finished(here, strands.import_strand(here, str(strand)))
        assert upkeep.stats(here).total == many + 4


@pytest.mark.soak
def test_an_export_that_fills_the_disk_leaves_no_file(small_disk: Path, machines: Machines) -> None:  # noqa: F811
    helix = machines()
    keys.new_key(helix, "me")
    tell(helix, range(MEMORIES))
    target = small_disk / "all.dna"
    ballast = leave(small_disk, 100_000)
    failed = ended(helix, strands.export_strand(helix, str(target), recipients=["me"]))
    assert failed.state is JobState.FAILED
    assert "room" in str(failed.error) or "space" in str(failed.error)
    assert list(small_disk.iterdir()) == [ballast]
    ballast.unlink()
    finished(helix, strands.export_strand(helix, str(target), recipients=["me"]))
    assert strands.inspect_strand(helix, str(target), verify=True).counts["nodes"] >= MEMORIES
