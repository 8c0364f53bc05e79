"""Pipeline: one recall from question to packed answer, stage after stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime

import numpy as np

from helix.errors import ModelError
from helix.model.clock import Clock, to_micros
from helix.model.edge import Label, Ref
from helix.model.recall import RecallAnswer, RecallItem, RecallQuery
from helix.providers.reranker import Reranker
from helix.recall.answer import RecordReader, fill
from helix.recall.arms import Matches
from helix.recall.fair_threads import FairThreads
from helix.recall.question import RecallQuestion, TextReading, check_query, moment_of, read_question
from helix.recall.ranking import Reread, rank
from helix.recall.recipes import Recipe, recipe_named, recipes_of
from helix.recall.rerank import Rereading
from helix.recall.search import Scene, SearchResult, heat_of, matches_of, search
from helix.recall.stopwatch import Stopwatch
from helix.recall.vector import check_dimension
from helix.settings import Settings
from helix.store.catalogue import Catalogue, CatalogueView
from helix.store.engine import VectorSearch
from helix.store.matrix import VectorArray
from helix.store.node_columns import LABEL_CODE, BoolArray
from helix.store.projection import GraphSnapshot, Projection

Embed = Callable[[str], VectorArray]

AT_ONCE = 3
"""Questions that are answered at the same time; the rest wait, and stores take turns. On two cores two leave one
of them idle now and then, and four or more take the interpreter from each other: 33, 42 and 36 answers a second with
two, three and four (sixteen clients, 100,000 memories)."""


class Turns:
    """The threads on which questions are answered, and others on which they are embedded beside that.

    A process that has many stores open has one such for all: they share its interpreter.
    """

    def __init__(self) -> None:
        self.answering = FairThreads(AT_ONCE, "helix-recall")
        self.embedding = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="helix-question")

    def close(self) -> None:
        """Finish what recall was asked, and end the threads."""
        self.answering.close()
        self.embedding.shutdown()


class Recaller:
    """Answers questions about one store. Safe from any thread: each recall works on a view of its own."""

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        projection: Projection,
        vectors: VectorSearch,
        records: RecordReader,
        embed: Embed | None,
        reranker: Reranker | None = None,
        clock: Clock,
        settings: Settings,
        reading: TextReading | None = None,
        turns: Turns | None = None,
    ) -> None:
        """`embed` turns a text into a unit vector of the store's space; None answers in lexical mode.

        `reranker` reads the best candidates of the recalls that ask for it. `turns` are shared with other stores; those
        of this one alone end with it.
        """
        self._catalogue = catalogue
        self._projection = projection
        self._vectors = vectors
        self._records = records
        self._embed = embed
        self._reranker = reranker
        self._clock = clock
        self._settings = settings
        self._recipes = recipes_of(settings.recipes)
        self._reading = reading or TextReading()
        self._no_graph = Projection().snapshot
        self._turns = turns or Turns()
        self._shares_turns = turns is not None

    def recall(self, query: RecallQuery) -> RecallAnswer:
        """Recall what answers the query: at most `limit` items, best first, each with what put it there.

        Raises InvalidInputError for an empty query, an unknown recipe or a number out of range.
        """
        check_query(query, self._settings.page_size)
        recipe = recipe_named(query.recipe or self._settings.recipe, self._recipes)
        now, notes = self._clock(), list[str]()
        question = read_question(query, now, self._reading)
        if question.cut:
            notes.append("only the first part of the query was read, it is very long")
        return self._turns.answering.submit(self, self._answer, query, recipe, question, now, notes).result()

    def _answer(
        self,
        query: RecallQuery,
        recipe: Recipe,
        question: RecallQuestion,
        now: datetime,
        notes: list[str],
    ) -> RecallAnswer:
        watch = Stopwatch()
        scene, matches = self._scene(query, question, now, notes, watch)
        found = search(scene, matches, self._vectors, watch)
        ranking = rank(scene, found, recipe, watch, self._reread(scene, notes))
        items = fill(
            scene, found, ranking, records=self._records, estimate_tokens=self._reading.estimate_tokens, watch=watch
        )
        return RecallAnswer(
            query=query,
            items=items,
            mode="lexical" if scene.vector is None else "hybrid",
            recipe=recipe.name,
            tokens=sum(item.tokens for item in items),
            timings_ms=watch.timings_ms,
            notes=(*notes, *found.notes, *_said_of(items, found, query)),
            at=now,
        )

    def walk(self, text: str, scope: str | None, limit: int) -> list[tuple[Ref, float]]:
        """Return where recall's walk of a question goes, the hottest first, each with its heat over the hottest's."""
        query = RecallQuery(query=text, scope=scope)
        check_query(query, self._settings.page_size)
        now = self._clock()
        question = read_question(query, now, self._reading)
        return self._turns.answering.submit(self, self._walk, query, question, now, limit).result()

    def _walk(
        self,
        query: RecallQuery,
        question: RecallQuestion,
        now: datetime,
        limit: int,
    ) -> list[tuple[Ref, float]]:
        watch = Stopwatch()
        scene, matches = self._scene(query, question, now, [], watch)
        heat = heat_of(search(scene, matches, self._vectors, watch), scene.view.walkable(query.scope))
        hottest = np.argsort(-heat, kind="stable")[:limit]
        return [(scene.view.ref_of(int(row)), float(heat[row] / heat[hottest[0]])) for row in hottest if heat[row] > 0]

    def _scene(
        self,
        query: RecallQuery,
        question: RecallQuestion,
        now: datetime,
        notes: list[str],
        watch: Stopwatch,
    ) -> tuple[Scene, Matches]:
        """Return what a recall works on, and what the question's words find there."""
        graph, view = self._present()
        # The model reads the question beside the filter and the words; what is left of it to wait for is "embed".
        embedding = self._embedding(question, notes)
        with watch("filter"):
            mask = view.mask(query, now) & ~_evidence_only(view)
        with watch("lexical"):
            matches = matches_of(view, mask, question)
        with watch("embed"):
            vector = self._vector(embedding, view, notes)
        scene = Scene(
            query=query,
            question=question,
            view=view,
            graph=graph,
            mask=mask,
            now=to_micros(moment_of(query, now)),
            vector=vector,
        )
        return scene, matches

    def _present(self) -> tuple[GraphSnapshot, CatalogueView]:
        """Return graph and catalogue as they are; the graph is taken first, so that every row of it is in the view."""
        graph = self._projection.snapshot
        view = self._catalogue.view
        return (graph if graph.generation == view.generation else self._no_graph), view

    def _reread(self, scene: Scene, notes: list[str]) -> Reread | None:
        """Return the second look at the best candidates, or None where none is asked for or there is no reranker."""
        wanted = scene.query.rerank
        if not (self._settings.rerank if wanted is None else wanted):
            return None
        if self._reranker is None:
            notes.append("not reranked: there is no cross-encoder")
            return None
        return Rereading(
            scene=scene,
            records=self._records,
            reranker=self._reranker,
            candidates=self._settings.rerank_candidates,
            note=notes.append,
        ).factors

    def _embedding(self, question: RecallQuestion, notes: list[str]) -> Future[VectorArray] | None:
        """Begin to embed the question; None in lexical mode, with a note that says why."""
        if self._embed is None:
            notes.append("lexical only: there is no embedding model")
            return None
        if not self._catalogue.view.dimension:
            notes.append("lexical only: the store has no vectors yet")
            return None
        return self._turns.embedding.submit(self._embed, question.embedded)

    def _vector(
        self, embedding: Future[VectorArray] | None, view: CatalogueView, notes: list[str]
    ) -> VectorArray | None:
        """Return the question's vector, or None with a note where it could not be embedded after all."""
        if embedding is None:
            return None
        try:
            vector = np.asarray(embedding.result(), np.float32)
        except ModelError as error:
            notes.append(f"lexical only: {error.message}")
            return None
        check_dimension(view, vector)
        missing = int(np.count_nonzero(view.passages.alive & ~view.passages.embedded))
        if missing:
            notes.append(f"passages without a vector yet, which words alone find: {missing}")
        return vector

    def close(self) -> None:
        """Finish what recall was asked, and end the threads that answer and embed, where they are this store's."""
        if not self._shares_turns:
            self._turns.close()


def _said_of(items: Sequence[RecallItem], found: SearchResult, query: RecallQuery) -> tuple[str, ...]:
    """Return a note where candidates were found and none of them is an answer."""
    if items or query.everything or not len(found.fused.rows) or query.budget_tokens:
        return ()
    return ("nothing fits the question; `everything` (--all) shows what is nearest",)


def _evidence_only(view: CatalogueView) -> BoolArray:
    """Return for every row whether it is an episode without a passage: a memory speaks for it, it is no answer."""
    speaks = np.zeros(view.count, np.bool_)
    speaks[view.passages.owner[view.passages.alive]] = True
    silent: BoolArray = (view.columns.label == LABEL_CODE[Label.EPISODE]) & ~speaks
    return silent
