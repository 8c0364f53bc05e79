"""Roll-up: several stale episodes are summed up in one memory that fades more slowly; the episodes stay as they are.

A faded episode needs no summary where a memory or another episode says the same already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from itertools import groupby, pairwise
from typing import Any, cast

from helix.errors import InvalidInputError
from helix.memory.capture.quarantine import screen
from helix.memory.change.compose import Composer, Prepared, spoken_of
from helix.memory.insight.llm_reflect import summed_up
from helix.memory.insight.summary import Summary, tells
from helix.memory.job_run.run import Run
from helix.model.clock import DAY_MICROS, to_micros
from helix.model.edge import Label, Ref, Relation
from helix.model.entity import Mention
from helix.model.episode import Episode
from helix.model.memory import SUMMARY_SOURCE, Kind, Memory, Status
from helix.model.provenance import BY_MODEL, Provenance, Trust, weakest_trust
from helix.store.index import StoreIndex
from helix.text.chunks import MOST_CHUNKS
from helix.text.cleaning import slug
from helix.text.tokens import lexical_tokens, query_terms

EXTRACTOR = "rollup"
GROUP = 7
"""Episodes of a summary, at most; never more than ten, or nobody could tell which of them it speaks of."""
LEAST_GROUP, LEAST_POOLED = 3, 5
"""Episodes of a summary, at least: of one talk, and of several that are too small. A copy of one would undo fading.

More of several talks, since they wait for each other: were three enough, every third day would be a memory.
"""
SITTING, APART = timedelta(hours=6), timedelta(days=14)
"""A longer silence ends a group: of one talk, and of several small ones."""
HALF_LIFE_DAYS = 90.0
"""Days in which a summary's salience halves: a summary of middling importance leaves recall after ten months."""


@dataclass(frozen=True, slots=True)
class _NeighbourKey:
    """What decides whether episodes are neighbours: the scope, and the session or else the day (UTC)."""

    scope: str
    session: str
    day: int


def roll_up(run: Run, payload: Mapping[str, Any]) -> Mapping[str, int]:
    """Make insights that sum up the groups of episodes that have faded; return what was done, as counts.

    `payload`: `scope` (None: every scope), `older_than_days` (None: what is below the salience floor). A summary whose
    episodes are no longer all there is retired first, and the ones that are left are summed up again.
    """
    scope = payload.get("scope")
    older = _days(payload.get("older_than_days"))
    _retire_broken(run, scope)
    groups = list(_due(run, scope, older))
    for done, group in enumerate(groups):
        run.progress(done, len(groups), "rolling up")
        if run.cancelled:
            break
        if _write(run, group):
            run.count("summaries added")
            run.count("episodes rolled up", len(group))
    return dict(run.counts)


def source_of(episodes: Sequence[Episode]) -> str:
    """Return the source of a roll-up's summary of these episodes: the same ones always have the same."""
    ids = "\n".join(sorted(episode.id for episode in episodes))
    return f"{SUMMARY_SOURCE}{len(episodes)}:{sha256(ids.encode()).hexdigest()[:32]}"


def _days(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise InvalidInputError(f"older_than_days must be a number of days, not {value!r}")
    return float(value)


def _due(run: Run, scope: str | None, older: float | None) -> Iterator[list[Episode]]:
    """Yield the groups that hold a stale episode, of one talk each and then of several, in the order they happened.

    A talk is what lies side by side in one session (or, without one, on one day), unless it is rolled up already or
    said elsewhere in the same words. What is stale of talks with too few for a group is pooled with the next such ones
    of its scope; what stays alone is left as it is. Of greetings alone there is no group: nobody will look for it.
    """
    index, now = run.store.index, to_micros(run.now)
    rows = list(index.findable_episodes(scope))
    covered = _covered(index)
    stale = index.faded(now) if older is None else index.recorded_until(now - int(older * DAY_MICROS))
    keys = {_key(index, row) for row in rows if row in stale and row not in covered}
    places = sorted((row for row in rows if _key(index, row) in keys), key=lambda row: _order(index, row))
    told = told_already(index, places, covered, now)
    small: list[int] = []
    for _, held in groupby((row for row in places if row not in told), key=lambda row: _key(index, row)):
        for stretch in _stretches(index, list(held), covered, SITTING):
            if len(stretch) < LEAST_GROUP:
                small += [row for row in stretch if row in stale]
                continue
            for group in _balanced(stretch):
                if any(row in stale for row in group) and tells(episodes := _episodes(index, group)):
                    yield episodes
    for pool in _pools(index, small):
        for group in _balanced(pool):
            yield _episodes(index, group)


def _pools(index: StoreIndex, rows: Sequence[int]) -> Iterator[list[int]]:
    """Yield those of the rows that tell something in runs of one scope without a long silence, none too short."""
    telling = [row for row in rows if tells(_episodes(index, [row]))]
    ordered = sorted(telling, key=lambda row: (index.scope_of(row), index.occurred_at(row), index.id_of(row)))
    for _, held in groupby(ordered, key=index.scope_of):
        for pool in _stretches(index, list(held), frozenset(), APART):
            if len(pool) >= LEAST_POOLED:
                yield pool


def _episodes(index: StoreIndex, rows: Sequence[int]) -> list[Episode]:
    return [cast(Episode, node) for node in index.nodes(rows)]


def _covered(index: StoreIndex) -> set[int]:
    """Return the rows for which a summary that stands, or that a person put away, speaks."""
    return {row for held in index.supports_of(_summaries(index), Relation.GROUNDED_IN) for row in held}


def _summaries(index: StoreIndex, scope: str | None = None) -> list[int]:
    """Return the rows of the summaries that are not retired, in the order in which they came."""
    retired = index.where(Label.MEMORY, statuses=[Status.RETIRED])
    return sorted(row for row in index.from_sources(Label.MEMORY, SUMMARY_SOURCE, scope) if row not in retired)


def _key(index: StoreIndex, row: int) -> _NeighbourKey:
    session = index.session_of(row)
    return _NeighbourKey(index.scope_of(row), session, 0 if session else index.occurred_at(row) // DAY_MICROS)


def _order(index: StoreIndex, row: int) -> tuple[Any, ...]:
    times = index.occurred_at(row), index.recorded_at(row)
    return (index.scope_of(row), index.session_of(row), *times, index.id_of(row))


def _stretches(
    index: StoreIndex, rows: Sequence[int], covered: AbstractSet[int], longest: timedelta
) -> Iterator[list[int]]:
    """Yield the rows, which are in order, in runs between which there is a longer silence or a summary made earlier."""
    silence = int(longest.total_seconds() * 1_000_000)
    stretch: list[int] = []
    for row in rows:
        if stretch and (row in covered or index.occurred_at(row) - index.occurred_at(stretch[-1]) > silence):
            yield stretch
            stretch = []
        if row not in covered:
            stretch.append(row)
    if stretch:
        yield stretch


def _balanced(rows: Sequence[int]) -> list[list[int]]:
    """Return the rows in as few groups as hold GROUP each, of sizes that differ by one at most."""
    count = -(-len(rows) // GROUP)
    bounds = [len(rows) * place // count for place in range(count + 1)]
    return [list(rows[start:stop]) for start, stop in pairwise(bounds)]


def _write(run: Run, group: Sequence[Episode]) -> bool:
    """Write the summary of a group, unless something of it changed meanwhile; return whether it was written."""
    summary = summed_up(run.language_model, group)
    source = source_of(group)
    run.say(f"sum up {len(group)} episodes of {group[0].scope}: {summary.title}")
    ready = _findable(run.store.index, group, spoken_of(f"{summary.title}\n{summary.text}"))

    def compose(composer: Composer) -> bool:
        if not _still_open(run.store.index, group):
            return False
        memory = _memory(composer, group, summary, source)
        ref = composer.node(memory)
        composer.passages(ref, ready)
        composer.mentions(ref, memory.scope, ready.mentions, memory.provenance)
        for episode in group:
            composer.edge(Relation.GROUNDED_IN, ref, episode.ref, provenance=memory.provenance)
        return True

    return bool(run.write(source, compose))


def _findable(index: StoreIndex, group: Sequence[Episode], found: tuple[Mention, ...]) -> Prepared:
    """Return what a summary is found by: all that its episodes are found by, with the vectors they have.

    A summary that is found by its own words alone misses what it left out (LoCoMo: 5 points of recall).
    """
    rows = [row for episode in group if (row := index.row_of(episode.ref)) is not None]
    most = max(1, MOST_CHUNKS // len(group))
    pieces = [piece for row in rows for piece in index.pieces_of([row])[:most]]
    texts = index.records.passage_texts([piece.number for piece in pieces])
    return Prepared(
        pieces=tuple(texts),
        tokens=tuple(" ".join(lexical_tokens(text)) for text in texts),
        mentions=found,
        vectors=tuple(piece.vector for piece in pieces),
    )


def _still_open(index: StoreIndex, group: Sequence[Episode]) -> bool:
    rows = [index.row_of(episode.ref) for episode in group]
    standing, covered = index.standing(), _covered(index)
    return all(row in standing and row not in covered for row in rows)


def _memory(composer: Composer, group: Sequence[Episode], summary: Summary, source: str) -> Memory:
    told_by = [Trust.AGENT_INFERRED] if summary.by_model else []
    trust = weakest_trust(*told_by, *(episode.provenance.trust for episode in group))
    model = BY_MODEL if summary.by_model else ""
    return Memory(
        id=composer.new_id(),
        name=composer.name(group[0].scope, slug(summary.title)),
        kind=Kind.FACT,
        trigger=summary.title,
        resolution=summary.text,
        recorded_at=composer.now,
        scope=group[0].scope,
        status=screen(trust, summary.title, summary.text).status,
        importance=max(episode.importance for episode in group),
        half_life_days=HALF_LIFE_DAYS,
        valid_from=min(composer.now, max(episode.occurred_at for episode in group)),
        source=source,
        provenance=Provenance(slice=source, extractor=EXTRACTOR, model=model, trust=trust),
    )


def _retire_broken(run: Run, scope: str | None) -> None:
    """Retire the summaries of which an episode is gone or put away: they would go on saying what it said."""
    for ref in _broken(run.store.index, scope):
        run.say(f"retire the summary {cast(Memory, run.store.records.node(ref)).name}: an episode of it is gone")

        def compose(composer: Composer, ref: Ref = ref) -> bool:
            if ref not in _broken(run.store.index, scope):
                return False
            composer.patch(ref, status=Status.RETIRED, retired_at=composer.now)
            return True

        if run.write(f"retire {ref.id}", compose):
            run.count("summaries retired")


def _broken(index: StoreIndex, scope: str | None) -> list[Ref]:
    rows, standing = _summaries(index, scope), index.standing()
    held = index.supports_of(rows, Relation.GROUNDED_IN)
    return [
        index.ref_of(row)
        for row, episodes in zip(rows, held, strict=True)
        if len(episodes) < int(index.source_of(row).split(":")[1]) or not all(one in standing for one in episodes)
    ]


_ENDS = " .!\u2026"
"""What may end a text without changing what it says."""


def told_already(index: StoreIndex, rows: Sequence[int], covered: AbstractSet[int], now: int) -> set[int]:
    """Return which episodes (rows, in order) tell nothing new in a roll-up.

    A memory that is grounded in it and has not faded at `now` (microseconds) has all its telling words. Or an earlier
    one of the rows, one that is `covered` by a summary, or one that such a memory says has the same text in its scope.
    """
    told = _in_memories(index, rows, now)
    scopes = set(map(index.scope_of, rows))
    known = set(_texts(index, [row for row in sorted(covered | told) if index.scope_of(row) in scopes]))
    left = [row for row in rows if row not in covered and row not in told]
    for row, text in zip(left, _texts(index, left), strict=True):
        if text in known:
            told.add(row)
        known.add(text)
    return told


def _in_memories(index: StoreIndex, rows: Sequence[int], now: int) -> set[int]:
    """Return those of the rows of which one memory that is grounded in them has every telling word."""
    speaks = index.where(Label.MEMORY, statuses=[Status.ACTIVE]) & index.holding(now) - index.faded(now)
    made = zip(rows, index.supported_by(rows, Relation.GROUNDED_IN), strict=True)
    pairs = [(episode, memory) for episode, held in made for memory in held if memory in speaks]
    terms = {row: _terms(text) for row, text in _contents(index, {row for pair in pairs for row in pair})}
    return {episode for episode, memory in pairs if terms[episode] <= terms[memory]}


def _contents(index: StoreIndex, rows: AbstractSet[int]) -> Iterator[tuple[int, str]]:
    ordered = sorted(rows)
    for row, node in zip(ordered, index.nodes(ordered), strict=True):
        if isinstance(node, Memory):
            yield row, f"{node.trigger}\n{node.resolution}"
        elif isinstance(node, Episode):
            yield row, node.content


def _terms(text: str) -> frozenset[str]:
    return frozenset(query_terms(text, limit=len(text)))


def _texts(index: StoreIndex, rows: Sequence[int]) -> list[bytes]:
    """Return for each row, which has passages, a digest of its scope and of what it is found by, speaker included."""
    pieces = index.pieces_of(rows)
    spoken: dict[int, list[str]] = {row: [] for row in rows}
    for piece, text in zip(pieces, index.records.passage_texts([piece.number for piece in pieces]), strict=True):
        spoken[piece.row].append(" ".join(text.casefold().split()).rstrip(_ENDS))
    said = ("\0".join((index.scope_of(row), *spoken[row])) for row in rows)
    return [sha256(text.encode("utf-8", "replace")).digest() for text in said]
