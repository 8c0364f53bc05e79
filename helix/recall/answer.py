"""Answer: reads the texts of the best candidates, as many as are needed, packs them and says why each is there.

And whether what each tells still holds, and whether anything disputes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np

from helix.model.clock import from_micros
from helix.model.dispute import DisputeStatus, dispute_status
from helix.model.edge import Label, Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import SUMMARY_SOURCE, Memory, Status
from helix.model.operations import DropEdge, PutEdge
from helix.model.provenance import Trust
from helix.model.recall import ArmHit, RecallItem
from helix.model.records import Node, edge_from, label_of
from helix.model.reflection import Reflection
from helix.recall.abstention import ANSWERED, FLOOR, JUDGED_FROM, fits
from helix.recall.explain import links, named_in, reason, walked
from helix.recall.fold import Folding, fold
from helix.recall.pack import Portion, pack
from helix.recall.ranking import Ranking
from helix.recall.scoring import score_of
from helix.recall.search import Scene, SearchResult
from helix.recall.stopwatch import Stopwatch
from helix.store.catalogue import CatalogueView
from helix.store.node_columns import LABEL_CODE, STATUS_CODE, BoolArray
from helix.store.projection import GraphSnapshot
from helix.text.statement.subsumption import Telling, exceeds, told_by

MAX_LOADED = 5
"""Candidates read at most, as a multiple of the limit, to fill an answer whose items don't fit or say the same."""

_COUNTED = 16_384
"""Characters of a text whose tokens are counted; of what is behind them, every two are taken for one."""

FOLDED = 3
"""Candidates that are looked at for what says less than another, as a multiple of the limit."""

POINTED = ("named", "files", "time", "solves")
"""Arms of which each item fits for a reason of its own, however little of the question it says again."""

UNPROVEN = ""


@dataclass(frozen=True, slots=True)
class Fit:
    """How well an item fits, and whether the question counts as answered by it alone."""

    value: float
    stands_out: bool


class RecordReader(Protocol):
    """Reads nodes and passages by what the catalogue knows them by."""

    def present(self, refs: Sequence[Ref]) -> list[Node | None]:
        """Return a recall's nodes in the order of `refs`, None for one that was dropped since its row was found."""
        ...

    def passage_texts(self, numbers: Sequence[int]) -> list[str]:
        """Read for recall's answer the texts of passages in the order of `numbers`."""
        ...

    def edges(self, wanted: Sequence[DropEdge]) -> list[PutEdge | None]:
        """Return a recall's edges in the order of those that would drop them, None for one that is not there."""
        ...


def fill(
    scene: Scene,
    found: SearchResult,
    ranking: Ranking,
    *,
    records: RecordReader,
    estimate_tokens: Callable[[str], int],
    watch: Stopwatch,
) -> tuple[RecallItem, ...]:
    """Return the items of a recall answer, in the ranking's order."""
    nodes: dict[int, Node] = {}
    over: dict[int, Ended] = {}
    telling = cache(told_by)  # each text is read once for the whole answer
    folding = _folding(scene, ranking, nodes, records, telling, watch)
    portions = _portions(scene, ranking, folding, nodes, over, records, estimate_tokens, telling, watch)
    with watch("pack"):
        query = scene.query  # who looks deep wants the episodes, not only the memories that speak for them
        less: dict[int, list[int]] = {}
        packed = pack(
            portions,
            limit=query.limit,
            budget_tokens=query.budget_tokens,
            evidence=query.deep,
            everything=query.everything,
            folded=less,
            told=telling,
        )
        fit = _fitting(scene, found, ranking, packed, less)
        packed = [portion for portion in packed if portion.place in fit]
        told = _standings(scene, over, [int(ranking.rows[portion.place]) for portion in packed], records)
        return _items(packed, nodes, scene, found, ranking, told, named_in(less, nodes), fit)


def _folding(
    scene: Scene,
    ranking: Ranking,
    nodes: dict[int, Node],
    records: RecordReader,
    told: Callable[[str], Telling],
    watch: Stopwatch,
) -> Folding:
    """Read the best candidates and fold them; with `everything` each stays where it is."""
    if scene.query.everything or len(ranking.order) < 2:
        return Folding(order=ranking.order)
    head = ranking.order[: FOLDED * scene.query.limit]
    with watch("load"):
        _load(scene, ranking, head, nodes, records)
    with watch("fold"):
        folding = fold(
            head,
            nodes,
            rows=ranking.rows,
            grounds=ranking.grounds,
            graph=scene.graph,
            limit=scene.query.limit,
            evidence=scene.query.deep,
            told=told,
        )
    return Folding(order=(*folding.order, *ranking.order[len(head) :]), within=folding.within)


def _load(
    scene: Scene, ranking: Ranking, places: Sequence[int], nodes: dict[int, Node], records: RecordReader
) -> dict[int, Node]:
    """Return the nodes of the places that are still there, in that order; what is read goes into `nodes`."""
    fresh = [place for place in places if place not in nodes]
    held = records.present([scene.view.ref_of(int(ranking.rows[place])) for place in fresh]) if fresh else []
    nodes.update({place: node for place, node in zip(fresh, held, strict=True) if node is not None})
    return {place: nodes[place] for place in places if place in nodes}


def _fitting(
    scene: Scene, found: SearchResult, ranking: Ranking, packed: list[Portion], less: Mapping[int, Sequence[int]]
) -> dict[int, Fit]:
    """Return by place how well those portions fit that do so better than by chance; all where that cannot be told.

    What a file, a time or a name of the question points at fits by that alone. What stands for others, the places of
    `less`, fits as well as the best of them.
    """
    if not packed:
        return {}
    alone = _fits(scene, ranking, [*(portion.place for portion in packed), *less])
    fit = dict(alone)
    for place, held in less.items():
        for stands in held:
            fit[stands] = max(fit[stands], alone[place])
    kept = {portion.place: fit[portion.place] for portion in packed}
    judged = scene.vector is not None and scene.view.words.living >= JUDGED_FROM
    if not judged or scene.query.everything:
        return {place: Fit(value, True) for place, value in kept.items()}
    pointed = {row for ranked in found.fused.lists if ranked.arm in POINTED for row in ranked.rows.tolist()}
    answered = max(kept.values()) >= ANSWERED
    return {
        place: Fit(value, value >= ANSWERED or named)
        for place, value in kept.items()
        if (named := int(ranking.rows[place]) in pointed) or (answered and value >= FLOOR)
    }


def _fits(scene: Scene, ranking: Ranking, places: Sequence[int]) -> dict[int, float]:
    chosen = np.array(places, np.int64)
    fit = fits(scene.view, ranking.rows[chosen], ranking.signals.meaning[chosen], scene.question.terms)
    return dict(zip(places, fit.tolist(), strict=True))


def _portions(
    scene: Scene,
    ranking: Ranking,
    folding: Folding,
    nodes: dict[int, Node],
    over: dict[int, Ended],
    records: RecordReader,
    estimate_tokens: Callable[[str], int],
    told: Callable[[str], Telling],
    watch: Stopwatch,
) -> Iterator[Portion]:
    restates = _restated(ranking)
    beside = set(scene.query.labels) != {Label.REFLECTION}
    limit = scene.query.limit
    for start in range(0, min(len(folding.order), MAX_LOADED * limit), limit):
        asked = folding.order[start : start + limit]
        with watch("load"):
            loaded = _load(scene, ranking, asked, nodes, records)
            places = list(loaded)
            texts = _texts(scene, ranking, places, list(loaded.values()), records)
            vectors, known = scene.view.passages.vectors_of(ranking.passages[places])
            rows = {int(ranking.rows[place]): place for place, node in loaded.items() if isinstance(node, Episode)}
            found = ended_memories(scene.view, scene.graph, list(rows), scene.now)
            past = {rows[row]: text for row, text in _past(scene, found, records).items()}
        over.update(found)
        for place, text, vector, there in zip(places, texts, vectors, known, strict=True):
            if place in past and not exceeds(told(text), told(past[place])):
                continue
            yield Portion(
                place=place,
                text=text,
                tokens=estimate_tokens(text[:_COUNTED]) + len(text[_COUNTED:]) // 2,
                vector=vector if there else None,
                restates=restates.get(place, frozenset()),
                ended=past.get(place, ""),
                insight=isinstance(loaded[place], Reflection) and beside,
                within=folding.within.get(place, frozenset()),
                trust=_trust(loaded[place]),
            )


def _trust(node: Node) -> int:
    return node.provenance.trust.rank if isinstance(node, Memory | Episode) else Trust.WEB.rank


def _past(scene: Scene, over: Mapping[int, Ended], records: RecordReader) -> dict[int, str]:
    """Return for each row of an episode what it told that no longer holds; for none where deep or back is looked."""
    if scene.query.deep or scene.query.known_at:
        return {}
    past: dict[int, str] = {}
    for row, memories in over.items():
        held = records.present([scene.view.ref_of(memory) for memory, _ in memories])
        past[row] = "\n".join(text_of(node) for node in held if node is not None)
    return past


def _restated(ranking: Ranking) -> dict[int, frozenset[int]]:
    return {memory: frozenset(episodes) for memory, episodes in ranking.grounds.items()}


def _texts(
    scene: Scene, ranking: Ranking, places: Sequence[int], nodes: Sequence[Node], records: RecordReader
) -> list[str]:
    """Return what each node shows: its own text, but of what has several passages only the most telling one.

    That holds for episodes, and for summaries, whose title stays and which show it where it is shorter or not in them.
    """
    texts = [text_of(node) for node in nodes]
    if not any(map(_is_cut, nodes)):
        return texts
    passages = scene.view.passages
    rows = ranking.rows[list(places)]
    owned = passages.owner[passages.of_rows(rows, scene.view.count)]
    several = [at for at, node in enumerate(nodes) if _is_cut(node) and np.count_nonzero(owned == rows[at]) > 1]
    numbers = [int(passages.numbers[ranking.passages[places[at]]]) for at in several]
    for at, text in zip(several, records.passage_texts(numbers) if numbers else [], strict=True):
        node = nodes[at]
        cut = f"{node.trigger}\n{text}" if isinstance(node, Memory) else text
        if text and (isinstance(node, Episode) or len(cut) < len(texts[at]) or text not in texts[at]):
            texts[at] = cut
    return texts


def _is_cut(node: Node) -> bool:
    return isinstance(node, Episode) or (isinstance(node, Memory) and node.is_summary)


def text_of(node: Node) -> str:
    """Return the text that a recall answer shows of a node."""
    match node:
        case Memory():
            return f"{node.trigger}\n{node.resolution}" if node.resolution else node.trigger
        case Episode():
            return node.content
        case Reflection():
            return node.insight
        case _:
            return str(getattr(node, "name", "") or getattr(node, "objective", "") or node.id)


def _standings(scene: Scene, over: Mapping[int, Ended], rows: Sequence[int], records: RecordReader) -> dict[int, str]:
    """Return what is to be said of rows that no longer hold or are disputed."""
    told = {
        row: "; ".join(f"tells {scene.view.name_of(memory)}, held until {_day(end)}" for memory, end in memories)
        for row, memories in over.items()
    }
    shown = scene.view.walkable(scene.query.scope)
    disputes = disputed(scene.view, scene.graph, rows, shown, records.edges)
    return told | {row: f"disputed by {name}" for row, name in disputes.items()}


def _day(micros: int) -> str:
    """Return the day of a moment: `2025-01-31`."""
    return f"{from_micros(micros):%Y-%m-%d}"


def _items(
    packed: Sequence[Portion],
    nodes: Mapping[int, Node],
    scene: Scene,
    found: SearchResult,
    ranking: Ranking,
    standings: Mapping[int, str],
    folded: Mapping[int, str],
    fit: Mapping[int, Fit],
) -> tuple[RecallItem, ...]:
    rows = {portion.place: int(ranking.rows[portion.place]) for portion in packed}
    hits = found.fused.hits(rows.values())
    walk = [row for row in rows.values() if walked(hits[row])]
    linked = links(walk, view=scene.view, graph=scene.graph, seeds=found.seeds, near=found.near)
    relevance = ranking.signals.relevance
    return tuple(
        _item(
            portion,
            nodes[portion.place],
            ranking,
            relevance=float(relevance[portion.place]),
            fit=fit[portion.place],
            arms=hits[rows[portion.place]],
            standing=standings.get(rows[portion.place], ""),
            reason=reason(
                hits[rows[portion.place]],
                text=portion.text,
                question=scene.question,
                linked=linked.get(rows[portion.place], ""),
                standing=standings.get(rows[portion.place], ""),
                folded=folded.get(portion.place, ""),
            ),
        )
        for portion in packed
    )


def _item(
    portion: Portion,
    node: Node,
    ranking: Ranking,
    *,
    relevance: float,
    fit: Fit,
    arms: tuple[ArmHit, ...],
    standing: str,
    reason: str,
) -> RecallItem:
    place = portion.place
    factors = {name: float(values[place]) for name, values in ranking.factors.items()}
    label: Label = label_of(node)
    return RecallItem(
        node=node,
        label=label,
        score=score_of(factors),
        relevance=relevance,
        fit=fit.value,
        stands_out=fit.stands_out,
        standing=standing,
        recency=float(ranking.signals.recency[place]),
        effectiveness=float(ranking.signals.effectiveness[place]),
        confidence_label=node.label if isinstance(node, Memory) else UNPROVEN,
        text=portion.text,
        tokens=portion.tokens,
        arms=arms,
        factors=factors,
        reason=reason,
    )


ReadEdges = Callable[[Sequence[DropEdge]], Sequence[PutEdge | None]]
"""Returns edges as they are stored, None for one that is not there."""

Ended = tuple[tuple[int, int], ...]
"""Memories that have ceased to hold: the row of each, and when (microseconds)."""

_MEMORY = LABEL_CODE[Label.MEMORY]
_SILENT = [STATUS_CODE[Status.FORGOTTEN], STATUS_CODE[Status.QUARANTINED]]
_RETIRED = STATUS_CODE[Status.RETIRED]


def ended_memories(view: CatalogueView, graph: GraphSnapshot, rows: Sequence[int], moment: int) -> dict[int, Ended]:
    """Return, for each episode among recall's candidates, its memories that no longer hold at a moment (microseconds).

    Summaries claim nothing of their own, a version that was replaced without an end says nothing of it, and what is
    told after the end is told anew.
    """
    columns = view.columns
    found = graph.neighbours(rows, Relation.GROUNDED_IN)
    found = found.where(~found.outgoing & (columns.label[found.rows] == _MEMORY))
    found = found.where((columns.valid_to[found.rows] <= moment) & ~np.isin(columns.status[found.rows], _SILENT))
    over: dict[int, Ended] = {}
    for origin, row in sorted(zip(found.origin.tolist(), found.rows.tolist(), strict=True)):
        episode, end = rows[origin], int(columns.valid_to[row])
        if columns.occurred_at[episode] < end and not view.lookups.origins[row].startswith(SUMMARY_SOURCE):
            over[episode] = (*over.get(episode, ()), (row, end))
    return over


def disputed(
    view: CatalogueView, graph: GraphSnapshot, rows: Sequence[int], shown: BoolArray, read_edges: ReadEdges
) -> dict[int, str]:
    """Return the name of what disputes each recall candidate by an open contradiction, of `shown` rows alone."""
    found = graph.neighbours(rows, Relation.CONTRADICTS)
    found = found.where(shown[found.rows] & (view.columns.status[found.rows] != _RETIRED))
    between = sorted(zip(found.origin.tolist(), found.rows.tolist(), found.outgoing.tolist(), strict=True))
    edges = [_contrary(view.ref_of(rows[origin]), view.ref_of(other), outgoing) for origin, other, outgoing in between]
    names: dict[int, str] = {}
    for (origin, other, _), edge in zip(between, read_edges(edges), strict=True):
        if edge is not None and _is_open(edge):
            names.setdefault(rows[origin], view.name_of(other) or view.ref_of(other).id)
    return names


def _contrary(here: Ref, there: Ref, outgoing: bool) -> DropEdge:
    source, target = (here, there) if outgoing else (there, here)
    return DropEdge(type=Relation.CONTRADICTS, source=source, target=target)


def _is_open(edge: PutEdge) -> bool:
    return dispute_status(edge_from(edge).attributes) is DisputeStatus.OPEN
