"""The reference in docs follows from the code."""

from __future__ import annotations

import json

import reference

from helix.operations import OPERATIONS


def test_the_pages_in_the_repository_are_current() -> None:
    written = {
        path.relative_to(reference.FOLDER).as_posix(): path.read_text("utf-8")
        for path in reference.FOLDER.rglob("*.md")
    }
    assert written == reference.pages(), "run scripts/schema and read the difference"
    assert json.loads(reference.SAYS.read_text("utf-8")) == reference.says(), "run scripts/schema"


def test_every_operation_and_every_link_of_the_index_is_there() -> None:
    text = "".join(path.read_text("utf-8") for path in reference.FOLDER.glob("operations/*.md"))
    named = [name.split("_")[0] + "".join(word.capitalize() for word in name.split("_")[1:]) for name in OPERATIONS]
    assert [name for name in named if f"## `{name}` (" not in text] == []
    docs = reference.FOLDER.parent
    for page in (docs / "README.md", reference.FOLDER / "operations.md", reference.FOLDER / "commands.md"):
        for link in (part.partition(")")[0] for part in page.read_text("utf-8").split("](")[1:]):
            assert (page.parent / link.partition("#")[0]).exists(), link
