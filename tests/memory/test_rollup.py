"""Roll-up: what fades stays findable through a summary that rests on it, and the episodes stay as they were."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from saying import episode, job, learned, say

from helix.errors import InvalidInputError
from helix.memory.capture.episodes import EpisodeRequest, record
from helix.memory.extraction.consolidation import consolidate
from helix.memory.insight.rollup import GROUP, HALF_LIFE_DAYS, LEAST_POOLED, _balanced, roll_up, source_of
from helix.memory.insight.summary import (
    LEAST_TOKENS,
    MOST_TOKENS,
    features_of,
    most_telling,
    summarised,
    worth_of,
)
from helix.memory.job_run.run import Run
from helix.memory.upkeep.reembed import fill_in
from helix.model.edge import Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import Memory, Status
from helix.model.provenance import Provenance, Trust
from helix.model.recall import RecallQuery
from helix.operations import capture, memories
from helix.service import Helix
from helix.settings import Settings
from helix.store.store import Store
from helix.text.sentences import sentences
from helix.text.tokens import estimate_tokens
from tests.counting import calls_of
from tests.memory.conftest import START, Moment
from tests.sampling import some
from tests.waiting import UNHURRIED

TALK = (
    "Hey Mel! How are you?",
    "I joined a pottery class in Bergen on Tuesday because I want to make bowls.",
    "Wow, that's great!",
    "We decided to meet at 7 pm at the Harbour Cafe.",
    "Thanks, see you soon!",
    "My cat Luna broke the blue vase, so I bought 2 new ones for 45 euros.",
    "My sister moved to Lisbon last month and started a bakery there.",
    "That sounds awesome!",
    "The doctor said that I must rest my left knee until May.",
)


def tell(
    store: Store, moment: Moment, texts: Sequence[str], *, session: str = "talk", scope: str = "home"
) -> list[str]:
    ids = []
    for number, text in enumerate(texts):
        moment.forward(minutes=1)
        speaker = ("Ann", "Melanie")[number % 2]
        recorded = record(store, EpisodeRequest(content=text, session=session, scope=scope, agent=speaker)).episode
        assert recorded is not None
        ids.append(recorded.id)
    while fill_in(store, lambda: False):
        pass
    return ids


def run(store: Store, job: str = "night", **payload: object) -> dict[str, object]:
    return dict(roll_up(Run(store, job, "roll_up"), payload))


def summaries(store: Store) -> list[Memory]:
    return [memory for memory in store.index.memories(Status.ACTIVE) if memory.provenance.extractor == "rollup"]


def grounds(store: Store, memory: Memory) -> set[str]:
    edges = store.records.edges_at(Ref.memory(memory.id))
    return {edge.target.id for edge in edges if edge.type is Relation.GROUNDED_IN}


def recalled(helix: Helix, query: str, *, deep: bool = False) -> list[str]:
    items = helix.recall(RecallQuery(query=query, scope="home", deep=deep)).items
    return [item.node.id for item in items]


def test_faded_episodes_are_recalled_through_their_summary_and_with_deep_themselves(
    living: Helix, store: Store, moment: Moment
) -> None:
    ids = tell(store, moment, TALK)
    moment.forward(days=40)
    assert not recalled(living, "pottery class in Bergen")
    before = store.records.nodes([Ref.episode(one) for one in ids])
    assert run(store) == {"summaries added": 2, "episodes rolled up": 9}
    told = summaries(store)
    found = recalled(living, "pottery class in Bergen")
    assert found and ids[1] in grounds(store, next(memory for memory in told if memory.id == found[0]))
    assert ids[1] in recalled(living, "pottery class in Bergen", deep=True)
    assert store.records.nodes([Ref.episode(one) for one in ids]) == before
    moment.forward(days=60)
    assert recalled(living, "pottery class in Bergen")
    moment.forward(days=1_000)
    assert not recalled(living, "pottery class in Bergen"), "to sum up is not to keep for ever"
    assert ids[1] in recalled(living, "pottery class in Bergen", deep=True)
    assert run(store, "later") == {}


def test_a_summary_rests_on_at_most_ten_episodes_fades_slowly_and_is_no_surer_than_its_sources(
    store: Store, moment: Moment
) -> None:
    ids = tell(store, moment, [f"{text} Note {number}." for number, text in enumerate(TALK * 4)])
    web = EpisodeRequest(content="A page says pottery is a fad.", session="talk", scope="home", trust=Trust.WEB)
    recorded = record(store, web).episode
    assert recorded is not None
    moment.forward(days=40)
    run(store)
    held = [grounds(store, memory) for memory in summaries(store)]
    assert sum(map(len, held)) == len(ids) + 1 and set().union(*held) == {*ids, recorded.id}
    assert max(map(len, held)) <= GROUP <= 10
    for memory, episodes in zip(summaries(store), held, strict=True):
        assert 0.0 < memory.half_life_days == HALF_LIFE_DAYS < float("inf")
        assert memory.provenance.trust is (Trust.WEB if recorded.id in episodes else Trust.AGENT_INFERRED)


def test_rolling_up_again_adds_nothing_and_what_comes_later_makes_groups_of_its_own(
    store: Store, moment: Moment
) -> None:
    tell(store, moment, TALK)
    moment.forward(days=40)
    run(store)
    first = summaries(store)
    assert run(store, "again") == {} and summaries(store) == first
    tell(store, moment, [f"{text} Later." for text in TALK[1:4]])
    moment.forward(days=40)
    run(store, "later")
    assert [memory for memory in summaries(store) if memory in first] == first
    assert len(summaries(store)) == len(first) + 1


def test_what_is_fresh_is_left_alone_unless_an_age_is_given(store: Store, moment: Moment) -> None:
    tell(store, moment, TALK)
    assert run(store) == {}
    moment.forward(days=2)
    assert run(store, "young", older_than_days=3) == {}
    assert run(store, "old", older_than_days=1)["episodes rolled up"] == len(TALK)
    with pytest.raises(InvalidInputError):
        run(store, "wrong", older_than_days=-1)


def test_sessions_days_and_scopes_are_not_mixed(store: Store, moment: Moment) -> None:
    part = [[f"{text} Part {number}." for text in TALK[1:4]] for number in range(5)]
    several = [
        tell(store, moment, part[0], session="one"),
        tell(store, moment, part[1], session="two"),
        tell(store, moment, part[0], session="one", scope="work"),
        tell(store, moment, part[2], session=""),
    ]
    moment.forward(days=1)
    several.append(tell(store, moment, part[3], session=""))
    moment.forward(days=1)
    several.append(tell(store, moment, part[4], session="one"))  # the same session, two days on
    moment.forward(days=40)
    run(store, scope="home")
    assert len(summaries(store)) == 5 and all(memory.scope == "home" for memory in summaries(store))
    run(store, "all", scope=None)
    assert sorted(map(sorted, (grounds(store, memory) for memory in summaries(store)))) == sorted(map(sorted, several))


def test_a_summary_goes_with_an_episode_of_it_and_the_others_are_summed_up_anew(
    living: Helix, store: Store, moment: Moment
) -> None:
    ids = tell(store, moment, TALK[1:6])
    moment.forward(days=40)
    run(store)
    (old,) = summaries(store)
    ref = Ref.episode(ids[0])
    Run(store, "person", "forget").write("one", lambda composer: composer.patch(ref, status=Status.FORGOTTEN))
    assert run(store, "after") == {"summaries retired": 1, "summaries added": 1, "episodes rolled up": 4}
    (new,) = summaries(store)
    assert grounds(store, new) == set(ids[1:]) and "pottery" not in new.resolution
    assert old.id not in recalled(living, "pottery class in Bergen")


def test_a_summary_that_a_person_forgot_is_not_made_again(living: Helix, store: Store, moment: Moment) -> None:
    tell(store, moment, TALK[1:6])
    moment.forward(days=40)
    run(store)
    memories.forget(living, summaries(store)[0].id)
    assert run(store, "again") == {} and not summaries(store)


@pytest.mark.soak
def test_the_same_words_over_and_over_come_to_one_summary(store: Store, moment: Moment) -> None:
    words = "The nightly build of the parser in Bergen takes 40 minutes"
    for number in range(120):
        tell(store, moment, [f"{words}{'.!'[number % 2]}"], session=f"s{number // 9 % 3}")
    tell(store, moment, [words.upper(), *TALK[1:4]])
    moment.forward(days=40)
    assert run(store)["summaries added"] == 1
    told = summaries(store)
    assert sum(memory.resolution.casefold().count("nightly build") for memory in told) <= 1
    assert run(store, "again") == {}
    tell(store, moment, [words], session="new")
    moment.forward(days=40)
    assert run(store, "later") == {} and summaries(store) == told


def test_what_a_memory_says_that_rests_on_it_is_not_summed_up_while_the_memory_stands(
    living: Helix, store: Store, moment: Moment
) -> None:
    rules = [
        "Always activate the venv before you run the tests.",
        "Always activate your venv before you run the tests.",
        "Always activate the venv before we run our tests.",
    ]
    ids = say(store, *rules, scope="home")
    more = say(
        store, *(f"{rules[0]} Only {city} has none." for city in ("Lisbon", "Bergen", "Oslo")), first=9, scope="home"
    )
    consolidate(job(store, "learn"), {"scope": "home"})
    (memory,) = learned(store, "home")
    assert grounds(store, memory) == {*ids, *more}
    moment.forward(days=40)
    run(store)
    assert [grounds(store, summary) for summary in summaries(store)] == [set(more)]
    memories.forget(living, memory.id)
    run(store, "after")
    assert sorted(map(len, (grounds(store, summary) for summary in summaries(store)))) == [3, 3]


@pytest.mark.parametrize("text", ["Thanks, see you soon!", "Lunch was late.", TALK[1]])
def test_one_episode_alone_is_left_as_it_is_and_found_with_deep(
    living: Helix, store: Store, moment: Moment, text: str
) -> None:
    (only,) = tell(store, moment, [text])
    moment.forward(days=40)
    assert run(store) == {} and not recalled(living, text)
    assert only in recalled(living, text, deep=True)


def test_small_talks_are_summed_up_together_and_what_tells_nothing_is_left_out(
    living: Helix, store: Store, moment: Moment
) -> None:
    kept, left = [], []
    for number in range(20):
        text = f"{TALK[1]} Visit {number} was in room {number * 7}."
        kept += tell(store, moment, [text], session=f"s{number}")
        left += tell(store, moment, ["Lunch was late."], session=f"lunch {number}")
        moment.forward(days=1)
    moment.forward(days=40)
    assert run(store) == {"summaries added": 3, "episodes rolled up": 20}
    held = [grounds(store, memory) for memory in summaries(store)]
    assert set().union(*held) == set(kept) and all(LEAST_POOLED <= len(one) <= GROUP for one in held)
    assert not any("Lunch" in memory.resolution for memory in summaries(store))
    assert run(store, "again") == {}


def test_small_talks_wait_until_they_are_enough_and_months_apart_they_stay_apart(store: Store, moment: Moment) -> None:
    for number in range(LEAST_POOLED - 1):
        tell(store, moment, [f"{TALK[3]} Round {number}."], session=f"s{number}")
    moment.forward(days=40)
    assert run(store) == {}
    tell(store, moment, [TALK[5]], session="much later")
    moment.forward(days=40)
    assert run(store, "later") == {}
    for number in range(LEAST_POOLED):
        tell(store, moment, [f"{TALK[5]} Round {number}."], session=f"t{number}")
    moment.forward(days=40)
    assert run(store, "last")["summaries added"] == 1


def test_when_the_episode_that_spoke_for_its_copies_goes_one_of_them_is_summed_up(store: Store, moment: Moment) -> None:
    first = tell(store, moment, TALK[1:6], session="one")
    copy, *_ = tell(store, moment, [TALK[1], TALK[6], TALK[8]], session="two")
    moment.forward(days=40)
    run(store)
    assert [grounds(store, memory) for memory in summaries(store)] == [set(first)]
    ref = Ref.episode(first[0])
    Run(store, "person", "forget").write("one", lambda composer: composer.patch(ref, status=Status.FORGOTTEN))
    run(store, "after")
    assert any(copy in grounds(store, memory) for memory in summaries(store))


def test_a_dry_run_shows_its_plan_and_writes_nothing(store: Store, moment: Moment) -> None:
    tell(store, moment, TALK)
    moment.forward(days=40)
    looked = Run(store, "look", "roll_up", dry_run=True)
    roll_up(looked, {})
    assert len(looked.plan) == 2 and not summaries(store)


def test_a_summary_needs_no_model_and_takes_its_vectors_from_its_episodes(store: Store, moment: Moment) -> None:
    tell(store, moment, TALK)
    moment.forward(days=40)
    store.runtime.embedder = None
    run(store)
    view = store.catalogue.view
    rows = np.array([view.row_of(Ref.memory(memory.id)) for memory in summaries(store)])
    passages = view.passages.of_rows(rows, view.count)
    assert len(passages) == len(TALK) and view.passages.embedded[passages].all()


def test_a_summary_keeps_what_tells_and_leaves_out_small_talk() -> None:
    summary = summarised([_episode(number, text) for number, text in enumerate(TALK)])
    assert summary.title.startswith("2 March 2026, Ann and Melanie: ")
    assert "pottery class in Bergen" in summary.text
    assert not {"Wow", "Thanks", "Hey"} & set(summary.text.replace(",", " ").split())
    whole = sum(estimate_tokens(text) for text in TALK)
    assert estimate_tokens(f"{summary.title}\n{summary.text}") <= max(LEAST_TOKENS, 0.5 * whole)


@given(st.lists(st.text(min_size=1, max_size=300), min_size=1, max_size=10))
def test_a_summary_of_anything_is_made_of_sentences_of_it_and_bounded(texts: list[str]) -> None:
    episodes = [_episode(number, text) for number, text in enumerate(texts)]
    summary = summarised(episodes)
    assert summary == summarised(episodes)
    assert estimate_tokens(summary.text) <= MOST_TOKENS + 400
    for line in summary.lines:
        assert line.partition(": ")[0] in ("Ann", "Melanie")


@given(st.integers(1, 300))
def test_groups_are_as_few_and_as_even_as_can_be(count: int) -> None:
    groups = _balanced(range(count))
    assert [row for group in groups for row in group] == list(range(count))
    sizes = [len(group) for group in groups]
    assert max(sizes) <= GROUP and max(sizes) - min(sizes) <= 1 and len(groups) == -(-count // GROUP)


@given(st.permutations(range(6)))
@hypothesis_settings(deadline=None)
def test_the_source_of_a_summary_does_not_depend_on_the_order_of_its_episodes(order: list[int]) -> None:
    episodes = [_episode(number, TALK[number]) for number in range(6)]
    assert source_of([episodes[number] for number in order]) == source_of(episodes)


@given(order=st.permutations(range(8)))
@hypothesis_settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_order_of_recording_decides_nothing(
    order: list[int], settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> None:
    moment = Moment()
    moment.forward(days=1)
    home = tmp_path_factory.mktemp("order")
    given_ = {"home": home, "db_path": home / "store", "consolidation_budget": 0.0}
    from helix import settings as configuration

    with Helix.open(configuration.load(given_, environ=UNHURRIED, cwd=home), clock=moment) as helix:
        for number in order:
            when = START + timedelta(minutes=number)
            capture.record_episode(
                helix, EpisodeRequest(content=TALK[number], session="talk", scope="home", occurred_at=when)
            )
        moment.forward(days=40)
        run(helix.store)
        told = sorted((memory.trigger, memory.resolution) for memory in summaries(helix.store))
    expected = [summarised([_plain(number) for number in part]) for part in (range(4), range(4, 8))]
    assert told == sorted((summary.title, summary.text) for summary in expected)


def _episode(number: int, text: str, at: datetime = START) -> Episode:
    when = at + timedelta(minutes=number)
    return Episode(
        id=f"episode-{number}",
        content=text,
        recorded_at=when,
        occurred_at=when,
        session="talk",
        agent=("Ann", "Melanie")[number % 2],
        provenance=Provenance(trust=Trust.USER_ASSERTED),
    )


def _plain(number: int) -> Episode:
    when = START + timedelta(minutes=number)
    return Episode(id=str(number), content=TALK[number], recorded_at=when, occurred_at=when, session="talk")


@pytest.mark.parametrize(
    "content",
    some(["```\n" * 1_500, "".join(f"w{number}.\n" for number in range(1_500)), "? " * 2_000, "- a b c d\n" * 900], 1),
)
def test_a_text_of_very_many_sentences_is_summed_up_by_looking_at_each_a_few_times(content: str) -> None:
    """Each step looked at all that was left, also once nothing fitted any more: a text of fences took minutes."""
    said = episode(content)
    count = len(sentences(content))
    assert count > 500
    assert calls_of(worth_of, lambda: summarised([said])) < 4 * count
    assert estimate_tokens(summarised([said]).text) <= MOST_TOKENS


WORDS = ["we", "use", "Postgres", "Acme", "12", "May", "?", ".", "!", "decided", "thanks", "Bob"]


@given(st.lists(st.sampled_from(WORDS), max_size=60))
def test_sentences_are_taken_in_the_order_in_which_each_adds_most(words: list[str]) -> None:
    said, told, naive = sentences(" ".join(words)), set[str](), list[int]()
    left, known = set(range(len(said))), set[str]()
    while left and worth_of(said[best := max(left, key=lambda at: (worth_of(said[at], known), -at))], known) > 0:
        left.remove(best)
        naive.append(best)
        known |= features_of(said[best])
    taken = []
    for place in most_telling(said, told):
        taken.append(place)
        told |= features_of(said[place])
    assert taken == naive
