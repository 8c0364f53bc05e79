"""Derivation is a pure function: order, repetition and what lies elsewhere change nothing of what a cluster gives."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from saying import VENV, episode

from helix.memory.extraction.cluster import Bars, clusters, components, groups_of, linked
from helix.memory.extraction.derive import Desired, Rules, derive
from helix.memory.extraction.extract import EpisodeCandidate, RuleExtractor
from helix.memory.extraction.statements import ComparedCandidate, said
from helix.model.episode import Episode
from helix.model.memory import Kind, Status
from helix.model.provenance import Provenance, Trust
from helix.store.matrix import VectorArray
from helix.text.discourse_markers import without_openers

BARS = Bars(near=0.5, alike=0.8, around=0.0)
RULES = Rules(bars=BARS)


def items_of(episodes: Sequence[Episode], extractor: RuleExtractor | None = None) -> list[ComparedCandidate]:
    by_id = {one.id: one for one in episodes}
    found = (extractor or RuleExtractor()).extract(episodes).candidates
    return [said(one, by_id[one.episode], None, None) for one in found]


def derived(episodes: Sequence[Episode], rules: Rules = RULES) -> list[Desired]:
    items = items_of(episodes)
    return derive(items, linked(items, rules.bars), rules)


def stated(
    number: int, vector: Sequence[float], *, explicit: bool = True, session: str = "", words: str = ""
) -> ComparedCandidate:
    """A statement with a vector of its own; equal words everywhere, so that vectors decide."""
    direction = np.array(vector, np.float32)
    unit = direction / np.linalg.norm(direction)
    own = episode(words or "Always keep the engine oiled.", number, session=session)
    candidate = EpisodeCandidate(
        episode=own.id,
        place=0,
        kind=Kind.CONVENTION,
        trigger=own.content,
        resolution="",
        confidence=0.5,
        explicit=explicit,
    )
    return said(candidate, own, unit, unit)


WORDS = st.sampled_from(["engine", "oil", "lamp", "door", "window", "kettle", "ladder", "rope"])
STATEMENTS = st.lists(
    st.builds(
        lambda verb, a, b, tail: f"{verb} the {a} and the {b} {tail}.",
        st.sampled_from(["Always check", "Never touch", "Had to clean", "Remember to check", "Put away"]),
        WORDS,
        WORDS,
        st.sampled_from(["first", "before the start", "after 3 days", "after 5 days"]),
    ),
    max_size=14,
)


@given(STATEMENTS, st.randoms(use_true_random=False))
def test_the_same_episodes_in_any_order_give_the_same_memories(texts: list[str], shuffle: random.Random) -> None:
    episodes = [episode(text, number) for number, text in enumerate(texts)]
    shuffled = list(episodes)
    shuffle.shuffle(shuffled)

    assert derived(shuffled) == derived(episodes)


@given(STATEMENTS)
def test_memories_are_bounded_grounded_and_in_somebodys_own_words(texts: list[str]) -> None:
    episodes = {one.id: one for one in (episode(text, number) for number, text in enumerate(texts))}

    found = derived(list(episodes.values()))

    for memory in found:
        assert memory.grounding and set(memory.grounding) <= episodes.keys()
        assert 0.0 <= memory.confidence < 1.0 and 1.0 <= memory.importance <= 10.0
        assert memory.trigger in {without_openers(episodes[one].content) for one in memory.grounding}
        assert memory.since == min(episodes[one].occurred_at for one in memory.grounding)
    assert len({memory.key for memory in found}) == len(found)


@given(STATEMENTS, st.integers(0, 13))
def test_what_one_episode_adds_leaves_the_components_it_does_not_touch_as_they_were(texts: list[str], at: int) -> None:
    episodes = [episode(text, number) for number, text in enumerate(texts)]
    items = items_of(episodes)
    links = linked(items, BARS)
    same = {item.same for item in items if item.episode.id == f"episode-{at}"}
    touched = {
        other.episode.id
        for component in components(links, len(items))
        if any(items[place].same in same for place in component)
        for place in component
        for other in items
        if other.same == items[place].same
    }

    with_it = [one for one in derive(items, links, RULES) if not touched.intersection(one.grounding)]
    without = [one for one in derived([e for e in episodes if e.id != f"episode-{at}"])]

    assert with_it == [one for one in without if not touched.intersection(one.grounding)]


@given(STATEMENTS, STATEMENTS, st.sampled_from([Trust.AGENT_INFERRED, Trust.TOOL_OUTPUT, Trust.WEB]))
def test_whatever_weaker_voices_say_the_memories_of_stronger_ones_stay(
    own: list[str], others: list[str], trust: Trust
) -> None:
    users = [episode(text, number) for number, text in enumerate(own)]
    strangers = [_of(trust, text, number + 100) for number, text in enumerate(others)]

    together = derived([*users, *strangers])

    for memory in derived(users):
        assert [dataclasses.replace(one, grounding=memory.grounding) for one in together if one.key == memory.key] == [
            memory
        ]


def test_a_sentence_that_joins_two_of_the_users_does_not_make_one_of_them() -> None:
    """It was linked with both, so it became the centre of what they said: one of the two memories was retired."""
    both = ["Always run the linter before you push.", "Always run the integration tests before you push a release."]
    joined = "Always run the linter and the integration tests before you push a release."
    users = [episode(text, number) for number, text in enumerate(both)]
    assert sorted(one.trigger for one in derived([*users, _of(Trust.WEB, joined, 2)])) == sorted(both)


def _of(trust: Trust, text: str, number: int) -> Episode:
    return dataclasses.replace(episode(text, number), provenance=Provenance(trust=trust))


@given(st.lists(st.lists(st.integers(-9, 9), min_size=3, max_size=3).filter(any), max_size=30))
def test_links_do_not_depend_on_what_else_is_compared_beside_them(vectors: list[list[int]]) -> None:
    items = [stated(number, vector) for number, vector in enumerate(vectors)]

    whole = linked(items, BARS)
    single = {place: linked(items, BARS, fresh=[place]) for place in range(len(items))}

    firsts = [group[0] for group in groups_of(items).values()]
    assert {place: dict(whole.get(place, {})) for place in firsts} == {
        place: dict(single[place].get(place, {})) for place in firsts
    }


def test_ten_times_activate_the_venv_is_one_convention_even_without_a_model() -> None:
    (memory,) = derived(
        [episode(text, number) for number, text in enumerate(VENV)],
        Rules(bars=Bars(near=0.35, alike=0.85, around=0.25)),
    )

    assert memory.kind is Kind.CONVENTION and "venv" in memory.trigger
    assert len(memory.grounding) == memory.support == 10


def test_a_chain_from_one_matter_to_another_is_cut_into_stars() -> None:
    angles = [0, 20, 40, 60, 80, 100, 120]
    items = [
        stated(number, (np.cos(np.radians(angle)), np.sin(np.radians(angle)), 0.0))
        for number, angle in enumerate(angles)
    ]
    bars = Bars(near=0.9, alike=0.9, around=0.0)
    links = linked(items, bars)

    found = clusters(items, links, bars)

    assert len(components(links, len(items))) == 1
    assert len(found) > 1 and sorted(len(one) for one in found)[-1] <= 4


def test_an_unmarked_statement_has_to_be_heard_several_times() -> None:
    near = [(1.0, 0.01 * n, 0.0) for n in range(3)]
    items = [stated(n, vector, explicit=False) for n, vector in enumerate(near)]

    assert derive(items[:2], linked(items[:2], BARS), RULES) == []
    assert len(derive(items, linked(items, BARS), RULES)) == 1


def test_what_one_session_repeats_word_for_word_counts_once() -> None:
    items = [stated(n, (1.0, 0.0, 0.0), explicit=False, session="loop") for n in range(100)]

    assert derive(items, linked(items, BARS), RULES) == []


def test_equal_statements_count_as_often_as_they_are_said_and_are_compared_once() -> None:
    looks: list[int] = []
    items = [stated(n, (1.0, 0.0, 0.0)) for n in range(2_000)]

    links = linked(items, BARS, rest=lambda: looks.append(1))
    (memory,) = derive(items, links, RULES)

    assert links == {} and len(looks) == 2, "one at their words, one at their vectors"
    assert memory.support == len(memory.grounding) == 2_000


def test_work_on_many_statements_ends_where_a_rest_says_so() -> None:
    class StopError(Exception):
        pass

    def stop() -> None:
        raise StopError

    items = [stated(n, (1.0, 0.01 * n, 0.0)) for n in range(3)]
    links = linked(items, BARS)

    with pytest.raises(StopError):
        linked(items, BARS, rest=stop)
    with pytest.raises(StopError):
        derive(items, links, RULES, stop)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("We agreed that juniors review first.", "We agreed that seniors review first."),
        ("Never commit generated files.", "Never commit large files."),
        ("We decided to store images in the object store.", "We decided to store images in the database."),
        ("Remember: Kim approves the schema changes.", "Remember: Lee approves the schema changes."),
        ("Always run the migrations before the backfill.", "Always run the backfill before the migrations."),
        ("Always restart the collector after a change.", "Restart the broker after a change of 3 settings."),
    ],
)
def test_of_what_was_said_in_so_many_words_no_other_word_takes_the_place_of_one(left: str, right: str) -> None:
    near = [(1.0, 0.0, 0.0), (1.0, 0.01, 0.0)]
    items = [stated(n, vector, words=text) for n, (vector, text) in enumerate(zip(near, (left, right), strict=True))]

    found = derive(items, linked(items, BARS), RULES)

    assert sorted(memory.trigger for memory in found) == sorted((left, right))
    assert all(len(memory.grounding) == 1 for memory in found)


def test_numbers_denials_and_opposites_keep_statements_apart() -> None:
    pairs = [
        ("Always keep 3 backups of the store.", "Always keep 5 backups of the store."),
        ("Always keep the backups of the store.", "We must never keep the backups of the store."),
        ("Always enable the cache on the server.", "Always disable the cache on the server."),
    ]
    for left, right in pairs:
        assert len(derived([episode(left, 1), episode(right, 2)])) == 2


@pytest.mark.parametrize(
    ("left", "right", "memories"),
    [
        ("We decided to host the API on Heroku.", "We decided to host the API on Fly.io instead of Heroku.", 2),
        ("We decided to use Vite for the bundle.", "We decided to use Vite and Rollup for the bundle.", 2),
        ("We decided to retry the upload.", "We decided to retry the upload 3 times.", 2),
        ("We decided to drop the monorepo.", "We decided to keep the monorepo.", 2),
        ("We decided to use Vite for the bundle.", "We decided to use Vite for the whole bundle.", 1),
        ("We decided to drop support for IE.", "We decided to drop the support for IE.", 1),
    ],
)
def test_a_decision_that_changes_or_names_something_else_is_no_evidence_for_another(
    left: str, right: str, memories: int
) -> None:
    assert len(derived([episode(left, 1), episode(right, 2)])) == memories


def test_trust_is_that_of_the_weakest_evidence_and_doubtful_memories_are_quarantined() -> None:
    user = stated(1, (1.0, 0.0, 0.0), explicit=False)
    web = [
        dataclasses.replace(item, episode=dataclasses.replace(item.episode, provenance=Provenance(trust=Trust.WEB)))
        for item in (stated(n, (1.0, 0.01 * n, 0.0), explicit=False) for n in (2, 3))
    ]

    (memory,) = derive([user, *web], linked([user, *web], BARS), RULES)

    assert memory.trust is Trust.WEB and memory.status is Status.QUARANTINED


def test_confidence_grows_with_every_time_a_thing_is_said() -> None:
    items = [stated(n, (1.0, 0.0, 0.0)) for n in range(6)]
    sure = [derive(items[:n], linked(items[:n], BARS), RULES)[0].confidence for n in range(1, 7)]

    assert all(earlier < later < 1.0 for earlier, later in pairwise(sure))


def test_one_shared_word_links_only_what_is_nearer_than_what_shares_several() -> None:
    texts = (
        "Activate the venv before you run anything.",
        "Activate the venv, then run the tests.",
        "Activate the license before you run the installer.",
    )
    vectors = np.array([[1.0, 0.0], [0.7, 0.714], [0.7, -0.714]], np.float32)
    items = [_placed(text, number, vector) for number, (text, vector) in enumerate(zip(texts, vectors, strict=True))]

    links = linked(items, Bars(near=0.66, alike=0.9, around=0.5))

    assert links[0].keys() == {1}, "activating a license is no wording of activating the venv"


def test_names_of_one_thing_are_one_word() -> None:
    texts = ("Activate the virtual environment first.", "Source .venv/bin/activate before the tests.")
    one, other = (_placed(text, number, np.array([1.0, 0.0], np.float32)) for number, text in enumerate(texts))

    assert "venv" in one.terms & other.terms


def test_the_plain_wording_is_taken_and_no_opener_is_part_of_it() -> None:
    texts = (
        "Once more: I had to activate the venv before the tests.",
        "Please note: activate the venv before the tests.",
        "Reminder to self: activate the venv before the tests.",
        "Always activate the venv before the tests.",
    )
    (memory,) = derived([episode(text, number) for number, text in enumerate(texts)])

    assert memory.trigger in ("Activate the venv before the tests.", "Always activate the venv before the tests.")
    assert memory.support == len(texts)


def _placed(text: str, number: int, vector: VectorArray) -> ComparedCandidate:
    (candidate,) = RuleExtractor().extract([episode(text, number)]).candidates
    return said(candidate, episode(text, number), vector, None)


def test_failures_of_different_commands_are_not_one() -> None:
    same = [1.0, 0.0]
    items = [
        stated(number, same, explicit=False, words=f"`{command}` failed: the daemon is not {up}.")
        for number, (command, up) in enumerate((("make zebra", "up"), ("make aardvark", "up"), ("make zebra", "on")), 1)
    ]
    assert sorted(len(found) for found in components(linked(items, BARS), len(items))) == [1, 2]
