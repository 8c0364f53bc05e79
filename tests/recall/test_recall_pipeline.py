"""Recall from question to answer: filters, modes, explanation, packing and bad input."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recall_world import NOW, World

from helix.errors import InvalidInputError
from helix.model.edge import Edge, Label, Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import SUMMARY_SOURCE, Kind, Memory, Status
from helix.model.provenance import GIT, Provenance, Trust
from helix.model.recall import Expand, Intent, RecallAnswer, RecallItem, RecallQuery
from helix.model.records import put_edge
from helix.model.reflection import Reflection
from helix.recall.last import LastAnswers
from helix.recall.question import MAX_CHARACTERS
from helix.recall.recipes import RECIPES
from helix.recall.scoring import score_of
from tests.sampling import draws

STAGES = {"embed", "filter", "vector", "lexical", "files", "time", "fuse", "pagerank", "score", "diversify", "load"}


def ids(answer: RecallAnswer) -> list[str]:
    return [item.node.id for item in answer.items]


def item_of(answer: RecallAnswer, node_id: str) -> RecallItem:
    return next(item for item in answer.items if item.node.id == node_id)


def kitchen() -> World:
    """Return a world with memories of every kind, episodes, and entities between them."""
    world = World()
    failure = world.memory("leak", "wal grows without end after reopen", Kind.FAILURE, importance=8.0)
    world.memory("close", "close the database before reopen", Kind.PATTERN, helped=4.0)
    world.memory("tabs", "indent makefiles with tabs", Kind.CONVENTION)
    world.memory("engine", "we chose kuzu for the graph", Kind.DECISION, scope="p")
    world.memory("secret", "reopen the wal by hand", Kind.PATTERN, scope="q")
    world.episode("log", "the wal was 2 GB when we tried to reopen it", "and it took ten minutes", scope="p")
    world.edge(Ref.memory("close"), failure, Relation.SOLVES)
    source = world.entity("src/wal.c")
    world.edge(failure, source, Relation.TOUCHES)
    world.edge(Ref.episode("log"), source, Relation.MENTIONS)
    return world


def test_what_fits_best_comes_first_and_says_why() -> None:
    answer = kitchen().recaller().recall(RecallQuery(query="why does the wal grow after reopen?", scope="p"))
    assert ids(answer)[0] == "leak"
    best = answer.items[0]
    assert re.search("matched the words .*'wal'.*; (1st|2nd) by meaning", best.reason)
    assert {hit.arm for hit in best.arms} >= {"vector", "lexical"}
    assert answer.mode == "hybrid"
    assert answer.timings_ms.keys() >= STAGES


@pytest.mark.parametrize("recipe", sorted(RECIPES))
@pytest.mark.parametrize("model", [True, False])
def test_the_factors_shown_make_the_score_shown(recipe: str, model: bool) -> None:
    query = RecallQuery(query="reopen the wal", recipe=recipe, intent=Intent.WHY, files=("wal.c",))
    answer = kitchen().recaller(model=model).recall(query)
    assert answer.items
    for item in answer.items:
        assert score_of(item.factors) == item.score
        for value in (item.relevance, item.recency, item.effectiveness):
            assert 0.0 <= value <= 1.0


def test_a_project_sees_itself_and_what_is_global_and_nothing_else() -> None:
    recaller = kitchen().recaller()
    assert "secret" not in ids(recaller.recall(RecallQuery(query="reopen the wal", scope="p")))
    assert "secret" in ids(recaller.recall(RecallQuery(query="reopen the wal", scope="q")))
    assert "secret" in ids(recaller.recall(RecallQuery(query="reopen the wal")))
    elsewhere = ids(recaller.recall(RecallQuery(query="reopen the wal", scope="unheard-of")))
    assert set(elsewhere) <= {"leak", "close", "tabs"}


def test_kinds_leave_out_episodes_and_labels_leave_out_memories() -> None:
    recaller = kitchen().recaller()
    kinds = recaller.recall(RecallQuery(query="reopen the wal", kinds=(Kind.FAILURE,)))
    assert ids(kinds) == ["leak"]
    assert ids(recaller.recall(RecallQuery(query="reopen the wal", labels=(Label.EPISODE,)))) == ["log"]


def test_recall_hides_memories_outside_valid_time() -> None:
    world = World()
    world.memory("was", "the port is 80", valid_from=NOW - timedelta(days=20), valid_to=NOW - timedelta(days=10))
    world.memory("is", "the port is 90", valid_from=NOW - timedelta(days=10))
    recaller = world.recaller()
    query = RecallQuery(query="which port")
    assert ids(recaller.recall(query)) == ["is"]
    assert ids(recaller.recall(replace(query, as_of=NOW - timedelta(days=15)))) == ["was"]
    assert ids(recaller.recall(replace(query, as_of=NOW - timedelta(days=30)))) == []


def test_recall_can_ask_what_was_known_at_a_time() -> None:
    world = World()
    end = NOW - timedelta(days=5)
    ended = {"recorded_at": NOW - timedelta(days=20), "status": Status.RETIRED, "retired_at": end, "valid_to": end}
    world.memory("first", "the port is 80", Kind.FACT, **ended)
    world.memory("second", "the port is 90", recorded_at=NOW - timedelta(days=5))
    recaller = world.recaller()
    assert ids(recaller.recall(RecallQuery(query="which port"))) == ["second"]
    assert ids(recaller.recall(RecallQuery(query="which port", known_at=NOW - timedelta(days=10)))) == ["first"]
    assert ids(recaller.recall(RecallQuery(query="which port", known_at=NOW - timedelta(days=30)))) == []


@pytest.mark.parametrize("status", [Status.FORGOTTEN, Status.QUARANTINED, Status.RETIRED])
def test_forgotten_quarantined_and_retired_memories_are_never_answers(status: Status) -> None:
    world = kitchen()
    world.memory("gone", "reopen the wal now", status=status)
    recaller = world.recaller()
    for deep in (False, True):
        for expand in Expand:
            assert "gone" not in ids(recaller.recall(RecallQuery(query="reopen the wal", deep=deep, expand=expand)))


def test_a_memory_dropped_while_it_is_being_recalled_is_left_out() -> None:
    world = kitchen()
    query = RecallQuery(query="reopen the wal", scope="p")
    expected = [found for found in ids(world.recaller().recall(query)) if found != "leak"]
    del world.nodes[Ref.memory("leak")]
    assert ids(world.recaller().recall(query)) == expected
    world.nodes.clear()
    assert ids(world.recaller().recall(query)) == []


def test_archived_and_faded_memories_are_answers_when_asked_deeply() -> None:
    world = World()
    world.memory("archived", "reopen the wal", status=Status.ARCHIVED)
    long_ago = NOW - timedelta(days=400)
    world.memory(
        "faded", "reopen the wal again", Kind.PATTERN, recorded_at=long_ago, half_life_days=90.0, importance=2.0
    )
    recaller = world.recaller()
    assert ids(recaller.recall(RecallQuery(query="reopen"))) == []
    assert set(ids(recaller.recall(RecallQuery(query="reopen", deep=True)))) == {"archived", "faded"}


def test_without_a_model_recall_is_lexical_and_says_so() -> None:
    answer = kitchen().recaller(model=False).recall(RecallQuery(query="reopen the wal"))
    assert answer.mode == "lexical"
    assert "lexical only" in answer.notes[0]
    assert answer.items
    assert all(hit.arm != "vector" for item in answer.items for hit in item.arms)


def test_passages_without_vectors_are_found_by_words_and_counted_in_a_note() -> None:
    world = kitchen()
    late = Episode(id="late", content="a zeppelin landed", recorded_at=NOW, occurred_at=NOW)
    world.put(late, late.content, embedded=False)
    answer = world.recaller().recall(RecallQuery(query="zeppelin"))
    assert "late" in ids(answer)
    assert "passages without a vector yet, which words alone find: 1" in answer.notes


def test_the_solution_comes_with_the_failure() -> None:
    world = World()
    failure = world.memory("failure", "segfault in vacuum", Kind.FAILURE)
    fix = world.memory("fix", "unrelated words entirely", Kind.PATTERN)
    world.edge(fix, failure, Relation.SOLVES)
    answer = world.recaller(model=False).recall(RecallQuery(query="segfault vacuum", expand=Expand.NONE))
    assert ids(answer) == ["failure", "fix"]
    assert "solves a failure" in item_of(answer, "fix").reason


def test_files_given_bring_what_touches_them() -> None:
    answer = (
        kitchen().recaller().recall(RecallQuery(query="indent", files=("/home/p/src/wal.c",), kinds=(Kind.FAILURE,)))
    )
    assert "about /home/p/src/wal.c" in item_of(answer, "leak").reason


def test_the_graph_brings_what_shares_an_entity_and_names_it() -> None:
    world = kitchen()
    far = world.episode("far", "something else altogether", scope="p")
    world.edge(far, Ref.entity(world.entity("src/wal.c").id), Relation.MENTIONS)
    answer = world.recaller(model=False).recall(RecallQuery(query="wal grows", scope="p"))
    assert "far" in ids(answer)
    assert "linked to src/wal.c" in item_of(answer, "far").reason
    assert "far" not in ids(
        world.recaller(model=False).recall(RecallQuery(query="wal grows", scope="p", expand=Expand.NONE))
    )


def test_a_memory_stands_for_the_episode_that_says_the_same() -> None:
    world = World()
    episode = world.episode("evidence", "always activate the venv first")
    memory = world.memory("rule", "always activate the venv first", Kind.CONVENTION)
    world.edge(memory, episode, Relation.GROUNDED_IN)
    assert ids(world.recaller().recall(RecallQuery(query="activate the venv"))) == ["rule"]


def test_an_episode_gives_way_to_its_memory_unless_it_names_what_that_lacks() -> None:
    world = World()
    rule = world.memory("rule", "deploys go out on Thursdays", Kind.CONVENTION)
    for name, said in (
        ("again", "Remember: deploys go out on Thursdays"),
        ("more", "deploys go out on Thursdays since the outage of Hamburg cost us a day"),
    ):
        world.edge(rule, world.episode(name, said), Relation.GROUNDED_IN)
    asked = RecallQuery(query="when do deploys go out")
    assert ids(world.recaller().recall(asked)) == ids(world.recaller(model=False).recall(asked)) == ["rule", "more"]
    assert set(ids(world.recaller().recall(replace(asked, deep=True)))) == {"rule", "again", "more"}


def test_what_an_episode_told_gives_way_when_it_ceased_to_hold() -> None:
    world, settled = World(), NOW - timedelta(days=2)
    old = world.memory("old", "the build needs node 18", valid_to=settled)
    new = world.memory("new", "the build needs node 20", valid_from=settled)
    other = world.memory("other", "the build needs a tag")
    past = {"occurred_at": NOW - timedelta(days=9)}
    told = world.episode("told", "Remember: the build needs node 18", **past)
    both = world.episode("both", "the build needs node 18, and the build needs a tag", **past)
    anew = world.episode("anew", "the build needs node 18 once more")
    now = world.episode("now", "from today the build needs node 20, as 18 is at its end")
    for memory, episode in ((old, told), (old, both), (other, both), (new, now), (old, anew)):
        world.edge(memory, episode, Relation.GROUNDED_IN)
    asked = RecallQuery(query="which node does the build need", limit=10)
    recaller = world.recaller()
    assert set(ids(recaller.recall(asked))) == {"new", "other", "now", "anew"}
    deep = recaller.recall(replace(asked, deep=True))
    assert item_of(deep, "told").reason.endswith("tells old, held until 2026-05-30")
    assert "other, held until" not in item_of(deep, "both").reason
    before = recaller.recall(replace(asked, as_of=NOW - timedelta(days=3)))
    assert "old" in ids(before) and "new" not in ids(before)


@pytest.mark.parametrize("model", [True, False])
def test_what_an_episode_says_besides_what_ended_is_still_found(model: bool) -> None:
    world = World()
    old = world.memory("old", "the build needs node 18", valid_to=NOW - timedelta(days=2))
    more = "Remember: the build needs node 18. Ms Okafor opened ticket 88123 for the gaps in the graphs."
    world.edge(old, world.episode("more", more, occurred_at=NOW - timedelta(days=9)), Relation.GROUNDED_IN)
    (item,) = world.recaller(model=model).recall(RecallQuery(query="what is ticket 88123")).items
    assert item.node.id == "more" and item.reason.endswith("tells old, held until 2026-05-30")


def test_what_an_open_contradiction_disputes_says_so() -> None:
    world = World()
    one, other = world.memory("tabs", "indent with tabs"), world.memory("spaces", "indent with spaces")
    third = world.memory("two", "indent with two spaces")
    for source, target, attributes in ((other, one, {}), (third, other, {"status": "resolved"})):
        between = Edge(type=Relation.CONTRADICTS, source=source, target=target, created_at=NOW, attributes=attributes)
        world.operations.append(put_edge(between))
    answer = world.recaller().recall(RecallQuery(query="how do we indent"))
    assert item_of(answer, "tabs").reason.endswith("disputed by spaces")
    assert item_of(answer, "spaces").reason.endswith("disputed by tabs")
    assert "disputed" not in item_of(answer, "two").reason


def test_an_episode_without_a_passage_is_evidence_and_no_answer() -> None:
    world = World()
    world.episode("silent")
    memory = world.memory("rule", "activate the venv", Kind.CONVENTION)
    world.edge(memory, Ref.episode("silent"), Relation.GROUNDED_IN)
    assert ids(world.recaller().recall(RecallQuery(query="activate the venv"))) == ["rule"]


@pytest.mark.parametrize("model", [True, False])
def test_of_a_long_episode_the_passage_that_fits_is_shown(model: bool) -> None:
    world = World()
    world.episode("long", "first we spoke of lunch", "then the wal grew", "at last we went home")
    (item,) = world.recaller(model=model).recall(RecallQuery(query="the wal grew")).items
    assert item.text == "then the wal grew"


def summed_up(**values: object) -> World:
    """Return a world with two turns, the second of them as given, and the summary that speaks for both."""
    world = World()
    said = ("the harbour froze over in January", "the ferry to Skagen was cancelled for a week")
    title, told = "January, Ann and Bo: Skagen", f"Ann: {said[0]}. Bo: {said[1]}, so nobody came over."
    first = world.episode("first", said[0])
    second = world.episode("second", said[1], **values)
    source = f"{SUMMARY_SOURCE}2:0"
    memory = Memory(
        id="sum", name="sum", kind=Kind.FACT, trigger=title, resolution=told, recorded_at=NOW, source=source
    )
    summary = world.put(memory, *said)
    for turn in (first, second):
        world.edge(summary, turn, Relation.GROUNDED_IN)
    return world


@pytest.mark.parametrize("model", [True, False])
def test_a_summary_speaks_for_episodes_that_faded_with_their_own_words(model: bool) -> None:
    recaller = summed_up(recorded_at=NOW - timedelta(days=90), occurred_at=NOW - timedelta(days=90)).recaller(
        model=model
    )
    best = recaller.recall(RecallQuery(query="was the ferry to Skagen cancelled?")).items[0]
    assert (best.node.id, best.text) == (
        "sum",
        "January, Ann and Bo: Skagen\nthe ferry to Skagen was cancelled for a week",
    )
    deep = recaller.recall(RecallQuery(query="was the ferry to Skagen cancelled?", deep=True))
    assert "second" in ids(deep) and "sum" not in ids(deep)


def test_a_summary_shows_what_it_was_found_by_also_where_its_own_words_are_fewer() -> None:
    world = World()
    said = "sqlc generate fails with 'relation does not exist' as no migration was applied; make migrate first"
    memory = Memory(
        id="sum",
        name="sum",
        kind=Kind.FACT,
        trigger="November, mira: Postgres",
        resolution="mira: we moved the ledger to Postgres 16",
        recorded_at=NOW,
        source=f"{SUMMARY_SOURCE}1:0",
    )
    world.put(memory, "mira: we moved the ledger to Postgres 16", said)
    (item,) = world.recaller().recall(RecallQuery(query="sqlc generate fails with relation does not exist")).items
    assert item.text == f"November, mira: Postgres\n{said}"


@pytest.mark.parametrize("model", [True, False])
def test_a_summary_gives_way_to_an_episode_that_is_there_itself(model: bool) -> None:
    answer = summed_up().recaller(model=model).recall(RecallQuery(query="was the ferry to Skagen cancelled?"))
    assert "second" in ids(answer) and "sum" not in ids(answer)


def test_insights_leave_room_for_evidence_unless_nothing_else_is_asked_for() -> None:
    world = World()
    for number in range(6):
        insight = f"Skagen, {number} times: the ferry to Skagen was cancelled"
        world.put(Reflection(id=f"i{number}", question="Why Skagen?", insight=insight, recorded_at=NOW), insight)
        world.episode(f"e{number}", f"in Skagen the ferry waited {number} days for coal")
    query = RecallQuery(query="the ferry to Skagen was cancelled", limit=8)
    labels = [item.label for item in world.recaller().recall(query).items]
    assert labels.count(Label.REFLECTION) == 2 and labels.count(Label.EPISODE) == 6
    alone = world.recaller().recall(replace(query, labels=(Label.REFLECTION,)))
    assert len(alone.items) == 6


def test_the_answer_stays_within_its_budget() -> None:
    recaller = kitchen().recaller()
    whole = recaller.recall(RecallQuery(query="reopen the wal database"))
    budget = whole.tokens - 1
    answer = recaller.recall(RecallQuery(query="reopen the wal database", budget_tokens=budget))
    assert 0 < answer.tokens <= budget
    assert answer.tokens == sum(item.tokens for item in answer.items)


def test_an_intent_only_moves_and_never_removes() -> None:
    recaller = kitchen().recaller()
    query = RecallQuery(query="reopen the wal database")
    plain, why = recaller.recall(query), recaller.recall(replace(query, intent=Intent.WHY))
    assert set(ids(plain)) == set(ids(why))
    assert item_of(why, "leak").factors["*intent"] > 1.0


def test_an_empty_store_answers_with_an_empty_list() -> None:
    for model in (True, False):
        assert World().recaller(model=model).recall(RecallQuery(query="anything", files=("x.c",))).items == ()


@pytest.mark.parametrize(
    "query",
    [
        RecallQuery(query=" \n\t"),
        RecallQuery(query="\x00"),
        RecallQuery(query="x", limit=0),
        RecallQuery(query="x", limit=201),
        RecallQuery(query="x", budget_tokens=-1),
        RecallQuery(query="x", recipe="stew"),
        RecallQuery(query="x", labels=()),
    ],
)
def test_bad_questions_are_refused(query: RecallQuery) -> None:
    with pytest.raises(InvalidInputError):
        kitchen().recaller().recall(query)


def test_a_very_long_question_is_cut_and_the_answer_says_so() -> None:
    answer = kitchen().recaller().recall(RecallQuery(query="reopen the wal " + "x" * 3 * MAX_CHARACTERS))
    assert "leak" in ids(answer)
    assert any("very long" in note for note in answer.notes)


def test_of_a_very_long_question_and_session_no_more_is_kept_than_was_read() -> None:
    """Redacting 4 MB of what looks like secrets held a thread for over a minute."""
    long = "password=a then " * 150_000
    answer = kitchen().recaller().recall(RecallQuery(query=f"reopen the wal {long}", session=long))
    last = LastAnswers()
    last.keep(answer)
    kept = last.of(long)
    assert kept is not None and kept is last.of("")
    assert kept.query.query.startswith("reopen the wal")
    assert len(kept.query.query) <= MAX_CHARACTERS and len(kept.query.session) <= MAX_CHARACTERS


def test_an_answer_that_an_older_version_kept_is_taken_up() -> None:
    last = LastAnswers()
    last.keep(kitchen().recaller().recall(RecallQuery(query="reopen the wal")))
    kept = json.loads(last.to_json())
    for item in kept[""]["items"]:
        del item["fit"]
    again = LastAnswers()
    again.from_json(json.dumps(kept), lambda ref: Episode(id=ref.id, content="told", recorded_at=NOW, occurred_at=NOW))
    found = again.of("")
    assert found is not None and found.items and all(item.fit == 0.0 for item in found.items)


@settings(max_examples=draws(12), deadline=None)
@given(text=st.text(min_size=1, max_size=60), files=st.lists(st.text(max_size=12), max_size=3))
def test_any_text_is_answered_or_refused_as_empty(text: str, files: Sequence[str]) -> None:
    try:
        answer = kitchen().recaller().recall(RecallQuery(query=text, files=tuple(files)))
    except InvalidInputError:
        assert not text.strip() or not text.isprintable()
        return
    assert len(answer.items) <= 10


def test_the_same_question_has_the_same_answer() -> None:
    recaller = kitchen().recaller()
    query = RecallQuery(query="reopen the wal", scope="p")
    first, second = recaller.recall(query), recaller.recall(query)
    assert [(item.node.id, item.score) for item in first.items] == [(item.node.id, item.score) for item in second.items]


def test_times_named_count_from_when_the_question_was_asked() -> None:
    world = kitchen()
    world.episode("then", "we spoke about the oven", occurred_at=NOW - timedelta(days=31))
    world.episode("now", "we spoke about the oven again", occurred_at=NOW - timedelta(days=1))
    recaller = world.recaller()

    def at_time(**asked: object) -> set[str]:
        items = recaller.recall(RecallQuery(query="what did we say yesterday?", **asked)).items  # type: ignore[arg-type]
        return {item.node.id for item in items if "time" in {hit.arm for hit in item.arms}}

    assert at_time() == {"now"}
    assert at_time(asked_at=NOW - timedelta(days=30)) == {"then"}


def test_what_the_user_said_of_a_file_is_among_the_first_five_however_many_others_touch_it() -> None:
    world = World()
    file, theirs = world.entity("src/deploy.py"), Provenance(extractor=GIT, trust=Trust.TOOL_OUTPUT)
    rule = world.memory(
        "rule",
        "src/deploy.py must not be changed without Ada",
        Kind.CONVENTION,
        provenance=Provenance(trust=Trust.USER_ASSERTED),
    )
    world.edge(rule, file, Relation.TOUCHES)
    for number in range(16):
        text = f"make the retry logic of the deploy script faster, attempt {number}"
        commit = world.memory(f"commit-{number}", text, resolution=f"use backoff {number}", provenance=theirs)
        world.edge(commit, file, Relation.TOUCHES)
    asked = RecallQuery(query="make the retry logic of the deploy script faster", files=("src/deploy.py",), limit=5)
    found = {item.node.id: item.reason for item in world.recaller().recall(asked).items}
    assert "you said it, and it is about the file" in found["rule"]
