"""Holds what an import of notes or of another memory takes for an earlier reading of what it reads again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from helix.ingest.writing import Earlier
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
