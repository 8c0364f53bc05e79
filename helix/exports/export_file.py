"""Export file: a file written for the owner alone, under its name only once it is whole."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from helix import held_folder
from helix.errors import ConflictError
from helix.store.jobs import Ticket

_OFTEN = 1_000


@contextmanager
def new_file(target: Path) -> Iterator[TextIO]:
    """Lend a new export file for text. Raises ConflictError where `target` is, NotFoundError without its folder."""
    with held_folder.new_file(target) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="")
        yield text
        text.detach()


class ExportProgress:
    """Tells a job how much is written, and ends it where it was asked to stop."""

    def __init__(self, ticket: Ticket, total: int) -> None:
        self.written = 0
        self._ticket = ticket
        self._total = total

    def one(self) -> None:
        """Count one thing exported; raises ConflictError where the job is to stop."""
        self.written += 1
        if self.written % _OFTEN == 0:
            self._ticket.progress(self.written, self._total)
            if self._ticket.cancelled:
                raise ConflictError(f"the export was stopped after {self.written:,} of them")
