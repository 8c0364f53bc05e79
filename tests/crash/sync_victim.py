"""A machine that syncs with a folder until it is killed in the middle; run by the test of syncing.

`main(home, folder, place, nth)` kills itself at the nth call of the real code that `place` names, or never.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from victim import die_in

from helix import settings as configuration
from helix.journal.log import Journal
from helix.journal.strand_versions import Versions
from helix.operations import syncing
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.strands import arriving
from helix.strands.lineage import RowsKept
from helix.strands.remotes import FolderRemote
from tests.waiting import UNHURRIED, finished

PLACES: dict[str, Callable[[int], None]] = {
    "nowhere": lambda nth: None,
    "when the place is listed": lambda nth: die_in(FolderRemote, "names", before=False, nth=nth),
    "when a strand is fetched": lambda nth: die_in(FolderRemote, "fetch", before=False, nth=nth),
    "before rows come in": lambda nth: die_in(Journal, "append", before=True, nth=nth),
    "behind rows that came in": lambda nth: die_in(Journal, "append", before=False, nth=nth),
    "before rows meet": lambda nth: die_in(arriving, "meet", before=True, nth=nth),
    "when the import is whole": lambda nth: die_in(Journal, "drop_meta", before=False, nth=nth),
    "before its rows are known": lambda nth: die_in(RowsKept, "known_as", before=True, nth=nth),
    "behind a version": lambda nth: die_in(Versions, "keep", before=False, nth=nth),
    "before it leaves a strand": lambda nth: die_in(FolderRemote, "publish", before=True, nth=nth),
    "behind what it left": lambda nth: die_in(FolderRemote, "publish", before=False, nth=nth),
}


def machine(home: Path) -> Helix:
    """Open the machine of a home."""
    settings = configuration.load({"home": home}, environ=UNHURRIED, cwd=home)
    return Helix.open(settings, embedder=HashEmbedder(256))


def main(home: Path, folder: str, place: str, nth: int) -> None:
    with machine(home) as helix:
        PLACES[place](nth)
        finished(helix, syncing.sync(helix, folder))
