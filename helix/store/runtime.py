"""The runtime: what the functions over a store take from around it and not from its data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from helix.errors import ForbiddenError
from helix.model.clock import Clock
from helix.model.ids import IdMaker
from helix.providers.embedder import Embedder
from helix.providers.llm import LanguageModel
from helix.settings import Settings


@dataclass(slots=True, kw_only=True)
class Runtime:
    """Settings, clock, ids and models.

    `language_model` is what background work may ask: None where no provider is set up, and set by whoever opens the
    store. `full` tells why nothing more may be kept, empty while it may; it may block, and whoever serves it sets it.
    """

    settings: Settings
    embedder: Embedder | None
    clock: Clock
    make_id: IdMaker
    language_model: LanguageModel | None = None
    full: Callable[[], str] = str

    def check_room(self, so_far: str = "") -> None:
        """Raise ForbiddenError where nothing more may be kept in the store; `so_far` says what went in before."""
        if why := self.full():
            hint = "forget for good what is not needed, or ask who runs the server for more"
            raise ForbiddenError(f"{why}{so_far}", hint=hint)
