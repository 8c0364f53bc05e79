"""Holds that rolling back and undoing restore exactly, that rows survive being written, and that joins associate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any, get_type_hints

import independent
import pytest
from exchanging import ALL, root, rows_of, take
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nacl.signing import SigningKey
from test_merging import FACTS, HISTORIES, act

from helix.memory.change.versions import OWN_WORD
from helix.memory.remember.request import StoreRequest
from helix.memory.worker.undo import undo
from helix.model.edge import Label, Ref, Relation
from helix.model.entity import EntityKind, entity_id
from helix.model.foreign_rows import edge_ends
from helix.model.memory import Status
from helix.model.operations import Change, PutEdge, PutNode
from helix.model.provenance import Trust, weakest_trust
from helix.model.records import CLASS_OF, property_types
from helix.model.tombstone import ERASED_AT, ERASED_SOURCE, KEPT_OUT
from helix.operations import memories, strands
from helix.operations import strand_keys as keys
from helix.service import Helix
from helix.store.writer import Decision
from helix.strands import container
from helix.strands.join import ended_last, joined_row, stood_for
from helix.strands.lineage import note_version
from helix.strands.reading import StrandReading
from helix.strands.rollback import roll_back
from helix.strands.rows import StrandRow, row_of, schema_number
from helix.strands.sealed import opener
from helix.strands.whole import Unwatched
from tests.sampling import draws
from tests.strands.conftest import Machines
from tests.waiting import finished

QUICK = settings(
    max_examples=draws(7),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)


def play(machines: list[Helix], history: list[Any]) -> None:
    """Let a history happen, but for its erasures: what they took stays away, whatever is gone back to."""
    for at, action in history:
        if action[0] != "erase":
            act(machines, at, action, lambda at, of: take(machines[at].store, machines[of].store), set())


@pytest.mark.soak
@QUICK
@given(history=HISTORIES)
def test_rolling_back_what_was_merged_restores_exactly(history: list[Any], three: list[Helix]) -> None:
    play(three, history)
    here, *others = (one.store for one in three)
    before, rows = note_version(here, ALL, who="me", why="before"), rows_of(here)
    for there in others:
        take(here, there)
    job = here.runtime.make_id(here.runtime.clock())
    assert roll_back(here, before, job, Unwatched())["root"] == before.root
    assert rows_of(here) == rows
    assert root(here) == before.root


@pytest.mark.soak
@QUICK
@given(history=HISTORIES)
def test_undoing_what_was_merged_restores_exactly(history: list[Any], three: list[Helix]) -> None:
    play(three, history)
    here, there, _ = (one.store for one in three)
    rows, of_rows = rows_of(here), root(here)
    job = here.runtime.make_id(here.runtime.clock())
    take(here, there, job=job)
    if here.journal.effects.steps(job):
        assert not undo(here, job).conflicts
    assert rows_of(here) == rows
    assert root(here) == of_rows


@settings(QUICK, max_examples=draws(3))
@given(said=st.lists(st.tuples(st.integers(0, 2), st.sampled_from(FACTS[2:])), max_size=6))
def test_in_which_order_three_are_merged_does_not_matter(said: list[tuple[int, str]], three: list[Helix]) -> None:
    for number, (at, fact) in enumerate(said):
        memories.store(three[at], StoreRequest(trigger=f"{fact}, as {number} says", resolution="", kind="fact"))
    a, b, c = (one.store for one in three)
    take(b, c, meet=False)
    take(a, b, meet=False)
    right = root(a)
    take(b, a, meet=False)
    take(c, b, meet=False)
    assert root(c) == root(b) == right


FIELDS: Mapping[str, Any] = {
    "created_at": "2026-01-01T00:00:00+00:00",
    "embedding": None,
    "groups": {},
    "history": "none",
    "root": "",
    "schema": schema_number(),
    "scopes": [],
    "version": {
        **dict.fromkeys(("id", "selection", "tag", "who", "why"), ""),
        **{"ancestry": [], "parents": [], "since": None},
    },
}
SCALARS: Mapping[type[Any], st.SearchStrategy[Any]] = {
    int: st.integers(0, 2**40),
    float: st.floats(0, 1, allow_nan=False),
    str: st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
}


@st.composite
def rows(draw: st.DrawFn) -> StrandRow:
    """Draw a node of any label or an edge of any type, with any of its properties."""
    if draw(st.booleans()):
        kind = draw(st.sampled_from(sorted(edge_ends())))
        source, target = draw(st.sampled_from(sorted(edge_ends()[kind])))
        props = draw(st.fixed_dictionaries({}, optional={"weight": SCALARS[float], "relation": SCALARS[str]}))
        ends = (Ref.of(source, "a"), Ref.of(target, "b"))
        return row_of(PutEdge(type=Relation(kind), source=ends[0], target=ends[1], props=props), scope="global")
    label = draw(st.sampled_from(list(Label)))
    types = {name: of for name, of in property_types(CLASS_OF[label]).items() if name != "id"}
    props = draw(st.fixed_dictionaries({}, optional={name: SCALARS[of] for name, of in types.items()}))
    return row_of(PutNode(label=label, id=draw(st.uuids()).hex, props=props), draw(st.lists(SCALARS[str], max_size=3)))


@given(held=st.lists(rows(), max_size=8, unique_by=lambda row: row.key))
def test_what_is_written_is_read_back_as_it_was(
    held: list[StrandRow], tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("written") / "rows.dna"
    told = sorted(held, key=lambda row: row.key)
    written = container.write(
        file,
        (row.line() for row in told),
        lambda: {**FIELDS, "counts": {"nodes": len(told)}},
        signer=SigningKey(bytes(32)),
        passphrase="secret",
        recipients=(),
    )
    lines = container.content(file, written, opener("secret", ()))
    assert [entry.row for entry in StrandReading(schema=schema_number()).entries(lines)] == told


@st.composite
def sides(draw: st.DrawFn) -> list[StrandRow]:
    """Draw what three sides say of one memory."""
    choices: dict[str, st.SearchStrategy[Any]] = {
        "status": st.sampled_from([status.value for status in Status]),
        "trust": st.sampled_from([trust.value for trust in Trust]),
        "attributes": st.dictionaries(st.sampled_from("abc"), st.integers(0, 3), max_size=2).map(json.dumps),
        "relation": st.sampled_from(["a", "b, c", "c"]),
    }
    types = {name: of for name, of in property_types(CLASS_OF[Label.MEMORY]).items() if name != "id"}
    props = st.fixed_dictionaries({}, optional={**{name: SCALARS[of] for name, of in types.items()}, **choices})
    texts = st.lists(st.sampled_from(["x", "y"]), max_size=2)
    return [row_of(PutNode(label=Label.MEMORY, id="one", props=draw(props)), draw(texts)) for _ in range(3)]


@given(said=sides())
def test_in_which_order_three_sides_are_joined_does_not_matter(said: list[StrandRow]) -> None:
    one, other, third = said
    assert joined_row(one, one) == one
    assert joined_row(one, other) == joined_row(other, one)
    assert joined_row(joined_row(one, other), third) == joined_row(one, joined_row(other, third))
    both, told = (
        joined_row(one, other).put.props,
        [Trust(held) for row in (one, other) if (held := _held(row, "trust"))],
    )
    assert not told or both["trust"] == weakest_trust(*told)
    ended = [held for row in (one, other) if (held := _held(row, "status")) not in ("", "active")]
    assert not ended or both["status"] in ended


@st.composite
def own_sides(draw: st.DrawFn) -> list[StrandRow]:
    """Draw what three of the person's machines made of one memory's trust; on some the person stood for its words."""
    props = st.fixed_dictionaries(
        {
            "trust": st.sampled_from([trust.value for trust in Trust]),
            "confidence": st.floats(0, 1),
            "recorded_at": st.integers(0, 2),
            "valid_to": st.none() | st.integers(0, 3),
            "attributes": st.sampled_from(["{}", json.dumps({OWN_WORD: True})]),
        }
    )
    said = {"trigger": "tests need docker", "resolution": ""}
    return [row_of(PutNode(label=Label.MEMORY, id="one", props={**said, **draw(props)}), ()) for _ in range(3)]


@given(said=own_sides())
def test_in_which_order_three_machines_hear_of_a_confirmation_does_not_matter(said: list[StrandRow]) -> None:
    def both(one: StrandRow, other: StrandRow) -> StrandRow:
        return stood_for(ended_last(joined_row(one, other), one, other), one, other)

    one, other, third = said
    assert both(one, one) == one
    assert both(one, other) == both(other, one)
    assert both(both(one, other), third) == both(one, both(other, third))


@st.composite
def tombstones(draw: st.DrawFn) -> list[StrandRow]:
    """Draw what three machines of a person have left of one memory or episode that they erased, each in its way."""
    label = draw(st.sampled_from([Label.MEMORY, Label.EPISODE]))
    found = []
    for _ in range(3):
        at, known = (
            draw(st.sampled_from(["2026-01-01", "2026-01-02"])),
            draw(st.lists(st.sampled_from("abc"), unique=True)),
        )
        props: dict[str, Any] = {"extractor": "erased", "slice": at, "status": "forgotten"}
        if label is Label.MEMORY:
            told = {ERASED_AT: at, **({KEPT_OUT: sorted(known)} if known else {})}
            props |= {"source": ERASED_SOURCE if known else "", "attributes": json.dumps(told)}
        else:
            props["source"] = ERASED_SOURCE + ",".join(sorted(known)) if known else draw(st.sampled_from(["", COMMIT]))
        found.append(row_of(PutNode(label=label, id="one", props=props), ()))
    return found


@given(said=tombstones())
def test_in_which_order_three_machines_hear_of_an_erasure_does_not_matter(said: list[StrandRow]) -> None:
    one, other, third = said
    whole = joined_row(joined_row(one, other), third)
    assert joined_row(one, one) == one
    assert joined_row(one, other) == joined_row(other, one)
    assert whole == joined_row(one, joined_row(other, third)) == joined_row(whole, one)
    for row in said:
        told = str(row.put.props.get("attributes") or "{}")
        assert set(json.loads(told).get(KEPT_OUT, ())) <= set(
            json.loads(str(whole.put.props.get("attributes") or "{}")).get(KEPT_OUT, ())
        )


COMMIT = "git:example.org/ada/shop:7577fb92e5e0bc3578d827c2a520d81ef124adca"
RULED = ({"status": "open"}, *({"status": how, "outcome": stays} for how in ("settled", "resolved") for stays in "12"))


@given(said=st.lists(st.sampled_from(RULED), min_size=3, max_size=3))
def test_in_which_order_three_machines_hear_of_a_decision_does_not_matter(said: list[dict[str, str]]) -> None:
    ends = at(Label.MEMORY), Ref.memory("another")
    edges = [
        PutEdge(type=Relation.CONTRADICTS, source=ends[0], target=ends[1], props={"attributes": json.dumps(each)})
        for each in said
    ]
    one, other, third = (row_of(edge, scope="global") for edge in edges)
    whole = joined_row(joined_row(one, other), third)
    assert joined_row(one, other) == joined_row(other, one)
    assert whole == joined_row(one, joined_row(other, third)) == joined_row(whole, one)
    outcomes = {each["outcome"] for each in said if each["status"] == "resolved"}
    told = json.loads(str(whole.put.props["attributes"]))
    assert len(outcomes) != 1 or (told["status"], told["outcome"]) == ("resolved", *outcomes)


def _held(row: StrandRow, name: str) -> str:
    return str(row.put.props.get(name) or "")


def test_every_kind_of_node_and_edge_comes_over_as_it_is(machines: Machines, tmp_path: Path) -> None:
    one, other = machines(), machines()
    keys.new_key(one, "me")
    (own,) = keys.keys(one)
    keys.import_key(other, "me", own.public)
    keys.trust_key(other, "me", Trust.USER_ASSERTED)
    nodes = [PutNode(label=label, id=ident_of(label), props=props_of(label)) for label in Label]
    every = [(kind, *pair) for kind, pairs in sorted(edge_ends().items()) for pair in sorted(pairs)]
    ends = [one for one in every if one[1] != one[2]]
    edges = [
        PutEdge(type=Relation(kind), source=at(Label(source)), target=at(Label(target)), props={"created_at": 7})
        for kind, source, target in ends
    ]
    change = Change(kind="test", operations=(*nodes, *edges))
    one.store.writer.submit(lambda: Decision((change,), None))
    file = str(tmp_path / "all.dna")
    finished(one, strands.export_strand(one, file, passphrase="secret"))
    finished(other, strands.import_strand(other, file, passphrase="secret"))
    assert rows_of(other.store) == rows_of(one.store)
    assert len(rows_of(other.store)) == len(nodes) + len(edges)
    assert root(other.store) == root(one.store)


def at(label: Label) -> Ref:
    return Ref(label=label, id=ident_of(label))


def ident_of(label: Label) -> str:
    return entity_id(EntityKind.FILE, "a.py", "global") if label is Label.ENTITY else f"a-{label.value.lower()}"


def props_of(label: Label) -> dict[str, Any]:
    """Return properties of a node of a label that make it whole, of each that has to be said."""
    hints = get_type_hints(CLASS_OF[label])
    needed = [one for one in fields(CLASS_OF[label]) if one.default is MISSING and one.default_factory is MISSING]
    props = {one.name: _of(hints[one.name]) for one in needed if one.name != "id"}
    return {**props, "kind": "file", "name": "a.py", "scope": "global"} if label is Label.ENTITY else props


def _of(hint: Any) -> Any:
    if isinstance(hint, type) and issubclass(hint, Enum):
        return next(iter(hint)).value
    return 7 if hint in (int, float, datetime) else "said" if hint is str else "{}"


def test_a_strand_of_an_older_schema_is_taken_in_as_it_is_written_now(machines: Machines, tmp_path: Path) -> None:
    helix, file = machines(), tmp_path / "old.dna"
    vectors = json.loads((Path(__file__).parent / "vectors.json").read_text("utf-8"))
    keys.import_key(helix, "vectors", f"helix-key1:{vectors['signer']}")
    keys.trust_key(helix, "vectors", Trust.USER_ASSERTED)
    episode = {"label": "Episode", "id": "e", "t": "node", "texts": ["what was said"]}
    said = {"content": "what was said", "occurred_at": 7, "recorded_at": 7, "scope": "global", "role": "user"}
    old = [{**episode, "props": said}]  # of before episodes had a status
    file.write_bytes(independent.write(old, bytes.fromhex(vectors["seed"]), vectors["passphrase"], schema=1))
    finished(helix, strands.import_strand(helix, str(file), passphrase=vectors["passphrase"]))
    (row,) = (row for row in rows_of(helix.store) if row.table == "Episode")
    assert row.put.props["status"] == "active"
    assert {name: row.put.props[name] for name in said} == said


@pytest.mark.parametrize(("one", "other"), [(0, 0.0), (-0.0, 0.0), (3, 3.0)])
def test_a_number_is_written_in_one_way(one: float, other: float) -> None:
    here, written = at(Label.MEMORY), []
    for said in (one, other):
        node = PutNode(label=Label.MEMORY, id="a", props={"helped": said, "uses": said})
        edge = PutEdge(type=Relation.RELATED, source=here, target=here, props={"weight": said})
        written.append([row_of(put).line() for put in (node, edge)])
    assert written[0] == written[1]
