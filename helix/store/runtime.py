"""The runtime: what the functions over a store take from around it and not from its data."""

from __future__ import annotations

from dataclasses import dataclass

from helix.model.clock import Clock
from helix.model.ids import IdMaker
from helix.providers.embedder import Embedder
from helix.providers.llm import LanguageModel
from helix.settings import Settings


@dataclass(slots=True, kw_only=True)
class Runtime:
    """Settings, clock, ids and models.

    `language_model` is what background work may ask: None where no provider is set up, and set by whoever opens the
    store.
    """

    settings: Settings
    embedder: Embedder | None
    clock: Clock
    make_id: IdMaker
    language_model: LanguageModel | None = None
