"""Reflection: what lately belongs together becomes an insight that cites its evidence, and insights such of their own.

Without a model an insight is extractive: what the cited have in common, how often and since when, and their most
telling sentences. With one, a model asks and answers; what it cannot cite is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from typing import Any, cast

from helix.memory.capture.quarantine import screen
from helix.memory.change.compose import Composer, ReadText, prepare
from helix.memory.insight.insight_text import (
    LEAST_CITED,
    MOST_CITED,
    Item,
    Leaf,
    Thought,
    same_said,
    thought_of,
    words_of_memories,
)
from helix.memory.insight.insights import OLD_SHARE, confidence_of, demote, slice_of
from helix.memory.insight.summary import speaker_of
from helix.memory.job_run.run import Run
from helix.model.clock import DAY_MICROS, from_micros, to_micros
from helix.model.edge import Label, Ref, Relation
from helix.model.entity import Entity
from helix.model.episode import Episode
from helix.model.memory import Status
from helix.model.provenance import Provenance, Trust, weakest_trust
from helix.model.reflection import Reflection
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.text.times.dates import day_in_words

EXTRACTOR = "reflection"
RECENT_DAYS = 14.0
"""How far back a reflection looks for evidence: two half-lives of an episode."""
MOST_ITEMS = 200
"""How many episodes of a scope are looked at: the most important ones."""
MOST_INSIGHTS = 5
"""How many insights of one level a scope gets at a time: those of the communities that have most in common."""
HIGHEST_LEVEL = 3


Think = Callable[[Sequence[Item]], Sequence[Thought] | None]
"""Finds the questions that a community of items raises and answers them from these items; None leaves it to rules."""


def reflect(run: Run, payload: Mapping[str, Any], think: Think | None = None) -> Mapping[str, int]:
    """Weigh the insights there are anew, then write new ones as reflections; return what was done, as counts.

    `payload`: `scope` (None: every scope, each for itself). Running it again on the same evidence adds nothing.
    """
    scope = payload.get("scope")
    demote(run, scope)
    for one in _scopes(run.store.index, scope):
        for level in range(1, HIGHEST_LEVEL + 1):
            if run.cancelled:
                break
            _reflect_on(run, one, level, think)
    return dict(run.counts)


def reflection_id(scope: str, cited: Sequence[Ref]) -> str:
    """Return the id of the insight of this evidence: 32 hexadecimal digits that the scope and the evidence decide."""
    names = sorted(f"{ref.label}:{ref.id}" for ref in cited)
    return sha256("\x1f".join((EXTRACTOR, scope, *names)).encode()).hexdigest()[:32]


def _scopes(index: StoreIndex, scope: str | None) -> list[str]:
    if scope is not None:
        return [scope]
    return sorted(index.scopes_of(index.findable_episodes()))


def _reflect_on(run: Run, scope: str, level: int, think: Think | None) -> None:
    """Write the insights of one level of a scope that say something new.

    Communities are found over all there is, what insights speak of already included: the same evidence always falls
    into the same ones, whatever was written in between.
    """
    names: dict[str, Entity] = {}
    items, spoken_of = _items(run, scope, level, names)
    found: list[Thought] = []
    groups = same_said(items)
    for held in _together(run.store, [group[0].entities for group in groups]):
        found.extend(_thoughts([groups[place] for place in held], names, think))
    for thought in found[:MOST_INSIGHTS]:
        known = sum(item.ref in spoken_of for item in thought.cites)
        if known <= OLD_SHARE * len(thought.cites) and not run.cancelled and _write(run, scope, thought):
            run.count("reflections added")


def _together(store: Store, features: Sequence[AbstractSet[str]]) -> list[list[int]]:
    """Return the places of things by communities of what they share, as Kuzu finds them in a process of its own.

    There is none where nothing is shared. Raises GraphUnavailableError: the worker tries again later.
    """
    if max(Counter(chain.from_iterable(features)).values(), default=0) < 2:
        return []
    seconds = store.runtime.settings.request_timeout_ms / 1000
    return cast(list[list[int]], store.graph.ask_aside("together", seconds, features=list(map(sorted, features))))


def _thoughts(community: Sequence[Sequence[Item]], names: Mapping[str, Entity], think: Think | None) -> list[Thought]:
    """Return what a model makes of a community of statements, as far as it cites it; else what rules do."""
    if len(community) < 2:
        return []
    items = [item for group in community for item in group]
    given = {item.ref for item in items}
    told = think(items) if think is not None and len(items) >= LEAST_CITED else None
    valid = [thought for thought in told or () if _is_cited(thought, given)]
    if valid:
        return valid
    thought = thought_of(community, names)
    return [] if thought is None else [thought]


def _is_cited(thought: Thought, given: AbstractSet[Ref]) -> bool:
    """Tell whether a thought says something and cites enough of what it was given, and nothing else."""
    cited = {item.ref for item in thought.cites}
    return bool(thought.insight.strip()) and 2 <= len(cited) <= MOST_CITED and cited <= given


def _items(run: Run, scope: str, level: int, names: dict[str, Entity]) -> tuple[list[Item], set[Ref]]:
    """Return the most important of what an insight of the level may cite, as it happened, and what is cited already.

    What has ended is none of it, and an episode of which memories were made tells what they say. `names` takes the
    entities. Those who speak are in all that is said to them, and so tell nothing.
    """
    index, now = run.store.index, to_micros(run.now)
    insights = index.where(Label.REFLECTION, scope=scope, statuses=[Status.ACTIVE])
    ended = index.ended(now)
    recent = index.recorded_since(now - int(RECENT_DAYS * DAY_MICROS)) - ended
    important = index.most_important(recent & (index.findable_episodes(scope) if level == 1 else insights))
    rows = important if level > 1 else important[:MOST_ITEMS]
    nodes = index.nodes(rows)
    held = _mentioned(index, rows, names)
    learned = words_of_memories(index, rows, index.standing() - ended)
    found = [_item(node, entities, learned.get(row)) for row, node, entities in zip(rows, nodes, held, strict=True)]
    speakers = {speaker_of(node).casefold() for node in nodes if isinstance(node, Episode)} - {""}
    calls = {one for one, entity in names.items() if _is_call(entity.name.casefold(), speakers)}
    below = [replace(item, entities=item.entities - calls) for item in found if item.level == level - 1]
    if level > 1:
        below = [replace(item, leaves=_leaves(index, item.ref)) for item in below]
    active = index.where(Label.REFLECTION, statuses=[Status.ACTIVE])
    citing = zip(rows, index.supported_by(rows, Relation.CITES), strict=True)
    cited = {index.ref_of(row) for row, by in citing if any(one in active for one in by)}
    return sorted(below, key=lambda item: (item.moment, item.ref.id)), cited


def _is_call(name: str, speakers: AbstractSet[str]) -> bool:
    """Tell whether a name, in lower case, is that of a speaker, a part of it or its beginning: Mel for Melanie."""
    return any(name == one or name in one.split() or (len(name) > 2 and one.startswith(name)) for one in speakers)


def _item(node: object, entities: frozenset[str], learned: tuple[str, Trust] | None) -> Item:
    """Return an episode, in the words of what was `learned` of it where that is anything, or a reflection."""
    if isinstance(node, Episode):
        text, trust = learned or (node.content, node.provenance.trust)
        return Item(
            ref=node.ref,
            text=text,
            speaker="" if learned else speaker_of(node),
            day=day_in_words(node.occurred_at),
            moment=to_micros(node.occurred_at),
            importance=node.importance,
            level=0,
            trust=weakest_trust(trust, node.provenance.trust),
            entities=entities,
            leaves=(Leaf(id=node.id, moment=to_micros(node.occurred_at), entities=entities),),
        )
    insight = cast(Reflection, node)
    since = insight.valid_from or insight.recorded_at
    return Item(
        ref=insight.ref,
        text=insight.insight.partition(": ")[2] or insight.insight,
        speaker="",
        day=day_in_words(since),
        moment=to_micros(since),
        importance=insight.confidence,
        level=insight.level,
        trust=insight.provenance.trust,
        entities=entities,
    )


def _leaves(index: StoreIndex, ref: Ref) -> tuple[Leaf, ...]:
    """Return the episodes on which a reflection rests, by when they happened."""
    row = index.row_of(ref)
    reached = set() if row is None else {row}
    waiting = sorted(reached)
    while waiting:
        waiting = sorted({one for held in index.supports_of(waiting, Relation.CITES) for one in held} - reached)
        reached.update(waiting)
    rows = sorted(one for one in reached if index.label_of(one) is Label.EPISODE)
    found = zip(rows, _mentioned(index, rows, {}), strict=True)
    leaves = (Leaf(id=index.id_of(one), moment=index.occurred_at(one), entities=entities) for one, entities in found)
    return tuple(sorted(leaves, key=lambda leaf: (leaf.moment, leaf.id)))


def _mentioned(index: StoreIndex, rows: Sequence[int], names: dict[str, Entity]) -> list[frozenset[str]]:
    """Return the ids of the entities that each row mentions or touches, and put the entities into `names`."""
    by_type = (index.supports_of(rows, kind) for kind in (Relation.MENTIONS, Relation.TOUCHES))
    held = [{*mentioned, *touched} for mentioned, touched in zip(*by_type, strict=True)]
    names.update((node.id, node) for node in index.nodes(sorted(set().union(*held))) if isinstance(node, Entity))
    return [frozenset(map(index.id_of, one)) for one in held]


def _write(run: Run, scope: str, thought: Thought) -> bool:
    refs = [item.ref for item in thought.cites]
    ident = reflection_id(scope, refs)
    run.say(f"reflect on {len(refs)} of {scope}: {thought.question}")
    ready = prepare(run.store, [ReadText.of(f"{thought.question}\n{thought.insight}")])[0]

    def compose(composer: Composer) -> bool:
        index, ref = run.store.index, Ref(label=Label.REFLECTION, id=ident)
        standing = index.standing()
        if ref in index or not all(index.row_of(cited) in standing for cited in refs):
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
    trust = weakest_trust(thought.trust, *(item.trust for item in thought.cites))
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
