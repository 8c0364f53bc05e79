"""Every arm finds what a full scan of the rows that pass the filters would find, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recall_world import DIMENSION, NOW, NoIndex, World, unit

from helix.errors import EmbeddingSpaceError, GraphUnavailableError
from helix.model.clock import to_micros
from helix.model.edge import Label, Ref, Relation
from helix.model.operations import DropPassage, PutNode, PutPassage
from helix.recall.arms import ARM_LIMIT, files_arm, lexical_matches, path_fit, selective_terms, time_arm
from helix.recall.vector import check_dimension, cosines, scan, vector_arm
from helix.store.catalogue import Catalogue, CatalogueView
from helix.store.node_columns import BoolArray, FloatArray, IndexArray
from tests.sampling import draws

Floats = npt.NDArray[np.float64]


class Index:
    """A vector index over a catalogue's passages: exact, unless it is told to hide its best answers."""

    def __init__(self, view: CatalogueView, hidden: int = 0) -> None:
        self._ids = list(view.passages.index_of_id)
        self._vectors = view.passages.vectors.rows(view.passages.indexes_of_ids(self._ids))
        self._hidden = hidden
        self.asked = 0

    def vector_search(self, vector: Sequence[float], k: int) -> list[tuple[str, float]]:
        self.asked += 1
        scores = self._vectors @ np.asarray(vector, np.float32)
        best = np.argsort(-scores, kind="stable")[self._hidden : k + self._hidden]
        return [(self._ids[place], float(scores[place])) for place in best]


def random_view(seed: int, rows: int) -> CatalogueView:
    """Return memories with one to three passages each, some of them without a vector, some dropped."""
    rng = np.random.default_rng(seed)
    catalogue = Catalogue(DIMENSION)
    operations: list[PutNode | PutPassage | DropPassage] = []
    number = 0
    for row in range(rows):
        ref = Ref.memory(str(row))
        operations.append(PutNode(label=Label.MEMORY, id=str(row), props={}))
        for _ in range(int(rng.integers(1, 4))):
            number += 1
            vector = unit(rng.standard_normal(DIMENSION)).tobytes() if rng.random() > 0.1 else None
            operations.append(PutPassage(id=f"p{number}", number=number, owner=ref, text="", vector=vector))
    operations += [DropPassage(id=f"p{dropped}") for dropped in rng.integers(1, number + 1, rows // 10)]
    catalogue.load(operations)
    return catalogue.view


def best_cosines(view: CatalogueView, mask: BoolArray, vector: npt.NDArray[np.float32]) -> dict[int, float]:
    """Say once more, passage by passage, how near each row of the mask is."""
    passages = view.passages
    best: dict[int, float] = {}
    for index in range(passages.count):
        row = int(passages.owner[index])
        if passages.alive[index] and passages.embedded[index] and mask[row]:
            cosine = float(passages.vectors.rows(np.array([index]))[0] @ vector)
            best[row] = max(best.get(row, -2.0), cosine)
    return best


@settings(max_examples=draws(20), deadline=None)
@given(
    seed=st.integers(0, 30),
    share=st.sampled_from([0.01, 0.1, 0.5, 1.0]),
    limit=st.sampled_from([5, ARM_LIMIT]),
    exact_below=st.sampled_from([0, 10_000]),
)
def test_the_vector_arm_is_a_full_scan_whatever_the_filter_and_the_way(
    seed: int, share: float, limit: int, exact_below: int
) -> None:
    view = random_view(seed, 150)
    rng = np.random.default_rng(seed + 1)
    mask = rng.random(view.count) < share
    vector = unit(rng.standard_normal(DIMENSION))
    found, note = vector_arm(view, mask, Index(view), vector, limit=limit, exact_below=exact_below)
    expected = best_cosines(view, mask, vector)
    order = sorted(expected, key=lambda row: -expected[row])[:limit]
    assert found.rows.tolist() == order
    assert found.scores.tolist() == pytest.approx([expected[row] for row in order], abs=1e-5)
    assert note == ""


@settings(max_examples=draws(7), deadline=None)
@given(seed=st.integers(0, 1000))
def test_a_scan_by_codes_finds_what_a_full_scan_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    catalogue = Catalogue(64)
    rows = rng.standard_normal((1_500, 64)) + rng.standard_normal(64)
    vectors = [unit(row) for row in rows]
    catalogue.load(
        [
            operation
            for place, vector in enumerate(vectors)
            for operation in (
                PutNode(label=Label.MEMORY, id=str(place), props={}),
                PutPassage(
                    id=f"p{place}",
                    number=place + 1,
                    owner=Ref.memory(str(place)),
                    text="",
                    vector=vector.tobytes(),
                ),
            )
        ]
    )
    vector = unit(rows[0] + rng.standard_normal(64))
    found = scan(catalogue.view, np.arange(1_500), vector, 20)
    exact = np.sort(np.stack(vectors) @ vector)[::-1][:20]
    assert found.scores == pytest.approx(exact, abs=1e-5)


def test_an_index_that_loses_too_many_to_the_filter_is_not_believed() -> None:
    view = random_view(3, 150)
    mask = np.ones(view.count, np.bool_)
    vector = unit(np.arange(DIMENSION) - 10.0)
    index = Index(view, hidden=300)
    found, _ = vector_arm(view, mask, index, vector, limit=100, exact_below=0)
    expected = best_cosines(view, mask, vector)
    assert index.asked == 1
    assert found.rows.tolist() == sorted(expected, key=lambda row: -expected[row])[:100]


def test_while_the_graph_is_rebuilt_vectors_are_scanned_and_the_answer_says_so() -> None:
    view = random_view(1, 50)
    vector = unit(np.ones(DIMENSION))
    found, note = vector_arm(view, np.ones(50, np.bool_), NoIndex(), vector, exact_below=0)
    assert "rebuilt" in note
    assert len(found.rows) == len(best_cosines(view, np.ones(50, np.bool_), vector))


def test_the_index_fails_loudly_where_it_can_be_done_without() -> None:
    with pytest.raises(GraphUnavailableError):
        NoIndex().vector_search([1.0], 1)


def test_a_query_of_another_dimension_is_refused() -> None:
    with pytest.raises(EmbeddingSpaceError):
        check_dimension(random_view(1, 3), unit([1, 2]))


def test_cosines_are_those_of_the_best_passage_and_absent_without_a_vector() -> None:
    view = random_view(5, 40)
    vector = unit(np.arange(DIMENSION) - 5.0)
    rows = np.array([30, 2, 17])
    expected = best_cosines(view, np.ones(40, np.bool_), vector)
    found, passages = cosines(view, rows, vector)
    for row, cosine, passage in zip(rows, found, passages, strict=True):
        assert cosine == pytest.approx(expected.get(int(row), float("nan")), nan_ok=True, abs=1e-5)
        assert int(row) not in expected or view.passages.owner[passage] == row


# --- words ----------------------------------------------------------------------------------------------------------


@settings(max_examples=draws(20), deadline=None)
@given(seed=st.integers(0, 50), share=st.sampled_from([0.01, 0.1, 0.5]))
def test_the_lexical_arm_loses_nothing_to_the_filter(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    world = World()
    words = [f"word{n}" for n in range(12)]
    for i in range(80):
        world.episode(str(i), *(" ".join(rng.choice(words, 3)) for _ in range(int(rng.integers(1, 3)))))
    view = world.catalogue().view
    mask = rng.random(view.count) < share
    matches = lexical_matches(view, mask, words[:4])
    scores = dict(zip(*(array.tolist() for array in view.words.search(words[:4])), strict=True))
    expected: dict[int, float] = {}
    for passage, owner in enumerate(view.passages.owner.tolist()):
        if mask[owner] and passage in scores:
            expected[owner] = max(expected.get(owner, 0.0), scores[passage])
    ranked = matches.ranked(view)
    assert dict(zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True)) == pytest.approx(expected)
    assert ranked.rows.tolist() == sorted(expected, key=lambda row: (-expected[row], row))
    rows = np.arange(view.count)
    assert matches.of_rows(view, rows).tolist() == pytest.approx(
        [expected.get(row, float("nan")) for row in range(view.count)], nan_ok=True
    )


def test_no_words_find_nothing() -> None:
    view = World().catalogue().view
    assert len(lexical_matches(view, np.empty(0, np.bool_), []).passages) == 0


def test_the_rarest_terms_are_kept_in_order_of_rarity() -> None:
    frequency = {"common": 900, "rare": 1, "middling": 30, "absent": 0}
    terms = ["common", "rare", "absent", "middling", "rare", "unheard"]
    assert selective_terms(terms, frequency) == ["rare", "middling", "common"]
    assert selective_terms(terms, frequency, limit=2) == ["rare", "middling"]


# --- files and time -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "known", "fit"),
    [
        ("src/x.c", "src/x.c", 1.0),
        ("src\\x.c", "src/x.c", 1.0),
        ("/home/me/project/src/x.c", "src/x.c", 0.95 * 2 / 5),
        ("x.c", "src/x.c", 0.95 / 2),
        ("lib/x.c", "src/x.c", 0.0),
        ("ax.c", "x.c", 0.0),
        ("src/deep/x.c", "src/*.c", 0.9),
        ("/home/me/src/x.c", "src/*.c", 0.9),
        ("src/x.h", "src/*.c", 0.0),
        ("web/app/[id].tsx", "app/[id].tsx", 0.95 * 2 / 3),
        ("app/i.tsx", "app/[id].tsx", 0.0),
        ("app/i.tsx", "app/?.tsx", 0.0),
        ("src/a*.c", "src/a[*].c", 1.0),
        ("src/ab.c", "src/a[*].c", 0.0),
    ],
)
def test_paths_fit_when_one_ends_in_the_other(asked: str, known: str, fit: float) -> None:
    assert path_fit(asked, known) == pytest.approx(fit)


def nothing(rows: IndexArray) -> FloatArray:
    return np.zeros(len(rows))


def test_what_touches_more_of_the_files_comes_first_then_what_fits_then_what_is_new() -> None:
    world = World()
    one, two = world.entity("src/one.c"), world.entity("src/two.c")
    both = world.episode("both", "a")
    touched = world.episode("touched", "b")
    older = world.episode("older", "b", occurred_at=NOW.replace(year=2020))
    mentioned = world.episode("mentioned", "c")
    fitting = world.episode("fitting", "d", occurred_at=NOW.replace(year=2010))
    for episode, entity, kind in (
        (both, one, Relation.TOUCHES),
        (both, two, Relation.TOUCHES),
        (touched, one, Relation.TOUCHES),
        (older, one, Relation.TOUCHES),
        (fitting, two, Relation.TOUCHES),
        (mentioned, one, Relation.MENTIONS),
    ):
        world.edge(episode, entity, kind)
    catalogue = world.catalogue()
    view, graph = catalogue.view, world.projection(catalogue).snapshot
    best_fit = view.row_of(fitting)

    def affinity(rows: IndexArray) -> FloatArray:
        fit: FloatArray = (rows == best_fit).astype(np.float64)
        return fit

    mask = view.columns.label == view.columns.label[view.row_of(both)]
    found = files_arm(view, mask, graph, ["src/one.c", "src/two.c"], affinity)
    assert [view.ref_of(int(row)).id for row in found.rows] == ["both", "fitting", "touched", "older", "mentioned"]
    mask[view.row_of(both)] = False
    assert "both" not in [view.ref_of(int(row)).id for row in files_arm(view, mask, graph, ["one.c"], nothing).rows]


def test_the_time_arm_holds_what_happened_within_the_range() -> None:
    world = World()
    for day in range(1, 6):
        world.episode(str(day), "x", occurred_at=NOW.replace(day=day))
    view = world.catalogue().view
    start, end = to_micros(NOW.replace(day=2)), to_micros(NOW.replace(day=4))
    found = time_arm(view, np.ones(view.count, np.bool_), start, end, nothing)
    assert [view.ref_of(int(row)).id for row in found.rows] == ["3", "2"]
