"""Episodes seen: those of a scope as a run of consolidation sees them, read no further than what is new reaches.

What an extractor found in an episode is kept, with the vectors, by the journal: `packed` and `unpacked` say how.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from helix.memory.extraction.cluster import Bars, Links, Rivals, groups_of, linked, opposed
from helix.memory.extraction.extract import EpisodeCandidate, Extractor
from helix.memory.extraction.statements import ComparedCandidate, said
from helix.memory.job_run.run import Run
from helix.model.edge import Ref
from helix.model.entity import EntityKind, Mention
from helix.model.episode import Episode
from helix.model.memory import Kind
from helix.store.matrix import VectorArray, vector_of, vectors_of
from helix.store.whole_numbers import FirstVectors

_DAMAGED = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
_FLOAT = 4
_READ_AT_ONCE = 8
_LOOKED_UP_AT_ONCE = 16
"""Of these the run rests after each lot: whoever asks something meanwhile waits for no more than one."""


class Stopped(Exception):
    """Ends a run between two slices of its work; what it has written stays."""


class EpisodeEvidence:
    """The surviving episodes of exactly one scope: findable, neither forgotten nor quarantined, and embedded.

    Each is read and extracted once, when it is asked for. Rows are those of the catalogue.
    """

    def __init__(self, run: Run, scope: str, extractor: Extractor, bars: Bars, *, anew: bool = False) -> None:
        """`anew`: what was found in the episodes by earlier runs is not taken for granted."""
        self._run, self._extractor, self._bars, self._anew = run, extractor, bars, anew
        space = "" if run.store.runtime.embedder is None else run.store.runtime.embedder.space.digest
        self._edition = extractor.edition and f"{extractor.edition} {space}"
        index = run.store.index
        self._index = index
        self._surviving = index.findable_episodes(scope)
        self._vectors = None if run.store.runtime.embedder is None else FirstVectors(index, self._surviving)
        self.rows = list(self._surviving) if self._vectors is None else self._vectors.rows
        self._readable = frozenset(self.rows)
        self._items: dict[int, list[ComparedCandidate]] = {}
        self._linked: set[bytes] = set()
        self.held_back: set[int] = set()

    def give_way(self) -> None:
        """Have an extraction give way to whoever waits for an answer; raises Stopped where the run is to stop."""
        if self._run.cancelled:
            raise Stopped

    def survives(self, episode: str) -> bool:
        """Return whether the episode of that id is evidence still."""
        return self._index.row_of(Ref.episode(episode)) in self._surviving

    @property
    def fresh(self) -> list[int]:
        """The rows of the episodes that no run has seen yet."""
        seen = self._index.consolidated()
        return [row for row in self.rows if row not in seen]

    def episode_of(self, row: int) -> str:
        """Return the id of an episode."""
        return self._index.id_of(row)

    def row_of(self, episode: str) -> int | None:
        """Return the row of an episode that extraction can read, or None."""
        row = self._index.row_of(Ref.episode(episode))
        return row if row in self._readable else None

    def reached(self, touched: Iterable[int]) -> tuple[list[ComparedCandidate], Links, Rivals, set[int]]:
        """Return all that the touched rows say is linked with or opposed by, over any number of both, and the rows.

        The rows returned are those of whole components: every episode that shares a component with one of them is
        among them.
        """
        reached: set[int] = set()
        links: dict[bytes, dict[bytes, int]] = defaultdict(dict)
        rivals: dict[bytes, set[bytes]] = defaultdict(set)
        frontier = {row for row in touched if row in self._readable}
        self._read_missing(sorted(frontier))
        while frontier:
            reached |= frontier
            telling = [row for row in sorted(frontier) if self._items[row]]
            self._read_missing(self._around(telling))
            frontier = self._link(telling, links, rivals) - reached
        self.give_way()
        items = self._of(sorted(reached))
        first = {items[group[0]].same: group[0] for group in groups_of(items).values()}
        self.give_way()
        numbered = {first[one]: {first[other]: near for other, near in found.items()} for one, found in links.items()}
        return items, numbered, rivals, reached

    def _link(
        self, rows: Sequence[int], links: dict[bytes, dict[bytes, int]], rivals: dict[bytes, set[bytes]]
    ) -> set[int]:
        """Link and set what the rows say against all that was read; return the rows that say that, or the same."""
        chosen = {item.same for row in rows for item in self._items[row]}.difference(self._linked)
        self._linked |= chosen
        items = self._of(sorted(self._items))
        ends = set(chosen)
        fresh = [place for place, item in enumerate(items) if item.same in chosen]
        for place, found in linked(items, self._bars, fresh, self.give_way).items():
            self.give_way()
            one = items[place].same
            for other, near in found.items():
                links[one][items[other].same] = near
                ends.add(items[other].same)
        for left, right in opposed(items, self._bars, fresh, self.give_way):
            rivals[left].add(right)
            rivals[right].add(left)
            ends.add(right)
        return {row for row, said_there in self._items.items() if any(item.same in ends for item in said_there)}

    def _of(self, rows: Iterable[int]) -> list[ComparedCandidate]:
        return [item for row in rows for item in self._items[row]]

    def _around(self, rows: Sequence[int]) -> list[int]:
        """Return the rows not read yet whose episodes are near enough to any of those given."""
        unread = [row for row in self.rows if row not in self._items]
        if self._vectors is None or not rows:
            return unread if rows else []
        return list(self._vectors.near(rows, unread, self._bars.around, self.give_way))

    def _read_missing(self, rows: Sequence[int]) -> None:
        """Read the rows that were not read yet: what is kept of them, else the episodes themselves."""
        missing = [row for row in rows if row not in self._items]
        for start in range(0, len(missing), _LOOKED_UP_AT_ONCE):
            self._look_up(missing[start : start + _LOOKED_UP_AT_ONCE])
            self.give_way()
        missing = [row for row in missing if row not in self._items]
        for start in range(0, len(missing), _READ_AT_ONCE):
            self._extract(missing[start : start + _READ_AT_ONCE])
            self._run.progress(min(start + _READ_AT_ONCE, len(missing)), len(missing), "reading")
            self.give_way()

    def _look_up(self, rows: Sequence[int]) -> None:
        """Take what is kept of the rows."""
        if not self._edition or self._anew:
            return
        row_of = {self.episode_of(row): row for row in rows}
        kept = self._run.store.journal.extracted.kept(self._edition, list(row_of))
        found: dict[str, tuple[list[Found], bool]] = {}
        for episode, one in kept.items():
            with suppress(*_DAMAGED):  # what is kept damaged is found once more
                found[episode] = unpacked(episode, *one, dimension=self._run.store.dimension or 0)
        episodes = self._episodes([row_of[episode] for episode, (held, _) in found.items() if held])
        for episode, (held, held_back) in found.items():
            self._take(row_of[episode], episodes.get(episode), held, held_back=held_back)

    def _extract(self, rows: Sequence[int]) -> None:
        """Read the episodes, and keep what is found in them."""
        episodes = self._episodes(rows)
        self.give_way()
        extraction = self._extractor.extract(list(episodes.values()))
        self.give_way()
        vectors = self._own_vectors([one for one in extraction.candidates if not one.whole])
        found: dict[str, list[Found]] = {episode: [] for episode in episodes}
        for one in extraction.candidates:
            found[one.episode].append((one, vectors.get((one.episode, one.place))))
        held_back = frozenset(extraction.held_back)
        for row in rows:
            episode = self.episode_of(row)
            self._take(row, episodes[episode], found[episode], held_back=episode in held_back)
        if self._edition and not self._run.dry_run:
            whole = {episode: held for episode, held in found.items() if self._complete(held)}
            kept = {episode: packed(held, held_back=episode in held_back) for episode, held in whole.items()}
            self._run.store.journal.extracted.keep(self._edition, kept)

    def _complete(self, found: Sequence[Found]) -> bool:
        """Return whether nothing lacks its vector, which a model that failed may have left out."""
        return self._vectors is None or all(one.whole or vector is not None for one, vector in found)

    def _episodes(self, rows: Sequence[int]) -> dict[str, Episode]:
        return {node.id: cast(Episode, node) for node in self._index.nodes(rows)}

    def _take(self, row: int, episode: Episode | None, found: Sequence[Found], *, held_back: bool) -> None:
        around = None if self._vectors is None else self._vectors.of(row)
        self._items[row] = [
            said(one, episode, around if own is None else own, around) for one, own in found if episode is not None
        ]
        if held_back:
            self.held_back.add(row)

    def _own_vectors(self, candidates: Sequence[EpisodeCandidate]) -> dict[tuple[str, int], VectorArray]:
        """Return the vectors of candidates that are a part of their episode; none without a model."""
        found: dict[tuple[str, int], VectorArray] = {}
        if self._vectors is None:
            return found
        for done, one in enumerate(candidates, 1):
            # One at a time: whoever asks meanwhile has the other cores, and what it asks is embedded beside it.
            (vector,) = self._run.store.embed([one.trigger])
            if vector is not None:
                found[one.episode, one.place] = vector_of(vector)
            self._run.progress(done, len(candidates), "embedding")
            self.give_way()
        return found


Found = tuple[EpisodeCandidate, VectorArray | None]
"""A candidate and the vector of its own words; None for one that its episode's vector speaks for."""


def packed(found: Sequence[Found], *, held_back: bool) -> tuple[str, bytes]:
    """Return the candidates of an episode as JSON, and the vectors of those that have one, one after the other.

    `held_back`: the gate let nothing of it through.
    """
    rows = [
        {
            "place": one.place,
            "kind": one.kind.value,
            "trigger": one.trigger,
            "resolution": one.resolution,
            "confidence": one.confidence,
            "explicit": one.explicit,
            "whole": one.whole,
            "speaker": one.speaker,
            "entities": [[each.kind.value, each.name] for each in one.entities],
            "files": one.files,
            "steps": one.steps,
            "vector": vector is not None,
        }
        for one, vector in found
    ]
    return json.dumps({"held_back": held_back, "candidates": rows}), b"".join(
        vector.tobytes() for _, vector in found if vector is not None
    )


def unpacked(episode: str, told: str, vectors: bytes, *, dimension: int) -> tuple[list[Found], bool]:
    """Return the candidates packed for an episode, and whether the gate held it back; raises one of `_DAMAGED`."""
    kept = json.loads(told)
    rows = kept["candidates"]
    count = sum(row["vector"] for row in rows)
    if len(vectors) != count * dimension * _FLOAT:
        raise ValueError("the vectors are not those of the candidates")
    own = iter(vectors_of(vectors, count))
    found = [(_candidate(episode, row), next(own) if row["vector"] else None) for row in rows]
    return found, kept["held_back"]


def _candidate(episode: str, row: Mapping[str, Any]) -> EpisodeCandidate:
    return EpisodeCandidate(
        episode=episode,
        place=row["place"],
        kind=Kind(row["kind"]),
        trigger=row["trigger"],
        resolution=row["resolution"],
        confidence=row["confidence"],
        explicit=row["explicit"],
        whole=row["whole"],
        speaker=row["speaker"],
        entities=tuple(Mention(kind=EntityKind(kind), name=name) for kind, name in row["entities"]),
        files=tuple(row["files"]),
        steps=tuple(row["steps"]),
    )
