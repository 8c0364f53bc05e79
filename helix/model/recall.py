"""Recall: the question, and each answer with everything that put it there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from helix.model.edge import Label
from helix.model.memory import Kind, Status, TimeKind
from helix.model.provenance import Trust
from helix.model.records import Node
from helix.model.worded import Worded


class Intent(Worded):
    """What the asker is after; boosts kinds, never filters."""

    WHY = "why", "Why something fails: failures and what keeps failing are favoured."
    HOW = "how", "How something is done: patterns and conventions are favoured."
    WHAT = "what", "What is so: facts and decisions are favoured."
    DEBUG = "debug", "How to mend it: failures and patterns are favoured."


class Expand(Worded):
    """How far the graph is walked from the first candidates."""

    NONE = "none", "Not at all."
    NEIGHBOURS = "neighbours", "To what is one edge away."
    PAGERANK = "pagerank", "By personalised PageRank from all of them."


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """One question. `scope` None searches every scope; a project's scope also sees `global`.

    `kinds` limits memories to those kinds (and leaves out episodes and reflections); `labels` limits what is
    answered with. `as_of` is valid time, `known_at` transaction time; `since` and `until` bound when what is wanted
    happened, or was recorded, as `time` says. `status` may name ACTIVE and ARCHIVED alone.
    `asked_at` is when the question was asked, where that is neither now nor `as_of`: times that it names and the age of
    things count from there. It hides nothing.
    With `everything` the answer is filled up to its limit, with what hardly fits and with what says less than others.
    `budget_tokens` 0 means no budget. `recipe` and `rerank` None leave the choice to the settings.
    """

    query: str
    scope: Annotated[str | None, "Look in this scope and in `global`; everywhere where it is not said."] = None
    kinds: tuple[Kind, ...] = ()
    labels: tuple[Label, ...] = (Label.MEMORY, Label.EPISODE, Label.REFLECTION)
    trust: Annotated[tuple[Trust, ...], "Only what is of these classes of trust; by default all."] = ()
    status: Annotated[tuple[Status, ...], "ACTIVE, ARCHIVED or both; active by default, with `deep` both."] = ()
    limit: int = 10
    intent: Intent | None = None
    expand: Expand = Expand.PAGERANK
    files: tuple[str, ...] = ()
    as_of: datetime | None = None
    known_at: datetime | None = None
    asked_at: datetime | None = None
    since: datetime | None = None
    until: Annotated[datetime | None, "Nothing that happened after this moment."] = None
    time: Annotated[
        TimeKind,
        "Whether `since` and `until` go by when something was recorded, or by when it happened or began to hold.",
    ] = TimeKind.HAPPENED
    budget_tokens: int = 0
    recipe: str | None = None
    rerank: bool | None = None
    deep: bool = False
    everything: bool = False
    explain: bool = False
    session: Annotated[str, "Keep the answer as the last one of this session, for `last` and `why`."] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmHit:
    """Where one arm ranked an item: its rank (1 is best), its own score, and what it gave to the fused score."""

    arm: Annotated[str, "The arm: vector, lexical, files, time or pagerank."]
    rank: Annotated[int, "Its rank there; 1 is best."]
    score: Annotated[float, "The arm's own score."]
    contribution: Annotated[float, "What that rank gave to the fused score."]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallItem:
    """One answer. `score` is the sum of the `+` factors times the product of the `*` factors; `arms` say who found it.

    `relevance`, `recency` and `effectiveness` are each in 0..1. `fit` (0..2) is by what an answer ends: how much better
    than chance the item fits, by meaning and by what the question's words say. What `stands_out` answers the question
    by itself, as far as that can be told. `standing` says what else holds, such as a dispute. `label` is `[75% of 4]`.
    """

    node: Annotated[Node, "The memory, episode or reflection."]
    label: Annotated[Label, "The label of the node."]
    score: float
    relevance: Annotated[float, "How close it is to the question, 0 to 1."]
    recency: Annotated[float, "How recent it is for its kind, 0 to 1."]
    effectiveness: Annotated[
        float, "What verified use says of it, 0 to 1, drawn towards one half while there is little."
    ]
    confidence_label: Annotated[str, "`[75% of 4]` by verified use and people; empty below one use and for hearsay."]
    text: Annotated[str, "The text to show or inject."]
    tokens: Annotated[int, "Tokens of the text."]
    arms: Annotated[tuple[ArmHit, ...], "Which arms found it, and where they ranked it."] = ()
    factors: Annotated[
        Mapping[str, float],
        "What makes the score, by name, in order: `+` factors add up, `*` factors multiply the sum.",
    ] = field(default_factory=dict)
    reason: Annotated[str, "Why it is here, in words."] = ""
    fit: Annotated[float, "How much better than by chance it fits, 0 to 2; an answer ends where nothing does."] = 0.0
    stands_out: Annotated[bool, "Whether it answers the question by itself; true where that cannot be told."] = True
    standing: Annotated[str, "What is to be known of it: that it is disputed, or no longer holds. Empty for most."] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallAnswer:
    """The answer to one question. `mode` is `hybrid` or `lexical` (no model, or the graph is being rebuilt).

    `timings_ms` holds the wall time of each stage; `notes` are things a person should know about this answer.
    """

    query: Annotated[RecallQuery, "What was asked."]
    items: Annotated[tuple[RecallItem, ...], "What was found, best first."]
    mode: Annotated[str, "`hybrid`, or `lexical` while there is no model or the graph is being rebuilt."]
    recipe: Annotated[str, "The recipe that ranked it."]
    tokens: Annotated[int, "Tokens of all items together."]
    timings_ms: Annotated[Mapping[str, float], "Wall time of each stage, in milliseconds."] = field(
        default_factory=dict
    )
    notes: Annotated[tuple[str, ...], "What a person should know about this answer."] = ()
    at: Annotated[datetime | None, "When it was answered."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KindAnswer:
    """What recall answered for one kind of memory."""

    kind: Kind
    answer: Annotated[RecallAnswer, "What was found of that kind."]


class Completable(Worded):
    """What a shell can complete from a store."""

    NAMES = "names", "Names of memories."
    SCOPES = "scopes", "Scopes."
    SESSIONS = "sessions", "Sessions."
    RELATIONS = "relations", "Types of relationship."
    RECIPES = "recipes", "Recipes of recall."
