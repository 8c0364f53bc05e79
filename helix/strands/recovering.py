"""Recovering: a start brings to its end what a kill cut short, before anything else is at work."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from helix.errors import HelixError
from helix.store.store import Store
from helix.strands import arriving, rollback, whole
from helix.strands.lineage import remove_drafts

log = logging.getLogger(__name__)

_ENDINGS: Mapping[str, Callable[[Store, Mapping[str, Any]], object]] = MappingProxyType(
    {arriving.JOB: arriving.bring_to_end, rollback.KIND: rollback.bring_to_end}
)


def recover(store: Store) -> None:
    """Bring a job to its end that was cut short, or take it back where that cannot be; remove what it left behind."""
    note = whole.under_way(store)
    if note is not None:
        _end(store, note)
        whole.ended(store)
    remove_drafts(store)


def _end(store: Store, note: Mapping[str, Any]) -> None:
    job, ending = note["job"], _ENDINGS.get(note["kind"])
    if ending is None or store.journal.effects.undone_at(job) is not None:
        why = "it was being taken back"
    else:
        try:
            ending(store, note)
            return
        except (HelixError, OSError, ValueError, KeyError) as error:  # such as rows that an erasure has removed
            why = str(error)
    log.warning("a job that was cut short is taken back", extra={"job": job, "why": why})
    if not whole.taken_back(store, job):
        log.error("a job was cut short and can neither be ended nor be taken back", extra={"job": job})
