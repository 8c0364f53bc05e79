"""The ledger: what clients were promised, what they were left in doubt about, and what the journal makes of it."""

from __future__ import annotations

import copy
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.soak_journal import Picture

LIVE = ("active", "archived", "quarantined")


@dataclass(slots=True)
class Memory:
    """A memory that was acknowledged. `helped` is the feedback acknowledged, `maybe` what was left in doubt.

    `former` is the token of the version before it, some of whose words it has still.
    A `busy` one belongs to one operation; a `linked` one has edges that were promised.
    """

    id: str
    token: str
    text: str
    status: set[str] = field(default_factory=lambda: {*LIVE, "retired"})
    helped: float = 0.0
    maybe: float = 0.0
    busy: bool = False
    linked: bool = False
    former: str = ""


@dataclass(slots=True)
class Facts:
    """Everything that one or other operation promised."""

    memories: dict[str, Memory] = field(default_factory=dict)
    episodes: dict[str, str] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)
    nodes: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    edges: set[tuple[str, str, str]] = field(default_factory=set)
    erased: set[str] = field(default_factory=set)
    perhaps_erased: set[str] = field(default_factory=set)
    going: set[str] = field(default_factory=set)
    once: set[str] = field(default_factory=set)


class Ledger:
    """The facts of one store, shared by the threads that write to it."""

    def __init__(self) -> None:
        self.facts = Facts()
        self.lock = threading.Lock()
        self.counts: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self._number = 0

    def token(self) -> str:
        """Return a word that nobody has said before; it may come to be stored once, and no more than once."""
        with self.lock:
            self._number += 1
            self.facts.once.add(token := f"soak{self._number}q")
            return token

    def snapshot(self) -> Facts:
        """Return the facts as they are now."""
        with self.lock:
            return copy.deepcopy(self.facts)

    def memory(self, answer: dict[str, Any], token: str, text: str) -> Memory | None:
        """Note an acknowledged memory; None where it was counted on another."""
        with self.lock:
            if answer["status"] in ("MERGED", "UPDATED"):
                return None
            made = self.facts.memories[answer["id"]] = Memory(answer["id"], token, text)
            self.facts.tokens.add(token)
            return made


@dataclass(slots=True)
class Verdict:
    """What was found wrong: lost and doubled by name, differences between the parts, and what was not said of it."""

    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong with the store."""
        return not (self.lost or self.doubled or self.differs)

    def short(self) -> dict[str, Any]:
        """Return it as it goes into a report."""
        names = ("lost", "doubled", "differs", "silent", "alarms")
        return {name: [len(found), *found[:8]] for name in names if (found := getattr(self, name))}


def compare(facts: Facts, picture: Picture, verdict: Verdict) -> None:
    """Hold what was promised against the journal."""
    nodes, where = picture.state.nodes, _tokens(picture)
    gone = _gone(facts)
    for memory in facts.memories.values():
        if memory.token in gone:
            continue
        props = nodes.get(("Memory", memory.id))
        if props is None:
            verdict.lost.append(f"memory {memory.id} ({memory.token})")
            continue
        if memory.token not in f"{props.get('trigger')} {props.get('resolution')}":
            verdict.lost.append(f"words of memory {memory.id} ({memory.token})")
        if props.get("status") not in memory.status:
            verdict.lost.append(f"status of {memory.id}: {props.get('status')}, not {sorted(memory.status)}")
        helped = float(props.get("helped", 0.0))
        if helped < memory.helped - 1e-6:
            verdict.lost.append(f"feedback of {memory.id}: {helped} of {memory.helped}")
        if helped > memory.helped + memory.maybe + 1e-6:
            verdict.doubled.append(f"feedback of {memory.id}: {helped}, at most {memory.helped + memory.maybe}")
    for token, episode in facts.episodes.items():
        if token not in gone and not any(key[0] == "Episode" for key in where.get(token, ())):
            verdict.lost.append(f"episode {episode} ({token})")
    _compare_rest(facts, picture, verdict, where)


def _compare_rest(facts: Facts, picture: Picture, verdict: Verdict, where: dict[str, set[tuple[str, str]]]) -> None:
    nodes = picture.state.nodes
    for key, wanted in facts.nodes.items():
        props = nodes.get(key)
        if props is None:
            verdict.lost.append(f"{key[0]} {key[1]}")
        elif wrong := {name for name, value in wanted.items() if not _is(props.get(name), value)}:
            verdict.lost.append(f"{key[0]} {key[1]}: {sorted(wrong)}")
    ids = {key[4] for key in picture.state.edges} | {key[2] for key in picture.state.edges}
    there = {(kind, source, target) for kind, _, source, _, target in picture.state.edges}
    gone = _gone(facts)
    erased = {memory.id for memory in facts.memories.values() if memory.token in gone}
    for edge in facts.edges - there:
        if not erased & set(edge[1:]):
            verdict.lost.append(f"edge {edge} (its ends {'have' if set(edge[1:]) & ids else 'have no'} other edges)")
    for token, found in where.items():
        for label in ("Memory", "Episode"):
            keys = [key for key in found if key[0] == label]
            if len(keys) > 1 and token in facts.once:
                verdict.doubled.append(f"{token} stands in {len(keys)} nodes {label}: {sorted(keys)}")
    for token in facts.erased & where.keys():
        verdict.lost.append(f"the erasure of {token}: it stands in {sorted(where[token])}")


def _gone(facts: Facts) -> set[str]:
    """Return the tokens of what was erased, or may have been: a plan names it, or it repeats what was erased."""
    memories = facts.memories.values()
    gone = facts.erased | facts.perhaps_erased | {one.token for one in memories if one.id in facts.going}
    said = {_rest(one) for one in memories if one.token in gone}
    gone |= {one.token for one in memories if _rest(one) in said}
    while later := {one.token for one in memories if one.former in gone} - gone:
        gone |= later
    return gone


def _rest(memory: Memory) -> str:
    return memory.text.replace(memory.token, "")


def _is(value: Any, wanted: str) -> bool:
    return value is not None if wanted == "*" else str(value) == wanted


def _tokens(picture: Picture) -> dict[str, set[tuple[str, str]]]:
    """Return the nodes that say each token first hand: no old version, nothing that was derived from others."""
    found: dict[str, set[tuple[str, str]]] = {}
    for key, props, tokens in picture.texts():
        label = key[0]
        if label == "Memory" and (props.get("status") == "retired" or props.get("extractor") != "explicit"):
            continue
        if label == "Episode" and props.get("role") == "store":
            continue
        if label in ("Memory", "Episode"):
            for token in tokens:
                found.setdefault(token, set()).add(key)
    return found


def gone_from(words: Iterable[str], held: dict[str, set[str]], verdict: Verdict) -> None:
    """Note which erased words still lie in which files."""
    wanted = set(words)
    for name, found in held.items():
        if wanted & found:
            verdict.lost.append(f"the erasure of {sorted(wanted & found)[:3]}: still in {name}")
