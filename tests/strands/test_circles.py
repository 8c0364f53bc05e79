"""Circles and crowds in what a strand brings: nodes that rest on each other, or very many at one, hold nobody up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from test_hostile_strands import FIRST, MOMENT, SECOND, Line, brought, edge, findable, found, memory, node, said
from test_strand_format import believing

from helix.errors import ConflictError
from helix.journal import tables
from helix.journal.state import Records
from helix.memory.erasure.hard_forget import plan_hard_forget
from helix.memory.failures import systemic
from helix.memory.failures.occurrences import marks_of
from helix.memory.remember.request import StoreRequest
from helix.model.edge import Ref
from helix.model.operations import DropEdge, PutEdge
from helix.model.provenance import Trust
from helix.model.reports import JobState
from helix.operations import erasure, memories, review
from helix.recall.answer import disputed
from tests.counting import calls_of
from tests.strands.conftest import Machines
from tests.waiting import ended

LIKE = StoreRequest(trigger="", resolution="", kind="failure", scope="p", trust=Trust.USER_ASSERTED)
SAID = "the till is locked on fridays"


def insight(ident: str, says: str) -> Line:
    told = {"insight": says, "level": 1, "question": "why does no deploy succeed?", "recorded_at": MOMENT}
    return node("Reflection", ident, [says], scope="p", status="active", trust="agent_inferred", **told)


def test_insights_that_cite_each_other_are_found_like_any(machines: Machines, tmp_path: Path) -> None:
    helix = believing(machines(), Trust.TOOL_OUTPUT)
    one, other = ("Reflection", FIRST), ("Reflection", SECOND)
    rows = [insight(FIRST, SAID), insight(SECOND, f"{SAID} by the printer"), edge("CITES", one, other)]
    assert brought(helix, tmp_path, [*rows, edge("CITES", other, one)]).state is JobState.DONE
    assert set(found(helix, "the till is locked")) == {FIRST, SECOND}


def test_memories_that_were_folded_into_each_other_hold_nobody_up(machines: Machines, tmp_path: Path) -> None:
    helix = believing(machines(), Trust.TOOL_OUTPUT)
    one, other = ("Memory", FIRST), ("Memory", SECOND)
    over = [
        memory(ident, f"{SAID} {ident}", name=ident[-1], retired_at=MOMENT, status="retired")
        for ident in (FIRST, SECOND)
    ]
    ways = [edge("SUPERSEDES", *ends, attributes='{"merged":true}') for ends in ((one, other), (other, one))]
    assert brought(helix, tmp_path, [*over, *ways]).state is JobState.DONE
    memories.feedback(helix, [FIRST], 0.5)
    with pytest.raises(ConflictError, match="elsewhere"):
        memories.unmerge(helix, FIRST)
    assert said(helix, "what is written behind it")


@pytest.mark.soak
def test_a_memory_can_be_erased_on_which_a_long_chain_of_insights_rests(machines: Machines, tmp_path: Path) -> None:
    helix = believing(machines(), Trust.TOOL_OUTPUT)
    mine = said(helix, SAID)
    chain = [f"01a20000-0000-7000-8000-{number:012x}" for number in range(2_000)]
    rows = [insight(ident, f"{SAID} {ident}") for ident in chain]
    rows.append(edge("CITES", ("Reflection", chain[0]), ("Memory", mine)))
    rows += [edge("CITES", ("Reflection", ident), ("Reflection", below)) for below, ident in pairwise(chain)]
    assert brought(helix, tmp_path, rows).state is JobState.DONE
    passes = calls_of(tables.edges_at, lambda: plan_hard_forget(helix.store, mine))
    assert passes < 10, "every step along the chain reads all edges of the journal"
    assert ended(helix, erasure.hard_forget(helix, mine, mine)).state is JobState.DONE
    assert findable(helix) == []


@pytest.mark.soak
def test_a_failure_is_kept_where_many_like_it_have_a_long_chain_of_versions(machines: Machines, tmp_path: Path) -> None:
    helix = believing(machines(), Trust.AGENT_INFERRED)
    failed = "`make wheel` fails: error W1 of the axle"
    ids = [f"01a20000-0000-7000-8000-{number:012x}" for number in range(330)]
    chain, present = ids[:300], ids[300:]
    rows = [memory(one, f"{one} {failed}", name=one, kind="failure", status="retired") for one in chain]
    rows += [memory(one, f"{failed} {one[-1]}", name=one, kind="failure") for one in present]
    rows += [edge("SUPERSEDES", ("Memory", one), ("Memory", below)) for one, below in pairwise(chain)]
    rows += [edge("SUPERSEDES", ("Memory", one), ("Memory", chain[0])) for one in present]
    assert brought(helix, tmp_path, rows).state is JobState.DONE
    request = StoreRequest(trigger=failed, resolution="oil it", kind="failure", scope="p")
    assert calls_of(Records.edges_at, lambda: memories.store(helix, request)) < 500, "it walks along all versions"


def test_of_each_failure_is_asked_once_what_it_is_about_however_many_count_it(
    machines: Machines, tmp_path: Path
) -> None:
    helix = believing(machines(), Trust.AGENT_INFERRED)
    failed = "`make wheel` fails: error W1 of the axle"
    ids = [f"01a20000-0000-7000-8000-{number:012x}" for number in range(60)]
    failures, counting = ids[:40], ids[40:]
    rows = [memory(one, f"{failed} {one[-2:]}", name=one, kind="failure") for one in failures]
    rows += [memory(one, f"wheels {one[-2:]}", name=one, kind="systemic") for one in counting]
    rows += [edge("CAUSES", ("Memory", one), ("Memory", other)) for one in failures for other in counting]
    assert brought(helix, tmp_path, rows).state is JobState.DONE
    request = StoreRequest(trigger=failed, resolution="oil it", kind="failure", scope="p")
    assert calls_of(marks_of, lambda: memories.store(helix, request)) < 3 * len(failures)


@pytest.mark.soak
def test_a_failure_is_stored_in_the_time_of_few_however_many_were_like_it(machines: Machines, tmp_path: Path) -> None:
    helix = believing(machines(), Trust.AGENT_INFERRED)
    words = "upload job times out on a large file behind the proxy"
    ids = [f"01a20000-0000-7000-8000-{number:012x}" for number in range(600)]
    happened = {"recorded_at": MOMENT, "occurred_at": MOMENT, "scope": "p", "status": "active", "content": words}
    rows = [node("Episode", ids[0], **happened), memory(ids[1], f"{words} always", name="often", kind="systemic")]
    rows.append(memory(ids[2], f"{words} once", name="newest", kind="failure"))
    before = {"kind": "failure", "status": "retired"}
    rows += [memory(ident, f"{words} once", name=ident[-4:], **before) for ident in ids[3:300]]
    rows += [memory(ident, f"{words} then", name=ident[-4:], kind="failure", status="archived") for ident in ids[300:]]
    rows += [edge("CAUSES", ("Memory", ident), ("Memory", ids[1])) for ident in (ids[2], *ids[300:])]
    rows.append(edge("GROUNDED_IN", ("Memory", ids[2]), ("Episode", ids[0])))
    rows += [edge("SUPERSEDES", ("Memory", one), ("Memory", older)) for one, older in pairwise(ids[2:300])]
    assert brought(helix, tmp_path, rows).state is JobState.DONE
    mine = memories.store(helix, replace(LIKE, trigger=f"{words} today")).id
    assert ids[1] in {found.target.id for found in memories.edges(helix, mine, "causes")}
    for reading in (marks_of, Records.edges_at):
        assert calls_of(reading, lambda: systemic.notice(helix.store, mine)) < 200


@pytest.mark.soak
def test_a_recall_of_what_is_disputed_reads_few_of_its_edges(machines: Machines, tmp_path: Path) -> None:
    helix = believing(machines(), Trust.AGENT_INFERRED)
    ids = [f"01a20000-0000-7000-8000-{number:012x}" for number in range(400)]
    rows = [memory(ids[0], "the proxy listens on a socket for the printer", name="denied")]
    rows += [memory(ident, f"{SAID} {ident}", name=ident[-4:], status="retired") for ident in ids[1:]]
    rows += [edge("RELATED", ("Memory", ids[0]), ("Memory", ident), relation="near") for ident in ids[1:]]
    assert brought(helix, tmp_path, rows).state is JobState.DONE
    told = replace(LIKE, trigger="the proxy listens on port 8080", trust=Trust.AGENT_INFERRED)
    mine = memories.store(helix, told).id
    memories.edge(helix, mine, ids[0], "contradicts")
    index, records = helix.store.index, helix.store.records
    both = sorted(index.rows_of(Ref.memory(ident) for ident in (mine, ids[0])))
    asked: list[object] = []

    def reading(wanted: Sequence[DropEdge]) -> Sequence[PutEdge | None]:
        asked.extend(wanted)
        return records.edges(wanted)

    names = disputed(index.view, index.graph, both, index.view.walkable("p"), reading)
    assert (sorted(names), len(asked)) == (both, 2)
    assert "denied" in names.values()


def test_a_memory_stays_as_sure_however_many_contradict_it_that_are_believed_less(
    machines: Machines, tmp_path: Path
) -> None:
    helix = believing(machines(), Trust.AGENT_INFERRED)
    words, since = "the gateway listens on port 9000", datetime(2020, 1, 1, tzinfo=UTC)
    # What is told later is not settled by trust: it is open.
    request = StoreRequest(trigger=words, resolution="", kind="fact", scope="p", valid_from=since)
    mine = memories.store(helix, request).id
    before = memories.get(helix, mine).confidence
    told = [memory(one, f"the gateway listens on port {port}") for one, port in ((FIRST, 8001), (SECOND, 8002))]
    assert brought(helix, tmp_path, told).state is JobState.DONE
    assert mine in {side.id for one in review.contradictions(helix).items for side in (one.first, one.second)}
    assert memories.get(helix, mine).confidence == before


def test_of_many_twins_each_is_folded_once_with_its_own_edges_alone(machines: Machines, tmp_path: Path) -> None:
    helix = believing(machines(), Trust.AGENT_INFERRED)
    twins, leaves = ([f"01a{kind}0000-0000-7000-8000-{number:012x}" for number in range(30)] for kind in (2, 3))
    rows = [memory(one, SAID, recorded_at=MOMENT - number) for number, one in enumerate(twins)]
    rows += [memory(one, f"{one} pigeons sat on the roof", kind="decision") for one in leaves]
    rows += [edge("CAUSES", ("Memory", one), ("Memory", leaf)) for one, leaf in zip(twins, leaves, strict=True)]
    assert brought(helix, tmp_path, rows).state is JobState.DONE
    (stays,) = found(helix, SAID)
    assert stays == twins[-1]
    own, taken_over, folded = len(leaves), len(leaves) - 1, len(twins) - 1
    assert helix.store.index.edge_count == own + taken_over + folded
