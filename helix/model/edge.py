"""Edge: a typed, weighted relationship between two nodes of the graph, and in a sentence why it is there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated

from helix.errors import InvalidInputError
from helix.model.provenance import Provenance
from helix.model.worded import Worded


class Label(Worded):
    """Labels of nodes."""

    MEMORY = "Memory", "Something that was learned."
    EPISODE = "Episode", "Something that happened."
    REFLECTION = "Reflection", "An insight that follows from others."
    ENTITY = "Entity", "A thing that memories and episodes name: a file, a command, an error."
    SESSION = "Session", "A session of an agent."
    PLAN = "Plan", "An objective and its tasks."
    TASK = "Task", "A piece of work with an outcome."
    EXPLORATION = "Exploration", "What an explorer found out about an objective."
    WORKSPACE = "Workspace", "One attempt at a task."
    CANDIDATE = "Candidate", "What an agent's work gives to learn, before it is a memory."


class Relation(Worded):
    """Types of relationship. The first block is open to `edge`, the second is written by Helix itself."""

    SOLVES = "SOLVES", "The first one solves the other."
    CAUSES = "CAUSES", "The first one causes the other."
    CO_OCCURS = "CO_OCCURS", "The two helped the same task."
    SIMILAR = "SIMILAR", "The two say nearly the same."
    SUPERSEDES = "SUPERSEDES", "The first one stands in the place of the other."
    CONTRADICTS = "CONTRADICTS", "The two cannot both hold."
    DEPENDS_ON = "DEPENDS_ON", "The first one needs the other."
    WORKS_ON = "WORKS_ON", "The first one works on the other."
    DECIDED_BY = "DECIDED_BY", "The other one decided it."
    PREFERS = "PREFERS", "The first one prefers the other."
    RELATED = "RELATED", "The two have to do with each other; the edge says how."

    GROUNDED_IN = "GROUNDED_IN", "The memory rests on that episode."
    CITES = "CITES", "The insight rests on it."
    MENTIONS = "MENTIONS", "It names that entity."
    TOUCHES = "TOUCHES", "It is about that file or command."
    IN_SESSION = "IN_SESSION", "The episode belongs to that session."
    NEXT = "NEXT", "The other came next in the session."
    HAS_TASK = "HAS_TASK", "The plan has that task."
    BLOCKED_BY = "BLOCKED_BY", "The task can begin when the other is delivered."
    INJECTED = "INJECTED", "The task was shown that memory."
    LEARNED = "LEARNED", "The task gave that memory to learn."
    WITHHELD = "WITHHELD", "That memory was held back from the task."
    FOR_TASK = "FOR_TASK", "The workspace is an attempt at that task."
    PROPOSED = "PROPOSED", "The task's work proposed that candidate."
    BASED_ON = "BASED_ON", "The plan rests on that exploration."


OPEN_RELATIONS = tuple(Relation)[: tuple(Relation).index(Relation.RELATED) + 1]
"""Relations a client may create between two memories; any other word becomes RELATED {relation}."""

MOST_WORDS = 16
"""Free words of one edge."""
_BETWEEN = ", "
_RELATION_WORD = re.compile(r"[a-z][a-z_]{1,39}")

DRAWN = "drawn"
"""Attribute of an edge that a person or an agent drew: SUPERSEDES is then what they say, and no version of a memory."""


MERGED = "merged"
"""Attribute of a SUPERSEDES edge that says that one memory was folded into another, which is no version of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """The end of an edge: a node's label and id."""

    label: Annotated[Label, "The node's label."]
    id: Annotated[str, "The node's id."]

    @classmethod
    def of(cls, label: str, ident: str) -> Ref:
        """Return the reference of a label as it is written down and an id; raises ValueError for another word."""
        return cls(label=Label(label), id=ident)

    @classmethod
    def memory(cls, ident: str) -> Ref:
        """Return the reference of a memory."""
        return cls(label=Label.MEMORY, id=ident)

    @classmethod
    def episode(cls, ident: str) -> Ref:
        """Return the reference of an episode."""
        return cls(label=Label.EPISODE, id=ident)

    @classmethod
    def entity(cls, ident: str) -> Ref:
        """Return the reference of an entity."""
        return cls(label=Label.ENTITY, id=ident)

    @classmethod
    def session(cls, ident: str) -> Ref:
        """Return the reference of a session."""
        return cls(label=Label.SESSION, id=ident)

    @classmethod
    def plan(cls, ident: str) -> Ref:
        """Return the reference of a plan."""
        return cls(label=Label.PLAN, id=ident)

    @classmethod
    def task(cls, ident: str) -> Ref:
        """Return the reference of a task."""
        return cls(label=Label.TASK, id=ident)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One relationship: of a type there is one between two nodes, in each direction.

    So a RELATED edge has all free words that were drawn between the two, in `relation`. `attributes` belong to
    INJECTED and its like.
    """

    type: Annotated[Relation, "Its type; RELATED has its words in `relation`."]
    source: Annotated[Ref, "Where it starts."]
    target: Annotated[Ref, "Where it leads."]
    created_at: Annotated[datetime, "When it was drawn."]
    weight: float = 1.0
    relation: Annotated[str, "The free words of a RELATED edge, `, ` between them."] = ""
    last_used_at: datetime | None = None
    attributes: Annotated[Mapping[str, object], "What else belongs to it, such as the rank of an injection."] = field(
        default_factory=dict
    )
    provenance: Provenance = field(default_factory=Provenance)


def relation_to_draw(word: str) -> tuple[Relation, str]:
    """Return the type of an edge that a caller draws by this word, and the free word of a RELATED one.

    Raises InvalidInputError for a type that Helix alone writes, and for what is no word.
    """
    plain = word.strip().lower().replace("-", "_").replace(" ", "_")
    if plain.upper() in OPEN_RELATIONS:
        return Relation(plain.upper()), ""
    if plain.upper() in Relation.__members__ or not _RELATION_WORD.fullmatch(plain):
        raise InvalidInputError(
            f"{word!r} is not a relation for an edge between memories",
            hint="one of: " + ", ".join(relation.lower() for relation in OPEN_RELATIONS) + ", or a word of your own",
        )
    return Relation.RELATED, plain


def drawn_again(present: Edge, drawn: Edge) -> Edge:
    """Return an edge's record with the free words of another drawn between the same nodes added, MOST_WORDS in all.

    Who adds a word and is believed less stands for all of it from then on.
    """
    words = list(dict.fromkeys((*words_of(present.relation), *words_of(drawn.relation))))[:MOST_WORDS]
    if words == words_of(present.relation):
        return present
    weaker = drawn.provenance.trust.rank > present.provenance.trust.rank
    provenance = drawn.provenance if weaker else present.provenance
    return replace(present, relation=relation_of(words), provenance=provenance)


def without_word(relation: str, word: str) -> str:
    """Return the free words of a RELATED edge's record without one of them, where others are left."""
    return _BETWEEN.join(one for one in words_of(relation) if one != word) or relation


def relation_of(words: Sequence[str]) -> str:
    """Return free words as a RELATED edge's record has them, no more than MOST_WORDS."""
    return _BETWEEN.join(words[:MOST_WORDS])


def words_of(relation: str) -> list[str]:
    """Return the free words of a RELATED edge."""
    return [word for word in relation.split(_BETWEEN) if _RELATION_WORD.fullmatch(word)]


def known_relation(word: str) -> Relation:
    """Return the relation type of that name, however it is written; raises InvalidInputError."""
    try:
        return Relation(word.strip().upper().replace("-", "_"))
    except ValueError as error:
        raise InvalidInputError(f"unknown relation {word!r}", hint="one of: " + ", ".join(Relation)) from error


_SAID: Mapping[Relation, str] = {
    Relation.GROUNDED_IN: "It is evidence for it.",
    Relation.CITES: "The insight rests on it.",
    Relation.MENTIONS: "Its text names it.",
    Relation.TOUCHES: "It is about this file.",
    Relation.IN_SESSION: "It happened in this session.",
    Relation.NEXT: "It came next in the session.",
    Relation.HAS_TASK: "The plan has this task.",
    Relation.BLOCKED_BY: "The task waits for it.",
    Relation.LEARNED: "It was learned in this task.",
    Relation.FOR_TASK: "It is an attempt at this task.",
    Relation.PROPOSED: "The work gave it to learn.",
    Relation.BASED_ON: "The plan rests on it.",
    Relation.CO_OCCURS: "Both helped in one task.",
    Relation.SUPERSEDES: "It is a newer version.",
}
_SHOWN = {Relation.INJECTED: "It was shown to the task", Relation.WITHHELD: "It was held back from the task"}


def reason_of(edge: Edge) -> str:
    """Return the reason of an edge: who drew it, or what it was made of."""
    attributes, provenance = edge.attributes, edge.provenance
    if DRAWN in attributes:
        return f"Drawn by {provenance.agent or 'a person'}."
    if MERGED in attributes:
        return "The one was folded into the other."
    if edge.type is Relation.CONTRADICTS and (ground := attributes.get("ground")):
        return f"Both cannot hold: {ground}."
    if edge.type in _SHOWN:
        outcome = str(attributes.get("outcome") or "")
        return f"{_SHOWN[edge.type]}; {outcome}." if outcome else f"{_SHOWN[edge.type]}."
    if edge.type in _SAID:
        return _SAID[edge.type]
    told = " and ".join(filter(None, (provenance.agent, provenance.extractor)))
    return f"Told by {told}." if told else "Nothing is kept of why."
