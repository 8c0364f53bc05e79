"""Where a task stands, by what the client's own record of it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.agents.answers.task_record import helix_task_state
from helix.model.task_answers import TaskState

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("status", "outcome", "expected"),
    [
        ("pending", None, (True, False, False, "pending", False)),
        ("in_progress", None, (False, False, False, "in_progress", False)),
        ("completed", "delivered", (False, True, True, "delivered", False)),
        ("completed", "blocked", (False, True, False, "blocked", True)),
        ("completed", "skipped", (False, True, False, "skipped", True)),
        ("completed", None, (False, True, False, "completed", True)),
        ("in_progress", "delivered", (False, False, False, "delivered", False)),
    ],
)
def test_a_task_stands_where_its_status_and_outcome_say(
    status: str, outcome: str | None, expected: tuple[bool, bool, bool, str, bool]
) -> None:
    executable, finished, successful, said, blocks = expected
    task = {"id": "1", "status": status, "metadata": {"helix_outcome": outcome}}
    assert helix_task_state(task) == TaskState(
        executable=executable, finished=finished, successful=successful, outcome=said, blocks_dependents=blocks
    )


def test_a_task_can_begin_once_all_it_waits_for_is_delivered() -> None:
    task = {"id": 3, "blockedBy": [1, "2"]}
    one = {"id": "1", "status": "completed", "metadata": {"helix_outcome": "delivered"}}
    two = {"id": 2, "status": "completed", "metadata": {"helix_outcome": "blocked"}}
    assert not helix_task_state(task).executable
    assert not helix_task_state(task, [one, two]).executable
    assert helix_task_state(task, [one, {**two, "metadata": one["metadata"]}]).executable


@given(st.dictionaries(st.sampled_from(["id", "taskId", "status", "blockedBy", "blocked_by", "metadata"]), ANYTHING))
def test_a_record_of_whatever_form_has_a_state(task: dict[str, object]) -> None:
    at = helix_task_state(task)
    assert not (at.executable and at.finished)
    assert at.finished == (at.successful or at.blocks_dependents)
