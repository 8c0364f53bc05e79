"""The translation between domain objects and flat properties loses nothing."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from helix.model.clock import from_micros, to_micros
from helix.model.edge import Edge, Label, Ref, Relation
from helix.model.episode import Episode
from helix.model.ids import uuid7
from helix.model.memory import Kind, Memory, Status
from helix.model.operations import Change, DropEdge, DropPassage, PutPassage, decode, encode
from helix.model.provenance import Provenance, Trust, weakest_trust
from helix.model.records import edge_from, label_of, node_from, put_edge, put_record

moments = st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1)).map(
    lambda moment: moment.replace(tzinfo=UTC)
)
texts = st.text(max_size=40)
provenances = st.builds(Provenance, slice=texts, extractor=texts, agent=texts, trust=st.sampled_from(Trust))
memories = st.builds(
    Memory,
    id=texts,
    name=texts,
    kind=st.sampled_from(Kind),
    trigger=texts,
    resolution=texts,
    recorded_at=moments,
    status=st.sampled_from(Status),
    helped=st.floats(0, 100),
    uses=st.integers(0, 1000),
    valid_from=st.none() | moments,
    attributes=st.dictionaries(texts, st.none() | st.booleans() | st.integers() | texts, max_size=4),
    provenance=provenances,
)


@given(memories)
def test_a_memory_survives_the_way_to_properties_and_back(memory: Memory) -> None:
    operation = put_record(memory)
    assert operation.label is label_of(memory) is Label.MEMORY
    assert node_from(operation.label, operation.id, operation.props) == memory


@given(moments)
def test_a_moment_survives_the_way_to_microseconds_and_back(moment: datetime) -> None:
    assert from_micros(to_micros(moment)) == moment


def test_an_episodes_own_agent_goes_before_its_provenances() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    episode = Episode(
        id="e", content="c", recorded_at=now, occurred_at=now, agent="ada", provenance=Provenance(agent="")
    )
    assert put_record(episode).props["agent"] == "ada"


@given(memories)
def test_a_property_that_was_taken_back_is_what_it_is_where_nobody_said_it(memory: Memory) -> None:
    props = put_record(memory).props
    needed = {"name", "kind", "trigger", "resolution", "recorded_at"}
    bare = {name: props[name] for name in needed}
    taken_back = {**dict.fromkeys(props), **bare}
    assert node_from(Label.MEMORY, memory.id, taken_back) == node_from(Label.MEMORY, memory.id, bare)


def test_an_edge_survives_the_way_to_properties_and_back() -> None:
    edge = Edge(
        type=Relation.RELATED,
        source=Ref.memory("a"),
        target=Ref.memory("b"),
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        relation="blocks",
        attributes={"n": 1},
        provenance=Provenance(trust=Trust.WEB),
    )
    assert edge_from(put_edge(edge)) == edge


@given(memories)
def test_a_change_survives_the_way_to_json_and_back(memory: Memory) -> None:
    ref = Ref.memory(memory.id)
    change = Change(
        kind="store",
        operations=(
            put_record(memory),
            PutPassage(id="p", number=7, owner=ref, text="t"),
            DropPassage(id="q"),
            DropEdge(type=Relation.SOLVES, source=ref, target=ref),
        ),
        note={"status": "added"},
    )
    assert decode(encode(change)) == change


@given(st.lists(moments, min_size=2, max_size=20))
def test_ids_sort_by_the_moment_they_were_made_at(made: list[datetime]) -> None:
    after_epoch = sorted(moment for moment in made if moment.year >= 1970)
    ids = [uuid7(moment) for moment in after_epoch]
    for (before, first), (after, second) in zip(
        zip(after_epoch, ids, strict=True), zip(after_epoch[1:], ids[1:], strict=False), strict=False
    ):
        assert before == after or to_micros(after) - to_micros(before) < 2 or first < second
    assert len(set(ids)) == len(ids)


@given(st.lists(st.sampled_from(Trust), min_size=1))
def test_the_weakest_class_bounds_the_rest(classes: list[Trust]) -> None:
    assert all(weakest_trust(*classes).rank >= trust.rank for trust in classes)
