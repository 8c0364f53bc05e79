"""What others sign says anew what their strands brought, and nothing of what is one's own or was ended here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import independent
import pytest
from exchanging import rows_of
from test_hostile_strands import FIRST, brought, memory
from test_strand_format import believing

from helix.memory.job_run.run import Run
from helix.memory.remember.request import StoreRequest
from helix.memory.upkeep.merge import merge_similar
from helix.model.memory import Memory, Status
from helix.model.provenance import Trust
from helix.operations import memories, review
from helix.service import Helix
from tests.strands.conftest import Machines

WORDS = "the proxy listens on port 8080"
BELIEVED = [Trust.WEB, Trust.TOOL_OUTPUT, Trust.AGENT_INFERRED]


def version(rows: list[Any], *parents: str) -> dict[str, Any]:
    """Return what a strand of rows says of its version."""
    ident = independent.version_id(parents, independent.digests(rows)[1])
    told = {"ancestry": [], "id": ident, "parents": list(parents), "selection": independent.ALL, "since": None}
    return {"version": {**told, "tag": "", "who": "", "why": ""}}


def taken(helix: Helix, folder: Path, rows: list[Any], *parents: str) -> str:
    """Take a strand in, and return the id of its version."""
    said = version(rows, *parents)
    assert brought(helix, folder, rows, **said).error == ""
    return str(said["version"]["id"])


def held(helix: Helix) -> dict[str, Any]:
    """Return the row of the memory as it is here, word for word."""
    return next(json.loads(row.line()) for row in rows_of(helix.store) if row.key[1:] == ("Memory", FIRST))


@pytest.mark.parametrize("trust", BELIEVED)
@pytest.mark.parametrize("more", ["", " of each host"])
@pytest.mark.parametrize(
    ("ends", "status"), [(memories.forget, Status.FORGOTTEN), (review.hold, Status.QUARANTINED)], ids=["forget", "hold"]
)
def test_no_signer_takes_back_what_the_user_ended_by_saying_that_it_was_so_before(
    machines: Machines, tmp_path: Path, trust: Trust, more: str, ends: Callable[..., object], status: Status
) -> None:
    helix = believing(machines(), trust)
    first = taken(helix, tmp_path, [memory(FIRST, WORDS)])
    ends(helix, FIRST)
    second = taken(helix, tmp_path, [held(helix)], first)  # what it is here is said to be their former version
    taken(helix, tmp_path, [memory(FIRST, f"{WORDS}{more}")], second)
    assert memories.get(helix, FIRST).status is status


@pytest.mark.parametrize("trust", BELIEVED)
@pytest.mark.parametrize("change", [{"trigger": "the proxy listens on every port"}, {"status": "forgotten"}])
def test_no_signer_changes_what_came_from_no_strand(
    machines: Machines, tmp_path: Path, trust: Trust, change: dict[str, str]
) -> None:
    """Also what is believed no more than they are: what was read in a commit, or an agent stored."""
    helix = believing(machines(), trust)
    request = StoreRequest(trigger=WORDS, resolution="", kind="fact", scope="p", trust=trust)
    own: Memory = memories.get(helix, memories.store(helix, request).id)
    said = memory(own.id, change.get("trigger", WORDS), name=own.name, status=change.get("status", "active"))
    taken(helix, tmp_path, [said])
    assert memories.get(helix, own.id) == own


def test_what_their_strand_brought_they_say_anew(machines: Machines, tmp_path: Path) -> None:
    helix = believing(machines(), Trust.AGENT_INFERRED)
    first = taken(helix, tmp_path, [memory(FIRST, WORDS)])
    taken(helix, tmp_path, [memory(FIRST, "a proxy listens on port 80")], first)
    assert memories.get(helix, FIRST).trigger == "a proxy listens on port 80"


@pytest.mark.parametrize("own", [Trust.TOOL_OUTPUT, Trust.AGENT_INFERRED])
def test_no_copy_of_a_stranger_stands_for_what_is_one_s_own(machines: Machines, tmp_path: Path, own: Trust) -> None:
    """They would say it anew then, or end it."""
    helix = believing(machines(), Trust.AGENT_INFERRED)
    mine = memories.store(helix, StoreRequest(trigger=WORDS, resolution="", kind="fact", scope="p", trust=own)).id
    first = taken(helix, tmp_path, [memory(FIRST, WORDS)])
    taken(helix, tmp_path, [memory(FIRST, WORDS, status="forgotten")], first)
    assert memories.get(helix, mine).status is Status.ACTIVE


@pytest.mark.parametrize("own", BELIEVED)
def test_upkeep_lets_no_stranger_s_memory_stand_for_a_like_one_of_one_s_own(
    machines: Machines, tmp_path: Path, own: Trust
) -> None:
    helix = believing(machines(), Trust.AGENT_INFERRED)
    mine = memories.store(helix, StoreRequest(trigger=WORDS, resolution="", kind="fact", scope="p", trust=own)).id
    taken(helix, tmp_path, [memory(FIRST, f"always {WORDS}")])
    before = memories.get(helix, mine)
    merge_similar(Run(helix.store, "job", "merge_similar"), {"threshold": 0.5})
    after = memories.get(helix, mine)
    assert (after.status, after.confidence, after.importance) == (Status.ACTIVE, before.confidence, before.importance)
    assert memories.get(helix, FIRST).status is Status.RETIRED
