"""The word index finds what a plain count over the living passages finds, whatever was written in which order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix.journal.database import Database
from helix.journal.log import Journal
from helix.model.edge import Ref
from helix.model.operations import Change, DropPassage, Operation, PutNode, PutPassage
from helix.store.bm25 import FOLD_MINIMUM, K1, B, WordTable, WordView
from helix.store.catalogue import Catalogue, CatalogueView
from helix.store.postings import MAX_COUNT
from helix.text.tokens import lexical_tokens
from tests.sampling import draws

VOCABULARY = ("wal", "fold", "reopen", "checkpoint", "straße", "日本", "checkpoint_starved_reader", "x")
Passages = Mapping[int, Sequence[str]]


def bm25(living: Passages, terms: Sequence[str], k1: float = K1, b: float = B) -> dict[int, float]:
    """Score every passage with any of the terms, one by one."""
    mean = sum(map(len, living.values())) / max(len(living), 1)
    scores: dict[int, float] = {}
    for term in set(terms):
        holders = {passage: Counter(tokens)[term] for passage, tokens in living.items() if term in tokens}
        idf = math.log(1 + (len(living) - len(holders) + 0.5) / (len(holders) + 0.5))
        for passage, count in holders.items():
            norm = k1 * (1 - b + b * len(living[passage]) / mean)
            scores[passage] = scores.get(passage, 0.0) + idf * count * (k1 + 1) / (count + norm)
    return scores


def found(view: WordView, terms: Sequence[str]) -> dict[int, float]:
    passages, scores = view.search(terms)
    assert passages.tolist() == sorted(set(passages.tolist()))
    return dict(zip(passages.tolist(), scores.tolist(), strict=True))


def check(view: WordView, living: Passages) -> None:
    """Hold the view against plain counting, for questions of one word, of some and of all."""
    for terms in (*([term] for term in VOCABULARY), VOCABULARY[1:4], (*VOCABULARY, "nowhere")):
        expected = bm25(living, terms, view.k1, view.b)
        assert found(view, terms) == pytest.approx(expected, rel=1e-4)
    frequency = {term: sum(term in tokens for tokens in living.values()) for term in VOCABULARY}
    assert view.document_frequency(VOCABULARY) == frequency
    places = np.array(sorted(living, reverse=True), np.int64)
    holding = view.holding(VOCABULARY, places)
    for term in VOCABULARY:
        expected = [place for place in places.tolist() if term in living[place]]
        assert places[holding.get(term, np.zeros(len(places), np.bool_))].tolist() == expected


token_lists = st.lists(st.sampled_from(VOCABULARY), max_size=6)
steps = st.lists(st.tuples(st.lists(token_lists, max_size=3), st.sets(st.integers(0, 12), max_size=3)), max_size=8)


@settings(max_examples=draws(20), deadline=None)
@given(steps=steps, fold_minimum=st.sampled_from([0, 8, FOLD_MINIMUM]), b=st.sampled_from([0.0, 0.75]))
def test_search_is_bm25_over_the_living_passages_in_every_view(
    steps: list[tuple[list[list[str]], set[int]]], fold_minimum: int, b: float
) -> None:
    table = WordTable(b=b, fold_minimum=fold_minimum)
    living: dict[int, list[str]] = {}
    views = [(table.view(), dict(living))]
    count = 0
    for fresh, places in steps:
        dead = [passage for place, passage in enumerate(living) if place in places]
        table.update(fresh, dead)
        living = {passage: tokens for passage, tokens in living.items() if passage not in dead}
        living.update(enumerate(fresh, count))
        count += len(fresh)
        views.append((table.view(), dict(living)))
    loaded = WordTable(b=b)
    texts = [" ".join(tokens).encode() for tokens in living.values()]
    loaded.load([(np.array(list(living), np.int64), texts)], count)
    for view, held in (*views, (loaded.view(), living)):
        check(view, held)


@given(tokens=st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=30), max_size=20))
def test_every_token_is_found_whatever_its_letters_and_length(tokens: list[str]) -> None:
    table = WordTable()
    table.update([[token] for token in tokens], [])
    view = table.view()
    for token in tokens:
        assert list(found(view, [token])) == [place for place, other in enumerate(tokens) if other == token]


def test_tokens_that_begin_or_end_alike_are_told_apart() -> None:
    tokens = ["a" * length for length in range(1, 40)] + [f"{'b' * 16}{letter}" for letter in "xyz"]
    table = WordTable()
    table.update([[token] for token in tokens], [])
    assert [list(found(table.view(), [token])) for token in tokens] == [[place] for place in range(len(tokens))]


def test_thousands_of_passages_load_as_one_by_one_and_in_any_batches() -> None:
    rng = np.random.default_rng(5)
    texts = [[f"w{n}" for n in rng.integers(0, 3_000, rng.integers(0, 8))] for _ in range(9_000)]
    grown, loaded = WordTable(fold_minimum=2_000), WordTable()
    for start in range(0, len(texts), 1_000):
        grown.update(texts[start : start + 1_000], [])
    encoded = [" ".join(tokens).encode() for tokens in texts]
    cuts = [0, 5_000, 5_010, 5_010, 9_000]
    loaded.load([(np.arange(a, b), encoded[a:b]) for a, b in pairwise(cuts)], len(texts))
    terms = [f"w{n}" for n in range(40)]
    living = dict(enumerate(texts))
    assert found(grown.view(), terms) == found(loaded.view(), terms) == pytest.approx(bm25(living, terms), rel=1e-4)


def test_dead_postings_are_thrown_out_once_there_are_many() -> None:
    table = WordTable(fold_minimum=10)
    table.update([["wal", "fold"]] * 8, [])
    held = len(table.view().base.passages)
    table.update([], [0, 1, 2, 3, 4, 5])
    view = table.view()
    assert (held, len(view.base.passages), len(view.recent.passages)) == (16, 4, 0)
    assert list(found(view, ["fold"])) == [6, 7]


def test_a_term_asked_for_twice_counts_once() -> None:
    table = WordTable()
    table.update([["wal", "fold"], ["fold"]], [])
    view = table.view()
    assert found(view, ["wal", "wal"]) == found(view, ["wal"])


def test_a_rarer_word_weighs_more_and_one_that_is_everywhere_still_a_little() -> None:
    table = WordTable()
    table.update([["common"]] * 19 + [["common", "rare"]], [])
    scores = found(table.view(), ["common", "rare"])
    assert max(scores, key=scores.__getitem__) == 19
    assert min(scores.values()) > 0


def test_occurrences_beyond_the_most_counted_change_nothing() -> None:
    table = WordTable(b=0.0)
    table.update([["wal"] * MAX_COUNT, ["wal"] * (MAX_COUNT + 50)], [])
    first, second = found(table.view(), ["wal"]).values()
    assert first == second


def test_an_empty_index_answers() -> None:
    view = WordTable().view()
    assert found(view, ["wal"]) == {}
    assert view.document_frequency(["wal"]) == {"wal": 0}
    assert found(view, []) == {}


# --- in the catalogue -----------------------------------------------------------------------------------------------


def by_number(view: CatalogueView, terms: Sequence[str]) -> dict[int, float]:
    """Return the scores by the passages' numbers, which outlive a restart."""
    passages, scores = view.words.search(terms)
    assert view.passages.alive[passages].all()
    return dict(zip(view.passages.numbers[passages].tolist(), scores.tolist(), strict=True))


def test_what_is_loaded_from_the_journal_is_what_was_applied_before(tmp_path: Path) -> None:
    journal, applied = Journal(Database(tmp_path / "journal.db"), tokenise=lexical_tokens), Catalogue(0)
    owner = Ref.memory("m")
    rng = np.random.default_rng(11)
    written: dict[str, str] = {}
    operations: list[Operation] = [PutNode(label=owner.label, id=owner.id, props={})]
    for number in range(1, 61):
        passage_id = f"p{rng.integers(20)}"
        if rng.random() < 0.25:
            operations.append(DropPassage(id=passage_id))
            written.pop(passage_id, None)
        else:
            written[passage_id] = " ".join(rng.choice(VOCABULARY, rng.integers(0, 6)))
            operations.append(PutPassage(id=passage_id, number=number, owner=owner, text=written[passage_id]))
        if number % 3 == 0:
            for row in journal.append([Change(kind="test", operations=tuple(operations))], 1):
                applied.apply(row.change.operations)
            operations = []
    loaded = Catalogue(0)
    with journal.snapshot() as (_, kept):
        loaded.load(kept.operations(), tokens=journal.tokens())
    journal.close()
    terms = [token for word in VOCABULARY for token in lexical_tokens(word)]
    expected = bm25(dict(enumerate(map(lexical_tokens, written.values()))), terms)
    assert sorted(by_number(applied.view, terms).values()) == pytest.approx(sorted(expected.values()), rel=1e-4)
    assert by_number(applied.view, terms) == pytest.approx(by_number(loaded.view, terms), rel=1e-6)


def test_a_view_finds_a_passage_by_the_words_it_had_then() -> None:
    catalogue = Catalogue(0)
    owner = Ref.memory("m")
    put = PutPassage(id="p", number=1, owner=owner, text="reopen the wal")
    catalogue.load([PutNode(label=owner.label, id=owner.id, props={}), put])
    before = catalogue.view
    catalogue.apply([PutPassage(id="p", number=2, owner=owner, text="fold the log")])
    catalogue.apply([put])
    assert (list(by_number(before, ["wal"])), list(by_number(before, ["fold"]))) == ([1], [])
    assert (list(by_number(catalogue.view, ["wal"])), list(by_number(catalogue.view, ["fold"]))) == ([], [2])
