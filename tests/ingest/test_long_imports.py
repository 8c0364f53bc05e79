"""Long imports: what is too long in another memory's file is told of, and has nobody wait while it is looked at."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from helix.errors import InvalidInputError
from helix.identity import NO_PROJECT, Identity
from helix.ingest.draft import LinkDraft, Slice
from helix.ingest.jsonl import TEXT_LIMIT, record_slice
from helix.ingest.other_memories.adapter import Asked, ImportedItem, items
from helix.ingest.other_memories.mem0 import MEM0
from helix.model.reports import IngestProblem
from helix.text.cleaning import clean
from tests.counting import calls_of

LONG = "\x01a" * 500_000


@pytest.mark.parametrize(
    "says",
    [
        {"text": LONG},
        {"trigger": "t", "resolution": LONG},
        {"text": "x", "session": LONG},
        {"text": "x", "files": ["a.py", LONG]},
        {"trigger": "t", "resolution": "r", "attributes": {"concepts": [LONG]}},
        {"trigger": "t", "resolution": "r", "attributes": {LONG: "x"}},
    ],
)
def test_a_text_is_measured_before_it_is_cleaned(says: Mapping[str, Any]) -> None:
    """A row of a database held 98 MB of them, and each such row kept the whole daemon for six seconds."""

    def read() -> None:
        with suppress(InvalidInputError):
            record_slice(says, "x", 1)

    assert calls_of(clean, read, lambda given: len(given["text"])) <= 4 * TEXT_LIMIT


def test_a_label_without_end_is_told_from_another() -> None:
    one, other = (record_slice({"text": "x", "session": f"{LONG}{end}"}, "x", 1).episode.session for end in "ab")
    assert one != other and max(len(one), len(other)) <= 200


def test_what_mem0_relates_to_very_much_is_told_once(tmp_path: Path) -> None:
    """Of a file of 290 MB each relation of one end took seconds, in which no hook was answered."""
    relations = [
        {"source": "hub", "relationship": f"knows as number {number} in the long list of all", "target": "rim"}
        for number in range(2_000)
    ]
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps({"results": [], "relations": [*relations, *relations]}), "utf-8")
    nowhere = Identity(scope=NO_PROJECT, root=tmp_path)
    asked = Asked(path=file, scope="shop", mine=False, place_of=lambda _: nowhere, is_here=lambda _: False)
    found: list[object] = []
    assert calls_of(ImportedItem.source, lambda: found.extend(items(MEM0, asked))) <= 10
    hub, rim = (one for one in found if isinstance(one, Slice))
    assert hub.memories[0].resolution.splitlines()[1] == "- knows as number 1 in the long list of all rim"
    assert 50_000 < len(hub.memories[0].resolution) <= 60_000
    assert rim.memories[0].resolution == "rim is known to mem0."
    assert [one for one in found if isinstance(one, IngestProblem)] == [
        IngestProblem(where="hub", why="only its first 60,000 characters come in")
    ]
    assert sum(isinstance(one, LinkDraft) for one in found) == 4_000
