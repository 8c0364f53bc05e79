"""Opening a store with the embedding model of its settings, both at the same time."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

from helix.errors import ModelError
from helix.model.clock import Clock
from helix.model.ids import IdMaker
from helix.providers.choose import embedder_for
from helix.providers.embedder import Embedder
from helix.settings import Settings
from helix.store.engine import OpensEngine
from helix.store.store import Store

log = logging.getLogger(__name__)


def open_store(
    settings: Settings,
    *,
    embedder: Embedder | None,
    clock: Clock,
    make_id: IdMaker,
    engine: OpensEngine | None = None,
) -> tuple[Store, str]:
    """Return the open store and a sentence on its embedding model, or on why there is none.

    A model that turns out damaged when it is loaded leaves the store lexical only, loudly.
    """
    if embedder is not None:
        return Store(settings, embedder=embedder, clock=clock, make_id=make_id, engine=engine), embedder.space.model
    if settings.one_of_many:  # what is wrong names files of the server's machine: its own log says it
        reason = "lexical only: the server has no embedding model, which whoever runs it may install"
        return Store(settings, embedder=None, clock=clock, make_id=make_id, engine=engine), reason
    choice = embedder_for(settings)
    with ThreadPoolExecutor(1, thread_name_prefix="helix-warm") as pool:
        # The model loads while the store opens: together they are what a start takes.
        warm = pool.submit(choice.embedder.warm) if choice.embedder is not None else None
        store = Store(settings, embedder=choice.embedder, clock=clock, make_id=make_id, engine=engine)
        try:
            if warm is not None:
                warm.result()
        except ModelError as error:
            log.error("embedding model cannot be used", extra={"error": str(error)})
            store.runtime.embedder = None
            return store, f"lexical only: {error}"
    return store, choice.reason
