"""Unfinished erasures: what was cut short is done to its end before anybody is served."""

from __future__ import annotations

import logging

from helix.memory.erasure import hard_forget, scan
from helix.store import erasing
from helix.store.copy_drafts import drop_unfinished_copies
from helix.store.store import Store

log = logging.getLogger(__name__)

_BY_KIND = {erasing.ERASE: hard_forget.carry_out, erasing.REDACT: scan.carry_out}


def finish(store: Store) -> bool:
    """Finish the hard forget or scan that was cut short when the store was closed or killed; return whether one was.

    The graph is left to be built anew (`store.graph.needs_rebuild`). A store in which it fails is closed: nobody is to
    be served what was to be gone.
    """
    drop_unfinished_copies(store.path)
    try:
        done = 0
        while (note := erasing.under_way(store.journal)) is not None:
            report = _BY_KIND[note.kind](store, note, log.info)
            log.info("erasure finished", extra={"nodes": len(report.erased), "complete": report.complete})
            done += 1
    except BaseException:
        store.close()
        raise
    return done > 0
