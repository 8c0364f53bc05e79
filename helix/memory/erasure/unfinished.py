"""Unfinished erasures: what was cut short is done to its end before anybody is served."""

from __future__ import annotations

import logging

from helix.memory.erasure import hard_forget, scan
from helix.store import erasing
from helix.store.store import Store

log = logging.getLogger(__name__)

_BY_KIND = {erasing.ERASE: hard_forget.carry_out, erasing.REDACT: scan.carry_out}


def finish(store: Store) -> bool:
    """Finish an erasure that was under way when the store was closed or killed; return whether there was one.

    The graph is left to be built anew (`store.graph.needs_rebuild`). A store in which it fails is closed: nobody is to
    be served what was to be gone.
    """
    erasing.drop_unfinished_copies(store.path)
    try:
        note = erasing.under_way(store)
        if note is None:
            return False
        report = _BY_KIND[note.kind](store, note, log.info)
    except BaseException:
        store.close()
        raise
    log.info("erasure finished", extra={"nodes": len(report.erased), "complete": report.complete})
    return True
