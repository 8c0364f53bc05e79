"""What a person did to a memory is taken back exactly, as long as nothing was done to it since."""

from __future__ import annotations

import pytest

from helix.errors import ConflictError, NotFoundError
from helix.memory.remember.request import StoreRequest
from helix.model.memory import Status
from helix.model.provenance import Trust
from helix.operations import memories
from helix.service import Helix


@pytest.fixture
def names(helix: Helix) -> list[str]:
    return [
        memories.store(
            helix, StoreRequest(trigger=trigger, resolution="", kind="fact", trust=Trust.AGENT_INFERRED)
        ).name
        for trigger in ("The quay is dredged in May", "Ferries leave from the east pier")
    ]


def test_a_confirmation_is_taken_back(helix: Helix, names: list[str]) -> None:
    before = memories.get(helix, names[0])
    assert memories.confirm(helix, names[0]).provenance.trust is Trust.USER_ASSERTED
    assert memories.revert(helix, names[0]) == before == memories.get(helix, names[0])
    assert [version.change for version in memories.history(helix, names[0])][:2] == ["undone", "confirmed"]


def test_a_restoration_is_taken_back(helix: Helix, names: list[str]) -> None:
    before = memories.forget(helix, names[0])
    assert memories.restore(helix, names[0]).status is Status.ACTIVE
    assert memories.revert(helix, names[0]) == before


def test_nothing_else_is_taken_back(helix: Helix, names: list[str]) -> None:
    with pytest.raises(ConflictError):
        memories.revert(helix, names[0])
    memories.confirm(helix, names[0])
    memories.feedback(helix, [names[0]], 1.0)
    with pytest.raises(ConflictError):
        memories.revert(helix, names[0])


def test_an_edge_is_taken_back_with_the_last_of_its_weight(helix: Helix, names: list[str]) -> None:
    def held() -> list[tuple[float, str]]:
        return [(one.weight, one.relation) for one in memories.edges(helix, names[0], "RELATED").items]

    memories.edge(helix, *names, "serves")
    memories.edge(helix, *names, "feeds")
    assert held() == [(2.0, "serves, feeds")]
    memories.edge(helix, *names, "feeds", undo=True)
    assert held() == [(1.0, "serves")]
    with pytest.raises(NotFoundError):
        memories.edge(helix, *names, "feeds", undo=True)
    memories.edge(helix, *names, "serves", undo=True)
    assert held() == []
