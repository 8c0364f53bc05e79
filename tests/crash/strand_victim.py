"""A process that exports, imports or rolls back and kills itself on the way; run by the kill test of the strands.

`main(home, deed, place, nth, path)` kills itself at the nth call of the real code that `place` names; at `after` it is
killed so many milliseconds after it began, at `nowhere` never. `path` is the strand.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from erasing_victim import die_in

from helix import files
from helix import settings as configuration
from helix.held_folder import HeldFolder
from helix.journal.effects import Touched
from helix.journal.log import Journal
from helix.journal.strand_versions import Versions
from helix.model.memory import Status
from helix.operations import memories, strands
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.store.catalogue import Catalogue
from helix.strands import arriving, container, rollback
from helix.strands.merging import Merge
from helix.strands.sealed import Encrypting
from helix.strands.staged import Staged
from helix.strands.three_way import Incoming
from tests.waiting import UNHURRIED, finished

TAG = "start"
BUILT_ON = "when somebody has built on it"
BATCH = 15
"""Rows that are written at once: an import of these tests takes several steps so."""
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
    "when all rows lie ready": (arriving, "_stage", False),
    "before rows are written": (Merge, "write", True),
    "when all rows are in": (arriving, "meet", True),
    "when all have met": (arriving, "meet", False),
    "before the rows are known": (Staged, "known_as", True),
    "behind the rows that are known": (Staged, "known_as", False),
    "before the version is noted": (arriving, "_note", True),
    "before a version is kept": (Versions, "keep", True),
    "behind a version that is kept": (Versions, "keep", False),
    "when the rows go back": (rollback, "_write", True),
    "when a file is begun": (files, "create_private", False),
    "in the middle of the content": (Encrypting, "write", False),
    "behind the content": (container, "_write_content", False),
    "before the name is given": (HeldFolder, "rename", True),
    "behind the name that is given": (HeldFolder, "rename", False),
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


def build_on(helix: Helix, nth: int) -> None:
    """Have somebody change what the nth batch of an import brings, and build on it, before the process is killed."""
    write, batches = Merge.write, count(1)

    def written(merge: Merge, batch: Sequence[Incoming], step: str) -> None:
        write(merge, batch, step)
        if next(batches) == nth:
            known = {memory.id for memory in helix.store.index.memories(Status.ACTIVE)} - {
                ref.id for ref in merge.fresh
            }
            brought, own = merge.fresh[-1].id, min(known)
            memories.feedback(helix, [brought], delta=1.0)
            memories.edge(helix, own, brought, "solves")
            print(merge.job, brought, own, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    Merge.write = written  # type: ignore[method-assign]


def main(home: Path, deed: str, place: str, nth: int, path: str) -> None:
    helix = opened(home)
    arriving.BATCH = BATCH
    started = time.monotonic()
    if place == "after":
        timer = threading.Timer(nth / 1000, lambda: os.kill(os.getpid(), signal.SIGKILL))
        timer.daemon = True
        timer.start()
    elif place == BUILT_ON:
        build_on(helix, nth)
    elif place != "nowhere":
        die_in(*PLACES[place], nth)
    finished(helix, DEEDS[deed](helix, path))
    print(int((time.monotonic() - started) * 1000), flush=True)
    helix.close()
