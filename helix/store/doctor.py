"""The doctor: compares what the journal says with what is served, and names what to do about a difference."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from helix import files
from helix.errors import GraphUnavailableError, QueryTimeoutError, StoreCorruptError
from helix.model.edge import Label
from helix.model.loss import RECOVER_HINT, losses
from helix.model.reports import DoctorFinding, DoctorReport
from helix.store.store import Store

_LEAST_FREE_BYTES = 200 << 20
_HOOKS_LOG, _LONGEST_LOG = "logs/hooks.log", 2 << 20
_MOST_TROUBLES = 5
"""Hooks of a day that may go wrong: the next one is answered where it was chance."""
_ORDINARY = ("no daemon", "the time is up", "the daemon did not answer in time")
"""What a hook says when nothing is wrong: a daemon starts when it is needed, and an agent is not kept waiting."""


def examine(store: Store, *, building: bool = False) -> DoctorReport:
    """Run every check of `helix doctor` on a store; nothing is changed. `building`: a job is to make the graph anew."""
    return DoctorReport(findings=tuple(_findings(store, building)))


def _findings(store: Store, building: bool) -> Iterator[DoctorFinding]:
    yield _losses(store.path)
    mark = store.journal.mark_trouble
    yield DoctorFinding(
        check="journal's mark",
        ok=not mark,
        detail=mark or "says how far the journal has come",
        hint="nothing else may be wrong; the next start is told by it again, unless what is in its place stays",
    )
    checks: dict[str, Callable[[Store], Iterator[DoctorFinding]]] = {
        "journal chain": _chain,
        "state against log": _state,
        "changes set aside": _refused,
        "graph": partial(_graph, building),
        "memory": _memory,
        "embedding space": _vectors,
    }
    for name, check in checks.items():
        try:
            yield from check(store)
        except StoreCorruptError as error:
            yield DoctorFinding(check=name, ok=False, detail=error.message, hint=error.hint or "")
    yield _hooks(store)
    yield _disk(store.path)


def _losses(folder: Path) -> DoctorFinding:
    found = losses(folder)
    return DoctorFinding(
        check="acknowledged changes",
        ok=not found,
        detail="; ".join(loss.sentence for loss in found) or "the journal has all that its witnesses know of",
        hint=RECOVER_HINT if found else "",
    )


def _chain(store: Store) -> Iterator[DoctorFinding]:
    report = store.journal.verify_chain()
    damaged = ", ".join(str(seq) for seq in report.damaged[:5])
    yield DoctorFinding(
        check="journal chain",
        ok=not report.damaged,
        detail=f"rows {damaged} are not what was written"
        if report.damaged
        else f"{report.rows:,} rows, {report.erased:,} erased",
        hint="the state is kept apart from the rows and is unharmed; take a backup: `helix backup FILE`"
        if report.damaged
        else "",
    )


def _state(store: Store) -> Iterator[DoctorFinding]:
    found = store.journal.compare_state()
    beside = "" if found.whole else "; what else the damaged log says cannot be compared"
    yield DoctorFinding(
        check="state against log",
        ok=not found.differences,
        detail=("; ".join(one.sentence for one in found.differences) or "what its rows come to") + beside,
        hint="`helix rebuild` makes the state anew from the log" if found.differences else "",
    )


def _refused(store: Store) -> Iterator[DoctorFinding]:
    store.graph.settle()
    refused = store.graph.refused
    yield DoctorFinding(
        check="changes set aside",
        ok=not refused,
        detail=f"{len(refused)} were refused by the graph, the first: {refused[0]}" if refused else "none",
        hint="`helix rebuild` makes the graph anew from the journal" if refused else "",
    )


def _graph(building: bool, store: Store) -> Iterator[DoctorFinding]:
    try:
        differences = store.graph.differences()
    except QueryTimeoutError as error:
        yield DoctorFinding(check="graph", ok=False, detail=error.message, hint="run `helix doctor` again")
        return
    except GraphUnavailableError as error:
        building = building or store.graph.building.locked()  # ordinary after a large import, or what the detail tells
        hint = "" if building else "`helix rebuild` makes the graph anew from the journal"
        yield DoctorFinding(check="graph", ok=building, detail=error.message, hint=hint)
        return
    yield DoctorFinding(
        check="graph against journal",
        ok=not differences,
        detail="; ".join(differences) or "the same nodes, edges and vectors",
        hint="`helix rebuild` makes the graph anew from the journal" if differences else "",
    )


def _memory(store: Store) -> Iterator[DoctorFinding]:
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
    yield DoctorFinding(
        check="catalogue against journal",
        ok=not differences,
        detail="; ".join(differences) or "the same nodes and words",
        hint="restart the daemon: `helix stop`" if differences else "",
    )


def _vectors(store: Store) -> Iterator[DoctorFinding]:
    if store.mismatch:
        yield DoctorFinding(check="embedding space", ok=False, detail=store.mismatch, hint="`helix reembed`")
        return
    pinned = store.journal.spaces.active()
    if pinned is None:
        yield DoctorFinding(check="embedding space", ok=True, detail="none: this store is searched by words only")
        return
    missing, model = store.journal.spaces.count_missing_active(), f"{pinned.model}, {pinned.dimension} dimensions"
    if missing and store.runtime.embedder is None:
        yield DoctorFinding(
            check="embedding space",
            ok=False,
            detail=f"{missing:,} passages have no vector, and there is no model to make them",
            hint="`helix models install`, then `helix stop`: the next daemon makes them",
        )
        return
    # A backlog is no fault: what was just recorded is found by its words and waits its turn for a vector.
    waiting = f"; {missing:,} passages wait for their vectors, which are made in the background"
    yield DoctorFinding(check="embedding space", ok=True, detail=model + (waiting if missing else ""), hint="")


def _disk(folder: Path) -> DoctorFinding:
    free = shutil.disk_usage(folder).free
    return DoctorFinding(
        check="disk",
        ok=free >= _LEAST_FREE_BYTES,
        detail=f"{free / (1 << 30):.1f} GiB free" if free >= 1 << 30 else f"{free >> 20:,} MiB free",
        hint="" if free >= _LEAST_FREE_BYTES else "free some space: writes are refused when it runs out",
    )


def _hooks(store: Store) -> DoctorFinding:
    """Look at what the process hook noted: it fails in silence, so that an agent can go on."""
    since = store.runtime.clock() - timedelta(days=1)
    troubles: Counter[str] = Counter()
    with suppress(OSError):
        for line in files.read_text(store.path / _HOOKS_LOG, _LONGEST_LOG, errors="replace", links=False).splitlines():
            with suppress(ValueError, KeyError, TypeError):  # a line that was cut off
                noted = json.loads(line)
                trouble = str(noted["trouble"])[:200]
                if datetime.fromisoformat(noted["at"]) >= since and not trouble.startswith(_ORDINARY):
                    troubles[trouble] += 1
    count = troubles.total()
    said = f"{count} of the last day got no answer, most often: {troubles.most_common(1)[0][0]}" if count else ""
    return DoctorFinding(
        check="hooks",
        ok=count <= _MOST_TROUBLES,
        detail=said or "none went wrong in the last day",
        hint="`helix stop`, then `helix connect claude-code` writes the hooks anew" if count > _MOST_TROUBLES else "",
    )
