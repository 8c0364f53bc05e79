"""Relevance is a number of its own: it does not change with what else was found."""

from __future__ import annotations

import numpy as np
import pytest
from recall_world import DIMENSION, World, unit

from helix.model.recall import RecallQuery
from helix.providers.fakes import HashEmbedder
from helix.recall.arms import lexical_matches
from helix.recall.relevance import UNRELATED, Relevance, relevance_of, unrelated
from helix.store.catalogue import CatalogueView
from helix.store.matrix import Matrix
from helix.text.tokens import query_terms


def fits(view: CatalogueView, text: str, *, embedded: bool = True) -> Relevance:
    matches = lexical_matches(view, np.ones(view.count, np.bool_), query_terms(text))
    vector = HashEmbedder(DIMENSION).embed([text])[0] if embedded else None
    return relevance_of(view, np.arange(view.count), vector, matches)


def kitchen(*more: str) -> World:
    world = World()
    for place, text in enumerate(("the kettle boils", "the wal grows", "a lid for the kettle", *more)):
        world.memory(str(place), text)
    return world


def test_meaning_and_words_lie_between_nothing_and_one() -> None:
    found = fits(kitchen().catalogue().view, "kettle boils")
    for values in (found.meaning, found.words, found.mixed):
        assert ((values >= 0) & (values <= 1)).all()
    assert np.argmax(found.mixed) == 0
    assert found.words[1] == 0


def test_a_row_keeps_its_relevance_whatever_else_is_asked_about() -> None:
    view = kitchen().catalogue().view
    whole = fits(view, "kettle boils")
    matches = lexical_matches(view, np.ones(view.count, np.bool_), query_terms("kettle boils"))
    alone = relevance_of(view, np.array([2]), HashEmbedder(DIMENSION).embed(["kettle boils"])[0], matches)
    assert alone.mixed[0] == pytest.approx(whole.mixed[2])


def test_without_a_vector_words_are_all_there_is() -> None:
    found = fits(kitchen().catalogue().view, "kettle", embedded=False)
    assert not found.meaning.any()
    assert np.isnan(found.cosine).all()
    assert found.words.any()


def test_what_every_text_has_in_common_with_a_question_counts_for_nothing() -> None:
    rng = np.random.default_rng(3)
    common = np.ones(DIMENSION)
    matrix = Matrix(DIMENSION)
    matrix.append([unit(common + 0.3 * rng.standard_normal(DIMENSION)).tobytes() for _ in range(500)])
    count, mean = matrix.view().center
    rows = matrix.view().rows(np.arange(500))
    assert count == 500
    assert mean == pytest.approx(rows.mean(axis=0), abs=1e-5)


def test_a_store_that_holds_little_is_not_taken_for_the_world() -> None:
    view = kitchen().catalogue().view
    vector = HashEmbedder(DIMENSION).embed(["the kettle boils"])[0]
    assert unrelated(World().catalogue().view, vector) == pytest.approx(UNRELATED)
    assert abs(unrelated(view, vector) - UNRELATED) < 0.1
    assert fits(view, "the kettle boils").meaning[0] > 0.9


def test_an_answer_to_nothing_scores_low_and_one_that_fits_scores_high() -> None:
    recaller = kitchen("how to descale", "who has the key").recaller()
    good = recaller.recall(RecallQuery(query="the kettle boils")).items[0]
    poor = recaller.recall(RecallQuery(query="quarterly invoices of the Danish office")).items
    assert good.score > 2 * max((item.score for item in poor), default=0.0)
