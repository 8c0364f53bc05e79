"""Insight text: what rules make of things that belong together: what of, how often, when, what tells most. Pure.

It may repeat what was learned of the episodes, or else their own sentences.

Not measured, as no public set has summaries of what belongs together with what is right in them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from helix.memory.insight.summary import features_of, most_telling
from helix.model.clock import from_micros
from helix.model.edge import Label, Ref, Relation
from helix.model.entity import Entity, EntityKind
from helix.model.memory import Memory, Status
from helix.model.provenance import Trust, weakest_trust
from helix.store.index import Rows, StoreIndex
from helix.text.sentences import Sentence, sentences
from helix.text.times.dates import day_in_words
from helix.text.tokens import query_terms

LEAST_CITED, MOST_CITED = 3, 10
"""Pieces of evidence of an insight; two reflections are enough for one above them."""
LEAST_SAID = 3
"""Different statements that an insight takes; two where each was made more than once, and two reflections."""
_SAME = 0.8
"""Share of their words, numbers left out, that two statements have in common which count as one."""
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
_ENDS = (".", "!", "?", "\u2026", ":", ";", "\u3002", "\uff01", "\uff1f")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """An episode at the bottom of the evidence, when it happened (microseconds) and what it mentions, by id."""

    id: str
    moment: int
    entities: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something to reflect on: an episode, or a reflection one level below; `entities` are those it mentions, by id.

    `leaves` are the episodes it comes from: itself, or those that the reflection rests on over any number of levels.
    """

    ref: Ref
    text: str
    speaker: str
    day: str
    moment: int
    importance: float
    level: int
    trust: Trust
    entities: frozenset[str]
    leaves: tuple[Leaf, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """An insight before it is written: what was asked, what is answered, the items it cites, and its highest trust."""

    question: str
    insight: str
    cites: tuple[Item, ...]
    model: str = ""
    trust: Trust = Trust.USER_ASSERTED


def same_said(items: Sequence[Item]) -> list[list[Item]]:
    """Return the evidence of an insight, in order, in groups that say the same but for a few words and numbers."""
    groups: list[list[Item]] = []
    heads: list[frozenset[str]] = []
    for item in items:
        said = words_in(item.text)
        for head, group in zip(heads, groups, strict=True):
            if item.level == 0 and _is_same(said, head) and item.entities == group[0].entities:
                group.append(item)
                break
        else:
            groups.append([item])
            heads.append(said)
    return groups


def thought_of(community: Sequence[Sequence[Item]], names: Mapping[str, Entity]) -> Thought | None:
    """Return the insight that rules make of statements that belong together; None where too few mention anything.

    What it is about is the thing that most of it mentions: how many episodes do, since when, with what else, and the
    most telling sentences about it. Only what shares more than that thing's name with another statement belongs to it.
    To repeat one sentence tells nothing that the sentence does not tell itself.
    """
    counts = Counter(entity for group in community for item in group for entity in item.entities)
    most = sorted(
        (entity for entity, times in counts.items() if times > 1),
        key=lambda entity: (-counts[entity], names[entity].name.casefold(), entity),
    )
    if not most:
        return None
    topic = names[most[0]]
    about, stated = _about([group for group in community if most[0] in group[0].entities], topic.name)
    told = _told(about, stated) if _is_enough(about) else []
    if len(told) < 2:
        return None
    cites = _cited(about)
    beside = [
        names[entity].name for entity in most[1 : _SHOWN_NAMES + 1] if any(entity in one.entities for one in cites)
    ]
    head = f"{topic.name}, {_how_often(about, most[0])}{', with ' if beside else ''}{', '.join(beside)}"
    question = _QUESTIONS.get(topic.kind, _QUESTION).format(name=topic.name)
    return Thought(question=question, insight=f"{head}: {' '.join(told)}", cites=tuple(cites))


def _about(community: Sequence[Sequence[Item]], name: str) -> tuple[list[Sequence[Item]], list[list[Sentence]]]:
    """Return the statements that hang together by more than the name, each with its sentences about what is named."""
    present = frozenset(group[0].speaker.casefold() for group in community) - {""}
    said = [list(statements_about(group[0].text, group[0].speaker, name, present)) for group in community]
    matters = [frozenset[str]().union(*(matter(sentence, name) for sentence in one)) for one in said]
    places = linked_sentences(matters)
    return [community[place] for place in places], [said[place] for place in places]


def _is_enough(about: Sequence[Sequence[Item]]) -> bool:
    if len(about) < 2:
        return False
    if about[0][0].level > 0 or len(about) >= LEAST_SAID:
        return True
    return all(len(group) > 1 for group in about)


def _cited(about: Sequence[Sequence[Item]]) -> list[Item]:
    """Return the evidence to cite, as it happened: of every statement the weightiest first, then of each the next."""
    ranked = [sorted(group, key=_weight) for group in about]
    rounds = ((place, _weight(item), item) for group in ranked for place, item in enumerate(group))
    chosen = sorted(rounds, key=lambda one: one[:2])[:MOST_CITED]
    return sorted((item for _, _, item in chosen), key=lambda item: (item.moment, item.ref.id))


def _weight(item: Item) -> tuple[float, int, str]:
    return (-item.importance, item.moment, item.ref.id)


def _how_often(about: Sequence[Sequence[Item]], topic: str) -> str:
    """Return in how many episodes the topic came up, and from when to when they happened."""
    leaves = {
        leaf.id: leaf.moment for group in about for item in group for leaf in item.leaves if topic in leaf.entities
    }
    moments = sorted(leaves.values()) or sorted(item.moment for group in about for item in group)
    first, last = (day_in_words(from_micros(moment)) for moment in (moments[0], moments[-1]))
    return f"{len(moments)} times {f'on {first}' if first == last else f'from {first} to {last}'}"


def _told(about: Sequence[Sequence[Item]], stated: Sequence[Sequence[Sentence]]) -> list[str]:
    """Return the sentences of those stated that together tell most, in their order, each with who says it.

    At least two of them, whatever their length; of statements that are the same, one.
    """
    flat = [(group[0], sentence) for group, those in zip(about, stated, strict=True) for sentence in those]
    taken: list[int] = []
    told: set[str] = set()
    said: list[frozenset[str]] = []
    spent = 0
    for best in most_telling([sentence for _, sentence in flat], told):
        sentence, words = flat[best][1], words_in(flat[best][1].text)
        if any(_is_same(words, known) for known in said):
            continue
        if len(taken) > 1 and spent + sentence.tokens > _INSIGHT_TOKENS:
            break
        taken.append(best)
        said.append(words)
        spent += sentence.tokens
        told |= features_of(sentence)
    return [_line(*flat[place]) for place in sorted(taken)]


def _line(item: Item, sentence: Sentence) -> str:
    text = sentence.text.rstrip()
    ended = text if text.rstrip("\"')]*`").endswith(_ENDS) else f"{text}."
    return f"{item.speaker}: {ended}" if item.speaker else ended


def _is_same(one: frozenset[str], other: frozenset[str]) -> bool:
    return one == other or len(one & other) >= _SAME * max(1, len(one | other))


_ASKS = re.compile(
    r"\b(?:ask(?:s|ed|ing)?|wonder(?:s|ed|ing)?|(?:not |n't |un)(?:sure|know|clear|certain)|no idea|(?:open )?question)"
    r"(?: \w+){0,2} (?:whether|if|why|how|what|when|who|where|which)\b"
    r"|\b(?:frag(?:t|te|ten|en)|unklar|wei\u00df nicht)(?: \w+){0,3},? (?:ob|warum|wie|was|wann|wer|wo|welche\w*)\b",
    re.IGNORECASE,
)
_FRAME = frozenset(
    query_terms(
        "remember note decide decided agree agreed prefer prefers always never must should need needs use uses used"
        " using instead again now because since new make made keep kept run runs running set get like want fix fixed"
    )
)
"""Words that say how a statement is meant and nothing of its matter: two that share them share nothing."""


def words_of_memories(index: StoreIndex, rows: Sequence[int], holds: Rows) -> dict[int, tuple[str, Trust]]:
    """Return for each episode the lines of its active memories, as evidence of an insight, and the weakest's class.

    Somebody else may have said one in other words since.
    """
    speaks = index.where(Label.MEMORY, statuses=[Status.ACTIVE]) & holds
    told = [[one for one in held if one in speaks] for held in index.supported_by(rows, Relation.GROUNDED_IN)]
    made = sorted({one for held in told for one in held})
    said = {row: node for row, node in zip(made, index.nodes(made), strict=True) if isinstance(node, Memory)}
    spoken = ([said[one] for one in held if one in said and not said[one].is_summary] for held in told)
    return {
        row: (
            "\n".join(sorted({_memory_line(one) for one in those})),
            weakest_trust(*(one.provenance.trust for one in those)),
        )
        for row, those in zip(rows, spoken, strict=True)
        if those
    }


def statements_about(text: str, speaker: str, name: str, present: AbstractSet[str]) -> Iterator[Sentence]:
    """Yield the sentences for an insight that state something of a thing, by its full name or its last part.

    Questions state nothing, whether asked or told of; greetings neither. `present` are those who are spoken to.
    """
    own = bool(speaker) and speaker.casefold() == name.casefold()
    named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, _calls(name)))})(?!\w)", re.IGNORECASE)
    for sentence in sentences(text, frozenset(present)):
        asks = sentence.asks or _ASKS.search(sentence.text)
        if (own or named.search(sentence.text)) and not asks and not sentence.is_filler:
            yield sentence


def matter(sentence: Sentence, name: str) -> frozenset[str]:
    """Return the matter of an insight's sentence beside its subject: other names, and stems of its telling words."""
    calls = _calls(name)
    others = {f"@{other.casefold()}" for other in sentence.names if other.casefold() not in map(str.casefold, calls)}
    rest = sentence.text
    for known in sorted((*sentence.names, *calls), key=len, reverse=True):
        rest = re.sub(rf"(?<!\w){re.escape(known)}(?!\w)", " ", rest, flags=re.IGNORECASE)
    return frozenset(others | (words_in(rest) - _FRAME)) if rest.strip() else frozenset(others)


def linked_sentences(matters: Sequence[AbstractSet[str]]) -> list[int]:
    """Return the places of the largest group of sentences linked by shared matter, for one insight, ascending.

    Of equals those with the first place; one that shares nothing with any hangs together with nothing.
    """
    left, best = set(range(len(matters))), list[int]()
    while left:
        reached = [min(left)]
        left.discard(reached[0])
        for place in reached:
            near = sorted(other for other in left if matters[place] & matters[other])
            reached.extend(near)
            left.difference_update(near)
        if len(reached) > max(1, len(best)):
            best = reached
    return sorted(best)


def words_in(text: str) -> frozenset[str]:
    """Return the stems of the telling words of an insight's text, without its numbers."""
    return frozenset(term for term in query_terms(text, limit=len(text)) if not term.isdigit())


def _calls(name: str) -> tuple[str, str]:
    """Return the ways a thing is named: in full, and by the last part of a path."""
    return name, name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def _memory_line(memory: Memory) -> str:
    parts = (memory.trigger.strip().rstrip("."), " ".join(memory.resolution.split()))
    return ": ".join(part for part in parts if part)
