"""Holds what an import of notes or of another memory takes for an earlier reading of what it reads again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from helix.ingest.earlier import Earlier
from helix.memory.remember.request import StoreRequest
from helix.model.edge import Label
from helix.model.memory import Status
from helix.model.operations import Change, DropNode
from helix.model.recall import RecallQuery
from helix.operations import ingest, memories
from helix.service import Helix
from helix.store.listing import MemoryFilter
from helix.store.lookups import RowIndex
from helix.store.writer import Decision
from tests.waiting import finished


def noted(helix: Helix, file: Path, *said: str) -> None:
    file.write_text("\n".join(f"# About {place}\n\n- Always {said}.\n" for place, said in enumerate(said)), "utf-8")
    finished(helix, ingest.ingest_notes(helix, [str(file)], scope="shop"))


def calls_by_the_writer(helix: Helix, code: object, work: Callable[[], object]) -> int:
    """Return how often the writer's thread runs a piece of code while work is done."""
    count = 0

    def look(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_code is code

    helix.store.writer.call(lambda: sys.setprofile(look))
    try:
        work()
    finally:
        helix.store.writer.call(lambda: sys.setprofile(None))
    return count


def test_nobody_waits_while_all_sources_are_looked_through_for_each_section(helix: Helix, tmp_path: Path) -> None:
    looked = [
        calls_by_the_writer(
            helix,
            RowIndex.items.__code__,
            lambda many=many: noted(helix, tmp_path / f"{many}.md", *(f"do {many} and {one}" for one in range(many))),
        )
        for many in (2, 20)
    ]
    assert looked[0] == looked[1]


def test_a_file_that_says_again_what_it_said_before_is_read_again(helix: Helix, tmp_path: Path) -> None:
    """As a branch that is changed to and back again has it."""
    file, first, second = tmp_path / "CLAUDE.md", "run the linter by make lint", "run the linter by tox -e lint"
    for said in (first, second, first, first, second, second):
        noted(helix, file, said)
        standing = memories.memories(helix, MemoryFilter(scope="shop", status=[Status.ACTIVE])).items
        assert [one.resolution for one in standing] == [f"Always {said}."]
        found = helix.recall(RecallQuery(query="run the linter", scope="shop")).items
        assert [item.node.id for item in found] == [standing[0].id]
    assert len(memories.history(helix, standing[0].name).items) == 4, "what says the same is no new version"


RULE = "- Always run the linter before pushing.\n"
OTHER = "- Never commit generated files.\n"
TURNS = {
    "one of two files drops it": ([(RULE, RULE), (RULE, OTHER)], True),
    "the first of two files drops it": ([(RULE, RULE), (OTHER, RULE)], True),
    "both drop it, one after the other": ([(RULE, RULE), (OTHER, RULE), (OTHER, OTHER)], False),
    "both drop it, the other way round": ([(RULE, RULE), (RULE, OTHER), (OTHER, OTHER)], False),
    "both drop it at once": ([(RULE, RULE), (OTHER, OTHER)], False),
    "it moves to the other file": ([(RULE, OTHER), (OTHER, RULE)], True),
    "it moves back": ([(OTHER, RULE), (RULE, OTHER)], True),
    "it moves, and is dropped there": ([(RULE, OTHER), (OTHER, RULE), (OTHER, OTHER)], False),
    "dropped, and back": ([(RULE, OTHER), (OTHER, OTHER), (RULE, OTHER)], True),
    "left, back, and left by the other": ([(RULE, RULE), (OTHER, RULE), (RULE, RULE), (RULE, OTHER)], True),
    "something else changes": ([(RULE, RULE), (RULE + OTHER, RULE), (RULE + OTHER, OTHER)], True),
    "something else changes, then it goes": ([(RULE, RULE), (RULE + OTHER, RULE), (OTHER, RULE), (OTHER, "")], False),
}


@pytest.mark.parametrize("mine", [False, True])
@pytest.mark.parametrize("sections", ["files", "headings"])
@pytest.mark.parametrize("what", TURNS)
def test_a_rule_stands_as_long_as_any_place_says_it(
    helix: Helix, tmp_path: Path, what: str, sections: str, mine: bool
) -> None:
    turns, stands = TURNS[what]
    for told in turns:
        named = zip(("AGENTS", "CLAUDE"), told, strict=True)
        texts = {name: f"# {name.title()}\n\n- Keep {name} short.\n{text}" for name, text in named}
        if sections == "headings":
            texts = {"CLAUDE": "\n".join(texts.values())}
        for name, text in texts.items():
            (tmp_path / f"{name}.md").write_text(text, "utf-8")
        finished(helix, ingest.ingest_notes(helix, [str(tmp_path)], scope="shop", mine=mine))
    standing = memories.memories(helix, MemoryFilter(scope="shop", status=[Status.ACTIVE])).items
    assert any("linter" in f"{one.trigger} {one.resolution}" for one in standing) == stands


def standing_rules(helix: Helix) -> set[str]:
    """Return what stands of the rules, by a word of each."""
    standing = memories.memories(helix, MemoryFilter(scope="shop", status=[Status.ACTIVE])).items
    return {word for word in ("linter", "generated") if any(word in f"{m.trigger} {m.resolution}" for m in standing)}


@pytest.mark.parametrize("repository", [False, True])
@pytest.mark.parametrize("mine", [False, True])
def test_what_a_section_a_file_or_a_folder_said_that_is_gone_is_said_no_more(
    helix: Helix, tmp_path: Path, mine: bool, repository: bool
) -> None:
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    if repository:
        (folder / ".git").mkdir()
    kept, other = folder / "kept.md", folder / "deep" / "other.md"

    def ingest_them(*paths: Path) -> None:
        finished(helix, ingest.ingest_notes(helix, [str(path) for path in paths], scope="shop", mine=mine))

    one, two = f"# One\n\n{RULE}", f"# Two\n\n{OTHER}"
    outside = tmp_path / "outside.md"
    outside.write_text("# Outside\n\n- Always ask before a release.\n", "utf-8")
    ingest_them(outside)
    for texts, said in [
        ({kept: f"{one}\n{two}"}, {"linter", "generated"}),
        ({kept: two}, {"generated"}),
        ({kept: f"{one}\n{two}"}, {"linter", "generated"}),
        ({kept: ""}, set()),
        ({kept: one, other: two}, {"linter", "generated"}),
        ({kept: one}, {"linter"}),
        ({kept: one, other: two}, {"linter", "generated"}),
        ({other: two}, {"generated"}),
    ]:
        for path in (kept, other):
            path.unlink(missing_ok=True)
        for path, text in texts.items():
            path.write_text(text, "utf-8")
        ingest_them(folder)
        assert standing_rules(helix) == said, texts
    ingest_them(other)
    assert standing_rules(helix) == {"generated"}, "a file says nothing of the others"
    (mine_alone := memories.memories(helix, MemoryFilter(scope="shop", status=[Status.ACTIVE])).items)
    assert sum("release" in f"{one.trigger} {one.resolution}" for one in mine_alone) == 1


def test_notes_that_nobody_stood_for_when_they_changed_take_the_place_of_those_that_the_user_stood_for(
    helix: Helix, tmp_path: Path
) -> None:
    """Once the user stands for them: until then both stand."""
    file = tmp_path / "CLAUDE.md"
    for text, mine, said in [
        (f"# One\n\n{RULE}", True, {"linter"}),
        (f"# One\n\n{OTHER}", False, {"linter", "generated"}),
        (f"# One\n\n{OTHER}", True, {"generated"}),
        ("", False, {"generated"}),
        ("", True, set()),
    ]:
        file.write_text(text, "utf-8")
        finished(helix, ingest.ingest_notes(helix, [str(file)], scope="shop", mine=mine))
        assert standing_rules(helix) == said


def test_earlier_readings_are_found_by_their_place_also_what_came_or_went_since(helix: Helix, tmp_path: Path) -> None:
    file, earlier = tmp_path / "notes.md", Earlier()

    def same() -> int:
        index = helix.store.index
        sources = {index.source_of(row) for row in range(index.count)}
        places = {f"{source.rpartition('@')[0]}@" for source in sources if "@" in source}
        for label in (Label.MEMORY, Label.EPISODE):
            for place in places:
                for scope in ("shop", "elsewhere"):
                    rows = earlier.of(index, label, place, scope)
                    assert rows == sorted(index.from_sources(label, place, scope))
        return len(places)

    noted(helix, file, "run the linter", "ask before pushing")
    assert same() == 2
    noted(helix, file, "run the tests", "ask before pushing", "write it down")
    memories.store(helix, StoreRequest(trigger="by hand", resolution="x", kind="fact", scope="shop"))
    assert same() == 3
    index = helix.store.index
    gone = index.ref_of(index.from_sources(Label.MEMORY, "notes:")[0])
    drop = Change(kind="test", operations=(DropNode(label=gone.label, id=gone.id),))
    helix.store.writer.submit(lambda: Decision((drop,), None))
    assert gone not in helix.store.index
    same()
