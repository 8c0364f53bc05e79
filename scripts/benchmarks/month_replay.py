"""A replayed month: dated episodes recorded through the real service, with a clock of their own and its own worker."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import share_models
from benchmarks.quality_data import Judged, read_set
from benchmarks.quality_store import Say
from helix import settings as configuration
from helix.memory.capture.episodes import EpisodeRequest
from helix.model.clock import to_micros
from helix.model.edge import Label, Relation
from helix.model.episode import Episode
from helix.model.memory import SUMMARY_SOURCE, Kind, Status, Tier, tier_of
from helix.model.recall import RecallQuery
from helix.model.work_item import WorkState
from helix.operations import background_work, capture, memories
from helix.providers.embedder import Embedder
from helix.service import Helix
from helix.store.node_columns import KIND_CODE, LABEL_CODE, STATUS_CODE

START = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 30
PRACTICE = 5
"""Every so-many-th question is asked during the month, to confirm what answered it, and not measured afterwards."""
MOST_GROUNDS = 10
"""A memory counts as evidence when it is grounded in so many episodes at most."""
_TURN = timedelta(seconds=20)
_SOURCE = "month"
_LIMIT = 100
_MOST_JOBS = 1_000
"""Jobs of a day, more than there can be."""


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
    ends: bool = False
    """Whether it is the last one of its session."""


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


def replay_of(
    folder: Path, conversations: int | None = None, questions: int | None = None, latest: int | None = None
) -> Replay:
    """Read a set whose passages have times; the times of each scope are drawn together into the month.

    `conversations` takes the first so many scopes, `latest` the so many passages that happened last, `questions` the
    first so many of those that these can answer.
    """
    data = read_set(folder)
    records = [record for record in map(json.loads, data.lines) if record.get("ts")]
    scopes = set(list(dict.fromkeys(map(_scope, records)))[:conversations])
    # By time alone, so that turns of one moment stay as the set has them.
    kept = sorted((one for one in records if _scope(one) in scopes), key=lambda one: _moment(one["ts"]))
    kept = kept[-latest:] if latest else kept
    spans = {scope: _span([_moment(one["ts"]) for one in kept if _scope(one) == scope]) for scope in scopes}
    order: Counter[str] = Counter()
    turns = []
    for record in kept:
        session = str(record.get("session") or "")
        order[session or str(record["id"])] += 1
        turns.append(_turn(record, session, spans[_scope(record)], order[session or str(record["id"])]))
    turns.sort(key=lambda turn: (turn.at, turn.id))
    last = {turn.session: turn.id for turn in turns if turn.session}
    ids = {turn.id for turn in turns}
    asked = [question for question in data.questions if question.relevant <= ids][:questions]
    return Replay(
        name=data.name,
        turns=[replace(turn, ends=last.get(turn.session) == turn.id) for turn in turns],
        practice=[question for place, question in enumerate(asked) if place % PRACTICE == 0],
        questions=[question for place, question in enumerate(asked) if place % PRACTICE],
    )


def _turn(record: Mapping[str, Any], session: str, span: tuple[datetime, datetime], place: int) -> Turn:
    happened = _moment(record["ts"])
    share = (happened - span[0]) / max(span[1] - span[0], timedelta(seconds=1))
    return Turn(
        at=START + share * timedelta(days=DAYS - 0.5) + place * _TURN,
        id=str(record["id"]),
        text=str(record["text"]),
        session=session,
        scope=_scope(record),
        speaker=str(record.get("speaker") or ""),
        happened=happened,
    )


@contextmanager
def opened(home: Path, models: Path, embedder: Embedder, clock: Watch, *, lifecycle: bool) -> Iterator[Helix]:
    """Yield a service with its store in `home`; without a lifecycle nothing fades and nothing works at night."""
    share_models(home, models)
    without = {} if lifecycle else {"salience_floor": 0.0, "consolidation_budget": 0.0}
    settings = configuration.load(
        {"home": home, "db_path": home / "store", "page_size": _MOST_JOBS, "holdback": 0.0, **without},
        environ={},
        cwd=home,
    )
    with Helix.open(settings, embedder=embedder, clock=clock) as helix:
        yield helix


def live(helix: Helix, clock: Watch, replay: Replay, say: Say, *, lifecycle: bool) -> Month:
    """Record the turns at their times, and end their sessions with a lifecycle; return what was seen.

    The background works when a session ends and at night, on what its own triggers ask for. While turns are recorded it
    is paused: in a replay they come within milliseconds, and when it began would be chance.
    """
    month = Month()
    by_day: dict[int, list[Turn]] = defaultdict(list)
    for turn in replay.turns:
        by_day[(turn.at - START).days].append(turn)
    known: set[str] = set()
    done: set[str] = set()
    practice = list(replay.practice)
    for day in range(DAYS):
        background_work.pause_worker(helix, True)
        for turn in by_day[day]:
            clock.now = turn.at
            _record(helix, turn)
            known.add(turn.id)
            if lifecycle and turn.ends:
                helix.worker.close_session(turn.session, turn.scope)
                _rest(helix)
                background_work.pause_worker(helix, True)
        clock.now = START + timedelta(days=day + 1)
        _rest(helix)
        if lifecycle:
            worked = _worked(helix, done, month)
            ready = [question for question in practice if question.relevant <= known]
            practice = [question for question in practice if not question.relevant <= known]
            _practise(helix, ready, month)
            month.days.append({"day": day + 1, "recorded": len(by_day[day]), "work": worked, **standing(helix, clock)})
            say(f"day {day + 1}: {len(by_day[day])} episodes, {worked}")
    return month


def _record(helix: Helix, turn: Turn) -> None:
    capture.record_episode(
        helix,
        EpisodeRequest(
            content=turn.text,
            session=turn.session,
            scope=turn.scope,
            agent=turn.speaker,
            occurred_at=turn.happened,
            source=source_of(turn.id),
        ),
    )


def _rest(helix: Helix) -> None:
    """Let the background do all that it has to do."""
    background_work.pause_worker(helix, False)
    helix.worker.settle()


def source_of(turn: str) -> str:
    """Return the source under which a turn of the set is recorded."""
    return f"{_SOURCE}:{turn}"


def _worked(helix: Helix, done: set[str], month: Month) -> dict[str, dict[str, Any]]:
    """Return for each kind of job that ended since how often it ran and what it came to; `done` takes their ids."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for item in background_work.background(helix, _MOST_JOBS).items:
        if item.id in done or item.state not in (WorkState.DONE, WorkState.FAILED):
            continue
        done.add(item.id)
        if item.state is WorkState.FAILED:
            month.failed.append(f"{item.kind}: {item.error}")
        found[item.kind]["runs"] += 1
        found[item.kind].update({name: count for name, count in item.result.items() if isinstance(count, int)})
    return {kind: {name: count for name, count in counts.items() if count} for kind, counts in sorted(found.items())}


def _practise(helix: Helix, questions: Sequence[Judged], month: Month) -> None:
    """Ask what can be answered by now, and confirm, in a person's place, the best memory that rests on the evidence."""
    grounds = evidence_of(helix)
    for question in questions:
        answer = helix.recall(RecallQuery(query=question.text, scope=question.scope))
        for item in answer.items:
            if item.label is Label.MEMORY and question.relevant & grounds.get(item.node.id, frozenset()):
                month.confirmed.append(memories.confirm(helix, item.node.id).name)
                break


def evidence_of(helix: Helix) -> dict[str, frozenset[str]]:
    """Return the ids, as the set has them, of the episodes that each memory is grounded in."""
    store = helix.store
    turns = {ref.id: _turn_of(node.source) for ref, node in _episodes(helix)}
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
    view = helix.store.catalogue.view
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
        rows
        for source, rows in view.lookups.sources[LABEL_CODE[Label.MEMORY]].items()
        if source.startswith(SUMMARY_SOURCE)
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
    """Return for each budget the recall of evidence: `recall` counts memories that rest on it, `strict` episodes alone.

    `told` counts the evidence whose own words stand in the answer, be it in an episode or in a memory.
    """
    grounds = evidence_of(helix)
    words = {_turn_of(node.source): _plain(node.content) for _, node in _episodes(helix)}
    found = []
    for budget in budgets:
        shares: dict[str, list[float]] = defaultdict(list)
        tokens = []
        for question in questions:
            query = RecallQuery(
                query=question.text, scope=question.scope, limit=_LIMIT, budget_tokens=budget, deep=deep
            )
            answer = helix.recall(query)
            shown = {_turn_of(item.node.source) for item in answer.items if isinstance(item.node, Episode)}
            resting: set[str] = set()
            told = set(shown)
            for item in answer.items:
                held = grounds.get(item.node.id, frozenset()) if item.label is Label.MEMORY else frozenset()
                resting |= held if len(held) <= MOST_GROUNDS else frozenset()
                told |= {turn for turn in held if words[turn] in _plain(item.text)}
            for name, counted in (("recall", shown | resting), ("strict", shown), ("told", told)):
                shares[name].append(len(question.relevant & counted) / len(question.relevant))
            tokens.append(answer.tokens)
        means = {name: round(float(np.mean(values)), 4) for name, values in shares.items()}
        found.append({"budget": budget, **means, "tokens": round(float(np.mean(tokens)), 1)})
    return found


def _turn_of(source: str) -> str:
    return source.removeprefix(f"{_SOURCE}:")


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _episodes(helix: Helix) -> list[tuple[Any, Any]]:
    store = helix.store
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
