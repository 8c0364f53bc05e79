"""Holds that the doctor tells of hooks that get no answer: they fail in silence."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from helix.model.reports import DoctorFinding
from helix.service import Helix
from helix.store.doctor import examine
from helix.store.store import Store


def told(store: Store, *troubles: tuple[str, float]) -> DoctorFinding:
    """Return what the doctor finds after troubles that happened so many days ago."""
    folder = store.path / "logs"
    folder.mkdir(exist_ok=True)
    at = [(store.runtime.clock() - timedelta(days=days)).isoformat(timespec="milliseconds") for _, days in troubles]
    lines = [json.dumps({"at": when, "trouble": words}) for when, (words, _) in zip(at, troubles, strict=True)]
    (folder / "hooks.log").write_text("\n".join([*lines, '{"at": "20', "[]"]), "utf-8")
    (found,) = (one for one in examine(store).findings if one.check == "hooks")
    return found


def test_hooks_that_all_fail_are_told_with_what_to_do(helix: Helix) -> None:
    refused = ("the daemon answered with no success", 0.1)
    assert told(helix.store).ok
    assert told(helix.store, *[refused] * 3).ok
    found = told(helix.store, *[refused] * 9)
    assert not found.ok and "9 of the last day" in found.detail and refused[0] in found.detail and found.hint


@pytest.mark.soak
def test_what_is_old_or_ordinary_is_no_fault(helix: Helix) -> None:
    late = ("the daemon did not answer in time", 0.1), ("no daemon ran; one is being started", 0.1)
    assert told(helix.store, *[("PermissionError", 1.5)] * 9, *late * 9).ok
