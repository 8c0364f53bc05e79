"""The writer: what it accepts holds what a record may hold, whoever decided it."""

from __future__ import annotations

import pytest

from helix.errors import InvalidInputError
from helix.model.edge import Label, Ref, Relation
from helix.model.operations import Change, Put, PutEdge, PutNode, PutPassage
from helix.store.store import Store
from helix.store.writer import Decision

_MEMORY = Ref.memory("m")


@pytest.mark.parametrize(
    "op",
    [
        PutNode(label=Label.MEMORY, id="m", props={"trigger": 7}),
        PutNode(label=Label.MEMORY, id="m", props={"confidence": float("inf")}),
        PutNode(label=Label.MEMORY, id="m", props={"trigger": "\ud800"}),
        PutNode(label=Label.MEMORY, id="m", props={"status": "gone"}),
        PutEdge(type=Relation.SIMILAR, source=_MEMORY, target=_MEMORY, props={"weight": "much"}),
        PutPassage(id="p", number=1, owner=_MEMORY, text="\ud800", vector=None, tokens=None),
    ],
    ids=lambda op: type(op).__name__,
)
def test_a_value_that_is_none_of_a_record_is_not_written(lone_store: Store, op: Put) -> None:
    before = lone_store.journal.last_seq
    with pytest.raises(InvalidInputError, match="cannot be stored"):
        lone_store.writer.submit(lambda: Decision((Change(kind="test", operations=(op,)),), None))
    assert lone_store.journal.last_seq == before
