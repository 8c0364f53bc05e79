"""Background work is asked for with what its kind knows, and refused at once, with what is allowed, otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from helix.errors import InvalidInputError
from helix.memory.job_run.parameters import PARAMETERS, checked
from helix.memory.worker.kinds import KINDS
from helix.operations import background_work
from helix.service import Helix

WRONG: list[tuple[str, dict[str, Any]]] = [
    ("decay", {"unused_days": "x"}),
    ("decay", {"unused_days": float("nan")}),
    ("decay", {"min_uses": 1.5}),
    ("decay", {"scope": "project"}),
    ("prune", {"min_effectiveness": -0.1}),
    ("prune", {"min_uses": True}),
    ("merge_similar", {"threshold": 0}),
    ("merge_similar", {"threshold": [1]}),
    ("roll_up", {"scope": [1]}),
    ("roll_up", {"older_than_days": -1}),
    ("upgrade_importance", {"limit": 0}),
    ("upgrade_importance", {"limit": -5}),
    ("reflect", {"scope": ""}),
    ("consolidate", {"kind": "x"}),
    ("consolidate", {"self": "x"}),
    ("consolidate", {"scopes": "project"}),
]


def test_every_kind_says_what_it_takes() -> None:
    assert PARAMETERS.keys() == KINDS.keys()


@pytest.mark.parametrize(("kind", "payload"), WRONG)
def test_odd_payloads_are_refused_and_nothing_is_queued(kind: str, payload: dict[str, Any], living: Helix) -> None:
    background_work.pause_worker(living, True)
    for ask in (background_work.begin_work, background_work.work_plan):
        with pytest.raises(InvalidInputError) as told:
            ask(living, kind, payload)
        assert all(name in told.value.hint for name in PARAMETERS[kind])
    assert background_work.background(living).items == ()


def test_what_is_left_out_is_the_same_as_none() -> None:
    assert checked("merge_similar", {"scope": None, "threshold": None}) == checked("merge_similar", {})
    assert checked("decay", {"unused_days": 7, "min_uses": None}) == {"unused_days": 7}
    assert checked("consolidate", {}) == {"scope": None}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_the_table_allows_does_not_break_the_work(kind: str, living: Helix) -> None:
    whole = {name: 1 for name in PARAMETERS[kind] if name != "scope"}
    scope = {"scope": "nowhere"} if "scope" in PARAMETERS[kind] else {}
    assert background_work.work_plan(living, kind, {**whole, **scope}).kind == kind
