"""Verdicts: what the outcome of a task says of a memory that was put before it. One table, no state."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from helix.memory.scores import Quality
from helix.model.evidence import Verification
from helix.model.memory import Kind, Memory
from helix.model.task import BLOCKED, DELIVERED, SKIPPED
from helix.text.cues import cue_pattern

HELPED, FAILED, UNVERIFIED = 0.5, 0.3, 0.5
"""What a passed outcome adds to `helped`, a failed one to `failed`, and the share of it where nothing was verified."""


_HOLDING = frozenset({Kind.FAILURE, Kind.SYSTEMIC, Kind.CONVENTION, Kind.DECISION, Kind.PREFERENCE})
_FORBIDS = cue_pattern(r"never|avoid|don't|do not|must not|should not|may not|cannot|no longer|forbidden|not allowed")


class Use(StrEnum):
    """What is known of whether a memory was used in a task."""

    EVIDENCE = "evidence"
    """What was done shows it."""
    CLAIMED = "claimed"
    """The agent says so, and nothing else does."""
    UNUSED = "unused"
    """What was done is known, and nothing shows it."""
    UNKNOWN = "unknown"
    """What was done is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeVerdict:
    """What a memory gets: what is added to its counters, the quality of a verified use, and a word for it.

    `claimed` marks what rests on an agent's word alone. `outcome` is helped, failed, unused, claimed, skipped or empty.
    """

    helped: float = 0.0
    failed: float = 0.0
    quality: Quality | None = None
    claimed: bool = False
    outcome: str = ""

    @property
    def is_room(self) -> bool:
        """Whether an outcome's verdict charges for room that the memory took, and says nothing else of it."""
        return self.outcome == "unused" and self.failed > 0

    @property
    def is_use(self) -> bool:
        """Whether an outcome's verdict counts as a use of the memory."""
        return self.quality is not None or self.outcome in ("helped", "failed", "claimed")


def verdict(verification: Verification, use: Use, *, outcome: str = "", unused_penalty: float = 0.1) -> OutcomeVerdict:
    """Return the verdict of a task's outcome on a memory that was shown to it.

    `outcome` is what the agent says of the task: delivered, blocked, skipped or nothing. That it was blocked is
    believed, whatever passed: it says so against itself. Against a memory it counts where a check failed, or where
    evidence shows that it was used: not on the word of the agent alone. That it delivered is worth half where nothing
    was verified, and nothing against what failed.

    | verification | used (evidence) | used (claimed) | unused | unknown |
    |---|---|---|---|---|
    | passed | helped 0.5, quality 5 | helped 0.5, quality 4 | failed `unused_penalty` at most | quality 3 |
    | failed | failed 0.3, quality 1 | failed 0.3, quality 1 | nothing | nothing |
    | passed or none, blocked | failed 0.3, quality 1 | nothing | nothing | nothing |
    | none, delivered | helped 0.25, claimed | helped 0.25, claimed | nothing | nothing |
    | none, nothing said | nothing | nothing | nothing | nothing |
    | skipped, whatever ran | nothing | nothing | nothing | nothing |
    """
    if outcome == SKIPPED:
        return OutcomeVerdict(outcome="skipped")
    used = use in (Use.EVIDENCE, Use.CLAIMED)
    if verification is Verification.FAILED or outcome == BLOCKED:
        if use is Use.EVIDENCE or (used and verification is Verification.FAILED):
            return OutcomeVerdict(failed=FAILED, quality=Quality.USED_AND_FAILED, outcome="failed")
    elif verification is Verification.PASSED:
        if used:
            quality = Quality.USED_AND_PASSED if use is Use.EVIDENCE else Quality.CLAIMED_AND_PASSED
            return OutcomeVerdict(helped=HELPED, quality=quality, outcome="helped")
        if use is Use.UNUSED:
            return OutcomeVerdict(failed=unused_penalty, outcome="unused")
        return OutcomeVerdict(quality=Quality.PASSED)
    elif outcome == DELIVERED and used:
        return OutcomeVerdict(helped=HELPED * UNVERIFIED, claimed=True, outcome="claimed")
    elif not outcome:
        return OutcomeVerdict()
    return OutcomeVerdict(outcome="unused" if use is Use.UNUSED else "")


def leaves_a_trace(memory: Memory) -> bool:
    """Return whether following a memory leaves a trace in the work, so that an outcome can charge for its room.

    What warns, rules or forbids is followed by what is not done: that a task passed without a trace of it may well be
    its doing.
    """
    said = memory.resolution or memory.trigger
    return memory.kind not in _HOLDING and _FORBIDS.search(said) is None


def outcome_of(verification: Verification, said: str) -> str:
    """Return the outcome of a task: what the agent says of it, unless evidence says otherwise.

    Delivered is overruled by what failed; where nothing was said, evidence says it. An agent's `blocked` and `skipped`
    stand.
    """
    if said in (BLOCKED, SKIPPED):
        return said
    if verification is Verification.FAILED:
        return BLOCKED
    return DELIVERED if verification is Verification.PASSED else said
