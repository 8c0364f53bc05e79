"""Holds that what a person wrote reaches the commands it is about, on notes and commands of eight foreign projects."""

from __future__ import annotations

from pathlib import Path

from benchmarks.brief import QUESTIONS, at_commands


def test_most_commands_get_the_note_they_are_about_and_few_others_get_any(tmp_path: Path) -> None:
    sets = sorted((QUESTIONS / "commands").glob("*.md"))
    rows = [at_commands(path, tmp_path / path.stem) for path in sets]
    assert len(rows) == 8
    assert sum(row["reached"] for row in rows) > 0.6 * sum(row["of"] for row in rows)
    assert sum(row["told for nothing"] for row in rows) < 0.15 * sum(row["of none"] for row in rows)
