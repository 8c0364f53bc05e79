"""A replayed month: dated episodes written through the real service with a clock of their own, the nights worked."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality_data import Judged, read_set
from benchmarks.quality_store import Say
from helix import settings as configuration
from helix.model.clock import to_micros
from helix.model.edge import Label, Relation
from helix.model.episode import Episode
from helix.model.memory import Kind, Status, Tier, tier_of
from helix.model.recall import RecallQuery
from helix.model.work import WorkState
from helix.providers.embedder import Embedder
from helix.service import Helix
from helix.store.columns import KIND_CODE, LABEL_CODE, STATUS_CODE

START = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 30
NIGHTLY = ("consolidate", "promote_systemic", "close_gaps", "merge_similar", "reflect", "roll_up")
"""What the worker is asked for every night; `decay`, `decay_edges` and `prune` every seventh."""
WEEKLY = ("decay", "decay_edges", "prune")
PRACTICE = 5
"""Every so-many-th question is asked during the month, to confirm what answered it, and not measured afterwards."""
MOST_GROUNDS = 10
"""A memory counts as evidence when it is grounded in so many episodes at most."""
_TURN = timedelta(seconds=20)
_SOURCE = "month"
_LIMIT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One episode of the set: when it is recorded in the month, and when it happened."""

    at: datetime
    id: str
    text: str
    session: str
    scope: str
    speaker: str
    happened: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What is replayed: the turns in the order of the month, the questions of the month and those measured after it."""

    name: str
    turns: Sequence[Turn]
    practice: Sequence[Judged]
    questions: Sequence[Judged]


@dataclass(slots=True)
class Watch:
    """The clock of a replay."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now


@dataclass(slots=True)
class Month:
    """What was seen of a month: one entry for each day, what was strengthened, and what background jobs came to."""

    days: list[dict[str, Any]] = field(default_factory=list)
    confirmed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


def replay_of(folder: Path, conversations: int | None = None, questions: int | None = None) -> Replay:
    """Read a set whose passages have times; the times of each scope are drawn together into the month."""
    data = read_set(folder)
    records = [json.loads(line) for line in data.lines]
    dated = [record for record in records if record.get("ts")]
    scopes = list(dict.fromkeys(_scope(record) for record in dated))[:conversations]
    spans = {scope: _span([_moment(record["ts"]) for record in dated if _scope(record) == scope]) for scope in scopes}
    order: Counter[str] = Counter()
    turns = []
    for record in dated:
        scope = _scope(record)
        if scope not in spans:
            continue
        session = str(record.get("session") or "")
        order[session or str(record["id"])] += 1
        happened = _moment(record["ts"])
        first, last = spans[scope]
        share = (happened - first) / max(last - first, timedelta(seconds=1))
        turns.append(
            Turn(
                at=START + share * timedelta(days=DAYS - 0.5) + order[session] * _TURN,
                id=str(record["id"]),
                text=str(record["text"]),
                session=session,
                scope=scope,
                speaker=str(record.get("speaker") or ""),
                happened=happened,
            )
        )
    asked = [question for question in data.questions if question.scope is None or question.scope in spans][:questions]
    return Replay(
        name=data.name,
        turns=sorted(turns, key=lambda turn: (turn.at, turn.id)),
        practice=[question for place, question in enumerate(asked) if place % PRACTICE == 0],
        questions=[question for place, question in enumerate(asked) if place % PRACTICE],
    )


@contextmanager
def opened(home: Path, models: Path, embedder: Embedder, clock: Watch, *, lifecycle: bool) -> Iterator[Helix]:
    """Yield a service with its store in `home`; without a lifecycle nothing fades and nothing works at night."""
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "models").exists():
        (home / "models").symlink_to(models)
    given = {"home": home, "db_path": home / "store", "consolidation_budget": 0.0}
    settings = configuration.load({**given, **({} if lifecycle else {"salience_floor": 0.0})}, environ={}, cwd=home)
    with Helix.open(settings, embedder=embedder, clock=clock) as helix:
        yield helix


def live(helix: Helix, clock: Watch, replay: Replay, say: Say, *, lifecycle: bool) -> Month:
    """Record the turns at their times, and with a lifecycle work every night; return what was seen."""
    month = Month()
    by_day: dict[int, list[Turn]] = defaultdict(list)
    for turn in replay.turns:
        by_day[(turn.at - START).days].append(turn)
    known: set[str] = set()
    practice = list(replay.practice)
    for day in range(DAYS):
        for turn in by_day[day]:
            clock.now = turn.at
            helix.record_episode(
                content=turn.text,
                session=turn.session,
                scope=turn.scope,
                agent=turn.speaker,
                occurred_at=turn.happened,
                source=source_of(turn.id),
            )
            known.add(turn.id)
        clock.now = START + timedelta(days=day + 1)
        helix.settle()
        if lifecycle:
            worked = _night(helix, day, month)
            ready = [question for question in practice if question.relevant <= known]
            practice = [question for question in practice if not question.relevant <= known]
            _practise(helix, ready, month)
            month.days.append({"day": day + 1, "recorded": len(by_day[day]), "work": worked, **standing(helix, clock)})
            say(f"day {day + 1}: {len(by_day[day])} episodes, {worked}")
    return month


def source_of(turn: str) -> str:
    """Return the source under which a turn of the set is recorded."""
    return f"{_SOURCE}:{turn}"


def _night(helix: Helix, day: int, month: Month) -> dict[str, dict[str, Any]]:
    """Have the worker do what it does at night; return for each kind what it came to, as far as it did anything."""
    found = {}
    for kind in (*NIGHTLY, *(WEEKLY if day % 7 == 6 else ())):
        item = helix.begin_work(kind, scope=None) if kind in NIGHTLY else helix.begin_work(kind)
        helix.settle()
        done = helix.work_item(item.id)
        if done.state is not WorkState.DONE:
            month.failed.append(f"day {day + 1}: {kind} {done.state}: {done.error}")
        counts = {name: count for name, count in done.result.items() if count}
        if counts:
            found[kind] = counts
    return found


def _practise(helix: Helix, questions: Sequence[Judged], month: Month) -> None:
    """Ask what can be answered by now, and have a person confirm the best memory that rests on what is asked for."""
    grounds = evidence_of(helix)
    for question in questions:
        answer = helix.recall(RecallQuery(query=question.text, scope=question.scope))
        for item in answer.items:
            if item.label is Label.MEMORY and question.relevant & grounds.get(item.node.id, frozenset()):
                month.confirmed.append(helix.confirm(item.node.id).name)
                break


def evidence_of(helix: Helix) -> dict[str, frozenset[str]]:
    """Return the ids, as the set has them, of the episodes that each memory is grounded in."""
    store = helix._store
    turns = {ref.id: str(node.source).removeprefix(f"{_SOURCE}:") for ref, node in _episodes(helix)}
    found: dict[str, set[str]] = defaultdict(set)
    for edge in store.records.edges_of(Relation.GROUNDED_IN, 10**9):
        found[edge.source.id].add(turns.get(edge.target.id, edge.target.id))
    return {memory: frozenset(held) for memory, held in found.items()}


def kept_evidence(helix: Helix, replay: Replay) -> dict[str, int]:
    """Return how many episodes were recorded, and how many of them are lost or no longer say what they said."""
    held = {node.source: node.content for _, node in _episodes(helix)}
    said = {source_of(turn.id): turn.text for turn in replay.turns}
    return {
        "recorded": len(said),
        "lost": sum(source not in held for source in said),
        "changed": sum(held.get(source, text).split() != text.split() for source, text in said.items()),
    }


def standing(helix: Helix, clock: Watch) -> dict[str, Any]:
    """Count what is there: active memories by tier and what of them has faded, episodes, summaries, reflections."""
    view = helix._store.catalogue.view
    columns, now = view.columns, to_micros(clock())
    active = columns.status == STATUS_CODE[Status.ACTIVE]
    faded = columns.fades_at < now
    memory, episode = (columns.label == LABEL_CODE[label] for label in (Label.MEMORY, Label.EPISODE))
    tiers = {}
    for tier in Tier:
        held = memory & active & np.isin(columns.kind, [KIND_CODE[kind] for kind in Kind if tier_of(kind) is tier])
        tiers[tier.value] = {"active": int(held.sum()), "faded": int((held & faded).sum())}
    reflection = columns.label == LABEL_CODE[Label.REFLECTION]
    summaries = [
        rows for source, rows in view.lookups.sources[LABEL_CODE[Label.MEMORY]].items() if source[:7] == "rollup:"
    ]
    return {
        "tiers": tiers,
        "summaries": sum(bool(active[row]) for rows in summaries for row in rows if row < view.count),
        "episodes": {
            "recalled": int((episode & active & ~faded).sum()),
            "faded": int((episode & active & faded).sum()),
        },
        "reflections": int((reflection & active).sum()),
    }


def recall_of(helix: Helix, questions: Sequence[Judged], budgets: Sequence[int], *, deep: bool = False) -> list[Any]:
    """Return for each budget the recall of evidence, counting memories that rest on it, and the strict one."""
    grounds = evidence_of(helix)
    found = []
    for budget in budgets:
        counted, strict, tokens = [], [], []
        for question in questions:
            answer = helix.recall(
                RecallQuery(query=question.text, scope=question.scope, limit=_LIMIT, budget_tokens=budget, deep=deep)
            )
            shown = {str(item.node.source).removeprefix(f"{_SOURCE}:") for item in answer.items if _is_episode(item)}
            resting: set[str] = set()
            for item in answer.items:
                held = grounds.get(item.node.id, frozenset()) if item.label is Label.MEMORY else frozenset()
                resting |= held if len(held) <= MOST_GROUNDS else frozenset()
            counted.append(len(question.relevant & (shown | resting)) / len(question.relevant))
            strict.append(len(question.relevant & shown) / len(question.relevant))
            tokens.append(answer.tokens)
        found.append(
            {
                "budget": budget,
                "recall": round(float(np.mean(counted)), 4),
                "strict": round(float(np.mean(strict)), 4),
                "tokens": round(float(np.mean(tokens)), 1),
            }
        )
    return found


def _is_episode(item: Any) -> bool:
    return isinstance(item.node, Episode)


def _episodes(helix: Helix) -> list[tuple[Any, Any]]:
    store = helix._store
    view = store.catalogue.view
    refs = [view.ref_of(int(row)) for row in np.flatnonzero(view.columns.label == LABEL_CODE[Label.EPISODE])]
    return list(zip(refs, store.records.nodes(refs), strict=True))


def _scope(record: Mapping[str, Any]) -> str:
    meta = record.get("meta") or {}
    return str(record.get("scope") or meta.get("scope") or "global")


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _span(moments: Sequence[datetime]) -> tuple[datetime, datetime]:
    return min(moments), max(moments)
