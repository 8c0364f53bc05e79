"""The table of outcomes, row by row, and SM-2's quality in each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.agents.outcomes.verdicts import OutcomeVerdict, Use, outcome_of, verdict
from helix.memory.scores import Quality
from helix.model.evidence import Verification

PASSED, FAILED, NONE = Verification.PASSED, Verification.FAILED, Verification.NONE
NOTHING = OutcomeVerdict()
UNUSED = OutcomeVerdict(outcome="unused")
BAD = OutcomeVerdict(failed=0.3, quality=Quality.USED_AND_FAILED, outcome="failed")
HALF = OutcomeVerdict(helped=0.25, claimed=True, outcome="claimed")


@pytest.mark.parametrize("outcome", ["", "delivered"])
@pytest.mark.parametrize(
    ("verification", "use", "wanted"),
    [
        (PASSED, Use.EVIDENCE, OutcomeVerdict(helped=0.5, quality=Quality.USED_AND_PASSED, outcome="helped")),
        (PASSED, Use.CLAIMED, OutcomeVerdict(helped=0.5, quality=Quality.CLAIMED_AND_PASSED, outcome="helped")),
        (PASSED, Use.UNUSED, OutcomeVerdict(failed=0.1, outcome="unused")),
        (PASSED, Use.UNKNOWN, OutcomeVerdict(quality=Quality.PASSED)),
        (FAILED, Use.EVIDENCE, BAD),
        (FAILED, Use.CLAIMED, BAD),
        (FAILED, Use.UNUSED, UNUSED),
        (FAILED, Use.UNKNOWN, NOTHING),
    ],
)
def test_what_ran_decides_whatever_the_agent_says_of_its_success(
    verification: Verification, use: Use, wanted: OutcomeVerdict, outcome: str
) -> None:
    assert verdict(verification, use, outcome=outcome) == wanted


@pytest.mark.parametrize("verification", list(Verification))
@pytest.mark.parametrize(
    ("use", "wanted"), [(Use.EVIDENCE, BAD), (Use.CLAIMED, BAD), (Use.UNUSED, UNUSED), (Use.UNKNOWN, NOTHING)]
)
def test_blocked_counts_as_failed_whatever_ran(verification: Verification, use: Use, wanted: OutcomeVerdict) -> None:
    """But for what rests on the agent's word alone: that it was blocked, and that it had used the memory."""
    alone = use is Use.CLAIMED and verification is not Verification.FAILED
    assert verdict(verification, use, outcome="blocked") == (NOTHING if alone else wanted)


@pytest.mark.parametrize(
    ("use", "outcome", "wanted"),
    [
        (Use.EVIDENCE, "delivered", HALF),
        (Use.CLAIMED, "delivered", HALF),
        (Use.UNUSED, "delivered", UNUSED),
        (Use.UNKNOWN, "delivered", NOTHING),
        (Use.EVIDENCE, "", NOTHING),
        (Use.CLAIMED, "", NOTHING),
        (Use.UNUSED, "", NOTHING),
    ],
)
def test_where_nothing_ran_a_claim_is_worth_half_and_marked_as_one(
    use: Use, outcome: str, wanted: OutcomeVerdict
) -> None:
    assert verdict(NONE, use, outcome=outcome) == wanted


@pytest.mark.parametrize("verification", list(Verification))
@pytest.mark.parametrize("use", list(Use))
def test_skipped_gives_nothing(verification: Verification, use: Use) -> None:
    assert verdict(verification, use, outcome="skipped") == OutcomeVerdict(outcome="skipped")


def test_the_penalty_for_taking_room_is_a_setting_and_no_use() -> None:
    assert verdict(PASSED, Use.UNUSED, unused_penalty=0.0) == UNUSED
    assert not UNUSED.is_use
    assert not NOTHING.is_use
    assert BAD.is_use
    assert HALF.is_use


@pytest.mark.parametrize(
    ("verification", "said", "wanted"),
    [
        (PASSED, "", "delivered"),
        (PASSED, "delivered", "delivered"),
        (PASSED, "blocked", "blocked"),
        (FAILED, "", "blocked"),
        (FAILED, "delivered", "blocked"),
        (FAILED, "skipped", "skipped"),
        (NONE, "delivered", "delivered"),
        (NONE, "", ""),
    ],
)
def test_evidence_overrules_what_is_said_of_success(verification: Verification, said: str, wanted: str) -> None:
    assert outcome_of(verification, said) == wanted


@given(
    st.sampled_from(Verification),
    st.sampled_from(Use),
    st.sampled_from(["", "delivered", "blocked", "skipped"]),
    st.floats(0, 0.1),
)
def test_no_verdict_gives_both_ways_or_more_than_the_table_or_holds_back_what_use_deserves(
    verification: Verification, use: Use, outcome: str, penalty: float
) -> None:
    found = verdict(verification, use, outcome=outcome, unused_penalty=penalty)
    assert not (found.helped and found.failed)
    assert found.helped in (0, 0.25, 0.5)
    assert found.failed in (0, 0.3, penalty)
    assert found.claimed is (found.outcome == "claimed")
    assert not (found.claimed and found.quality is not None), "a claim reinforces nothing"
    assert found.is_room is (found.outcome == "unused" and found.failed > 0)
    if use in (Use.EVIDENCE, Use.CLAIMED):
        order = [verdict(one, use, outcome=outcome) for one in (FAILED, NONE, PASSED)]
        worth = [one.helped - one.failed for one in order]
        assert worth == sorted(worth), "better evidence is never worth less"
    again = outcome_of(verification, outcome_of(verification, outcome))
    assert again == outcome_of(verification, outcome)
