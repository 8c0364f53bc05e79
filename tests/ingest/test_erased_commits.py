"""Erased commits: what was erased of a history comes back by no reading of it, whatever its project is called."""

from __future__ import annotations

from typing import Any

import pytest
from git_history import History

from helix.operations import capture, erasure, ingest
from helix.service import Helix
from tests.waiting import finished


def take_in(helix: Helix, history: History) -> dict[str, Any]:
    return dict(finished(helix, ingest.ingest_git(helix, str(history.path))).result)


@pytest.mark.parametrize("remote", ["https://example.org/ada/shop.git", "http://localhost:3000/ada/shop.git"])
def test_a_commit_that_was_erased_stays_away_when_its_history_is_read_again(
    helix: Helix, history: History, remote: str
) -> None:
    history.git("remote", "add", "origin", remote)
    history.commit("Feed the quaxlotl at nine\n\nThe keeper is called Zymurgy.\n", {"farm/feed.py": "1"})
    assert take_in(helix, history)["episodes"] == 1
    (told,) = capture.episodes(helix).items
    finished(helix, erasure.hard_forget(helix, told.id, told.id))
    assert take_in(helix, history)["episodes"] == 0
    assert [one.content for one in capture.episodes(helix).items] == [""]
