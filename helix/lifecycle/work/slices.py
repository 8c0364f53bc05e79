"""Slices: a run that gives way to whoever waits for an answer, at every resting place of its work."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from helix.lifecycle.compose import Composer
from helix.lifecycle.work.run import Run
from helix.store.store import Store

T = TypeVar("T")


class SlicedRun(Run):
    """A run in the background. Its work rests whenever it asks whether to stop, tells of itself or writes."""

    def __init__(self, store: Store, job: str, kind: str, *, rest: Callable[[], bool], dry_run: bool = False) -> None:
        """`rest` waits while somebody is being answered, and returns whether to stop."""
        super().__init__(store, job, kind, dry_run=dry_run)
        self._rest = rest
        self.told = ""

    @property
    def cancelled(self) -> bool:
        """Whether the run was asked to stop; asking costs next to nothing while nobody waits for an answer."""
        return self._rest()

    def write(self, step: str, compose: Callable[[Composer], T]) -> T | None:
        """Rest, and write as `Run.write` does."""
        self._rest()
        return super().write(step, compose)

    def progress(self, done: int, total: int, message: str = "") -> None:
        """Tell how far the run is, which the worker's status shows, and rest."""
        self.told = f"{message} {done:,} of {total:,}".strip() if total else f"{message} {done:,}".strip()
        self._rest()
