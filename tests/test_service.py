"""The facade: every primitive on a real store, with the deterministic hash embedder."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from helix.errors import (
    ConfigError,
    ConflictError,
    CypherRefusedError,
    EmbeddingSpaceError,
    HelixError,
    InvalidInputError,
    NotFoundError,
    PausedError,
    StoreCorruptError,
    StoreLockedError,
)
from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.capture.sessions import SessionRequest
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.model.edge import MOST_WORDS, Label, Relation
from helix.model.episode import Episode
from helix.model.memory import Kind, Status
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.model.reports import JobState, StoreStatus
from helix.operations import background_work, capture, graph, memories, review, upkeep
from helix.providers.fakes import HashEmbedder, OverlapReranker
from helix.recall.scoring import score_of
from helix.service import Helix, restore_closed
from helix.settings import Settings

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Time:
    """A clock that a test moves by hand; each look moves it by a millisecond, so that order is never a tie."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now

    def forward(self, **how_far: float) -> None:
        self.now += timedelta(**how_far)


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def timed(settings: Settings, time: Time) -> Any:
    with Helix.open(settings, embedder=HashEmbedder(), clock=time) as service:
        yield service


def found(helix: Helix, query: str, **fields: Any) -> list[str]:
    return [item.node.name for item in helix.recall(RecallQuery(query=query, **fields)).items]  # type: ignore[union-attr]


def finished(helix: Helix, job_id: str) -> Any:
    done = threading.Event()
    end = helix.events.subscribe(
        lambda event: done.set() if event["id"] == job_id and event["state"] != "running" else None
    )
    if upkeep.job(helix, job_id).state is JobState.RUNNING:
        assert done.wait(60)
    end()
    job = upkeep.job(helix, job_id)
    assert job.state is JobState.DONE, job.error
    return job


def test_what_is_stored_is_recalled_with_reasons(helix: Helix) -> None:
    memories.store(
        helix,
        StoreRequest(
            trigger="uploads time out behind the proxy", resolution="raise proxy_read_timeout", kind="failure"
        ),
    )
    memories.store(helix, StoreRequest(trigger="release notes are written by hand", resolution="", kind="convention"))
    answer = helix.recall(RecallQuery(query="why do uploads time out", explain=True))
    first = answer.items[0]
    assert first.node.kind is Kind.FAILURE  # type: ignore[union-attr]
    assert first.reason
    assert first.confidence_label == ""
    assert {hit.arm for hit in first.arms} >= {"lexical", "vector"}
    assert answer.mode == "hybrid"


def test_recall_on_an_empty_store_is_an_empty_list(helix: Helix) -> None:
    assert helix.recall(RecallQuery(query="anything")).items == ()


def test_the_same_thing_twice_counts_and_does_not_double(helix: Helix) -> None:
    first = memories.store(
        helix, StoreRequest(trigger="run tests with -x", resolution="stops early", kind="convention")
    )
    again = memories.store(
        helix, StoreRequest(trigger="Run tests with -x", resolution="stops early", kind="convention")
    )
    assert (first.status, again.status, again.id) == (StoreStatus.ADDED, StoreStatus.MERGED, first.id)
    assert memories.get(helix, first.id).attributes["helix:seen"] == 2
    assert upkeep.stats(helix).total == 1


def test_concurrent_stores_of_one_thing_see_each_other(helix: Helix) -> None:
    results: list[str] = []

    def store() -> None:
        results.append(
            memories.store(
                helix, StoreRequest(trigger="one and the same", resolution="thing", kind="fact")
            ).status.value
        )

    threads = [threading.Thread(target=store) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["added", *["merged"] * 7]


def test_a_refinement_becomes_a_new_version_under_the_same_name(helix: Helix) -> None:
    old = memories.store(
        helix,
        StoreRequest(trigger="database pool size", resolution="keep the pool size at ten connections", kind="decision"),
    )
    memories.feedback(helix, [old.name], 1.0)
    new = memories.edit(
        helix, old.name, EditRequest(resolution="keep the pool size at twenty connections since the move")
    )
    assert new.name == old.name
    assert new.id != old.id
    assert (new.helped, new.uses) == (1.0, 1)
    assert memories.get(helix, old.id).status is Status.RETIRED
    assert memories.get(helix, old.name).id == new.id
    assert [edge.type for edge in memories.edges(helix, new.id, "supersedes")] == [Relation.SUPERSEDES]
    assert memories.edges(helix, new.id, "grounded_in"), "the evidence is passed on"
    memories.feedback(helix, [old.name], 1.0)
    assert memories.get(helix, new.id).uses == 2, "feedback follows the name"
    assert found(helix, "database pool size") == [new.name]


def test_an_explicit_name_that_is_taken_is_a_conflict(helix: Helix) -> None:
    memories.store(helix, StoreRequest(trigger="a b c", resolution="x", kind="fact", name="abc"))
    assert (
        memories.store(helix, StoreRequest(trigger="a b c", resolution="x", kind="fact", name="abc")).status
        is StoreStatus.MERGED
    )
    with pytest.raises(ConflictError, match="already called 'abc'"):
        memories.store(helix, StoreRequest(trigger="quite another thing", resolution="y", kind="fact", name="abc"))


def test_forgetting_hides_and_restoring_brings_back(helix: Helix) -> None:
    stored = memories.store(
        helix, StoreRequest(trigger="the staging password rotates weekly", resolution="ask ops", kind="fact")
    )
    memories.forget(helix, stored.name)
    assert found(helix, "staging password rotates", deep=True) == []
    assert memories.get(helix, stored.id).status is Status.FORGOTTEN
    memories.restore(helix, stored.name)
    assert found(helix, "staging password rotates") == [stored.name]


def test_a_restored_memory_gets_another_name_where_its_own_was_taken(helix: Helix) -> None:
    first = memories.store(helix, StoreRequest(trigger="alpha beta", resolution="one", kind="fact", name="ab"))
    memories.forget(helix, "ab")
    memories.store(helix, StoreRequest(trigger="gamma delta epsilon", resolution="two", kind="fact", name="ab"))
    assert memories.restore(helix, first.id).name == "ab-2"


def test_recall_hides_memories_outside_valid_time(timed: Helix, time: Time) -> None:
    memories.store(
        timed,
        StoreRequest(
            trigger="the office is in Bern",
            resolution="",
            kind="fact",
            valid_from=START - timedelta(days=100),
            valid_to=START - timedelta(days=10),
        ),
    )
    assert found(timed, "where is the office") == []
    assert found(timed, "where is the office", as_of=START - timedelta(days=50)) == ["office-bern"]
    assert found(timed, "where is the office", as_of=START - timedelta(days=200)) == []


def test_recall_knows_what_was_known_at_a_time(timed: Helix, time: Time) -> None:
    stored = memories.store(
        timed, StoreRequest(trigger="deploys happen on fridays", resolution="at noon", kind="convention")
    )
    time.forward(days=1)
    between = time.now
    time.forward(days=1)
    new = memories.edit(timed, stored.name, EditRequest(resolution="never at noon"))
    ids = lambda **fields: [item.node.id for item in timed.recall(RecallQuery(query="deploys", **fields)).items]  # noqa: E731
    assert ids() == [new.id]
    assert ids(known_at=between) == [stored.id]
    assert ids(known_at=START - timedelta(days=1)) == []


def test_a_fact_that_changed_is_right_before_and_after(timed: Helix) -> None:
    before, after = START - timedelta(days=2000), START - timedelta(days=900)
    words = "it runs on two hosts with nightly backups under postgres version"
    old = memories.store(
        timed, StoreRequest(trigger="production database", resolution=f"{words} 12", kind="fact", valid_from=before)
    )
    new = memories.store(
        timed, StoreRequest(trigger="production database", resolution=f"{words} 15", kind="fact", valid_from=after)
    )
    assert (new.status, new.name) == (StoreStatus.UPDATED, old.name)

    def answered(**fields: Any) -> list[str]:
        return [item.node.id for item in timed.recall(RecallQuery(query="production database", **fields)).items]

    assert answered() == [new.id]
    assert answered(as_of=after - timedelta(days=1)) == [old.id]
    assert answered(as_of=after + timedelta(days=1)) == [new.id]
    assert answered(as_of=before - timedelta(days=1)) == []
    assert [edge.target.id for edge in memories.edges(timed, new.id, "supersedes")] == [old.id]
    third = memories.store(
        timed, StoreRequest(trigger="production database", resolution=f"{words} 15 and one more host", kind="fact")
    )
    assert answered() == [third.id]


def test_a_damaged_row_of_the_state_is_made_anew_from_the_log(settings: Settings) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        stored = [
            memories.store(helix, StoreRequest(trigger=f"fact {n} sigma{n}", resolution=f"r{n}", kind="fact"))
            for n in range(3)
        ]
        memories.edge(helix, stored[0].name, stored[1].name, "similar")
        memories.feedback(helix, [stored[0].name], 1.0)
        before = upkeep.status(helix)
    with sqlite3.connect(settings.store_path / "journal.db") as raw:
        raw.execute("UPDATE node SET props = '{junk' WHERE id = ?", (stored[0].id,))
    raw.close()
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        assert (upkeep.status(helix).nodes, upkeep.status(helix).edges) == (before.nodes, before.edges)
        assert memories.get(helix, stored[0].id).helped == 1.0
        assert found(helix, "sigma0")[0] == stored[0].name
        assert upkeep.doctor(helix).healthy


def test_scopes_see_themselves_and_global(helix: Helix) -> None:
    for scope in ("global", "one", "two"):
        memories.store(
            helix, StoreRequest(trigger=f"lint rule of {scope}", resolution="no tabs", kind="convention", scope=scope)
        )
    assert set(found(helix, "lint rule")) == {"lint-rule-global", "lint-rule-one", "lint-rule-two"}
    assert set(found(helix, "lint rule", scope="one")) == {"lint-rule-global", "lint-rule-one"}
    assert found(helix, "lint rule", scope="global") == ["lint-rule-global"]


def test_edges_are_made_strengthened_and_walked(helix: Helix) -> None:
    fix = memories.store(
        helix, StoreRequest(trigger="pin the toolchain version", resolution="use the lock file", kind="pattern")
    )
    bug = memories.store(helix, StoreRequest(trigger="nightly build breaks at random", resolution="", kind="failure"))
    memories.edge(helix, fix.name, bug.name, "solves")
    assert memories.edge(helix, fix.name, bug.name, "solves", 0.5).weight == 1.5
    word = memories.edge(helix, fix.name, bug.name, "came before")
    assert (word.type, word.relation) == (Relation.RELATED, "came_before")
    other = memories.edge(helix, fix.name, bug.name, "rejects", 0.5, agent="codex")
    again = memories.edge(helix, fix.name, bug.name, "came-before", 0.5)
    (kept,) = memories.edges(helix, fix.name, "related")
    assert (other.relation, again.relation, kept.relation) == ("came_before, rejects",) * 3
    assert (kept.weight, kept.provenance.trust, kept.provenance.agent) == (2.0, Trust.AGENT_INFERRED, "codex")
    assert len(memories.edges(helix, fix.name, "solves")) == 1
    for number in range(MOST_WORDS - 2):
        memories.edge(helix, fix.name, bug.name, f"word_{chr(97 + number)}")
    with pytest.raises(InvalidInputError, match="at most 16 words") as refused:
        memories.edge(helix, fix.name, bug.name, "another")
    assert "came_before, rejects" in str(refused.value.hint)
    assert memories.edge(helix, fix.name, bug.name, "rejects").weight > kept.weight
    assert len(memories.edges(helix, fix.name, "solves")) == 1
    assert fix.name in found(helix, "nightly build breaks at random", limit=2)
    with pytest.raises(InvalidInputError, match="grounded_in"):
        memories.edge(helix, fix.name, bug.name, "grounded_in")
    with pytest.raises(InvalidInputError, match="two different"):
        memories.edge(helix, fix.name, fix.name, "similar")


def test_feedback_moves_the_label_and_refuses_unknown_names_whole(helix: Helix) -> None:
    stored = memories.store(helix, StoreRequest(trigger="retry with backoff", resolution="three times", kind="pattern"))
    memories.feedback(helix, [stored.name], 0.75)
    (after,) = memories.feedback(helix, [stored.name], -0.25)
    assert (after.helped, after.failed, after.label, after.uses) == (0.75, 0.25, "[75% of 1]", 2)
    with pytest.raises(NotFoundError):
        memories.feedback(helix, [stored.name, "nobody"], 1.0)
    assert memories.get(helix, stored.id).helped == 0.75
    for delta in (0.0, float("nan"), 1e9):
        with pytest.raises(InvalidInputError):
            memories.feedback(helix, [stored.name], delta)


def test_only_a_verified_use_resets_the_clock(timed: Helix, time: Time) -> None:
    stored = memories.store(timed, StoreRequest(trigger="a doubtful trick", resolution="x", kind="pattern"))
    (plain,) = memories.feedback(timed, [stored.name], 1.0)
    assert (plain.last_used_at, plain.helped, plain.uses) == (None, 1.0, 1)
    (failed,) = memories.feedback(timed, [stored.name], -1.0, quality=1)
    assert failed.last_used_at is None
    (verified,) = memories.feedback(timed, [stored.name], 1.0, quality=5)
    assert verified.last_used_at is not None
    assert verified.half_life_days > plain.half_life_days
    for wrong in (0, 2, 6, True):
        with pytest.raises(InvalidInputError, match="quality"):
            memories.feedback(timed, [stored.name], 1.0, quality=wrong)


def test_what_is_merged_in_other_words_is_kept_as_evidence(helix: Helix) -> None:
    first = memories.store(
        helix, StoreRequest(trigger="activate the venv before running the tests", resolution="", kind="convention")
    )
    again = memories.store(
        helix, StoreRequest(trigger="before running the tests activate the venv", resolution="", kind="convention")
    )
    assert (again.status, again.id) == (StoreStatus.MERGED, first.id)
    contents = {
        memories.node(helix, edge.target.id).content  # type: ignore[union-attr]
        for edge in memories.edges(helix, first.id, "grounded_in")
    }
    assert contents == {"activate the venv before running the tests", "before running the tests activate the venv"}


def test_attributes_of_helixs_own_are_nobody_elses(helix: Helix) -> None:
    with pytest.raises(InvalidInputError, match="own"):
        memories.store(
            helix, StoreRequest(trigger="a", resolution="b", kind="fact", attributes={"helix:decayed_at": "junk"})
        )


@pytest.mark.soak
def test_a_store_that_cannot_be_opened_is_restored_closed(settings: Settings, tmp_path: Path) -> None:
    backup = tmp_path / "copy.helix"
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        stored = memories.store(helix, StoreRequest(trigger="worth keeping", resolution="x", kind="fact"))
        finished(helix, upkeep.backup(helix, str(backup)).id)
        with pytest.raises(StoreLockedError):
            restore_closed(settings, backup)
    journal = settings.store_path / "journal.db"
    journal.write_bytes(b"garbage" * 1000)
    with pytest.raises(StoreCorruptError, match="damaged"):
        Helix.open(settings, embedder=HashEmbedder())
    assert "what you erased since" in str(restore_closed(settings, backup)["warnings"])
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        for job in helix.jobs.all():
            finished(helix, job.id)
        assert found(helix, "worth keeping") == [stored.name]
        assert upkeep.doctor(helix).healthy
    assert list(settings.store_path.glob("journal.kept-*")), "the damaged journal is kept"


def test_decay_halves_old_evidence_once_a_period(timed: Helix, time: Time) -> None:
    stored = memories.store(timed, StoreRequest(trigger="old advice", resolution="x", kind="pattern"))
    memories.feedback(timed, [stored.name], 1.0)
    assert memories.decay(timed).changed == 0
    time.forward(days=31)
    assert memories.decay(timed, dry_run=True).changed == 1
    assert memories.get(timed, stored.id).helped == 1.0
    assert memories.decay(timed).names == (stored.name,)
    assert memories.decay(timed).changed == 0, "once in that time"
    assert memories.get(timed, stored.id).helped == 0.5
    time.forward(days=31)
    assert memories.decay(timed).changed == 1


def test_decay_of_edges_spares_structure(timed: Helix, time: Time) -> None:
    a = memories.store(timed, StoreRequest(trigger="first thing", resolution="x", kind="fact", files=("src/a.c",)))
    b = memories.store(timed, StoreRequest(trigger="second matter", resolution="y", kind="fact"))
    memories.edge(timed, a.name, b.name, "similar")
    time.forward(days=61)
    assert memories.decay_edges(timed).names == ("SIMILAR",)
    assert memories.edges(timed, a.name, "similar").items[0].weight == 0.5
    assert memories.edges(timed, a.name, "touches").items[0].weight == 1.0


def test_prune_archives_what_uses_speak_against(helix: Helix) -> None:
    stored = memories.store(
        helix, StoreRequest(trigger="turn it off and on", resolution="works never", kind="pattern", agent="helper")
    )
    for _ in range(3):
        memories.feedback(helix, [stored.name], -1.0)
    assert memories.prune(helix).names == (stored.name,)
    assert memories.get(helix, stored.id).status is Status.ARCHIVED
    assert found(helix, "turn it off and on") == []
    assert found(helix, "turn it off and on", deep=True) == [stored.name]
    assert memories.confirm(helix, stored.name).status is Status.ACTIVE


def test_what_nobody_used_fades_and_a_persons_word_brings_it_back(timed: Helix, time: Time) -> None:
    stored = memories.store(
        timed, StoreRequest(trigger="renamed the cache module", resolution="now store", kind="evolution", importance=4)
    )
    assert found(timed, "renamed cache module") == [stored.name]
    time.forward(days=22)  # three half-lives of 7 days: 4 -> 0.45, below the floor of 0.5
    assert found(timed, "renamed cache module") == []
    assert found(timed, "renamed cache module", deep=True) == [stored.name]
    memories.confirm(timed, stored.name)
    assert found(timed, "renamed cache module") == [stored.name]


def test_looking_is_not_using(timed: Helix, time: Time) -> None:
    stored = memories.store(timed, StoreRequest(trigger="a fact to look at", resolution="x", kind="fact"))
    timed.recall(RecallQuery(query="a fact to look at"))
    after = memories.get(timed, stored.id)
    assert (after.uses, after.last_used_at) == (0, None)


def test_the_last_answer_of_a_session_and_the_reason_of_each_item(helix: Helix) -> None:
    stored = memories.store(helix, StoreRequest(trigger="the answer is kept", resolution="x", kind="fact"))
    assert memories.last(helix) is None
    helix.recall(RecallQuery(query="which answer is kept", session="s1"))
    helix.recall(RecallQuery(query="something else", session="s2"))
    last = memories.last(helix, "s1")
    assert last is not None
    assert last.query.query == "which answer is kept"
    assert memories.why(helix, stored.name, "s1").node.id == stored.id
    with pytest.raises(NotFoundError, match="not in the last answer"):
        memories.why(helix, "nobody", "s1")


def test_the_last_answer_is_still_there_after_a_restart(settings: Settings) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        stored = memories.store(helix, StoreRequest(trigger="what outlives a restart", resolution="x", kind="fact"))
        answer = helix.recall(RecallQuery(query="what outlives a restart", session="s"))
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        again = memories.last(helix, "s")
        assert again is not None
        assert (again.query.query, again.items, again.at) == (answer.query.query, answer.items, answer.at)
        assert memories.why(helix, stored.name, "s").factors == answer.items[0].factors


def test_a_question_of_letters_no_file_holds_neither_stops_a_close_nor_is_lost(settings: Settings) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        helix.recall(RecallQuery(query="half a \ud83d letter", session="s\udc00"))
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        answer = memories.last(helix, "s\udc00")
        assert answer is not None
        answer.query.query.encode()


@pytest.mark.soak
def test_a_close_that_fails_halfway_lets_go_of_the_lock_and_the_files(settings: Settings) -> None:
    helix = Helix.open(settings, embedder=HashEmbedder())
    stored = memories.store(helix, StoreRequest(trigger="kept all the same", resolution="x", kind="fact"))
    helix.jobs.close()
    with pytest.raises(UnicodeEncodeError):
        helix.store.close("\ud800")
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        assert memories.get(helix, stored.id).name == stored.name
        assert upkeep.doctor(helix).healthy


def test_similar_recent_and_suggested_edges(helix: Helix) -> None:
    first = memories.store(
        helix, StoreRequest(trigger="segfault in the parser on empty input", resolution="", kind="failure")
    )
    memories.store(
        helix, StoreRequest(trigger="segfault in the parser on huge empty headers", resolution="", kind="failure")
    )
    memories.store(helix, StoreRequest(trigger="marketing wants a blue button", resolution="", kind="fact"))
    similar = memories.similar_recent(helix, "segfault in the parser on empty input", threshold=0.5, kind="failure")
    assert similar[0].memory.id == first.id
    assert similar[0].similarity == pytest.approx(1.0, abs=0.01)
    suggested = memories.suggest_edges(helix, first.name)
    assert suggested[0].memory.trigger.startswith("segfault")
    assert suggested[0].reason


def test_pages_go_through_a_list_without_gaps_or_repeats(helix: Helix) -> None:
    for number in range(7):
        memories.store(
            helix,
            StoreRequest(trigger=f"item number {number} zeta{number}", resolution=f"unlike{number * 37}", kind="fact"),
        )
    seen: list[str] = []
    cursor = None
    while True:
        page = memories.memories(helix, first=3, after=cursor)
        seen += [memory.name for memory in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == page.total == 7
    with pytest.raises(InvalidInputError, match="not a cursor"):
        memories.memories(helix, after="nonsense")


def recorded(helix: Helix, **fields: Any) -> Episode:
    episode = capture.record_episode(helix, EpisodeRequest(**fields)).episode
    assert episode is not None
    return episode


def test_an_episode_of_one_source_is_recorded_once(helix: Helix) -> None:
    first = recorded(helix, content="the build went red", session="s", agent="ada", source="chat:1")
    again = recorded(helix, content="the build went red", session="s", source="chat:1")
    assert again.id == first.id
    second = recorded(helix, content="then somebody fixed the linker flags", session="s", agent="ada")
    assert [edge.target.id for edge in memories.edges(helix, first.id, "next")] == [second.id]
    answer = helix.recall(RecallQuery(query="who fixed the linker flags", labels=(Label.EPISODE,)))
    assert answer.items[0].node.id == second.id
    assert capture.episodes(helix, session="s").total == 2


def test_episodes_are_listed_by_when_they_were_recorded(helix: Helix) -> None:
    first = recorded(helix, content="the build went red")
    second = recorded(helix, content="then somebody fixed the linker flags")
    bounds = {"since": second.recorded_at}, {"until": first.recorded_at}, {"since": first.recorded_at}
    found = [[one.id for one in capture.episodes(helix, **bound)] for bound in bounds]
    assert found == [[second.id], [first.id], [second.id, first.id]]


def test_a_store_writes_its_own_evidence(helix: Helix) -> None:
    stored = memories.store(helix, StoreRequest(trigger="grounded", resolution="in an episode", kind="fact"))
    (edge,) = memories.edges(helix, stored.id, "grounded_in")
    assert edge.target.label is Label.EPISODE
    assert "in an episode" in memories.node(helix, edge.target.id).content  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "opinion"},
        {"trigger": "   "},
        {"trigger": "x" * 1_000_000},
        {"confidence": 1.5},
        {"importance": float("nan")},
        {"scope": "s" * 400},
        {"valid_from": START, "valid_to": START},
    ],
)
def test_bad_input_is_refused_with_a_code_and_nothing_is_written(helix: Helix, wrong: dict[str, Any]) -> None:
    fields = {"trigger": "t", "resolution": "r", "kind": "fact", **wrong}
    with pytest.raises(InvalidInputError) as caught:
        memories.store(helix, StoreRequest(**fields))
    assert caught.value.code == "INVALID_INPUT"
    assert upkeep.status(helix).journal_rows == 0


def test_odd_characters_are_cleaned_and_found(helix: Helix) -> None:
    stored = memories.store(
        helix, StoreRequest(trigger="nul\0 and \ud800surrogate", resolution="日本語 naïve ﬁne", kind="fact")
    )
    memory = memories.get(helix, stored.id)
    assert "\0" not in memory.trigger
    assert "\ud800" not in memory.trigger
    for query in ("surrogate", "日本語", "naive", "fine"):
        assert found(helix, query) == [stored.name], query


def test_secrets_never_reach_the_disk(helix: Helix, settings: Settings) -> None:
    secret = "AKIA" + "Z7VRSQ5TJN2XKQ3M"
    stored = memories.store(
        helix,
        StoreRequest(
            trigger=f"deploy key is {secret}",
            resolution="db at postgres://admin:hunter2hunter2@db/prod",
            kind="fact",
            attributes={"note": f"token {secret}"},
        ),
    )
    assert stored.redacted
    helix.close()
    for file in settings.store_path.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert secret.encode() not in content, file
            assert b"hunter2hunter2" not in content, file


def test_a_paused_store_takes_nothing_in_but_answers(helix: Helix) -> None:
    memories.store(helix, StoreRequest(trigger="before the pause", resolution="x", kind="fact"))
    capture.pause(helix, True)
    with pytest.raises(PausedError):
        memories.store(helix, StoreRequest(trigger="a", resolution="b", kind="fact"))
    with pytest.raises(PausedError):
        capture.record_episode(helix, EpisodeRequest(content="a"))
    with pytest.raises(PausedError):
        capture.open_session(helix, SessionRequest(name="s"))
    with pytest.raises(PausedError):
        helix.worker.flush()
    with pytest.raises(PausedError):
        background_work.begin_work(helix, "reflect")
    assert found(helix, "before the pause") == ["before-pause"]
    with pytest.raises(PausedError):
        review.note_gap(helix)
    assert (
        memories.edit(helix, "before-pause", EditRequest(resolution="typed meanwhile")).resolution == "typed meanwhile"
    )
    assert capture.open_session(helix, SessionRequest(name="hush", private=True)).private, (
        "or it would not be known as private afterwards"
    )
    assert any("paused" in warning for warning in upkeep.status(helix).warnings)
    capture.pause(helix, False)
    memories.store(helix, StoreRequest(trigger="after the pause", resolution="y", kind="fact"))


def test_cypher_reads_the_live_graph_and_nothing_else(helix: Helix) -> None:
    memories.store(helix, StoreRequest(trigger="touches a file", resolution="x", kind="fact", files=("src/main.c",)))
    result = graph.cypher(helix, "MATCH (m:Memory)-[:TOUCHES]->(f:Entity) RETURN m.name, f.name AS file")
    assert result.columns == ("m.name", "file")
    assert result.rows == (("touches-file", "src/main.c"),)
    assert graph.cypher(helix, "MATCH (m:Memory {name: $n}) RETURN count(*)", {"n": "touches-file"}).rows == ((1,),)
    with pytest.raises(CypherRefusedError):
        graph.cypher(helix, "MATCH (m:Memory) DETACH DELETE m")
    assert {table.name for table in graph.graph_schema(helix)} >= {"Memory", "Episode", "SOLVES", "INJECTED"}


@pytest.mark.soak
def test_a_rebuilt_graph_serves_the_same(helix: Helix) -> None:
    for number in range(20):
        memories.store(
            helix,
            StoreRequest(
                trigger=f"thing {number} omega{number}", resolution=f"r{number}", kind="fact", files=(f"f{number}.py",)
            ),
        )
    before = graph.cypher(
        helix, "MATCH (m:Memory)-[e]->(n) RETURN m.name, label(e), label(n) ORDER BY m.name, label(e)"
    ).rows
    finished(helix, upkeep.rebuild(helix).id)
    after = graph.cypher(
        helix, "MATCH (m:Memory)-[e]->(n) RETURN m.name, label(e), label(n) ORDER BY m.name, label(e)"
    ).rows
    assert after == before
    assert upkeep.doctor(helix).healthy
    memories.store(helix, StoreRequest(trigger="written after the rebuild", resolution="x", kind="fact"))
    assert upkeep.doctor(helix).healthy


def test_a_backup_of_the_running_store_is_restored_into_it(helix: Helix, tmp_path: Path) -> None:
    kept = memories.store(helix, StoreRequest(trigger="kept in the backup", resolution="x", kind="fact"))
    target = tmp_path / "copy.helix"
    finished(helix, upkeep.backup(helix, str(target)).id)
    assert target.stat().st_mode & 0o077 == 0
    lost = memories.store(helix, StoreRequest(trigger="written after the backup", resolution="y", kind="fact"))
    job = finished(helix, upkeep.restore_backup(helix, str(target)).id)
    assert Path(job.result["kept"]).exists()
    assert memories.get(helix, kept.id).name == kept.name
    with pytest.raises(NotFoundError):
        memories.get(helix, lost.id)
    assert found(helix, "kept in the backup") == [kept.name]
    assert upkeep.doctor(helix).healthy
    memories.store(helix, StoreRequest(trigger="life goes on", resolution="z", kind="fact"))
    assert upkeep.doctor(helix).healthy


@pytest.mark.soak
def test_what_two_restores_within_a_second_replaced_is_kept_twice(timed: Helix, tmp_path: Path) -> None:
    target = tmp_path / "copy.helix"
    finished(timed, upkeep.backup(timed, str(target)).id)
    memories.store(timed, StoreRequest(trigger="written after the backup", resolution="y", kind="fact"))
    kept = [Path(finished(timed, upkeep.restore_backup(timed, str(target)).id).result["kept"]) for _ in range(2)]
    with closing(sqlite3.connect(kept[0])) as journal:
        assert journal.execute("SELECT count(*) FROM log").fetchone() == (1,)
    assert kept[1].is_file()
    assert kept[0] != kept[1]


@pytest.mark.soak
@pytest.mark.parametrize("before", [(), ("hush before",)], ids=["first", "one before"])
def test_a_session_made_private_after_a_backup_is_private_after_its_restore(
    settings: Settings, tmp_path: Path, before: tuple[str, ...]
) -> None:
    target = tmp_path / "copy.helix"
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        for name in before:
            capture.open_session(helix, SessionRequest(name=name, private=True))
        finished(helix, upkeep.backup(helix, str(target)).id)
        capture.open_session(helix, SessionRequest(name="hush", private=True))
        finished(helix, upkeep.restore_backup(helix, str(target)).id)
        assert [capture.open_session(helix, SessionRequest(name=name)).private for name in ("hush", *before)] == [
            True
        ] * (1 + len(before))
        capture.open_session(helix, SessionRequest(name="hush again", private=True))
    restore_closed(settings, target)
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        names = ("hush", "hush again", *before)
        assert [capture.open_session(helix, SessionRequest(name=name)).private for name in names] == [True] * len(names)
        assert not capture.open_session(helix, SessionRequest(name="open")).private


@pytest.mark.soak
def test_a_backup_of_another_store_keeps_its_private_sessions_beside_ours(settings: Settings, tmp_path: Path) -> None:
    target = tmp_path / "copy.helix"
    other = replace(settings, db_path=tmp_path / "other")
    with Helix.open(other, embedder=HashEmbedder()) as helix:
        capture.open_session(helix, SessionRequest(name="theirs", private=True))
        finished(helix, upkeep.backup(helix, str(target)).id)
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        capture.open_session(helix, SessionRequest(name="ours", private=True))
        finished(helix, upkeep.restore_backup(helix, str(target)).id)
        assert [
            capture.open_session(helix, SessionRequest(name=name)).private for name in ("ours", "theirs", "nobody's")
        ] == [True, True, False]


def test_a_backup_leaves_one_file_and_a_restore_nothing_beside_it(helix: Helix, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    memories.store(helix, StoreRequest(trigger="kept in the backup", resolution="x", kind="fact"))
    assert finished(helix, upkeep.backup(helix, str(folder / "one")).id).state is JobState.DONE
    assert [file.name for file in folder.iterdir()] == ["one"]
    assert finished(helix, upkeep.restore_backup(helix, str(folder / "one")).id).state is JobState.DONE
    assert [file.name for file in folder.iterdir()] == ["one"]


def test_a_backup_never_overwrites(helix: Helix, tmp_path: Path) -> None:
    target = tmp_path / "there.helix"
    target.write_text("mine")
    job = upkeep.backup(helix, str(target))
    for _ in range(200):
        if upkeep.job(helix, job.id).state is not JobState.RUNNING:
            break
        threading.Event().wait(0.02)
    assert upkeep.job(helix, job.id).error_code == "CONFLICT"
    assert target.read_text() == "mine"


def test_a_model_that_made_no_vector_gives_way_to_another(settings: Settings) -> None:
    for dimension in (64, 32):
        with Helix.open(settings, embedder=HashEmbedder(dimension)) as helix:
            assert helix.store.dimension == dimension
    with Helix.open(settings, embedder=HashEmbedder(16)) as helix:
        memories.store(helix, StoreRequest(trigger="the eels live in rivers", resolution="", kind="fact"))
        assert helix.recall(RecallQuery(query="eels")).items
    with Helix.open(settings, embedder=HashEmbedder(64)) as helix:
        assert helix.store.dimension == 16


@pytest.mark.soak
def test_another_model_is_refused_until_everything_is_embedded_anew(settings: Settings) -> None:
    with Helix.open(settings, embedder=HashEmbedder(64)) as helix:
        stored = memories.store(helix, StoreRequest(trigger="made with the first model", resolution="x", kind="fact"))
    with Helix.open(settings, embedder=HashEmbedder(32)) as helix:
        for refused in (
            lambda: helix.recall(RecallQuery(query="first model")),
            lambda: memories.store(helix, StoreRequest(trigger="a", resolution="b", kind="fact")),
        ):
            with pytest.raises(EmbeddingSpaceError) as caught:
                refused()
            assert "reembed" in str(caught.value)
        assert any("reembed" in warning for warning in upkeep.status(helix).warnings)
        job = finished(helix, upkeep.reembed(helix).id)
        assert job.result["embedded"] == 1
        assert found(helix, "made with the first model") == [stored.name]
        assert upkeep.status(helix).dimension == 32
        assert upkeep.doctor(helix).healthy
    with Helix.open(settings, embedder=HashEmbedder(32)) as helix:
        assert helix.recall(RecallQuery(query="first model")).mode == "hybrid"


def test_recall_reads_the_best_again_with_the_cross_encoder_of_the_service(settings: Settings) -> None:
    with Helix.open(settings, embedder=HashEmbedder(), reranker=OverlapReranker()) as helix:
        memories.store(
            helix, StoreRequest(trigger="backups of the mail server run at four", resolution="", kind="fact")
        )
        plain, asked = (
            helix.recall(RecallQuery(query="when do backups run", rerank=rerank)).items[0] for rerank in (False, True)
        )
    assert "+cross_encoder" not in plain.factors
    assert score_of(asked.factors) == pytest.approx(asked.score)
    assert asked.factors["+cross_encoder"] > 0


def test_a_cross_encoder_that_is_set_and_not_installed_is_warned_of(settings: Settings) -> None:
    with Helix.open(replace(settings, rerank=True), embedder=HashEmbedder()) as helix:
        warned = "recall cannot rerank, as the settings say: run `helix models install ms-marco-MiniLM-L12-int8`"
        assert warned in upkeep.status(helix).warnings
        assert upkeep.health(helix).status == "degraded"


def test_what_was_stored_without_a_model_is_embedded_when_there_is_one(settings: Settings) -> None:
    lexical = replace(settings, embedding_model="none")
    with Helix.open(lexical) as helix:
        stored = memories.store(helix, StoreRequest(trigger="stored by words alone", resolution="x", kind="fact"))
        answer = helix.recall(RecallQuery(query="words alone"))
        assert (answer.mode, answer.items[0].node.id) == ("lexical", stored.id)
        assert any("lexical" in warning for warning in upkeep.status(helix).warnings)
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        assert helix.worker.settle(30)
        assert upkeep.stats(helix).embedding_coverage == 1.0
        assert helix.recall(RecallQuery(query="words alone")).mode == "hybrid"
        assert upkeep.doctor(helix).healthy


def test_events_tell_what_changed_after_it_is_durable(helix: Helix) -> None:
    events: list[Any] = []
    end = helix.events.subscribe(events.append)
    stored = memories.store(helix, StoreRequest(trigger="tell me", resolution="x", kind="fact"))
    memories.feedback(helix, [stored.name], 1.0)
    capture.record_episode(helix, EpisodeRequest(content="something happened here"))
    end()
    memories.store(helix, StoreRequest(trigger="tell nobody", resolution="y", kind="fact"))
    memory_events = [(event["type"], event["change"]) for event in events if event["type"].startswith("memory")]
    assert memory_events == [("memory.added", "store"), ("memory.changed", "feedback")]
    assert [event["type"] for event in events].count("episode.recorded") == 2


def test_everything_is_there_after_a_restart(settings: Settings) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        a = memories.store(
            helix, StoreRequest(trigger="first memory", resolution="x", kind="fact", trust=Trust.WEB, files=("a/b.py",))
        )
        b = memories.store(helix, StoreRequest(trigger="second memory of another sort", resolution="y", kind="failure"))
        memories.edge(helix, b.name, a.name, "causes")
        memories.forget(helix, a.name)
        before = upkeep.status(helix)
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        assert helix.store.graph.settle()
        after = upkeep.status(helix)
        assert (after.nodes, after.edges, after.journal_rows) == (before.nodes, before.edges, before.journal_rows)
        assert after.applied_seq == after.journal_rows
        assert memories.get(helix, a.id).status is Status.FORGOTTEN
        assert found(helix, "second memory") == [b.name]
        assert upkeep.doctor(helix).healthy


def test_unknown_names_say_what_to_do(helix: Helix) -> None:
    calls: list[Callable[[], object]] = [
        lambda: memories.get(helix, "nobody"),
        lambda: memories.forget(helix, "nobody"),
        lambda: memories.edge(helix, "nobody", "noone", "solves"),
        lambda: memories.edges(helix, "nobody"),
        lambda: upkeep.job(helix, "nobody"),
        lambda: memories.node(helix, "nobody"),
    ]
    for call in calls:
        with pytest.raises(HelixError) as caught:
            call()
        assert caught.value.code == "NOT_FOUND"
        assert caught.value.hint


def test_a_recipe_that_cannot_be_made_leaves_the_store_closed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="salt"):
        Helix.open(Settings(home=tmp_path, recipes={"mine": {"salt": 1}}), embedder=HashEmbedder(16))
    with Helix.open(Settings(home=tmp_path), embedder=HashEmbedder(16)) as helix:
        assert upkeep.health(helix).status == "ok"


@pytest.mark.parametrize("damaged", ["zjunk", '{"": 7}', "[]"])
def test_damage_to_what_was_answered_last_or_to_a_row_of_the_queue_keeps_no_store_closed(
    settings: Settings, damaged: str
) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        stored = memories.store(helix, StoreRequest(trigger="fact sigma", resolution="r", kind="fact"))
        helix.recall(RecallQuery(query="sigma"))
        helix.worker.flush()
        helix.worker.settle()
    with sqlite3.connect(settings.store_path / "journal.db") as raw:
        assert raw.execute("UPDATE meta SET value = ? WHERE key = 'last_answers'", (damaged,)).rowcount == 1
        assert raw.execute("UPDATE work SET payload = ?, result = ?", (damaged, damaged)).rowcount > 0
    raw.close()
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        assert found(helix, "sigma") == [stored.name]
        assert background_work.background(helix, 10).items
