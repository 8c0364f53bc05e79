"""The doctor: compares what the journal says with what is served, and names what to do about a difference."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from helix.errors import GraphUnavailableError
from helix.graph.queries import EDGE_ENDS
from helix.model.edge import Label
from helix.model.reports import DoctorFinding, DoctorReport
from helix.store.store import Store

_LEAST_FREE_BYTES = 200 << 20


def examine(store: Store) -> DoctorReport:
    """Run every check; nothing is changed."""
    return DoctorReport(findings=tuple(_findings(store)))


def _findings(store: Store) -> Iterator[DoctorFinding]:
    yield _chain(store)
    yield _poison(store)
    yield from _graph(store)
    yield _memory(store)
    yield _vectors(store)
    yield _disk(store)


def _chain(store: Store) -> DoctorFinding:
    report = store.journal.verify_chain()
    damaged = ", ".join(str(seq) for seq in report.damaged[:5])
    return DoctorFinding(
        check="journal chain",
        ok=not report.damaged,
        detail=f"rows {damaged} are not what was written"
        if report.damaged
        else f"{report.rows:,} rows, {report.erased:,} erased",
        hint="the state is kept apart from the rows and is unharmed; take a backup: `helix backup FILE`"
        if report.damaged
        else "",
    )


def _poison(store: Store) -> DoctorFinding:
    store.graph.settle()
    rows = store.journal.poison()
    return DoctorFinding(
        check="rows set aside",
        ok=not rows,
        detail=f"{len(rows)} rows were refused by the graph, the first: {rows[0][1]}" if rows else "none",
        hint="`helix rebuild` makes the graph anew from the journal" if rows else "",
    )


def _graph(store: Store) -> Iterator[DoctorFinding]:
    if not store.graph.available:
        yield DoctorFinding(
            check="graph", ok=False, detail=store.graph.trouble, hint="wait for the rebuild: `helix status`"
        )
        return

    def compare() -> list[str]:
        """Count both sides between two writes, so that neither is ahead of the other."""
        store.graph.settle()
        kept, engine = store.records.counts(), store.graph.engine
        served = {label.value: int(engine.read(f"count_{label}")[0]["count"]) for label in Label}
        served["edges"] = sum(int(engine.read(f"count_edges_{kind}")[0]["count"]) for kind in EDGE_ENDS)
        differences = [
            f"{name}: journal {kept.get(name, 0):,}, graph {count:,}"
            for name, count in served.items()
            if kept.get(name, 0) != count
        ]
        if engine.dimension is not None:
            vectors = kept["passages"] - store.journal.spaces.count_missing_active()
            indexed = int(engine.read("count_passages")[0]["count"])
            if vectors != indexed:
                differences.append(f"vectors: journal {vectors:,}, graph {indexed:,}")
        if engine.applied_seq() != store.journal.last_seq:
            differences.append(f"applied row {engine.applied_seq():,} of {store.journal.last_seq:,}")
        return differences

    try:
        differences = store.writer.call(compare)
    except GraphUnavailableError as error:
        yield DoctorFinding(check="graph", ok=False, detail=error.message, hint=error.hint or "")
        return
    yield DoctorFinding(
        check="graph against journal",
        ok=not differences,
        detail="; ".join(differences) or "the same nodes, edges and vectors",
        hint="`helix rebuild` makes the graph anew from the journal" if differences else "",
    )


def _memory(store: Store) -> DoctorFinding:
    def compare() -> list[str]:
        kept, view = store.records.counts(), store.catalogue.view
        held = view.counts().labels
        differences = [
            f"{label}: journal {kept.get(label.value, 0):,}, memory {held[label]:,}"
            for label in Label
            if kept.get(label.value, 0) != held[label]
        ]
        if kept["passages"] != view.words.living:
            differences.append(f"words: journal {kept['passages']:,} passages, memory {view.words.living:,}")
        return differences

    differences = store.writer.call(compare)
    return DoctorFinding(
        check="catalogue against journal",
        ok=not differences,
        detail="; ".join(differences) or "the same nodes and words",
        hint="restart the daemon: `helix stop`" if differences else "",
    )


def _vectors(store: Store) -> DoctorFinding:
    if store.mismatch:
        return DoctorFinding(check="embedding space", ok=False, detail=store.mismatch, hint="`helix reembed`")
    pinned = store.journal.spaces.active()
    if pinned is None:
        return DoctorFinding(check="embedding space", ok=True, detail="none: this store is searched by words only")
    missing = store.journal.spaces.count_missing_active()
    return DoctorFinding(
        check="embedding space",
        ok=not missing,
        detail=f"{missing:,} passages have no vector" if missing else f"{pinned.model}, {pinned.dimension} dimensions",
        hint="they are embedded in the background while a model is there" if missing else "",
    )


def _disk(store: Store) -> DoctorFinding:
    free = shutil.disk_usage(store.path).free
    return DoctorFinding(
        check="disk",
        ok=free >= _LEAST_FREE_BYTES,
        detail=f"{free / (1 << 30):.1f} GiB free" if free >= 1 << 30 else f"{free >> 20:,} MiB free",
        hint="" if free >= _LEAST_FREE_BYTES else "free some space: writes are refused when it runs out",
    )
