"""Roll-up: several stale episodes are summed up in one memory that fades more slowly; the episodes stay as they are.

Told: which faded episodes need no summary, since a memory or another episode says the same already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from itertools import groupby, pairwise
from typing import Any, cast

import numpy as np

from helix.errors import InvalidInputError
from helix.memory.capture.quarantine import screen
from helix.memory.change.compose import Composer, Prepared, spoken_of
from helix.memory.change.support import findable_episodes, present, standing, supports_of
from helix.memory.insight.llm_reflect import summed_up
from helix.memory.insight.summary import Summary, tells
from helix.memory.jobs.run import Run
from helix.model.clock import DAY_MICROS, to_micros
from helix.model.edge import Label, Ref, Relation
from helix.model.entity import Mention
from helix.model.episode import Episode
from helix.model.memory import SUMMARY_SOURCE, Kind, Memory, Status
from helix.model.provenance import Provenance, weakest
from helix.store.catalogue import CatalogueView
from helix.store.node_columns import LABEL_CODE, STATUS_CODE, BoolArray
from helix.store.projection import GraphSnapshot
from helix.store.store import Store
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
_RETIRED = STATUS_CODE[Status.RETIRED]


@dataclass(frozen=True, slots=True)
class _Key:
    """What decides whether episodes are neighbours: the scope, and the session or else the day (UTC)."""

    scope: int
    session: int
    day: int


def roll_up(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Sum up the groups of episodes that have faded; return what was done, as counts.

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
    """Return the source of the summary of these episodes: the same ones always have the same."""
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
    graph, view = present(run.store)
    rows = np.flatnonzero(findable_episodes(view, scope))
    if not len(rows):
        return
    covered = _covered(graph, view)
    columns = view.columns
    now = to_micros(run.now)
    stale = (columns.fades_at < now) if older is None else columns.recorded_at <= now - int(older * DAY_MICROS)
    keys = {_key(view, int(row)) for row in rows[(stale & ~covered)[rows]]}
    places = sorted((int(row) for row in rows if _key(view, int(row)) in keys), key=lambda row: _order(view, row))
    told = told_already(run.store, graph, view, places, covered, now)
    small: list[int] = []
    for _, held in groupby((row for row in places if not told[row]), key=lambda row: _key(view, row)):
        for stretch in _stretches(view, list(held), covered, SITTING):
            if len(stretch) < LEAST_GROUP:
                small += [row for row in stretch if stale[row]]
                continue
            for group in _balanced(stretch):
                if stale[group].any() and tells(episodes := _episodes(run.store, group)):
                    yield episodes
    for pool in _pools(run.store, small):
        for group in _balanced(pool):
            yield _episodes(run.store, group)


def _pools(store: Store, rows: Sequence[int]) -> Iterator[list[int]]:
    """Yield those of the rows that tell something in runs of one scope without a long silence, none too short."""
    view = present(store)[1]
    columns, lookups = view.columns, view.lookups
    telling = [row for row in rows if tells(_episodes(store, [row]))]
    ordered = sorted(
        telling,
        key=lambda row: (lookups.scopes.word(int(columns.scope[row])), int(columns.occurred_at[row]), lookups.ids[row]),
    )
    nothing = np.zeros(view.count, np.bool_)
    for _, held in groupby(ordered, key=lambda row: int(columns.scope[row])):
        for pool in _stretches(view, list(held), nothing, APART):
            if len(pool) >= LEAST_POOLED:
                yield pool


def _episodes(store: Store, rows: Sequence[int]) -> list[Episode]:
    view = present(store)[1]
    return [cast(Episode, node) for node in store.records.nodes([view.ref_of(row) for row in rows])]


def _covered(graph: GraphSnapshot, view: CatalogueView) -> BoolArray:
    """Return for every row whether a summary that stands, or that a person put away, speaks for it."""
    covered = np.zeros(view.count, np.bool_)
    rows = [row for row in _summaries(view) if view.columns.status[row] != _RETIRED]
    for held in supports_of(graph, rows, Relation.GROUNDED_IN):
        covered[held] = True
    return covered


def _summaries(view: CatalogueView) -> list[int]:
    sources = view.lookups.sources[LABEL_CODE[Label.MEMORY]].items()
    held = (rows for source, rows in sources if source.startswith(SUMMARY_SOURCE))
    return sorted(row for rows in held for row in rows if row < view.count)


def _key(view: CatalogueView, row: int) -> _Key:
    columns = view.columns
    session = int(columns.session[row])
    named = session >= 0 and view.lookups.sessions.word(session) != ""
    return _Key(int(columns.scope[row]), session if named else -1, 0 if named else _day(view, row))


def _day(view: CatalogueView, row: int) -> int:
    return int(view.columns.occurred_at[row]) // DAY_MICROS


def _order(view: CatalogueView, row: int) -> tuple[Any, ...]:
    key = _key(view, row)
    columns, lookups = view.columns, view.lookups
    session = lookups.sessions.word(key.session) if key.session >= 0 else ""
    times = int(columns.occurred_at[row]), int(columns.recorded_at[row])
    return (lookups.scopes.word(key.scope), session, *times, lookups.ids[row])


def _stretches(view: CatalogueView, rows: Sequence[int], covered: BoolArray, longest: timedelta) -> Iterator[list[int]]:
    """Yield the rows, which are in order, in runs between which there is a longer silence or a summary made earlier."""
    times = view.columns.occurred_at
    silence = int(longest.total_seconds() * 1_000_000)
    stretch: list[int] = []
    for row in rows:
        if stretch and (covered[row] or int(times[row]) - int(times[stretch[-1]]) > silence):
            yield stretch
            stretch = []
        if not covered[row]:
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
    ready = _findable(run.store, group, spoken_of(f"{summary.title}\n{summary.text}"))

    def compose(composer: Composer) -> bool:
        if not _still_open(run.store, group):
            return False
        memory = _memory(run.store, composer, group, summary, source)
        ref = composer.node(memory)
        composer.passages(ref, ready)
        composer.mentions(ref, memory.scope, ready.mentions, memory.provenance)
        for episode in group:
            composer.edge(Relation.GROUNDED_IN, ref, episode.ref, provenance=memory.provenance)
        return True

    return bool(run.write(source, compose))


def _findable(store: Store, group: Sequence[Episode], found: tuple[Mention, ...]) -> Prepared:
    """Return what a summary is found by: all that its episodes are found by, with the vectors they have.

    A summary that is found by its own words alone misses what it left out (LoCoMo: 5 points of recall).
    """
    _, view = present(store)
    rows = [view.row_of(episode.ref) for episode in group]
    most = max(1, MOST_CHUNKS // len(group))
    held = [view.passages.of_rows(np.array([row]), view.count)[:most] for row in rows if row is not None]
    passages = np.concatenate(held)
    texts = store.records.passage_texts([int(number) for number in view.passages.numbers[passages]])
    known = view.passages.embedded[passages]
    vectors = iter(view.passages.vectors.rows(passages[known]))
    return Prepared(
        pieces=tuple(texts),
        tokens=tuple(" ".join(lexical_tokens(text)) for text in texts),
        mentions=found,
        vectors=tuple(next(vectors).tobytes() if there else None for there in known),
    )


def _still_open(store: Store, group: Sequence[Episode]) -> bool:
    graph, view = present(store)
    rows = [view.row_of(episode.ref) for episode in group]
    stands, covered = standing(view), _covered(graph, view)
    return all(row is not None and stands[row] and not covered[row] for row in rows)


def _memory(store: Store, composer: Composer, group: Sequence[Episode], summary: Summary, source: str) -> Memory:
    trust = weakest(*(episode.provenance.trust for episode in group))
    return Memory(
        id=store.make_id(composer.now),
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
        provenance=Provenance(slice=source, extractor=EXTRACTOR, trust=trust),
    )


def _retire_broken(run: Run, scope: str | None) -> None:
    """Retire the summaries of which an episode is gone or put away: they would go on saying what it said."""
    for ref in _broken(run.store, scope):
        run.say(f"retire the summary {cast(Memory, run.store.records.node(ref)).name}: an episode of it is gone")

        def compose(composer: Composer, ref: Ref = ref) -> bool:
            if ref not in _broken(run.store, scope):
                return False
            composer.patch(ref, status=Status.RETIRED, retired_at=composer.now)
            return True

        if run.write(f"retire {ref.id}", compose):
            run.count("summaries retired")


def _broken(store: Store, scope: str | None) -> list[Ref]:
    graph, view = present(store)
    code = view.lookups.scopes.code(scope) if scope is not None else None
    columns = view.columns
    rows = [
        row
        for row in _summaries(view)
        if columns.status[row] != _RETIRED and (code is None or columns.scope[row] == code)
    ]
    stands = standing(view)
    held = supports_of(graph, rows, Relation.GROUNDED_IN)
    return [
        view.ref_of(row)
        for row, episodes in zip(rows, held, strict=True)
        if len(episodes) < int(view.lookups.origins[row].split(":")[1]) or not stands[episodes].all()
    ]


_MEMORY, _ACTIVE = LABEL_CODE[Label.MEMORY], STATUS_CODE[Status.ACTIVE]
_ENDS = " .!\u2026"
"""What may end a text without changing what it says."""


def told_already(
    store: Store, graph: GraphSnapshot, view: CatalogueView, rows: Sequence[int], covered: BoolArray, now: int
) -> BoolArray:
    """Return for every row whether it is one of `rows` (episodes, in order) that tells nothing new.

    A memory that is grounded in it and has not faded at `now` (microseconds) has all its telling words. Or an earlier
    one of the rows, one that is `covered` by a summary, or one that such a memory says has the same text in its scope.
    """
    told = np.zeros(view.count, np.bool_)
    told[_in_memories(store, graph, view, rows, now)] = True
    scopes = view.columns.scope
    spoken_for = np.flatnonzero((covered | told) & np.isin(scopes, scopes[np.asarray(rows, np.int64)]))
    known = set(_texts(store, view, spoken_for.tolist()))
    left = [row for row in rows if not (covered[row] or told[row])]
    for row, text in zip(left, _texts(store, view, left), strict=True):
        told[row] = text in known
        known.add(text)
    return told


def _in_memories(store: Store, graph: GraphSnapshot, view: CatalogueView, rows: Sequence[int], now: int) -> list[int]:
    """Return those of the rows of which one memory that is grounded in them has every telling word."""
    places, columns = np.asarray(rows, np.int64), view.columns
    found = graph.neighbours(places, Relation.GROUNDED_IN)
    speaks = (columns.label == _MEMORY) & (columns.status == _ACTIVE)
    speaks &= (columns.fades_at >= now) & (columns.valid_to > now)
    wanted = ~found.outgoing & speaks[found.rows]
    pairs = list(zip(places[found.origin[wanted]].tolist(), found.rows[wanted].tolist(), strict=True))
    terms = {row: _terms(text) for row, text in _contents(store, view, {row for pair in pairs for row in pair})}
    return sorted({episode for episode, memory in pairs if terms[episode] <= terms[memory]})


def _contents(store: Store, view: CatalogueView, rows: AbstractSet[int]) -> Iterator[tuple[int, str]]:
    ordered = sorted(rows)
    for row, node in zip(ordered, store.records.nodes([view.ref_of(row) for row in ordered]), strict=True):
        if isinstance(node, Memory):
            yield row, f"{node.trigger}\n{node.resolution}"
        elif isinstance(node, Episode):
            yield row, node.content


def _terms(text: str) -> frozenset[str]:
    return frozenset(query_terms(text, limit=len(text)))


def _texts(store: Store, view: CatalogueView, rows: Sequence[int]) -> list[bytes]:
    """Return for each row, which has passages, a digest of its scope and of what it is found by, speaker included."""
    passages = view.passages.of_rows(np.asarray(rows, np.int64), view.count)
    texts = store.records.passage_texts([int(number) for number in view.passages.numbers[passages]])
    spoken: dict[int, list[str]] = {row: [] for row in rows}
    for owner, text in zip(view.passages.owner[passages].tolist(), texts, strict=True):
        spoken[owner].append(" ".join(text.casefold().split()).rstrip(_ENDS))
    scopes = view.columns.scope
    return [sha256("\0".join((str(scopes[row]), *spoken[row])).encode("utf-8", "replace")).digest() for row in rows]
