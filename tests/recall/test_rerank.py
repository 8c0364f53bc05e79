"""The cross-encoder: asked for, it reads the best again and its word is in the score; otherwise nothing changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from recall_world import NOW, World

from helix.model.edge import Ref, Relation
from helix.model.recall import RecallAnswer, RecallQuery
from helix.model.reflection import Reflection
from helix.providers.fakes import OverlapReranker
from helix.providers.local_reranker import LocalReranker
from helix.providers.model_catalogue import RERANKER
from helix.providers.reranker import Scores
from helix.recall.recipes import RECIPES
from helix.recall.rerank import QUESTION_CHARACTERS, READ, mixed
from helix.recall.scoring import score_of, scores_of
from helix.settings import Settings

QUESTION = "which port does the staging server listen on"


def ids(answer: RecallAnswer) -> list[str]:
    return [item.node.id for item in answer.items]


@dataclass
class Reading:
    """A reranker that keeps what it was given to read, and finds what it is told to find."""

    wanted: str = ""
    asked: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def scores(self, query: str, texts: Sequence[str]) -> Scores:
        self.asked.append(query)
        self.texts += texts
        return np.array([10.0 if self.wanted and self.wanted in text else -10.0 for text in texts], np.float32)


def harbour() -> World:
    """Return a world in which the words of the question are everywhere."""
    world = World()
    world.memory("login", "which server does staging use to log in: the port is not told")
    world.memory("port", "staging answers on 8443")
    world.memory("ships", "the server of the port authority listens to ships")
    world.memory("cake", "grandmother's plum cake")
    world.episode("talk", "we talked about many things", "the staging server was moved to port 8443")
    return world


def test_nothing_is_read_again_unless_it_is_asked_for() -> None:
    reading = Reading()
    answer = harbour().recaller(reranker=reading).recall(RecallQuery(query=QUESTION))
    plain = harbour().recaller().recall(RecallQuery(query=QUESTION))
    assert not reading.asked
    assert "rerank" not in answer.timings_ms
    assert [(item.node.id, item.score, item.factors) for item in answer.items] == [
        (item.node.id, item.score, item.factors) for item in plain.items
    ]


def test_what_the_cross_encoder_finds_comes_first() -> None:
    recaller = harbour().recaller(reranker=Reading("answers on 8443"))
    assert ids(recaller.recall(RecallQuery(query=QUESTION)))[0] != "port"
    answer = recaller.recall(RecallQuery(query=QUESTION, rerank=True))
    assert ids(answer)[0] == "port"
    assert answer.timings_ms["rerank"] > 0
    assert not answer.notes


@pytest.mark.parametrize("recipe", RECIPES)
def test_factors_of_a_reranked_item_make_its_score(recipe: str) -> None:
    recaller = harbour().recaller(reranker=OverlapReranker())
    answer = recaller.recall(RecallQuery(query=QUESTION, recipe=recipe, rerank=True))
    assert answer.items
    for item in answer.items:
        assert score_of(item.factors) == pytest.approx(item.score)
        assert item.factors[READ] > 0


def test_the_passage_that_was_found_is_what_is_read() -> None:
    reading = Reading()
    harbour().recaller(reranker=reading).recall(RecallQuery(query=QUESTION, rerank=True))
    assert "the staging server was moved to port 8443" in reading.texts
    assert "we talked about many things" not in reading.texts
    assert reading.asked == [QUESTION]


def test_of_a_long_question_the_beginning_is_read() -> None:
    reading = Reading()
    long = f"{QUESTION} {'and so on ' * 500}"
    harbour().recaller(reranker=reading).recall(RecallQuery(query=long, rerank=True))
    assert reading.asked == [long[:QUESTION_CHARACTERS]]


def test_what_has_no_passage_is_read_as_it_is_shown() -> None:
    world, reading = harbour(), Reading()
    bare = world.put(
        Reflection(id="bare", question="what of ports?", insight="ports move with their servers", recorded_at=NOW)
    )
    world.edge(bare, Ref.memory("port"), Relation.CITES)
    answer = world.recaller(reranker=reading).recall(RecallQuery(query=QUESTION, rerank=True, everything=True))
    assert "bare" in ids(answer)
    assert "ports move with their servers" in reading.texts


def test_settings_say_what_is_read_where_the_query_does_not() -> None:
    reading = Reading()
    recaller = harbour().recaller(reranker=reading, settings=Settings(rerank=True, rerank_candidates=2))
    recaller.recall(RecallQuery(query=QUESTION, rerank=False))
    assert not reading.asked
    recaller.recall(RecallQuery(query=QUESTION))
    assert len(reading.texts) == 2


def test_without_its_model_the_answer_is_the_same_and_says_what_to_do(tmp_path: Path) -> None:
    recaller = harbour().recaller(reranker=LocalReranker(RERANKER, tmp_path))
    answer = recaller.recall(RecallQuery(query=QUESTION, rerank=True))
    plain = recaller.recall(RecallQuery(query=QUESTION))
    assert [(item.node.id, item.score) for item in answer.items] == [(item.node.id, item.score) for item in plain.items]
    (note,) = answer.notes
    assert note.startswith("not reranked") and f"helix models install {RERANKER.name}" in note


def test_nothing_found_is_nothing_read() -> None:
    answer = World().recaller(reranker=OverlapReranker()).recall(RecallQuery(query=QUESTION, rerank=True))
    assert answer.items == ()


weights = st.floats(0, 1, allow_subnormal=False)


@given(st.data(), st.integers(0, 12), st.integers(1, 8))
def test_candidates_stay_ahead_of_the_rest_whose_order_stays(data: st.DataObject, count: int, candidates: int) -> None:
    column = arrays.arrays(np.float64, count, elements=weights)
    factors = {name: data.draw(column) for name in ("+meaning", "+words", "*recency")}
    best = np.argsort(-scores_of(factors), kind="stable")
    odds = data.draw(arrays.arrays(np.float64, min(candidates, count), elements=st.floats(-1e6, 1e6)))
    after = scores_of(mixed(factors, best[:candidates], odds))
    rest = after[best[candidates:]]
    assert np.all(rest[:-1] >= rest[1:] - 1e-12)
    if len(rest):
        assert after[best[:candidates]].min() >= rest.max() - 1e-12


@given(st.lists(st.floats(-12, 12), min_size=2, max_size=8))
def test_equal_candidates_are_ordered_by_what_was_read(odds: list[float]) -> None:
    factors = {"+meaning": np.full(len(odds), 0.5), "*trust": np.full(len(odds), 0.9)}
    after = scores_of(mixed(factors, np.arange(len(odds)), np.array(odds)))
    assert np.all(np.diff(after[np.argsort(odds)]) >= 0)
    assert after.max() <= 0.45
