"""Reflection: what lately belongs together becomes an insight that cites its evidence, and insights such of their own.

Without a model an insight is extractive: what the cited have in common, how often and since when, and their most
telling sentences. With one, a model asks and answers; what it cannot cite is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, cast

import numpy as np

from helix.lifecycle.capture.quarantine import screen
from helix.lifecycle.compose import Composer, prepare, read
from helix.lifecycle.insight.communities import communities, shared
from helix.lifecycle.insight.insights import confidence_of, demote, slice_of
from helix.lifecycle.insight.summary import features_of, in_words, worth_of
from helix.lifecycle.insight.support import findable_episodes, present, standing
from helix.lifecycle.work.run import Run
from helix.model.clock import DAY_MICROS, from_micros, to_micros
from helix.model.edge import Label, Ref, Relation
from helix.model.entity import Entity, EntityKind
from helix.model.episode import Episode
from helix.model.memory import Status
from helix.model.provenance import Provenance, Trust, weakest
from helix.model.reflection import Reflection
from helix.store.catalogue import CatalogueView
from helix.store.columns import LABEL_CODE, STATUS_CODE, BoolArray, FloatArray, IndexArray
from helix.store.projection import GraphSnapshot
from helix.store.store import Store
from helix.text.sentences import Sentence, sentences

EXTRACTOR = "reflection"
RECENT_DAYS = 14.0
"""How far back a reflection looks for evidence: two half-lives of an episode."""
MOST_ITEMS = 200
"""How many episodes of a scope are looked at: the most important ones."""
MOST_INSIGHTS = 5
"""How many insights of one level a scope gets at a time: those of the communities that have most in common."""
LEAST_CITED, MOST_CITED = 3, 10
"""Pieces of evidence of an insight; two reflections are enough for one above them."""
OLD_SHARE = 0.5
"""Share of the evidence that other insights may speak of already; above, it would be one of them again."""
HIGHEST_LEVEL = 3
_INSIGHT_TOKENS = 70
_SHOWN_NAMES = 3
_QUESTIONS: Mapping[EntityKind, str] = {
    EntityKind.FILE: "What keeps happening around {name}?",
    EntityKind.SYMBOL: "What is there to know about {name}?",
    EntityKind.COMMAND: "What happens when {name} is run?",
    EntityKind.ERROR: "What is behind {name}?",
    EntityKind.PACKAGE: "How is {name} used here?",
    EntityKind.TEST: "What does {name} hold against?",
    EntityKind.COMMIT: "What did {name} bring?",
    EntityKind.PERSON: "What is known of {name}?",
}
_QUESTION = "What is there to know about {name}?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something to reflect on: an episode, or a reflection one level below; `entities` are those it mentions, by id."""

    ref: Ref
    text: str
    speaker: str
    day: str
    moment: int
    importance: float
    level: int
    trust: Trust
    entities: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """An insight before it is written: what was asked, what is answered, and the items it cites."""

    question: str
    insight: str
    cites: tuple[Item, ...]
    model: str = ""


Think = Callable[[Sequence[Item]], Sequence[Thought] | None]
"""Finds the questions that a community of items raises and answers them from these items; None leaves it to rules."""


def reflect(run: Run, payload: Mapping[str, Any], think: Think | None = None) -> Mapping[str, Any]:
    """Weigh the insights there are anew, then write those that say something new; return what was done, as counts.

    `payload`: `scope` (None: every scope, each for itself). Running it again on the same evidence adds nothing.
    """
    scope = payload.get("scope")
    demote(run, scope)
    for one in _scopes(run.store, scope):
        for level in range(1, HIGHEST_LEVEL + 1):
            if run.cancelled:
                break
            _reflect_on(run, one, level, think)
    return dict(run.counts)


def reflection_id(scope: str, cited: Sequence[Ref]) -> str:
    """Return the id of the insight of this evidence: 32 hexadecimal digits that the scope and the evidence decide."""
    names = sorted(f"{ref.label}:{ref.id}" for ref in cited)
    return sha256("\x1f".join((EXTRACTOR, scope, *names)).encode()).hexdigest()[:32]


def _scopes(store: Store, scope: str | None) -> list[str]:
    if scope is not None:
        return [scope]
    view = store.catalogue.view
    rows = findable_episodes(view, None)
    return sorted(view.lookups.scopes.word(int(code)) for code in np.unique(view.columns.scope[rows]))


def _reflect_on(run: Run, scope: str, level: int, think: Think | None) -> None:
    """Write the insights of one level of a scope that say something new.

    Communities are found over all there is, what insights speak of already included: the same evidence always falls
    into the same ones, whatever was written in between.
    """
    names: dict[str, Entity] = {}
    items, spoken_of = _items(run, scope, level, names)
    found: list[Thought] = []
    for held in _weighty(shared([item.entities for item in items])):
        found.extend(_thoughts([items[place] for place in held], names, think))
    for thought in found[:MOST_INSIGHTS]:
        known = sum(item.ref in spoken_of for item in thought.cites)
        if known <= OLD_SHARE * len(thought.cites) and not run.cancelled and _write(run, scope, thought):
            run.count("reflections added")


def _weighty(weights: FloatArray) -> list[list[int]]:
    """Return the communities, those that have most in common first."""
    found = communities(weights)
    return sorted(found, key=lambda held: (-round(float(weights[np.ix_(held, held)].sum()), 6), held))


def _thoughts(community: Sequence[Item], names: Mapping[str, Entity], think: Think | None) -> list[Thought]:
    """Return what a model makes of a community, as far as it cites it; else what rules do."""
    if len(community) < 2:
        return []
    given = {item.ref for item in community}
    told = think(community) if think is not None and len(community) >= LEAST_CITED else None
    valid = [thought for thought in told or () if _is_cited(thought, given)]
    if valid:
        return valid
    thought = _thought(community, names)
    return [] if thought is None else [thought]


def _is_cited(thought: Thought, given: AbstractSet[Ref]) -> bool:
    """Tell whether a thought says something and cites enough of what it was given, and nothing else."""
    cited = {item.ref for item in thought.cites}
    return bool(thought.insight.strip()) and 2 <= len(cited) <= MOST_CITED and cited <= given


def _items(run: Run, scope: str, level: int, names: dict[str, Entity]) -> tuple[list[Item], set[Ref]]:
    """Return the most important of what an insight of the level may cite, as it happened, and what is cited already.

    `names` takes the entities. Those who speak are in all that is said to them, and so tell nothing.
    """
    store = run.store
    graph, view = present(store)
    columns, ids = view.columns, view.lookups.ids
    mask = findable_episodes(view, scope) if level == 1 else _insights(view, scope)
    mask &= columns.recorded_at >= to_micros(run.now) - int(RECENT_DAYS * DAY_MICROS)
    important = sorted(np.flatnonzero(mask).tolist(), key=lambda row: (-columns.importance[row], ids[row]))
    rows = np.array(important if level > 1 else important[:MOST_ITEMS], np.int64)
    nodes = store.records.nodes([view.ref_of(row) for row in rows.tolist()])
    held = _mentioned(store, graph, view, rows, names)
    found = [_item(node, entities) for node, entities in zip(nodes, held, strict=True)]
    speakers = {item.speaker.casefold() for item in found} - {""}
    calls = {one for one, entity in names.items() if _is_call(entity.name.casefold(), speakers)}
    below = [replace(item, entities=item.entities - calls) for item in found if item.level == level - 1]
    cited = _spoken_of(graph, view, rows)
    return sorted(below, key=lambda item: (item.moment, item.ref.id)), cited


def _is_call(name: str, speakers: AbstractSet[str]) -> bool:
    """Tell whether a name, in lower case, is that of a speaker, a part of it or its beginning: Mel for Melanie."""
    return any(name == one or name in one.split() or (len(name) > 2 and one.startswith(name)) for one in speakers)


def _item(node: object, entities: frozenset[str]) -> Item:
    if isinstance(node, Episode):
        return Item(
            ref=Ref(label=Label.EPISODE, id=node.id),
            text=node.content,
            speaker=node.agent or node.role,
            day=in_words(node.occurred_at),
            moment=to_micros(node.occurred_at),
            importance=node.importance,
            level=0,
            trust=node.provenance.trust,
            entities=entities,
        )
    insight = cast(Reflection, node)
    since = insight.valid_from or insight.recorded_at
    return Item(
        ref=Ref(label=Label.REFLECTION, id=insight.id),
        text=insight.insight.partition(": ")[2] or insight.insight,
        speaker="",
        day=in_words(since),
        moment=to_micros(since),
        importance=insight.confidence,
        level=insight.level,
        trust=insight.provenance.trust,
        entities=entities,
    )


def _insights(view: CatalogueView, scope: str) -> BoolArray:
    columns = view.columns
    mask: BoolArray = (columns.label == LABEL_CODE[Label.REFLECTION]) & standing(view)
    mask &= (columns.status == STATUS_CODE[Status.ACTIVE]) & (columns.scope == view.lookups.scopes.code(scope))
    return mask


def _spoken_of(graph: GraphSnapshot, view: CatalogueView, rows: IndexArray) -> set[Ref]:
    """Return which of the rows an insight cites, unless that was forgotten or retired."""
    found = graph.neighbours(rows, Relation.CITES)
    cited = rows[found.origin[~found.outgoing & standing(view)[found.rows]]]
    return {view.ref_of(row) for row in cited.tolist()}


def _mentioned(
    store: Store, graph: GraphSnapshot, view: CatalogueView, rows: IndexArray, names: dict[str, Entity]
) -> list[frozenset[str]]:
    """Return the ids of the entities that each row mentions or touches, and put the entities into `names`."""
    found = graph.neighbours(rows, Relation.MENTIONS, Relation.TOUCHES)
    refs = {int(row): view.ref_of(int(row)) for row in np.unique(found.rows)}
    for node in store.records.nodes(list(refs.values())):
        if isinstance(node, Entity):
            names[node.id] = node
    held: list[set[str]] = [set() for _ in rows]
    for origin, row in zip(found.origin, found.rows, strict=True):
        if refs[int(row)].label is Label.ENTITY:
            held[int(origin)].add(refs[int(row)].id)
    return [frozenset(one) for one in held]


def _thought(community: Sequence[Item], names: Mapping[str, Entity]) -> Thought | None:
    """Return what rules make of a community, None where nothing is mentioned by enough of it.

    What it is about is the thing that most of it mentions: how often, since when, with what else, and what tells most.
    """
    counts = Counter(entity for item in community for entity in item.entities)
    most = sorted(
        (entity for entity, times in counts.items() if times > 1),
        key=lambda entity: (-counts[entity], names[entity].name.casefold(), entity),
    )
    about = [item for item in community if most and most[0] in item.entities]
    if len(about) < (LEAST_CITED if community[0].level == 0 else 2):
        return None
    topic = names[most[0]]
    cites = sorted(sorted(about, key=_weight)[:MOST_CITED], key=lambda item: (item.moment, item.ref.id))
    beside = [
        names[entity].name for entity in most[1 : _SHOWN_NAMES + 1] if any(entity in one.entities for one in cites)
    ]
    first, last = cites[0].day, cites[-1].day
    when = f"on {first}" if first == last else f"from {first} to {last}"
    head = f"{topic.name}, {len(cites)} times {when}{', with ' if beside else ''}{', '.join(beside)}"
    question = _QUESTIONS.get(topic.kind, _QUESTION).format(name=topic.name)
    return Thought(question=question, insight=f"{head}: {_told(cites)}", cites=tuple(cites))


def _weight(item: Item) -> tuple[float, int, str]:
    return (-item.importance, item.moment, item.ref.id)


def _told(cites: Sequence[Item]) -> str:
    """Return the sentences of the cited that together tell most, in their order, each with who says it."""
    present_ = frozenset(item.speaker.casefold() for item in cites) - {""}
    flat = [(item, one) for item in cites for one in sentences(item.text, present_)]
    flat = [pair for pair in flat if not pair[1].is_filler] or flat
    taken: list[int] = []
    told: set[str] = set()
    spent = 0
    for _ in range(len(flat)):
        left = [place for place in range(len(flat)) if place not in taken]
        best = max(left, key=lambda place: (worth_of(flat[place][1], told), -place))
        if taken and (spent + flat[best][1].tokens > _INSIGHT_TOKENS or worth_of(flat[best][1], told) <= 0):
            break
        taken.append(best)
        spent += flat[best][1].tokens
        told |= features_of(flat[best][1])
    return " ".join(_said(*flat[place]) for place in sorted(taken))


def _said(item: Item, sentence: Sentence) -> str:
    return f"{item.speaker}: {sentence.text}" if item.speaker else sentence.text


def _write(run: Run, scope: str, thought: Thought) -> bool:
    refs = [item.ref for item in thought.cites]
    ident = reflection_id(scope, refs)
    run.say(f"reflect on {len(refs)} of {scope}: {thought.question}")
    ready = prepare(run.store, [read(f"{thought.question}\n{thought.insight}")])[0]

    def compose(composer: Composer) -> bool:
        view, ref = run.store.catalogue.view, Ref(label=Label.REFLECTION, id=ident)
        rows = [view.row_of(cited) for cited in refs]
        if view.row_of(ref) is not None or not all(row is not None and standing(view)[row] for row in rows):
            return False
        reflection = _reflection(ident, scope, thought, composer)
        composer.node(reflection)
        composer.passages(ref, ready)
        composer.mentions(ref, scope, ready.mentions, reflection.provenance)
        for cited in refs:
            composer.edge(Relation.CITES, ref, cited, provenance=reflection.provenance)
        return True

    return bool(run.write(f"reflection {ident}", compose))


def _reflection(ident: str, scope: str, thought: Thought, composer: Composer) -> Reflection:
    trust = weakest(*(item.trust for item in thought.cites))
    pieces = len(thought.cites)
    return Reflection(
        id=ident,
        question=thought.question,
        insight=thought.insight,
        recorded_at=composer.now,
        level=1 + max(item.level for item in thought.cites),
        confidence=confidence_of(pieces, trust),
        status=screen(trust, thought.question, thought.insight).status,
        scope=scope,
        valid_from=min(composer.now, from_micros(max(item.moment for item in thought.cites))),
        provenance=Provenance(slice=slice_of(pieces), extractor=EXTRACTOR, model=thought.model, trust=trust),
    )
