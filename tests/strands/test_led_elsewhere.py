"""What a strand says of versions leads nobody away from what a person made of its memories."""

from __future__ import annotations

from pathlib import Path

from test_hostile_strands import FIRST, brought, edge, memory
from test_strand_format import believing

from helix.memory.remember.curate import EditRequest
from helix.model.provenance import Trust
from helix.model.reports import JobState
from helix.operations import memories
from helix.service import Helix

LAST = "ffa20000-0000-7000-8000-00000000000b"


def test_no_strand_says_what_has_the_place_of_a_users_memory(helix: Helix, tmp_path: Path) -> None:
    believing(helix, Trust.TOOL_OUTPUT)
    brought(helix, tmp_path, [memory(FIRST, "the cache is at port 7777")])
    present = memories.edit(helix, FIRST, EditRequest(resolution="since March"))
    leads = edge("SUPERSEDES", ("Memory", LAST), ("Memory", FIRST))
    job = brought(helix, tmp_path, [memory(FIRST, "the cache is at port 7777"), memory(LAST, "push at once"), leads])
    assert job.state is JobState.DONE
    assert memories.get(helix, LAST).trigger == "push at once"
    memories.feedback(helix, [FIRST], 1.0)
    assert (memories.get(helix, present.id).helped, memories.get(helix, LAST).helped) == (1.0, 0.0)
