"""What goes with a hard forget: all that rests on it alone, and nothing that stands on other feet."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from helix.memory.erasure.hard_forget import plan_hard_forget
from helix.model.edge import Label, Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import Kind, Memory
from helix.model.operations import Change, Operation, PutEdge
from helix.model.records import put_record
from helix.model.reflection import Reflection
from helix.store.store import Store
from helix.store.writer import Decision
from tests.sampling import draws

RUNS = count()
SIZE = 4

places = st.integers(0, SIZE - 1)
grounds = st.sets(st.tuples(places, places), max_size=8)
citations = st.sets(st.tuples(places, st.sampled_from(["e", "m", "r"]), places), max_size=8)
versions = st.sets(st.tuples(places, places).filter(lambda pair: pair[0] > pair[1]), max_size=3)


@pytest.fixture
def store(lone_store: Store) -> Store:
    return lone_store


def world(
    store: Store,
    run: int,
    grounded: set[tuple[int, int]],
    cited: set[tuple[int, str, int]],
    superseded: set[tuple[int, int]],
) -> dict[Ref, set[Ref]]:
    """Write episodes, memories and reflections of their own to the store; return what each one rests on."""
    now = store.runtime.clock()

    def ref(what: str, place: int) -> Ref:
        label = {"e": Label.EPISODE, "m": Label.MEMORY, "r": Label.REFLECTION}[what]
        return Ref(label=label, id=f"{what}{place}-{run}")

    operations: list[Operation] = []
    for place in range(SIZE):
        e, m, r = (ref(what, place).id for what in "emr")
        operations += [
            put_record(Episode(id=e, content=f"said {e}", recorded_at=now, occurred_at=now)),
            put_record(Memory(id=m, name=m, kind=Kind.FACT, trigger=f"known {m}", resolution="", recorded_at=now)),
            put_record(Reflection(id=r, question="?", insight=f"seen {r}", recorded_at=now)),
        ]
    edges = [(Relation.GROUNDED_IN, ref("m", m), ref("e", e)) for m, e in grounded]
    # A reflection cites reflections that were there before it, as in any store.
    edges += [(Relation.CITES, ref("r", r), ref(what, place)) for r, what, place in cited if what != "r" or place < r]
    operations += [
        PutEdge(type=kind, source=source, target=target, props={"created_at": 1})
        for kind, source, target in (
            *edges,
            *((Relation.SUPERSEDES, ref("m", newer), ref("m", older)) for newer, older in superseded),
        )
    ]
    store.writer.submit(lambda: Decision((Change(kind="test", operations=tuple(operations)),), None))
    rests: dict[Ref, set[Ref]] = {}
    for _, source, target in edges:
        rests.setdefault(source, set()).add(target)
    return rests


@hypothesis_settings(max_examples=draws(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(grounded=grounds, cited=citations, superseded=versions, root=st.tuples(st.sampled_from(["e", "m", "r"]), places))
def test_what_rests_on_it_alone_goes_and_what_has_other_grounds_stays(
    store: Store,
    grounded: set[tuple[int, int]],
    cited: set[tuple[int, str, int]],
    superseded: set[tuple[int, int]],
    root: tuple[str, int],
) -> None:
    run = next(RUNS)
    rests = world(store, run, grounded, cited, superseded)
    plan = plan_hard_forget(store, f"{root[0]}{root[1]}-{run}")
    goes = {each.ref: each.why for each in plan.goes}
    stays = {each.ref for each in plan.stays}

    assert goes[plan.root] == "it was named"
    assert not stays & goes.keys()
    for resting, on in rests.items():
        if on <= goes.keys():
            assert resting in goes
        elif resting not in goes and on & goes.keys():
            assert resting in stays
    for ref, why in goes.items():
        if why == "it rests on nothing else":
            assert rests[ref] <= goes.keys()
    assert all(ref.id.endswith(f"-{run}") for ref in goes.keys() | stays)


def test_a_plan_shows_what_people_know_things_by(store: Store) -> None:
    now = store.runtime.clock()
    long = "word " * 40
    made: list[Operation] = [
        put_record(Episode(id="e", content=long, recorded_at=now, occurred_at=now)),
        put_record(Memory(id="m", name="a-name", kind=Kind.FACT, trigger="t", resolution="", recorded_at=now)),
        PutEdge(
            type=Relation.GROUNDED_IN,
            source=Ref.memory("m"),
            target=Ref.episode("e"),
            props={"created_at": 1},
        ),
    ]
    store.writer.submit(lambda: Decision((Change(kind="test", operations=tuple(made)),), None))
    plan = plan_hard_forget(store, "a-name")
    assert [(each.name, each.why) for each in plan.goes] == [("a-name", "it was named")]
    ((name, why),) = [(each.name, each.why) for each in plan.stays]
    assert (len(name), name[-1], why) == (80, "…", "it was drawn from this, in other words")
