"""Scan: runs today's rules over everything stored, and takes the secrets they find out of every file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from helix.journal import pages
from helix.journal.log import Journal
from helix.memory.erasure.stored_secrets import (
    Redact,
    Remembering,
    StoredText,
    clearing,
    excerpts,
    secrets_at,
    texts_of,
)
from helix.memory.upkeep.reembed import fill_in, lacking
from helix.model.clock import to_micros
from helix.model.edge import Label, Ref
from helix.model.erasure_report import EraseReport, ScanReport, SecretFound
from helix.model.operations import Change, PutEdge, PutNode, PutPassage
from helix.store import erasing
from helix.store.erasing import REDACT, ErasureNote
from helix.store.jobs import Ticket
from helix.store.store import Store
from helix.store.writer import Decision

_AT_ONCE = 64
"""Nodes that are rewritten by one change, while the writer waits."""

Progress = Callable[[int, int, str], None]


def scan(store: Store, ticket: Ticket, *, apply: bool = False) -> ScanReport:
    """Scan all that is stored for secrets; with `apply`, take them out everywhere, for good.

    A scan that is cancelled reports what it found by then and changes nothing. What is rewritten keeps its id; its
    passages are made and embedded anew, an entity that is named by a secret is dropped. Where nothing is found any more
    the copies are looked through all the same: one may have been out of reach before.
    """
    sweep = Sweep(store.journal)
    sweep.run(ticket.progress, lambda: ticket.cancelled)
    found = tuple(sweep.found)
    if not apply or ticket.cancelled or not found:
        erasure: EraseReport | None = None
        if apply:
            if not ticket.cancelled:  # what cannot be looked through may hold secrets, whatever the rest does
                erasing.leave_losses(store)
                erasure = erasing.erase_in_copies(
                    store, partial(_in_copy, (), Remembering(), to_micros(store.runtime.clock())), REDACT
                )
            erasing.end_erasure(store)
        return ScanReport(scanned=sweep.scanned, found=found, erasure=erasure if erasure and erasure.copies else None)
    noted = ErasureNote(kind=REDACT, refs=tuple(sweep.refs), at=to_micros(store.runtime.clock()))
    erasing.begin_erasure(store, noted)
    report = carry_out(store, noted, lambda stage: ticket.progress(0, 0, stage))
    while lacking(store) and not ticket.cancelled and fill_in(store, lambda: ticket.cancelled):
        pass
    erasing.rebuild_graph(store, ticket)
    return ScanReport(scanned=sweep.scanned, found=found, erasure=report)


def scan_restored(store: Store, ticket: Ticket) -> None:
    """Take secrets out of a backup that was just restored, where they were taken out since it was made."""
    noted = erasing.under_way(store.journal)
    if noted is None or noted.kind != REDACT or not noted.here:
        return
    carry_out(store, noted, lambda stage: ticket.progress(0, 0, stage))
    while lacking(store) and not ticket.cancelled and fill_in(store, lambda: ticket.cancelled):
        pass
    erasing.rebuild_graph(store, ticket)


def note(store: Store) -> None:
    """Note durably that a scan's secrets are to be taken out, before they are known; see `erasing.begin_erasure`."""
    erasing.begin_erasure(store, ErasureNote(kind=REDACT, refs=(), at=to_micros(store.runtime.clock())))


def carry_out(store: Store, note: ErasureNote, tell: Callable[[str], None]) -> EraseReport:
    """Take all of a noted scan's secrets out, whatever is done already; vectors and the graph are made anew later.

    A note without nodes was cut short before its scan had ended: everything is looked through again.
    """
    redact = Remembering()
    if not note.refs:
        sweep = Sweep(store.journal)
        sweep.run()
        note = replace(note, refs=tuple(sweep.refs))

    def remove() -> None:
        for start in range(0, len(note.refs), _AT_ONCE):
            store.writer.submit(partial(_decided, store, note.refs[start : start + _AT_ONCE], redact))

    texts = secrets_at(store.journal, note.refs, redact)
    in_copy = partial(_in_copy, note.refs, redact, note.at)
    return erasing.erase_everywhere(store, note, texts=texts, remove=remove, in_copy=in_copy, tell=tell)


def _in_copy(known: tuple[Ref, ...], redact: Redact, at: int, copy: Journal) -> frozenset[str]:
    """Take all secrets out of a copy's journal, as of `at` (microseconds).

    Returns the ids of the nodes that had any there, or are known to.
    """
    sweep = Sweep(copy)
    sweep.run()
    refs = tuple(dict.fromkeys((*known, *sweep.refs)))
    if operations := clearing(copy, refs, redact, pages.next_passage_number(copy)):
        copy.append([Change(kind=REDACT, operations=tuple(operations))], at)
    return frozenset(ref.id for ref in refs)


def _decided(store: Store, refs: tuple[Ref, ...], redact: Redact) -> Decision[None]:
    operations = tuple(clearing(store.journal, refs, redact, store.catalogue.next_passage_number))
    return Decision((Change(kind=REDACT, operations=operations),) if operations else (), None)


class Sweep:
    """One look through all that a journal holds: its present state first, then what only old rows of its log say."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._redact = Remembering()
        self.scanned = 0
        self.found: list[SecretFound] = []
        self.refs: dict[Ref, None] = {}

    def run(self, progress: Progress | None = None, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Look for secrets in everything; `progress` is told (done, in all, stage) for each page."""
        stages: tuple[tuple[str, Callable[[], Iterator[Iterable[Any]]], Callable[[Any], None]], ...] = (
            ("nodes", lambda: pages.nodes(self._journal), self._node),
            ("edges", lambda: pages.edges(self._journal), self._edge),
            ("passages", lambda: pages.passages(self._journal), self._passage),
            ("log", lambda: pages.log_rows(self._journal), self._row),
        )
        totals = pages.sizes(self._journal)
        for stage, read, look in stages:
            done = 0
            for page in read():
                if cancelled():
                    return
                for record in page:
                    look(record)
                    done += 1
                if progress is not None:
                    progress(done, totals[stage], f"looking through {stage}")
            self.scanned += done

    def _look(self, ref: Ref, said: StoredText, place: str = "") -> None:
        for kind, excerpt in excerpts(said, self._redact):
            self.refs[ref] = None
            self.found.append(SecretFound(ref=ref, place=place or said.place, kind=kind, excerpt=excerpt))

    def _node(self, node: PutNode) -> None:
        ref = Ref(label=node.label, id=node.id)
        for said in texts_of(node.props):
            self._look(ref, said)
        if node.label is Label.SESSION:
            self._look(ref, StoredText("id", node.id))

    def _edge(self, edge: PutEdge) -> None:
        for said in texts_of(edge.props):
            self._look(edge.source, said, "edge")

    def _passage(self, passage: PutPassage) -> None:
        if passage.owner not in self.refs:
            self._look(passage.owner, StoredText("passage", passage.text))

    def _row(self, row: tuple[int, Mapping[str, Any]]) -> None:
        for op in row[1].get("ops", ()):
            ref = _concerned(op)
            if ref is None or ref in self.refs:
                continue
            for said in texts_of(op.get("props", {})):
                self._look(ref, said, "log")
            self._look(ref, StoredText("log", op.get("text", "")))


def _concerned(op: Mapping[str, Any]) -> Ref | None:
    match op["op"]:
        case "node":
            return Ref.of(op["label"], op["id"])
        case "edge":
            return Ref.of(*op["from"])
        case "passage":
            return Ref.of(*op["owner"])
        case _:
            return None
