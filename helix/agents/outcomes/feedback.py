"""Feedback: what somebody says of memories without a task, kept so that it can be bounded and taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from helix.agents.outcomes.credit import CreditEntry, entry_from, give_credit, take_back_credit
from helix.agents.outcomes.verdicts import OutcomeVerdict
from helix.errors import ConflictError, InvalidInputError
from helix.memory.change.compose import Composer
from helix.memory.change.find import standing_memory_of
from helix.memory.change.versions import present_version
from helix.memory.scores import Quality
from helix.memory.upkeep.maintenance import check_feedback
from helix.model.memory import CLAIM, FEEDBACK, Memory, agents_said
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision

AGENTS_SAY = 0.5
"""What all agents together may add to a memory, and as much against it: what one verified task gives (spec, Verdicts).

The names that agents give themselves do not count, so that no loop of calls lifts a memory or buries it.
"""
_KEPT = 10
"""The newest of a person's that are kept for being taken back; those of agents are all kept, since they are bounded."""
_SLACK = 1e-9


def feedback(
    store: Store, names: Sequence[str], delta: float, quality: int | None = None, *, claimed: bool = False
) -> list[Memory]:
    """Take what somebody tells of memories' outcomes: a positive delta adds to `helped`, a negative one to `failed`.

    It counts a use. With a quality (one of `Quality`) it is a verified use, which reinforces and may reset the clock;
    without one only the counters change: what anybody may say keeps nothing from fading. A name is followed to its
    newest version, and to the memory that it was folded into. What is only `claimed` to have helped, by an agent, is
    no part of the label, and InvalidInputError is raised where agents have said as much as they may. Nothing is
    changed when one of the names is unknown (NotFoundError).
    """
    check_feedback(names, delta, quality)
    word = CLAIM if claimed else "helped" if delta > 0 else "failed"
    said = OutcomeVerdict(
        helped=max(0.0, delta),
        failed=max(0.0, -delta),
        quality=None if quality is None else Quality(quality),
        claimed=claimed,
        outcome=word,
    )

    def decision() -> Decision[list[Memory]]:
        composer = Composer(store, store.runtime.clock())
        changed = []
        for memory in _named(store.index, names):
            told = _given_credit(memory)
            if claimed:
                _check_claims(memory, delta)
            after, entry = give_credit(memory, said, composer.now)
            changed.append(_with(after, [*told, entry]))
            composer.node(changed[-1])
        return Decision((composer.change("feedback", delta=delta),), changed)

    return store.writer.submit(decision, once="feedback")


def undo_feedback(store: Store, names: Sequence[str], *, claimed: bool = False) -> list[Memory]:
    """Take back the newest feedback on each memory's outcomes, exactly; an agent takes back an agent's alone.

    Raises ConflictError where there is none, and changes nothing then.
    """

    def decision() -> Decision[list[Memory]]:
        composer = Composer(store, store.runtime.clock())
        changed = []
        for memory in _named(store.index, names):
            told = _given_credit(memory)
            mine = [place for place, one in enumerate(told) if not claimed or one.outcome == CLAIM]
            if not mine:
                raise ConflictError(
                    f"there is no feedback of {memory.name!r} to take back",
                    hint="the last ten are kept; `helix get NAME` shows what it helped and failed",
                )
            before = take_back_credit(memory, told.pop(mine[-1]))
            changed.append(_with(before, told))
            composer.node(changed[-1])
        return Decision((composer.change("undo_feedback"),), changed)

    return store.writer.submit(decision, once="feedback")


def _named(index: StoreIndex, names: Sequence[str]) -> list[Memory]:
    found = (present_version(index.records, standing_memory_of(index, name)) for name in names)
    return list({memory.id: memory for memory in found}.values())


def _given_credit(memory: Memory) -> list[CreditEntry]:
    held: Any = memory.attributes.get(FEEDBACK)
    return [entry_from(one) for one in held] if isinstance(held, list) else []


def _with(memory: Memory, told: Sequence[CreditEntry]) -> Memory:
    persons = [one for one in told if one.outcome != CLAIM][-_KEPT:]
    kept = [one.written() for one in told if one.outcome == CLAIM or one in persons]
    others = {name: value for name, value in memory.attributes.items() if name != FEEDBACK}
    return replace(memory, attributes={**others, FEEDBACK: kept} if kept else others)


def _check_claims(memory: Memory, delta: float) -> None:
    spoken = agents_said(memory)[0 if delta > 0 else 1]
    if spoken + abs(delta) > AGENTS_SAY + _SLACK:
        way = "for" if delta > 0 else "against"
        raise InvalidInputError(
            f"agents may say {AGENTS_SAY:g} {way} {memory.name!r} in all, and have said {spoken:g}",
            hint="what a test, a build or the user says counts beyond that",
        )
