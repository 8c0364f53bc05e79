"""Export file: a file written for the owner alone, under its name only once it is whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from helix import files
from helix.errors import ConflictError, NotFoundError
from helix.store.jobs import Ticket

_OFTEN = 1_000


@contextmanager
def new_file(target: Path) -> Iterator[TextIO]:
    """Lend a new export file for text. Raises ConflictError where `target` is, NotFoundError without its folder."""
    if os.path.lexists(target):
        raise ConflictError(f"{target} exists already", hint="name another file, or remove it first")
    if not target.parent.is_dir():
        raise NotFoundError(f"there is no folder {target.parent}", hint="make it first")
    draft = target.with_name(f"{target.name}.{os.urandom(8).hex()}.new")
    try:
        with os.fdopen(files.create_private(draft, exclusive=True), "w", encoding="utf-8", newline="") as file:
            yield file
        draft.rename(target)
    finally:
        draft.unlink(missing_ok=True)


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
