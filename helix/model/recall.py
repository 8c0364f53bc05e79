"""Recall: the question, and each answer with everything that put it there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from helix.model.edge import Label
from helix.model.memory import Kind
from helix.model.records import Node


class Intent(StrEnum):
    """What the asker is after; boosts kinds, never filters."""

    WHY = "why"
    HOW = "how"
    WHAT = "what"
    DEBUG = "debug"


class Expand(StrEnum):
    """How far the graph is walked from the first candidates."""

    NONE = "none"
    NEIGHBOURS = "neighbours"
    PAGERANK = "pagerank"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """One question. `scope` None searches every scope; a project's scope also sees `global`.

    `kinds` limits memories to those kinds (and leaves out episodes and reflections); `labels` limits what is
    answered with. `as_of` is valid time, `known_at` transaction time; `since` is the oldest event wanted.
    `asked_at` is when the question was asked, where that is neither now nor `as_of`: times that it names and the age of
    things count from there. It hides nothing.
    With `everything` the answer is filled up to its limit, with what hardly fits and with what says less than others.
    `budget_tokens` 0 means no budget. `recipe` and `rerank` None leave the choice to the settings.
    """

    query: str
    scope: str | None = None
    kinds: tuple[Kind, ...] = ()
    labels: tuple[Label, ...] = (Label.MEMORY, Label.EPISODE, Label.REFLECTION)
    limit: int = 10
    intent: Intent | None = None
    expand: Expand = Expand.PAGERANK
    files: tuple[str, ...] = ()
    as_of: datetime | None = None
    known_at: datetime | None = None
    asked_at: datetime | None = None
    since: datetime | None = None
    budget_tokens: int = 0
    recipe: str | None = None
    rerank: bool | None = None
    deep: bool = False
    everything: bool = False
    explain: bool = False
    session: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmHit:
    """Where one arm ranked an item: its rank (1 is best), its own score, and what it gave to the fused score."""

    arm: str
    rank: int
    score: float
    contribution: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallItem:
    """One answer. `score` is the sum of the `+` factors times the product of the `*` factors; `arms` say who found it.

    `relevance`, `recency` and `effectiveness` are each in 0..1. `fit` (0..2) is by what an answer ends: how much better
    than chance the item fits, by meaning and by what the question's words say. What `stands_out` answers the question
    by itself, as far as that can be told. `standing` says what else holds, such as a dispute. `label` is `[75% of 4]`.
    """

    node: Node
    label: Label
    score: float
    relevance: float
    recency: float
    effectiveness: float
    confidence_label: str
    text: str
    tokens: int
    arms: tuple[ArmHit, ...] = ()
    factors: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    fit: float = 0.0
    stands_out: bool = True
    standing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallAnswer:
    """The answer to one question. `mode` is `hybrid` or `lexical` (no model, or the graph is being rebuilt).

    `timings_ms` holds the wall time of each stage; `notes` are things a person should know about this answer.
    """

    query: RecallQuery
    items: tuple[RecallItem, ...]
    mode: str
    recipe: str
    tokens: int
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    at: datetime | None = None
