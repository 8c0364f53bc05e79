"""Holds what an import of notes or of another memory takes for an earlier reading of what it reads again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from helix.ingest.earlier import Earlier
from helix.memory.change.compose import Composer
from helix.memory.change.versions import files_of
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.memory.upkeep.merge import fold
from helix.model.edge import Label
from helix.model.memory import Kind, Memory, Status
from helix.model.operations import Change, DropNode
from helix.model.recall import RecallQuery
from helix.operations import ingest, memories
from helix.service import Helix
from helix.store.listing import MemoryFilter
from helix.store.lookups import RowIndex
from helix.store.writer import Decision
from tests.sampling import some
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
        assert [one.trigger or one.resolution for one in standing] == [f"Always {said}."]
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


@pytest.mark.parametrize("mine", some([False, True], 1))
@pytest.mark.parametrize("sections", ["files", "headings"])
@pytest.mark.parametrize("what", some(TURNS, 6))
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


CHANGES = {
    "a second section": ("## Rules\n\n{0}{1}", "## Rules\n\n{0}{1}\n## Style\n\n- Never use tabs in Python.\n"),
    "a title above": ("## Rules\n\n{0}{1}", "# Shop\n\n## Rules\n\n{0}{1}"),
    "one section again": ("# Rules\n\n{0}\n# More\n\n{1}", "# Rules\n\n{0}{1}"),
    "front matter": ("# Rules\n\n{0}{1}", "---\ntype: decision\n---\n\n# Rules\n\n{0}{1}"),
    "another heading": ("# Rules\n\n{0}{1}", "# How we work\n\n{0}{1}"),
    "another order": ("# Rules\n\n{0}{1}", "# Rules\n\n{1}{0}"),
    "line ends of Windows": ("# Rules\n\n{0}{1}", "# Rules\r\n\r\n{0}\r\n{1}"),
}


@pytest.mark.parametrize("modes", some([((True, True),), ((False, False),), ((False, True),), ((True, False),)], 2))
@pytest.mark.parametrize("what", CHANGES)
def test_what_is_said_still_stands_however_the_file_is_laid_out(
    helix: Helix, tmp_path: Path, what: str, modes: tuple[bool, bool]
) -> None:
    file, (before, after) = tmp_path / "CLAUDE.md", CHANGES[what]
    for text, mine in ((before, modes[0]), (after, modes[1]), (after, modes[1]), (before, modes[1]), (before, True)):
        file.write_bytes(text.format(RULE, OTHER).encode())
        finished(helix, ingest.ingest_notes(helix, [str(file)], scope="shop", mine=mine))
        assert standing_rules(helix) == {"linter", "generated"}


@pytest.mark.parametrize("mine", [False, True])
@pytest.mark.parametrize("folder", [False, True])
def test_a_file_that_moved_says_nothing_any_more_where_it_was(
    helix: Helix, tmp_path: Path, folder: bool, mine: bool
) -> None:
    """Named alone, as a client's own file of rules is."""
    (tmp_path / "docs").mkdir()
    (tmp_path / ".git").mkdir()
    was, now = (tmp_path / "docs/adr", tmp_path / "docs/decisions") if folder else (tmp_path, tmp_path)
    names = ("0001.md", "0001.md") if folder else ("CLAUDE.md", "AGENTS.md")
    heading = "Rules for @acme (~30 s)"
    other = "# Elsewhere\n\n- Always ask before a release.\n"
    (tmp_path / "README.md").write_text(other, "utf-8")

    def ingest_it(path: Path) -> None:
        finished(helix, ingest.ingest_notes(helix, [str(path)], scope="shop", mine=mine))

    ingest_it(tmp_path / "README.md")
    was.mkdir(exist_ok=True)
    (was / names[0]).write_text(f"# {heading}\n\n{RULE}{OTHER}", "utf-8")
    ingest_it(was if folder else was / names[0])
    now.mkdir(exist_ok=True)
    (was / names[0]).rename(now / names[1])
    for text, said in ((f"{RULE}{OTHER}", {"linter", "generated"}), (RULE, {"linter"})):
        (now / names[1]).write_text(f"# {heading}\n\n{text}- Keep it short.\n", "utf-8")
        ingest_it(now if folder else now / names[1])
        assert standing_rules(helix) == said
    standing = memories.memories(helix, MemoryFilter(scope="shop", status=[Status.ACTIVE])).items
    assert sum("release" in f"{one.trigger} {one.resolution}" for one in standing) == 1


@pytest.mark.parametrize("mine", [False, True])
def test_two_repositories_that_share_a_scope_keep_their_own_rules(helix: Helix, tmp_path: Path, mine: bool) -> None:
    files = [tmp_path / name / "CLAUDE.md" for name in ("back", "front")]
    for file, rule in zip(files, (RULE, OTHER), strict=True):
        (file.parent / ".git").mkdir(parents=True)
        (file.parent / ".git/config").write_text(f'[remote "o"]\nurl = git@e.org:a/{file.parent.name}.git\n', "utf-8")
        file.write_text(f"# Rules\n\n{rule}", "utf-8")
    for paths in ([files[0]], [files[1]], files, files, [files[0].parent], [files[1].parent]):
        finished(helix, ingest.ingest_notes(helix, [str(path) for path in paths], scope="shop", mine=mine))
    assert standing_rules(helix) == {"linter", "generated"}


def test_a_person_s_own_words_for_a_rule_stay_where_its_heading_changes(helix: Helix, tmp_path: Path) -> None:
    file = tmp_path / "CLAUDE.md"
    for number, heading in enumerate(("Rules", "How we work")):
        file.write_text(f"# {heading}\n\n{RULE}{OTHER}", "utf-8")
        finished(helix, ingest.ingest_notes(helix, [str(file)], scope="shop", mine=True))
        (rule,) = [one for one in memories.memories(helix, MemoryFilter(scope="shop")).items if "linter" in one.trigger]
        if not number:
            memories.edit(helix, rule.id, EditRequest(trigger="Always run the linter, and mypy."))
    assert rule.trigger == "Always run the linter, and mypy."


def merge_into(helix: Helix, winner: Memory, loser: Memory) -> None:
    def decide() -> Decision[None]:
        composer = Composer(helix.store, helix.store.runtime.clock())
        fold(composer, helix.store.records, winner, loser)
        return Decision((composer.change("merge"),), None)

    helix.store.writer.submit(decide)


@pytest.mark.parametrize("mine", some([False, True], 1))
@pytest.mark.parametrize("how", ["scope", "rename", "kind", "merge", "forget"])
@pytest.mark.parametrize("then", some(["nothing", "one more rule", "one file drops it", "another heading"], 2))
def test_what_a_person_made_of_a_rule_is_not_undone_by_reading_it_again(
    helix: Helix, tmp_path: Path, how: str, then: str, mine: bool
) -> None:
    files = [tmp_path / "A.md", tmp_path / "B.md"]

    def read(*rules: str, heading: str = "Rules") -> None:
        for file, rule in zip(files, rules, strict=True):
            file.write_text(f"# {heading}\n\n{rule}- Keep {file.name} short.\n", "utf-8")
        finished(helix, ingest.ingest_notes(helix, [str(tmp_path)], scope="shop", mine=mine))

    like = RULE.replace("pushing", "you push") if how == "merge" else RULE
    read(RULE, like)
    first, *others = [one for one in memories.memories(helix, MemoryFilter()).items if "linter" in one.trigger]
    if how == "merge":
        merge_into(helix, first, others[0])
    elif how == "forget":
        memories.forget(helix, first.id)
    else:
        to = {"scope": "global", "rename": "lint", "kind": "fact"}[how]
        memories.edit(helix, first.id, EditRequest(**{"name" if how == "rename" else how: to}))  # type: ignore[arg-type]
    for _ in range(2):
        if then == "one more rule":
            read(RULE + OTHER, like)
        elif then == "one file drops it":
            read(OTHER, like)
        else:
            read(RULE, like, heading="How we work" if then == "another heading" else "Rules")
        said = [one for one in memories.memories(helix, MemoryFilter()).items if "linter" in one.trigger]
        standing = [one for one in said if one.status is Status.ACTIVE]
        assert len(standing) == (how != "forget"), [(one.name, one.status, one.scope) for one in said]
        for one in standing:
            assert (one.scope == "global") == (how == "scope")
            assert (one.name == "lint") == (how == "rename")
            assert (one.kind is Kind.FACT) == (how == "kind")


@pytest.mark.parametrize("how", ["forget", "words", "name", "kind", "scope", None])
def test_a_rule_under_another_heading_is_the_one_that_a_person_ruled_on(
    helix: Helix, tmp_path: Path, how: str | None
) -> None:
    """Where a section is one rule its heading says when that counts."""
    said = "Always run `make warm` before the tests, because the cache is cold."

    def read(heading: str) -> list[Memory]:
        (tmp_path / "NOTES.md").write_text(f"# Rules\n\n## {heading}\n\n{said}\n", "utf-8")
        finished(helix, ingest.ingest_notes(helix, [str(tmp_path)], scope="shop"))
        return [one for one in memories.memories(helix, MemoryFilter()).items if one.status is Status.ACTIVE]

    (rule,) = read("Tests")
    to: dict[str | None, dict[str, str]] = {"words": {"resolution": "run `make hot`"}, "scope": {"scope": "global"}}
    if how == "forget":
        memories.forget(helix, rule.id)
    elif how is not None:
        given = to.get(how, {how: "fact" if how == "kind" else "warm"})
        memories.edit(helix, rule.id, EditRequest(**given))  # type: ignore[arg-type]
    before = [memories.get(helix, one.id) for one in read("Tests")]
    after = read("More tests")
    if how is None:
        assert [one.trigger for one in after] == ["Rules > More tests"] != [one.trigger for one in before]
    else:
        assert [one.id for one in after] == [one.id for one in before]


@pytest.mark.parametrize("how", ["forget", "edit"])
def test_what_was_made_of_one_rule_is_made_of_no_other_one_in_its_words(helix: Helix, tmp_path: Path, how: str) -> None:
    def read(name: str, *headings: str) -> dict[str, str]:
        said = "\n".join(f"## {heading}\n\nAlways ask the release manager first.\n" for heading in headings)
        (tmp_path / name).write_text(f"# Rules\n\n{said}", "utf-8")
        finished(helix, ingest.ingest_notes(helix, [str(tmp_path)], scope="shop", mine=True))
        found = memories.memories(helix, MemoryFilter(status=[Status.ACTIVE])).items
        return {one.trigger.rpartition(" > ")[2]: one.id for one in found}

    first = read("OWN.md", "Deploys", "Rollbacks")
    if how == "forget":
        memories.forget(helix, first["Deploys"])
    else:
        memories.edit(helix, first["Deploys"], EditRequest(resolution="Ask Bob."))
    kept = {"Deploys"} - ({"Deploys"} if how == "forget" else set())
    assert set(read("OWN.md", "Deploys", "Rolling back")) == kept | {"Rolling back"}
    assert set(read("B.md", "Schemas", "Force pushes")) == kept | {"Rolling back", "Schemas", "Force pushes"}


def test_a_rule_s_files_follow_its_front_matter(helix: Helix, tmp_path: Path) -> None:
    file = tmp_path / "style.mdc"
    for glob in ("src/*.py", "web/*.ts"):
        file.write_text(f"---\nglobs: {glob}\n---\n\n{RULE}{OTHER}", "utf-8")
        finished(helix, ingest.ingest_notes(helix, [str(file)], scope="shop"))
        (rule,) = [one for one in memories.memories(helix, MemoryFilter(scope="shop")).items if "linter" in one.trigger]
        assert files_of(helix.store.records, rule) == (glob,)


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
