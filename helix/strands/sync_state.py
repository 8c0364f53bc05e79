"""What a store remembers of the places it is synced with: in the journal, so that it survives a restart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence, Set
from dataclasses import asdict, dataclass, field
from typing import Any

from helix.journal.log import Journal
from helix.store.erasing import SYNCED
from helix.store.store import Store
from helix.strands.place import StrandName
from helix.text.inert import quoted


@dataclass(slots=True)
class Published:
    """A strand that this store has left in a place: its name, its version, and whether it holds all."""

    name: str
    version: str
    all: bool


@dataclass(slots=True)
class SyncState:
    """What is known of one place.

    `scopes`: what of the store is synced, None for all of it. `minutes`: how often it is synced by itself, None for
    never. `at` (microseconds), `error` and `problems` tell of the last try. `seen`: the largest number of each signer
    that is known here: a place can list any number of others.
    `published`: what this store left there, since the last strand but one that holds all. `seq` and `names` say what
    the store and the place were when nothing was left to be done; `outdated` is what the last erasure noted by then.
    `opens`: what opens the strands that this store leaves there.
    """

    place: str
    scopes: list[str] | None = None
    minutes: float | None = None
    at: int | None = None
    error: str = ""
    problems: list[str] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)
    published: list[Published] = field(default_factory=list)
    seq: int | None = None
    names: str = ""
    outdated: str = ""
    opens: list[str] = field(default_factory=list)

    def turned_back(self, names: Iterable[StrandName], known: Set[str]) -> list[str]:
        """Return the `known` signers of whom the place has less than it had; note the largest numbers that it has."""
        largest: dict[str, int] = {}
        for name in names:
            if name.signer in known:
                largest[name.signer] = max(name.number, largest.get(name.signer, 0))
        seen = {signer: number for signer, number in self.seen.items() if signer in known}
        self.seen = {signer: max(largest.get(signer, 0), seen.get(signer, 0)) for signer in {*largest, *seen}}
        return sorted(signer for signer, number in seen.items() if largest.get(signer, 0) < number)


def read(journal: Journal, place: str) -> SyncState:
    """Return what is known of a place that strands are synced with; nothing is of a new one."""
    told = journal.meta(_key(place))
    return (None if told is None else _parse_state(told)) or SyncState(place)


def every(journal: Journal) -> list[SyncState]:
    """Return what is known of each place; a note that is damaged is of none."""
    return [state for told in journal.metas(SYNCED).values() if (state := _parse_state(told)) is not None]


def warnings(journal: Journal) -> list[str]:
    """Return a sentence for each place that strands are synced with in the background and that failed last time."""
    told = []
    for state in every(journal):
        why = state.error or next(iter(state.problems), "")
        if state.minutes is not None and why:
            told.append(f"the sync with {state.place} did not go well: {quoted(why)}; `helix sync` shows all of it")
    return told


def write(store: Store, state: SyncState) -> None:
    """Remember what is known of a place that strands are synced with."""
    told = json.dumps(asdict(state))
    store.writer.call(lambda: store.journal.set_meta(_key(state.place), told))


def drop(store: Store, place: str) -> None:
    """Forget everything of a place that strands were synced with."""
    store.writer.call(lambda: store.journal.drop_meta(_key(place)))


def forget_contents(store: Store, place: str) -> None:
    """Expect none of the strands that lay in a place that is synced with."""
    state = read(store.journal, place)
    state.seen, state.published, state.seq = {}, [], None
    write(store, state)


def choose(store: Store, place: str, scopes: Sequence[str] | None) -> None:
    """Choose the scopes to sync with a place from now on: an empty list is all of them, None changes nothing."""
    state = read(store.journal, place)
    wanted = sorted(set(scopes or ())) or None
    if scopes is not None and state.scopes != wanted:
        state.scopes, state.seq = wanted, None
        write(store, state)


def _key(place: str) -> str:
    return SYNCED + hashlib.sha256(place.encode()).hexdigest()[:32]


def _parse_state(told: str) -> SyncState | None:
    """Return what a note says; None for one that is damaged."""
    try:
        said: dict[str, Any] = json.loads(told)
        state = SyncState(**{**said, "published": [Published(**one) for one in said["published"]]})
        is_whole = isinstance(state.place, str) and isinstance(state.minutes, int | float | None)
        return state if is_whole else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
