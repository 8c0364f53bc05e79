"""An import whose journal is away for one of its changes, whichever: nothing of it stays, and it may come again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from test_strand_kills import tell

from helix.errors import EngineError
from helix.model.reports import JobState
from helix.operations import strand_keys as keys
from helix.operations import strands, upkeep
from helix.service import Helix
from tests.strands.conftest import Machines
from tests.waiting import all_ended, ended, finished


@contextmanager
def away(helix: Helix, at: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Refuse the change to the journal of this number, counted from one on; lend what counts them."""
    database, counted = helix.store.journal.database, [0]
    real = database.transaction

    @contextmanager
    def counting(*given: Any, **named: Any) -> Iterator[Any]:
        counted[0] += 1
        if counted[0] == at:
            raise EngineError("the server is away")
        with real(*given, **named) as connection:
            yield connection

    with monkeypatch.context() as patched:
        patched.setattr(database, "transaction", counting)
        yield counted


def test_an_import_that_one_change_of_is_refused_may_come_again(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, here = machines(), machines()
    keys.new_key(there, "me")
    (here.settings.home / "keys").symlink_to(there.settings.home / "keys")
    failures, at, counted = 0, 0, [0]
    while at <= counted[0]:  # the last one met no change of its number
        at += 1
        tell(there, range(3 * at, 3 * at + 3))
        strand = str(tmp_path / f"{at}.dna")
        finished(there, strands.export_strand(there, strand, recipients=["me"]))
        all_ended(here)
        with away(here, at, monkeypatch) as counted:
            failed = ended(here, strands.import_strand(here, strand)).state is JobState.FAILED
        if failed:
            failures += 1
            held = upkeep.stats(here).total
            assert held <= 3 * (at - 1), f"change {at} was refused, and the strand is there"
            finished(here, strands.import_strand(here, strand))
        assert upkeep.stats(here).total == 3 * at, f"change {at} was refused, and the strand does not come any more"
    assert failures >= 5
