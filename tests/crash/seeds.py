"""What the jobs of the crash test find to do: memories written past the looks that would have done it at once."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

from helix.memory.change.compose import Composer, ReadText, prepare
from helix.model.edge import Label, Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import Kind, Memory
from helix.store.store import Store
from helix.store.writer import Decision

DUE = 12
LATELY = timedelta(days=89)
"""How long before the jobs run the store is filled, but for a day: failures are looked at while they are new."""
FAILURES = (
    "upload job {0} times out on a large file behind the proxy",
    "upload job {0} times out with a large file behind the proxy",
    "upload job {0} times out for one large file behind the proxy",
)
GAPS = {
    "which port does the api listen on": "the api does listen on port 8080",
    "who owns the billing service now": "ada owns the billing service now",
}
SAME = (
    ("activate the virtual environment before the tests", "before the tests activate the virtual environment"),
    ("commit the lock file with every change", "with every change commit the lock file"),
)


def fill(store: Store, kind: str) -> None:
    """Fill a store with what a kind of job works on; nothing for a kind that works on episodes."""
    match kind:
        case "promote_systemic":
            for part in ("alpha", "omega"):
                for text in FAILURES:
                    words = text.format(f"{part} {part}y {part}ic {part}ous")
                    put(store, Kind.FAILURE, words, recorded_at=store.runtime.clock() + LATELY)
        case "close_gaps":
            for question in GAPS:
                put(store, Kind.GAP, question)
            for answer in GAPS.values():
                put(store, Kind.FACT, answer)
        case "merge_similar":
            for text in (text for pair in SAME for text in pair):
                put(store, Kind.CONVENTION, text)
        case "decay":
            for number in range(DUE):
                put(store, Kind.PATTERN, f"approach {number}", helped=1.0, uses=1)
        case "prune":
            for number in range(DUE):
                put(store, Kind.PATTERN, f"approach {number}", helped=0.5, failed=3.0, uses=4)
        case "decay_edges":
            refs = [put(store, Kind.FACT, f"fact {number}") for number in range(DUE + 1)]
            for one, other in pairwise(refs):
                link(store, one, other)


def put(store: Store, kind: Kind, text: str, **fields: Any) -> Ref:
    """Write a memory grounded in an episode of its own, whatever else is there."""
    (prepared,) = prepare(store, [ReadText.of(text)])

    def decision() -> Decision[Ref]:
        composer = Composer(store, store.runtime.clock())
        now = composer.now
        memory = Memory(
            id=store.runtime.make_id(now),
            name=composer.name("global", text),
            kind=kind,
            trigger=text,
            resolution="",
            **{"recorded_at": now, **fields},
        )
        ref = composer.node(memory)
        composer.passages(ref, prepared)
        episode = Episode(id=store.runtime.make_id(now), content=text, recorded_at=now, occurred_at=now, role="store")
        composer.edge(Relation.GROUNDED_IN, ref, composer.node(episode))
        return Decision((composer.change("seed"),), ref)

    return store.writer.submit(decision)


def link(store: Store, one: Ref, other: Ref) -> None:
    """Write an edge between two memories."""
    assert one.label is other.label is Label.MEMORY

    def decision() -> Decision[None]:
        composer = Composer(store, store.runtime.clock())
        composer.edge(Relation.SIMILAR, one, other)
        return Decision((composer.change("seed"),), None)

    store.writer.submit(decision)
