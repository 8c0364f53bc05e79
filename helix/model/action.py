"""Action: one thing that an agent did with a tool, a command or an edit, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A command that was run, or files that were edited, as a client's hook or transcript tells it.

    `exit_status` is None where none is known: before the action, or where the client tells only that it `failed`.
    `root` is the top of the project, from which paths are told; by default the folder it is done in.
    `change` says in a line what an edit did, as far as one line tells it; `passage` is what it takes out and puts in,
    where that is known before it is done. `output` is what a command printed, cut by
    whoever made the record. `at` is when it ended, or began where it has not.
    """

    id: str = ""
    command: str = ""
    files: tuple[str, ...] = ()
    change: str = ""
    passage: str = ""
    folder: str = ""
    root: str = ""
    exit_status: int | None = None
    failed: bool | None = None
    interrupted: bool = False
    output: str = ""
    at: datetime | None = None

    @property
    def is_edit(self) -> bool:
        """Whether it changes files and is no command."""
        return not self.command and bool(self.files)

    @property
    def passed(self) -> bool | None:
        """Whether it ended well; None where that is not known, or it was interrupted."""
        if self.interrupted:
            return None
        if self.exit_status is not None:
            return self.exit_status == 0
        return None if self.failed is None else not self.failed
