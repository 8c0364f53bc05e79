"""What a history takes back and brings back: it counts against what the history said, and against nothing else."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from git_history import History

from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.model.memory import Memory
from helix.operations import ingest, memories, review
from helix.service import Helix
from helix.store.listing import MemoryFilter
from tests.waiting import finished

TITLE = "Enable the cache for uploads"
TOLD = "Always {} the cache for uploads because uploads were slow."
OWN = StoreRequest(
    trigger="Disable the cache for uploads",
    resolution=TOLD.format("disable"),
    kind="decision",
    scope="shop",
    name="no-cache",
)


def taken_in(helix: Helix, history: History) -> Memory:
    """Read a history, and return what stands of its first commit."""
    finished(helix, ingest.ingest_git(helix, str(history.path), scope="shop"))
    (told,) = (one for one in memories.memories(helix, MemoryFilter()).items if one.trigger == TITLE)
    return told


@pytest.mark.parametrize("at_once", [True, False])
def test_what_is_reverted_and_reapplied_holds_again_however_it_arrives(
    helix: Helix, history: History, at_once: bool
) -> None:
    first = history.commit(f"{TITLE}\n\n{TOLD.format('enable')}", {"a": "1"})
    assert taken_in(helix, history).valid_to is None
    taken = history.commit(f'Revert "{TITLE}"\n\nThis reverts commit {first}.', {"a": "2"})
    if not at_once:
        assert taken_in(helix, history).valid_to is not None
    history.commit(f'Reapply "{TITLE}"\n\nThis reverts commit {taken}.', {"a": "3"})
    assert taken_in(helix, history).valid_to is None


@pytest.mark.parametrize("by_hash", [True, False])
@pytest.mark.parametrize("at_once", [True, False])
def test_each_revert_of_a_reapply_ends_again_what_it_had_brought_back(
    helix: Helix, history: History, at_once: bool, by_hash: bool
) -> None:
    last = history.commit(f"{TITLE}\n\n{TOLD.format('enable')}", {"a": "1"})
    title = TITLE
    for number, holds in enumerate((False, True, False, True, False)):
        # git's own titles: what reverts `Revert "X"` is called `Reapply "X"`
        title = title.replace("Revert", "Reapply", 1) if title.startswith("Revert") else f'Revert "{title}"'
        message = f"{title}\n\nThis reverts commit {last}." if by_hash else title
        last = history.commit(message, {"a": f"again {number}"})
        if not at_once:
            assert (taken_in(helix, history).valid_to is None) is holds
    assert taken_in(helix, history).valid_to is not None


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("decided", [True, False])
def test_no_commit_brings_back_what_the_user_ended(
    helix: Helix, history: History, at_once: bool, decided: bool
) -> None:
    first = history.commit(f"{TITLE}\n\n{TOLD.format('enable')}", {"a": "1"})
    commit = taken_in(helix, history)
    own = memories.store(helix, OWN)
    if decided:
        review.resolve_contradiction(helix, commit.id, own.id, winner=own.id)
    ended = memories.get(helix, commit.id).valid_to
    assert ended is not None
    taken = history.commit(f'Revert "{TITLE}"\n\nThis reverts commit {first}.', {"a": "2"})
    if not at_once:
        taken_in(helix, history)
    history.commit(f'Reapply "{TITLE}"\n\nThis reverts commit {taken}.', {"a": "3"})
    taken_in(helix, history)
    assert memories.get(helix, commit.id).valid_to == ended


def test_no_commit_takes_off_an_end_that_the_user_set(helix: Helix, history: History) -> None:
    first = history.commit(f"{TITLE}\n\n{TOLD.format('enable')}", {"a": "1"})
    told = taken_in(helix, history)
    memories.edit(helix, told.id, EditRequest(valid_to=datetime(2026, 1, 1, tzinfo=UTC)))
    ended = taken_in(helix, history).valid_to
    assert ended is not None
    taken = history.commit(f'Revert "{TITLE}"\n\nThis reverts commit {first}.', {"a": "2"})
    history.commit(f'Reapply "{TITLE}"\n\nThis reverts commit {taken}.', {"a": "3"})
    assert taken_in(helix, history).valid_to == ended


def test_what_is_reapplied_holds_on_once_what_stood_against_it_is_gone(helix: Helix, history: History) -> None:
    first = history.commit(f"{TITLE}\n\n{TOLD.format('enable')}", {"a": "1"})
    taken_in(helix, history)
    taken = history.commit(f'Revert "{TITLE}"\n\nThis reverts commit {first}.', {"a": "2"})
    taken_in(helix, history)
    own = memories.store(helix, OWN)
    history.commit(f'Reapply "{TITLE}"\n\nThis reverts commit {taken}.', {"a": "3"})
    assert taken_in(helix, history).valid_to is not None
    memories.forget(helix, own.id)
    assert taken_in(helix, history).valid_to is None
