"""Own exports beside what this store has decided since: erased here or there, private here, edited, brought back."""

from __future__ import annotations

from pathlib import Path

import pytest

from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.capture.sessions import SessionRequest
from helix.memory.extraction.consolidation import consolidate
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.model.edge import Relation
from helix.model.memory import Status
from helix.operations import capture, erasure, exports, ingest, memories, review
from helix.service import Helix
from helix.store.listing import MemoryFilter
from tests.ingest.test_own_exports import VAULT, opened, passages, state
from tests.ingest.test_own_exports import two as two
from tests.memory.saying import embed, job, learned
from tests.waiting import finished


def stored(helix: Helix, trigger: str, name: str = "") -> str:
    return memories.store(
        helix, StoreRequest(trigger=trigger, resolution="", kind="fact", scope="shop", name=name or None)
    ).id


def exported(helix: Helix, place: Path) -> str:
    finished(helix, exports.export_jsonl(helix, str(place)))
    return str(place)


def read(helix: Helix, place: str) -> None:
    finished(helix, ingest.import_memories(helix, place, mine=True))


def triggers(helix: Helix, status: Status = Status.ACTIVE) -> list[str]:
    listed = memories.memories(helix, MemoryFilter(any_status=True)).items
    return sorted(one.trigger for one in listed if one.status is status)


@pytest.mark.soak
def test_no_name_and_no_edge_of_what_was_erased_comes_back(tmp_path: Path) -> None:
    with opened(tmp_path / "one") as helix:
        first = stored(helix, "the api of Zymurgy listens on port 8000")
        stored(helix, "the api of Zymurgy listens on port 8002")
        second = stored(helix, "the gate in src/quixotic_gate.py is red")
        met = EpisodeRequest(content="Met Xanthippe at src/secret_plan.py today", session="s1", scope="shop")
        capture.record_episode(helix, met)
        (episode,) = (one.id for one in capture.episodes(helix).items if "Xanthippe" in one.content)
        place = exported(helix, tmp_path / "before.jsonl")
        for gone in (first, second, episode):
            finished(helix, erasure.hard_forget(helix, gone, gone))
        left = state(helix)
        read(helix, place)
        assert state(helix) == left


@pytest.mark.soak
def test_a_name_of_a_sentence_that_was_cut_out_stays_out(two: tuple[Helix, Helix], tmp_path: Path) -> None:
    one, other = two
    said = f"{VAULT}\n\nThe gate in src/gate.py is painted red."
    capture.record_episode(one, EpisodeRequest(content=said, session="s1", scope="shop"))
    place = exported(one, tmp_path / "export.jsonl")
    own = stored(other, VAULT)
    finished(other, erasure.hard_forget(other, own, own))
    read(other, place)
    assert any("painted red" in episode.content for episode in capture.episodes(other).items)
    assert "Zymurgy" not in str(state(other)) and "Zymurgy" not in str(passages(other))
    assert "src/gate.py" in str(state(other)), "what is left of it names that still"


@pytest.mark.soak
def test_what_was_erased_where_an_export_comes_from_is_read_again_nowhere(
    two: tuple[Helix, Helix], tmp_path: Path
) -> None:
    one, other = two
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "rules.md").write_text(f"# Rules\n\n- {VAULT}\n- Never push to main without a review.\n", "utf-8")

    def noted(helix: Helix) -> list[str]:
        finished(helix, ingest.ingest_notes(helix, [str(notes)], scope="shop", mine=True))
        return [f"{one.trigger} {one.resolution}" for one in memories.memories(helix).items]

    noted(one)
    old = exported(one, tmp_path / "old.jsonl")
    (rule,) = (one.id for one in memories.memories(one).items if VAULT in f"{one.trigger} {one.resolution}")
    finished(one, erasure.hard_forget(one, rule, rule))
    read(other, exported(one, tmp_path / "new.jsonl"))
    assert state(other) == state(one)
    read(other, old)
    assert state(other) == state(one)
    assert [said for said in noted(other) if VAULT in said] == []
    assert any("without a review" in said for said in noted(other))


def test_what_rests_on_a_private_session_alone_stays_out_with_its_names(
    two: tuple[Helix, Helix], tmp_path: Path
) -> None:
    one, other = two
    for number, session in enumerate(("hush", "loud")):
        said = f"Remember: we decided that barn {number} is painted with Zymurgy green in src/plan_{number}.py"
        capture.record_episode(one, EpisodeRequest(content=said, session=session, scope="shop", role="user"))
    embed(one.store)
    consolidate(job(one.store, "learn"), {"scope": "shop"})
    assert len(learned(one.store, "shop")) == 2, "a memory was made of each"
    capture.open_session(other, SessionRequest(name="hush", private=True))
    read(other, exported(one, tmp_path / "export.jsonl"))
    assert "plan_0" not in str(state(other)) and "barn 0" not in str(state(other))
    assert "plan_1" in str(state(other))


@pytest.mark.parametrize("how", ["edited", "forgotten"])
def test_a_copy_of_what_holds_no_more_goes_behind_it(two: tuple[Helix, Helix], tmp_path: Path, how: str) -> None:
    one, other = two
    stored(one, "the api listens on port 8000", name="port")
    finished(other, ingest.import_memories(other, exported(one, tmp_path / "first.jsonl"), scope="shop"))
    if how == "edited":
        memories.edit(one, "port", EditRequest(trigger="the api listens on port 8002"))
    else:
        memories.forget(one, "port")
    read(other, exported(one, tmp_path / "later.jsonl"))
    assert triggers(other) == triggers(one)


def test_what_was_unmerged_since_is_merged_by_no_export(tmp_path: Path) -> None:
    with opened(tmp_path / "one") as helix:
        kept = stored(helix, "Restart nginx after changing its config", name="aa")
        folded = stored(helix, "Restart nginx once the config has changed", name="bb")
        review.settle_duplicate(helix, kept, folded, kept)
        place = exported(helix, tmp_path / "merged.jsonl")
        memories.unmerge(helix, folded)
        read(helix, place)
        nodes, edges = state(helix)
        replaced = [target for kind, _, target in edges if kind is Relation.SUPERSEDES]
        assert [nodes[one.label, one.id]["status"] for one in replaced] == ["retired"], "its version before the merge"
        assert len(triggers(helix)) == 2


def test_what_has_no_edge_and_what_was_drawn_since_come_in(two: tuple[Helix, Helix], tmp_path: Path) -> None:
    one, other = two
    capture.open_session(one, SessionRequest(name="lonely", scope="shop"))
    first, second = stored(one, "the kettle is copper"), stored(one, "the roof is of tin")
    read(other, exported(one, tmp_path / "first.jsonl"))
    assert state(other) == state(one)
    memories.edge(one, first, second, "supersedes")
    read(other, exported(one, tmp_path / "later.jsonl"))
    assert state(other) == state(one)


def test_what_is_said_again_after_its_erasure_comes_in_behind_the_tombstone(
    two: tuple[Helix, Helix], tmp_path: Path
) -> None:
    one, other = two
    gone = stored(one, VAULT)
    before = exported(one, tmp_path / "before.jsonl")
    finished(one, erasure.hard_forget(one, gone, gone))
    read(other, exported(one, tmp_path / "erased.jsonl"))
    read(other, before)
    assert triggers(other) == []
    stored(one, VAULT)
    read(other, exported(one, tmp_path / "again.jsonl"))
    assert triggers(other) == [VAULT]
    assert state(other) == state(one)


def test_a_rule_of_notes_that_the_user_puts_in_erased_words_is_theirs(two: tuple[Helix, Helix], tmp_path: Path) -> None:
    one, other = two
    (notes := tmp_path / "rules.md").write_text("# Rules\n\n- Never push to main without a review.\n", "utf-8")
    finished(one, ingest.ingest_notes(one, [str(notes)], scope="shop", mine=True))
    gone = stored(other, VAULT)
    finished(other, erasure.hard_forget(other, gone, gone))
    (rule,) = (item.id for item in memories.memories(one).items)
    memories.edit(one, rule, EditRequest(trigger=VAULT))
    read(other, exported(one, tmp_path / "edited.jsonl"))
    assert triggers(other) == triggers(one) == [VAULT]
