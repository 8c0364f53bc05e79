"""What says the very words of what is erased goes with it or is named in the plan; what only follows it stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from helix.memory.capture.episodes import EpisodeRequest, record
from helix.memory.erasure.hard_forget import hard_forget, plan_hard_forget
from helix.memory.remember import curate
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.remember import remember
from helix.memory.remember.request import StoreRequest
from helix.model.edge import Ref
from helix.model.episode import Episode
from helix.model.memory import Memory
from helix.operations import erasure, ingest, memories
from helix.service import Helix
from helix.store.listing import MemoryFilter
from helix.store.store import Store
from helix.strands.whole import Unwatched
from tests.waiting import finished

CLIENT = "Our client pays in gold bars every month"


def plan(store: Store, ident: str) -> tuple[set[str], set[str]]:
    """Return the ids that a hard forget takes away, and those that it says stay."""
    found = plan_hard_forget(store, ident)
    return {one.ref.id for one in found.goes}, {one.ref.id for one in found.stays}


@pytest.mark.parametrize(
    "spelled",
    [
        "Our _client_ pays in __gold bars__ every month.",
        "Our client pays in gold bars every mo\u00adnth.",
        "Our cli\u200bent pays in gold bars every month.",
        "**Our client** pays in gold bars every month.",
    ],
)
def test_marks_that_nobody_reads_hide_no_sentence(lone_store: Store, spelled: str) -> None:
    said = remember(lone_store, StoreRequest(trigger=CLIENT, resolution="", kind="fact")).id
    heard = record(lone_store, EpisodeRequest(content=f"Hello. {spelled} Bye.")).id
    assert heard in plan(lone_store, said)[0]


def test_an_episode_goes_with_all_that_say_the_same_from_beginning_to_end(lone_store: Store) -> None:
    one, other, longer = (
        record(lone_store, EpisodeRequest(content=words, session=session)).id
        for words, session in ((CLIENT, "a"), (f"{CLIENT}.", "b"), (f"{CLIENT} and in silver.", "c"))
    )
    goes, _ = plan(lone_store, one)
    assert {one, other} <= goes
    assert longer not in goes


def test_a_memory_that_was_edited_into_the_same_words_is_named_among_what_stays(lone_store: Store) -> None:
    said = remember(lone_store, StoreRequest(trigger=CLIENT, resolution="", kind="fact")).id
    other = remember(lone_store, StoreRequest(trigger="Billing is done by hand", resolution="", kind="fact")).id
    edited = curate.edit(lone_store, other, EditRequest(resolution=f"{CLIENT}.")).id
    goes, stays = plan(lone_store, said)
    assert edited in stays - goes


@pytest.mark.soak
def test_what_its_notes_say_instead_is_no_version_of_a_rule_and_stays(helix: Helix, tmp_path: Path) -> None:
    notes = tmp_path / "AGENTS.md"

    def rule(words: str) -> Memory:
        notes.write_text(f"# Rules\n\n- Keep functions short and plain.\n- {words}\n", "utf-8")
        finished(helix, ingest.ingest_notes(helix, [str(notes)], scope="shop"))
        return next(one for one in memories.memories(helix, MemoryFilter()).items if one.trigger == words)

    old = rule("Always ring the keeper before opening the barn.")
    new = rule("Never merge a branch before two reviewers have approved it.")
    own = memories.edit(helix, new.id, EditRequest(resolution="Except for typos."))
    finished(helix, erasure.hard_forget(helix, old.id, old.id))
    assert memories.get(helix, own.id).resolution == "Except for typos."


@pytest.mark.soak
def test_a_source_that_says_nothing_is_known_by_a_digest(lone_store: Store) -> None:
    source = "codex:5d0e7c0a-8f7b-4a1e-9c3d-2b6f1a7e8d90:2026-03-01T10:00:01.000Z#f8ac8c3f5abf8f0d"
    heard = record(lone_store, EpisodeRequest(content=CLIENT, source=source)).id
    hard_forget(lone_store, plan_hard_forget(lone_store, heard), Unwatched())
    (left,) = lone_store.records.nodes([Ref.episode(heard)])
    assert isinstance(left, Episode)
    assert left.source
    assert "f8ac8c3f" not in left.source


@pytest.mark.soak
def test_no_more_goes_than_the_plan_says_where_others_were_folded_into_the_same(helix: Helix) -> None:
    words = (
        "Deploys of the shop run on Tuesday",
        "Deploys of the shop run on a Tuesday",
        "Deploys of the shop run Tuesday",
    )
    ids = [
        memories.store(helix, StoreRequest(trigger=one, resolution="", kind=kind)).id
        for one, kind in zip(words, ("fact",) * 3, strict=True)
    ]
    found = plan_hard_forget(helix.store, ids[0])
    report = hard_forget(helix.store, found, Unwatched())
    assert {ref.id for ref in report.erased} == {each.ref.id for each in found.goes}
