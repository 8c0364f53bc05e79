"""Holds what the replayed month promises, on a small month of its own."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.month import measure, plot, told
from benchmarks.month_replay import replay_of

from helix.providers.fakes import HashEmbedder

THINGS = ("kayak", "violin", "bakery", "telescope", "garden", "marathon")


def quiet(text: str) -> None:
    """Say nothing."""


def small(folder: Path) -> Path:
    """Write a set of twelve talks of four turns over half a year, and a question about each."""
    turns, asked = [], []
    for talk in range(12):
        for turn in range(4):
            thing = THINGS[talk % len(THINGS)]
            text = f"I spent {10 + talk} euros on the {thing} number {turn} in Lisbon because I wanted it."
            at = f"2023-{1 + talk // 2:02}-{1 + talk % 2 * 14:02}T10:00:00"
            line = {"id": f"{talk}:{turn}", "text": text, "ts": at, "session": f"s{talk}", "speaker": "Ann"}
            turns.append(line | {"meta": {"scope": "c"}})
        query = f"{10 + talk} euros on the {THINGS[talk % len(THINGS)]}"
        asked.append({"id": f"q{talk}", "query": query, "relevant": [f"{talk}:1"], "scope": "c"})
    for name, lines in (("corpus", turns), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return folder


def test_a_month_loses_no_evidence_and_says_what_became_of_it(tmp_path: Path) -> None:
    replay = replay_of(small(tmp_path))
    result = measure(replay, tmp_path / "models", HashEmbedder(128), [300], tmp_path / "homes", quiet)
    assert result["evidence"] == {"recorded": 48, "lost": 0, "changed": 0}
    assert not result["failed_work"] and result["memories"]["ungrounded"] == 0
    last = result["days"][-1]
    assert last["episodes"]["faded"] > 0 and last["summaries"] > 0
    assert result["with"][0]["recall"] >= result["without"][0]["recall"]
    assert any("within 300 tokens" in line for line in told(result))
    assert plot(tmp_path / "month.svg", result) == (tmp_path / "month.svg").exists()
