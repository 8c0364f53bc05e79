"""Old versions: what is said of one by its former name or id reaches the present one, or is refused with its name."""

from __future__ import annotations

import pytest

from helix.errors import ConflictError
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.model.memory import Status
from helix.model.provenance import Trust
from helix.operations import memories, review
from helix.service import Helix

GATEWAY = StoreRequest(trigger="the vpn gateway is at 10.0.0.7", resolution="", kind="fact", name="vpn")


@pytest.mark.parametrize("what", [memories.forget, memories.confirm, memories.restore])
def test_what_is_asked_by_a_former_name_is_refused_with_the_present_one(what: object, helix: Helix) -> None:
    memories.store(helix, GATEWAY)
    memories.edit(helix, "vpn", EditRequest(name="gateway"))
    with pytest.raises(ConflictError) as refused:
        what(helix, "vpn")  # type: ignore[operator]
    assert "gateway" in str(refused.value.hint)
    assert memories.get(helix, "gateway").status is Status.ACTIVE


def test_what_was_folded_stays_folded(helix: Helix) -> None:
    one, other = (
        memories.store(helix, StoreRequest(trigger=f"deploys run on friday {when}", resolution="", kind="pattern"))
        for when in ("evening", "after lunch")
    )
    review.settle_duplicate(helix, one.id, other.id, one.id)
    with pytest.raises(ConflictError):
        memories.forget(helix, other.id)
    assert memories.get(helix, other.id).status is Status.RETIRED


def test_feedback_by_a_former_name_reaches_the_present_version(helix: Helix) -> None:
    memories.store(helix, GATEWAY)
    memories.edit(helix, "vpn", EditRequest(name="gateway"))
    memories.feedback(helix, ["vpn"], 1.0)
    assert memories.get(helix, "gateway").helped == 1.0


def test_what_contradicts_a_memory_is_no_version_of_it(helix: Helix) -> None:
    kept, old, contrary = (
        memories.store(helix, StoreRequest(trigger=said, resolution="", kind="fact", trust=trust))
        for said, trust in (
            ("the search index is at port 9200", Trust.WEB),
            ("the api listens on port 8001", Trust.WEB),
            ("the api listens on port 8002", Trust.USER_ASSERTED),
        )
    )
    review.settle_duplicate(helix, old.id, kept.id, kept.id)
    memories.feedback(helix, [old.id], -1.0)
    assert (memories.get(helix, contrary.id).failed, memories.get(helix, kept.id).failed) == (0.0, 1.0)


@pytest.mark.parametrize("relation", ["supersedes", "contradicts"])
def test_no_edge_that_an_agent_draws_leads_away_from_the_present_version(helix: Helix, relation: str) -> None:
    old = memories.store(helix, GATEWAY)
    present = memories.edit(helix, "vpn", EditRequest(name="gateway"))
    other = memories.store(helix, StoreRequest(trigger="push without tests", resolution="", kind="fact", agent="bot"))
    for end in (present.id, other.id):
        memories.edge(helix, end, old.id, relation, agent="bot")
        memories.edge(helix, old.id, end, relation, agent="bot")
    memories.feedback(helix, [old.id], 1.0)
    assert memories.get(helix, "gateway").helped == 1.0
