"""Verified use strengthens by its quality; decay and prune archive, as jobs too; what faded comes back when used."""

from __future__ import annotations

from datetime import timedelta

import pytest

from helix.agents.outcomes.feedback import feedback
from helix.errors import GuardError, InvalidInputError, NotFoundError
from helix.memory.job_run.run import Run
from helix.memory.remember.request import StoreRequest
from helix.memory.scores import Quality
from helix.memory.upkeep.maintenance import run_decay, run_decay_edges, run_prune
from helix.memory.worker.undo import undo
from helix.model.edge import Edge
from helix.model.memory import Status
from helix.model.recall import RecallQuery
from helix.operations import background_work, memories
from helix.service import Helix
from helix.store.store import Store
from tests.memory.conftest import Moment

_HALVINGS = 3
"""From an importance of 4 to the floor of 0.5."""


def stored(helix: Helix, trigger: str = "retry the upload with backoff", kind: str = "pattern", **more: str) -> str:
    return memories.store(helix, StoreRequest(trigger=trigger, resolution="", kind=kind, importance=4.0, **more)).id


def recalled(helix: Helix, *, deep: bool = False) -> set[str]:
    return {item.node.id for item in helix.recall(RecallQuery(query="retry the upload", deep=deep)).items}


@pytest.mark.parametrize(
    ("quality", "easiness", "half_life"),
    [
        (Quality.USED_AND_PASSED, 2.6, 90 * 2.6),
        (Quality.CLAIMED_AND_PASSED, 2.5, 90 * 2.5),
        (Quality.PASSED, 2.36, 90 * 2.36),
        (Quality.USED_AND_FAILED, 1.96, 90.0),
    ],
)
def test_a_verified_use_strengthens_by_its_quality(
    living: Helix, store: Store, moment: Moment, quality: Quality, easiness: float, half_life: float
) -> None:
    name = stored(living)
    now = moment.forward(days=3)
    (after,) = feedback(store, [name], 0.5, quality)
    assert after.easiness == pytest.approx(easiness)
    assert after.half_life_days == pytest.approx(half_life)
    assert (after.helped, after.failed, after.uses) == (0.5, 0.0, 1)
    assert (after.last_used_at is not None and after.last_used_at >= now) is (quality >= 3)
    assert memories.get(living, name) == after


def test_feedback_with_a_quality_reinforces_and_without_one_only_counts(living: Helix, store: Store) -> None:
    name = stored(living)
    (counted,) = feedback(store, [name], 0.5)
    assert (counted.easiness, counted.half_life_days) == (2.5, 90.0)
    (reinforced,) = feedback(store, [name], 0.5, quality=5)
    assert (reinforced.uses, reinforced.helped) == (2, 1.0)
    assert reinforced.half_life_days == pytest.approx(90 * 2.6)


@pytest.mark.parametrize("wrong", [-1, 6, 2.5, True])
def test_what_is_no_quality_is_refused_with_nothing_changed(living: Helix, store: Store, wrong: int) -> None:
    name = stored(living)
    with pytest.raises(InvalidInputError):
        feedback(store, [name], 0.5, wrong)
    with pytest.raises(InvalidInputError):
        feedback(store, [name], float("nan"), 5)
    with pytest.raises(NotFoundError):
        feedback(store, [name, "nobody"], 0.5, 5)
    assert memories.get(living, name).uses == 0


def test_what_faded_is_recalled_deep_only_until_a_verified_use_brings_it_back(
    living: Helix, store: Store, moment: Moment
) -> None:
    name = stored(living)
    moment.forward(days=_HALVINGS * 90 - 1)
    assert recalled(living) == {name}
    moment.forward(days=2)
    assert recalled(living) == set()
    assert name in recalled(living, deep=True)
    feedback(store, [name], -0.5, Quality.USED_AND_FAILED)
    assert recalled(living) == set(), "a use that failed brings nothing back"
    feedback(store, [name], 0.5, Quality.PASSED)
    assert recalled(living) == {name}
    longer = memories.get(living, name).half_life_days
    assert longer > 90
    moment.forward(days=_HALVINGS * longer - 1)
    assert recalled(living) == {name}


def test_looking_is_not_using(living: Helix, moment: Moment) -> None:
    name = stored(living)
    before = memories.get(living, name)
    for _ in range(5):
        moment.forward(days=1)
        recalled(living, deep=True)
    assert memories.get(living, name) == before


def test_decay_on_request_is_a_job_that_is_taken_back(living: Helix, store: Store, moment: Moment) -> None:
    name = stored(living)
    feedback(store, [name], 1.0)
    before = memories.get(living, name)
    moment.forward(days=40)
    assert memories.decay(living, dry_run=True).job == ""
    report = memories.decay(living)
    assert (report.changed, memories.get(living, name).helped) == (1, 0.5)
    assert memories.decay(living).job == "", "nothing was changed"
    background_work.undo(living, report.job)
    assert memories.get(living, name) == before


def test_prune_on_request_stops_at_the_guard_with_nothing_done(living: Helix, store: Store) -> None:
    names = [stored(living, f"trick {number} with the {number}th lever", agent="helper") for number in range(12)]
    for _ in range(3):
        feedback(store, names[:7], -1.0)
    with pytest.raises(GuardError, match="would take 7 memories out of recall, and 6 are allowed"):
        memories.prune(living)
    assert memories.prune(living, dry_run=True).changed == 7
    assert all(memories.get(living, name).status is Status.ACTIVE for name in names)
    feedback(store, names[:1], 10.0)
    report = memories.prune(living)
    assert (report.changed, sum(memories.get(living, name).status is Status.ARCHIVED for name in names)) == (6, 6)
    background_work.undo(living, report.job)
    assert all(memories.get(living, name).status is Status.ACTIVE for name in names)


@pytest.mark.parametrize("share", [25, -0.1, float("nan")])
def test_prune_takes_a_share_and_not_a_percentage(living: Helix, share: float) -> None:
    with pytest.raises(InvalidInputError, match="between 0 and 1"):
        memories.prune(living, min_effectiveness=share)


def test_decay_as_a_job_halves_once_a_period_and_is_undone(living: Helix, store: Store, moment: Moment) -> None:
    name = stored(living)
    feedback(store, [name], 1.0)
    moment.forward(days=29)
    assert run_decay(Run(store, "early", "decay"), {}) == {}
    moment.forward(days=2)
    dry = Run(store, "dry", "decay", dry_run=True)
    run_decay(dry, {})
    assert (dry.plan, memories.get(living, name).helped) == (["memories decayed: retry-upload-backoff"], 1.0)
    assert run_decay(Run(store, "one", "decay"), {}) == {"memories decayed": 1}
    assert run_decay(Run(store, "two", "decay"), {}) == {}
    assert memories.get(living, name).helped == 0.5
    undo(store, "one")
    assert memories.get(living, name).helped == 1.0


def test_prune_as_a_job_archives_what_fails_and_deep_recall_still_finds_it(living: Helix, store: Store) -> None:
    name, users = stored(living, agent="helper"), stored(living, "lift the anchor before the sail")
    feedback(store, [users] * 4, -1.0)
    for delta in (0.5, -1.0, -1.0):
        assert run_prune(Run(store, f"before {delta} {memories.get(living, name).uses}", "prune"), {}) == {}
        feedback(store, [name], delta)
    assert run_prune(Run(store, "one", "prune"), {}) == {"memories archived": 1}
    assert memories.get(living, name).status is Status.ARCHIVED
    assert memories.get(living, users).status is Status.ACTIVE, "outcomes never take away what the user said"
    assert name not in recalled(living)
    assert name in recalled(living, deep=True)
    undo(store, "one")
    assert name in recalled(living)


def test_edges_nobody_used_lose_half_their_weight_as_a_job(living: Helix, store: Store, moment: Moment) -> None:
    one, other = stored(living), stored(living, "uploads time out behind the proxy", "failure")
    memories.edge(living, one, other, "solves")

    def weight() -> float:
        (edge,) = memories.edges(living, one, "solves")
        assert isinstance(edge, Edge)
        return edge.weight

    moment.forward(days=59)
    assert run_decay_edges(Run(store, "early", "decay_edges"), {}) == {}
    moment.now += timedelta(days=2)
    assert run_decay_edges(Run(store, "one", "decay_edges"), {}) == {"edges decayed": 1}
    assert weight() == 0.5
    undo(store, "one")
    assert weight() == 1.0
