"""Insights: what reflections there are, what each rests on, and what becomes of one whose evidence goes or returns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import cast

from helix.errors import NotFoundError
from helix.memory.change.compose import Composer
from helix.memory.job_run.run import Run
from helix.model.clock import to_micros
from helix.model.edge import Label, Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import Memory, Status
from helix.model.provenance import Trust
from helix.model.records import Node
from helix.model.reflection import Cited, InsightTree, Reflection
from helix.model.reports import Page
from helix.store.index import Rows, StoreIndex
from helix.store.listing import page
from helix.store.store import Store
from helix.text.sentences import cut_at_word

DEEPEST = 8
"""Levels of evidence shown; reflections on reflections on reflections end well before."""
LEAST_SHARE = 0.5
"""Share of its evidence below which an insight is archived: most of what it was drawn from is gone."""
OLD_SHARE = 0.5
"""Share of the evidence that other insights may speak of already; above, it would be one of them again."""
_HALF_SURE = 4.0
"""Pieces of evidence at which an insight is half as sure as it can be."""
_SUREST = {
    Trust.USER_ASSERTED: 0.95,
    Trust.VERIFIED_OUTCOME: 0.9,
    Trust.AGENT_INFERRED: 0.8,
    Trust.TOOL_OUTPUT: 0.6,
    Trust.WEB: 0.4,
}
_EXCERPT = 160
_CITES = "cites:"
_SHOWN = (Status.ACTIVE, Status.ARCHIVED)


def reflections(store: Store, scope: str | None = None, limit: int = 50, after: str | None = None) -> Page[Reflection]:
    """Return a page of the reflections of exactly this scope (None: of any) that stand, newest first."""
    return page(
        store,
        store.index.where(Label.REFLECTION, scope=scope, statuses=[Status.ACTIVE]),
        (Label.REFLECTION,),
        limit,
        after,
    )


def insight_tree(store: Store, reflection_id: str) -> InsightTree:
    """Return a reflection with its evidence, down to the episodes; NotFoundError where there is none of that id.

    What is cited on several ways is shown with its own evidence once.
    """
    index = store.index
    row = index.row_of(Ref(label=Label.REFLECTION, id=reflection_id))
    if row is None:
        raise NotFoundError(f"no reflection has the id {reflection_id!r}", hint="`helix reflections` lists them")
    (reflection,) = index.nodes([row])
    stands = _stands(index) - index.ended(to_micros(store.runtime.clock()))
    evidence = _evidence(index, stands, row, DEEPEST, {row})
    return InsightTree(reflection=cast(Reflection, reflection), evidence=evidence)


def confidence_of(pieces: int, trust: Trust) -> float:
    """Return how sure an insight is of so many pieces of evidence, the weakest of which has that trust: 0..0.95."""
    return round(_SUREST[trust] * pieces / (pieces + _HALF_SURE), 4)


def slice_of(pieces: int) -> str:
    """Return the words of a reflection's provenance on how many pieces of evidence it was drawn from."""
    return f"{_CITES}{pieces}"


def demote(run: Run, scope: str | None) -> None:
    """Lower the confidence of reflections by the share of their evidence that is gone.

    One that less than LEAST_SHARE is left of is archived, and is itself gone for those that cite it. One that cites
    what has ended, over any number of levels, says something that no longer holds: it is archived whatever is left, and
    what is left may be reflected on anew. Evidence that returns brings confidence and reflection back, unless another
    speaks of it by now. What a person forgot stays forgotten.
    """

    def compose(composer: Composer) -> int:
        changed = _changed(run.store.index, scope, composer.now)
        for reflection, confidence, status in changed:
            ref = reflection.ref
            composer.patch(ref, confidence=confidence, status=status)
            run.say(f"{status}, confidence {confidence:.2f}: {cut_at_word(reflection.insight, _EXCERPT)}")
        return len(changed)

    if _changed(run.store.index, scope, run.now) and (count := run.write("weigh anew", compose)):
        run.count("reflections weighed anew", count)


def _changed(index: StoreIndex, scope: str | None, now: datetime) -> list[tuple[Reflection, float, Status]]:
    """Return the reflections whose confidence or status is not what their evidence gives, those cited first."""
    rows = list(index.where(Label.REFLECTION, scope=scope, statuses=_SHOWN))
    nodes = [cast(Reflection, node) for node in index.nodes(rows)]
    cited = index.supports_of(rows, Relation.CITES)
    ended = index.ended(to_micros(now))
    standing = _stands(index) - ended
    evidence_of_any = {row for evidence in cited for row in evidence}
    stands = {row for row in evidence_of_any if row in standing}
    over = {row for row in evidence_of_any if row in ended}
    spoken_of: set[int] = set()
    found = []
    archived = [node.status is Status.ARCHIVED for node in nodes]
    for place in sorted(range(len(rows)), key=lambda at: (nodes[at].level, archived[at], nodes[at].id)):
        reflection, row, evidence = nodes[place], rows[place], set(cited[place])
        pieces = _pieces(reflection, len(evidence))
        share = len(evidence & stands) / max(1, pieces)
        confidence = round(confidence_of(pieces, reflection.provenance.trust) * share, 4)
        holds_no_more = bool(evidence & over)
        again = archived[place] and len(evidence & spoken_of) > OLD_SHARE * pieces
        status = Status.ARCHIVED if share < LEAST_SHARE or holds_no_more or again else Status.ACTIVE
        for rows_of, belongs in ((stands, status is Status.ACTIVE), (over, holds_no_more)):
            (rows_of.add if belongs else rows_of.discard)(row)
        spoken_of |= evidence if status is Status.ACTIVE else set()
        if (reflection.confidence, reflection.status) != (confidence, status):
            found.append((reflection, confidence, status))
    return found


def _pieces(reflection: Reflection, cited: int) -> int:
    """Return of how many pieces of evidence a reflection was drawn, those that were erased included."""
    told = reflection.provenance.slice.removeprefix(_CITES)
    return max(cited, int(told) if told.isdigit() else 1)


def _stands(index: StoreIndex) -> Rows:
    """Return what an insight may rest on; one that is archived is no evidence any more."""
    active = index.where(Label.REFLECTION, statuses=[Status.ACTIVE])
    return index.standing() - (index.where(Label.REFLECTION) - active)


def _evidence(index: StoreIndex, stands: Rows, row: int, depth: int, seen: set[int]) -> tuple[Cited, ...]:
    kind = Relation.CITES if index.label_of(row) is Label.REFLECTION else Relation.GROUNDED_IN
    (rows,) = index.supports_of([row], kind)
    found = []
    for other, node in sorted(
        zip(rows, index.nodes(rows), strict=True), key=lambda pair: (_moment(pair[1]), pair[1].id)
    ):
        fresh = depth > 1 and other not in seen
        seen.add(other)
        below = _evidence(index, stands, other, depth - 1, seen) if fresh else ()
        cut = not fresh and not isinstance(node, Episode)
        found.append(_cited(index.ref_of(other), node, below, stands=other in stands, cut=cut))
    return tuple(found)


def _cited(ref: Ref, node: Node, below: Sequence[Cited], *, stands: bool, cut: bool) -> Cited:
    return Cited(
        ref=ref,
        text=cut_at_word(" ".join(_text(node).split()), _EXCERPT),
        at=_moment(node),
        level=node.level if isinstance(node, Reflection) else 0,
        stands=stands,
        cut=cut,
        evidence=tuple(below),
    )


def _moment(node: Node) -> datetime:
    match node:
        case Episode():
            return node.occurred_at
        case Memory() | Reflection():
            return node.valid_from or node.recorded_at
        case _:
            raise TypeError(f"{type(node).__name__} is not evidence")


def _text(node: Node) -> str:
    match node:
        case Episode():
            return node.content
        case Memory():
            return f"{node.trigger}. {node.resolution}" if node.resolution else node.trigger
        case Reflection():
            return node.insight
        case _:
            raise TypeError(f"{type(node).__name__} is not evidence")
