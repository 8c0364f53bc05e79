"""A process that carries out requests with idempotency keys, and is killed between the journal and the answer.

`main(home, nth)`: it is killed behind the nth append of the requests; what `REQUESTS` holds is asked in order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from victim import die_in

from helix import settings as configuration
from helix.api.carrying_out import once
from helix.api.fields import reader
from helix.journal.log import Journal
from helix.operations import capture, memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix

REQUESTS: tuple[tuple[Callable[..., Any], Mapping[str, Any]], ...] = (
    (memories.store, {"trigger": "the build needs node", "resolution": "install 20", "kind": "fact", "name": "node"}),
    (memories.feedback, {"names": ["node"], "delta": 1.0}),
    (capture.record_episode, {"content": "the build was run on a monday"}),
)


def carry_out(helix: Helix, number: int) -> Any:
    """Ask for one of the requests, under the key that it has each time."""
    function, given = REQUESTS[number]
    return once(function, f"request {number}", given)(helix, **reader(function, skip=1)(given))


def open_helix(home: Path) -> Helix:
    """Open the store of the home."""
    return Helix.open(configuration.load({"home": home}, environ={}, cwd=home), embedder=HashEmbedder())


def main(home: Path, nth: int) -> None:
    opened = open_helix(home)
    die_in(Journal, "append", before=False, nth=nth)
    for one in range(len(REQUESTS)):
        carry_out(opened, one)
