"""A process that exports, imports or rolls back and kills itself on the way; run by the kill test of the strands.

`main(home, deed, place, nth, path)` kills itself at the nth call of the real code that `place` names; at `after` it is
killed so many milliseconds after it began, at `nowhere` never. `path` is the strand.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from erasing_victim import die_in

from helix import files
from helix import settings as configuration
from helix.journal.effects import Touched
from helix.journal.log import Journal
from helix.journal.strand_versions import Versions
from helix.operations import strands
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.store.catalogue import Catalogue
from helix.strands import arriving, container, rollback
from helix.strands.lineage import RowsKept
from helix.strands.merging import Merge
from helix.strands.sealed import Encrypting
from tests.waiting import UNHURRIED, finished

TAG = "start"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
"""What the clock says: two runs that come to an end come to the same."""
PLACES: dict[str, tuple[Any, str, bool]] = {
    "before a transaction": (Journal, "append", True),
    "inside a transaction": (Touched, "record", False),
    "behind a transaction": (Journal, "append", False),
    "before memory has a step": (Catalogue, "apply", True),
    "behind the first note": (Journal, "set_meta", False),
    "before the last note": (Journal, "drop_meta", True),
    "behind the last note": (Journal, "drop_meta", False),
    "when all rows are in": (Merge, "take", False),
    "when all have met": (Merge, "meet", False),
    "before the rows are known": (RowsKept, "known_as", True),
    "behind the rows that are known": (RowsKept, "known_as", False),
    "before the version is noted": (arriving, "_note", True),
    "before a version is kept": (Versions, "keep", True),
    "behind a version that is kept": (Versions, "keep", False),
    "when the rows go back": (rollback, "_write", True),
    "when a file is begun": (files, "create_private", False),
    "in the middle of the content": (Encrypting, "write", False),
    "behind the content": (container, "_write_content", False),
    "before the name is given": (Path, "rename", True),
    "behind the name that is given": (Path, "rename", False),
}


def opened(home: Path) -> Helix:
    """Open the store of a home, with the clock that stands still."""
    settings = configuration.load({"home": home}, environ=UNHURRIED, cwd=home)
    return Helix.open(settings, embedder=HashEmbedder(256), clock=lambda: NOW)


DEEDS: dict[str, Callable[[Helix, str], Any]] = {
    "export": lambda helix, path: strands.export_strand(helix, path, recipients=["other"]),
    "import": lambda helix, path: strands.import_strand(helix, path),
    "rollback": lambda helix, path: strands.roll_back_to(helix, TAG),
}


def main(home: Path, deed: str, place: str, nth: int, path: str) -> None:
    helix = opened(home)
    started = time.monotonic()
    if place == "after":
        timer = threading.Timer(nth / 1000, lambda: os.kill(os.getpid(), signal.SIGKILL))
        timer.daemon = True
        timer.start()
    elif place != "nowhere":
        die_in(*PLACES[place], nth)
    finished(helix, DEEDS[deed](helix, path))
    print(int((time.monotonic() - started) * 1000), flush=True)
    helix.close()
