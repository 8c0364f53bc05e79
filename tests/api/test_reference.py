"""The reference in docs follows from the code."""

from __future__ import annotations

from pathlib import Path

import reference

from helix.operations import OPERATIONS


def test_the_pages_in_the_repository_are_current() -> None:
    written = {path.name: path.read_text("utf-8") for path in reference.FOLDER.glob("*.md")}
    assert written == reference.pages(), "run scripts/schema and read the difference"


def test_every_operation_and_every_link_of_the_index_is_there() -> None:
    text = (reference.FOLDER / "operations.md").read_text("utf-8")
    named = [name.split("_")[0] + "".join(word.capitalize() for word in name.split("_")[1:]) for name in OPERATIONS]
    assert [name for name in named if f"### `{name}` (" not in text] == []
    index = Path(reference.FOLDER.parent / "README.md").read_text("utf-8")
    for link in (part.partition(")")[0] for part in index.split("](")[1:]):
        assert (reference.FOLDER.parent / link.partition("#")[0]).exists(), link
