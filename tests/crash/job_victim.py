"""A process that does a background job in steps until it is killed in the middle; run by the test of jobs and crashes.

`main(home, place, nth)` kills itself at the nth call of the real code that `place` names, or never (`nowhere`).
It does what a worker does: what ran when the process before it died is queued again, taken, and run from its beginning.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from victim import die_in

from helix import settings as configuration
from helix.journal.effects import Touched
from helix.journal.log import Journal
from helix.journal.work_queue import Work
from helix.memory.change.compose import Composer, Prepared, ReadText, prepare
from helix.memory.job_run.run import Run
from helix.model.edge import Ref, Relation
from helix.model.memory import Kind, Memory
from helix.providers.fakes import HashEmbedder
from helix.store.catalogue import Catalogue
from helix.store.store import Store

STEPS = 5
COUNTER = Ref.memory("counter")

PLACES: dict[str, Callable[[int], None]] = {
    "nowhere": lambda nth: None,
    "before a step's transaction": lambda nth: die_in(Journal, "append", before=True, nth=nth),
    "inside a step's transaction": lambda nth: die_in(Touched, "record", before=False, nth=nth),
    "behind a step's transaction": lambda nth: die_in(Journal, "append", before=False, nth=nth),
    "before memory has a step": lambda nth: die_in(Catalogue, "apply", before=True, nth=nth),
    "when all steps are done": lambda nth: die_in(Work, "finish", before=True, nth=1),
}


def memory(store: Store, name: str) -> Memory:
    return Memory(id=name, name=name, kind=Kind.FACT, trigger=name, resolution="r", recorded_at=store.runtime.clock())


def work(run: Run) -> dict[str, int]:
    """Write STEPS memories, each with a passage and an edge, and count each one at a memory that was there before."""
    for number in range(STEPS):
        made = memory(run.store, f"made{number}")
        (prepared,) = prepare(run.store, [ReadText.of(f"unique{number} of src/file{number}.c")])

        def compose(composer: Composer, made: Memory = made, prepared: Prepared = prepared) -> None:
            ref = composer.node(made)
            composer.passages(ref, prepared)
            composer.mentions(ref, made.scope, prepared.mentions, made.provenance)
            composer.edge(Relation.SIMILAR, ref, COUNTER)
            counter = run.store.records.node(COUNTER)
            assert isinstance(counter, Memory)
            composer.patch(COUNTER, uses=counter.uses + 1)

        run.write(f"memory {number}", compose)
        run.count("memories added")
    return dict(run.counts)


def main(home: Path, place: str, nth: int) -> None:
    settings = configuration.load({"home": home, "reopen_after": 4}, environ={}, cwd=home)
    store = Store(settings, embedder=HashEmbedder())
    if COUNTER not in store.index:
        Run(store, "before", "test").write("counter", lambda composer: composer.node(memory(store, COUNTER.id)))
        store.work.add("count", "", {"steps": STEPS})
    store.work.recover()
    PLACES[place](nth)
    while (item := store.work.take(store.runtime.clock())) is not None:
        store.work.finish(item.id, work(Run(store, item.id, item.kind)))
    store.close()
