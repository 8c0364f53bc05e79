"""Holds that two people's stores of one project merge: to the same, with nothing found less well than before."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from benchmarks.strand_halves import NOTES, measure

from helix import settings as configuration
from helix.providers.fakes import HashEmbedder
from tests.waiting import UNHURRIED

PARTS = ("parser", "cache", "linker", "journal", "window", "router")
DEEDS = ("Teach the {} to read long names", "Mend a leak in the {} of old releases", "Drop the {} flag nobody uses")


def commits() -> list[Mapping[str, Any]]:
    """Return a made-up history of one line, each commit with its own subject and file."""
    made: list[Mapping[str, Any]] = []
    for number, (deed, part) in enumerate(itertools.product(DEEDS, PARTS)):
        files = [{"status": "M" if number >= len(PARTS) else "A", "path": f"src/{part}.c"}]
        parents = [f"{number - 1:040x}"] if number else []
        message = f"{deed.format(part)}\n\nIt failed with many entries, see step {number}."
        made.append(
            {"hash": f"{number:040x}", "parents": parents, "time": 1_700_000_000 + 3_600 * number, "author": "ada"}
            | {"message": message, "files": files}
        )
    return made


@pytest.mark.soak
def test_two_halves_of_a_history_merge_to_the_same_and_lose_no_answer(tmp_path: Path) -> None:
    settings = configuration.load({"home": tmp_path}, environ=UNHURRIED, cwd=tmp_path)
    run = measure(commits(), settings, lambda _: None, HashEmbedder(256))
    assert run["same_root"]
    for after in run["hits_after"]:
        assert all(now >= before > 0 for now, before in zip(after, run["hits_before"], strict=True))
    assert any(said in asked for said in (NOTES[0][1],) for asked in run["asked_of_the_person"])
    assert all(any(about in asked for about, *_ in NOTES) for asked in run["asked_of_the_person"])
