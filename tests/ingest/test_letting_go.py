"""A rule that is said no more goes, and one that moved stays what it was, whichever of its places is read first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helix.errors import ConflictError
from helix.ingest import markdown
from helix.ingest.writing import Importer
from helix.memory.remember.curate import EditRequest
from helix.model.memory import Kind, Memory, Status
from helix.model.provenance import Trust
from helix.operations import ingest, memories
from helix.service import Helix
from helix.store.listing import MemoryFilter
from tests.sampling import some
from tests.waiting import finished

RULE = "Always run the linter before pushing a branch."


class Repository:
    """A repository of notes, told apart from others by its remote."""

    def __init__(self, helix: Helix, folder: Path, name: str = "back") -> None:
        self.helix, self.root = helix, folder / name
        (self.root / ".git").mkdir(parents=True)
        (self.root / ".git/config").write_text(f'[remote "o"]\nurl = git@e.org:a/{name}.git\n', "utf-8")

    def read(self, mine: bool, **files: tuple[str, ...]) -> None:
        """Ingest it with these files of rules, and no others."""
        for old in self.root.glob("*.md"):
            old.unlink()
        for name, rules in files.items():
            told = "".join(f"- {rule}\n" for rule in rules)
            (self.root / f"{name}.md").write_text(f"# Rules\n\n- Keep {name} short.\n{told}", "utf-8")
        self.read_again(mine)

    def read_again(self, mine: bool) -> None:
        """Ingest it as it is."""
        finished(self.helix, ingest.ingest_notes(self.helix, [str(self.root)], scope="shop", mine=mine))


def linter(helix: Helix) -> list[Memory]:
    """Return what stands of the rule."""
    active = memories.memories(helix, MemoryFilter(scope="shop", status=[Status.ACTIVE]), first=200).items
    return [one for one in active if "linter" in f"{one.trigger} {one.resolution}"]


@pytest.mark.parametrize("mine", [False, True])
def test_a_rule_that_went_to_another_file_and_back_goes_with_the_last_that_said_it(
    helix: Helix, tmp_path: Path, mine: bool
) -> None:
    repository = Repository(helix, tmp_path)
    for files in ({"CLAUDE": (RULE,)}, {"AGENTS": (RULE,)}, {"CLAUDE": (RULE,)}, {"CLAUDE": ()}):
        repository.read(mine, **files)
    assert linter(helix) == []


@pytest.mark.parametrize("mine", [False, True])
def test_one_file_that_drops_a_rule_leaves_nothing_to_do_for_the_next_reading(
    helix: Helix, tmp_path: Path, mine: bool
) -> None:
    repository = Repository(helix, tmp_path)
    repository.read(mine, AGENTS=(RULE,), CLAUDE=(RULE,))
    repository.read(mine, AGENTS=(RULE, "Never commit generated files."))
    before = helix.store.journal.last_seq
    repository.read_again(mine)
    assert helix.store.journal.last_seq == before


@pytest.mark.parametrize("made", ["name", "kind", "feedback"])
@pytest.mark.parametrize("mine", some([False, True], 1))
@pytest.mark.parametrize("between", [0, 60])
def test_a_rule_that_moved_to_a_place_that_is_read_later_keeps_what_a_person_made_of_it(
    helix: Helix, tmp_path: Path, made: str, mine: bool, between: int
) -> None:
    """Also where the two places are read in two transactions."""
    repository = Repository(helix, tmp_path)
    others = {f"B{number}": () for number in range(between)}
    repository.read(mine, AGENTS=(RULE,), CLAUDE=())
    (rule,) = linter(helix)
    if made == "feedback":
        memories.feedback(helix, [rule.id], delta=1.0)
    else:
        memories.edit(helix, rule.id, EditRequest(**{made: {"name": "lint", "kind": "fact"}[made]}))  # type: ignore[arg-type]
    repository.read(mine, AGENTS=(), **others, CLAUDE=(RULE,))
    (now,) = linter(helix)
    assert {"name": now.name == "lint", "kind": now.kind.value == "fact", "feedback": now.helped == 1.0}[made]


@pytest.mark.parametrize("mine", [False, True])
def test_a_rule_that_moved_to_two_later_places_stands_once(helix: Helix, tmp_path: Path, mine: bool) -> None:
    repository = Repository(helix, tmp_path)
    for files in ({"ZED": (RULE,)}, {"AGENTS": (RULE,)}, {"AGENTS": (), "CLAUDE": (RULE,), "ZED": (RULE,)}):
        repository.read(mine, **files)
    assert len(linter(helix)) == 1


@pytest.mark.parametrize("first", ["mine", "theirs"])
@pytest.mark.parametrize("theirs_vouched", [False, True])
def test_a_rule_of_two_repositories_goes_once_neither_says_it(
    helix: Helix, tmp_path: Path, first: str, theirs_vouched: bool
) -> None:
    mine, theirs = Repository(helix, tmp_path, "mine"), Repository(helix, tmp_path, "theirs")
    mine.read(True, CLAUDE=(RULE,))
    theirs.read(theirs_vouched, CLAUDE=(RULE,))
    if first == "mine":
        mine.read(True, CLAUDE=())
        by = Trust.USER_ASSERTED if theirs_vouched else Trust.TOOL_OUTPUT
        assert [one.provenance.trust for one in linter(helix)] == [by], "what the user withdrew is theirs no more"
        theirs.read(theirs_vouched, CLAUDE=())
    else:
        theirs.read(theirs_vouched, CLAUDE=())
        assert [one.provenance.trust for one in linter(helix)] == [Trust.USER_ASSERTED]
        mine.read(True, CLAUDE=())
    assert linter(helix) == []


@pytest.mark.parametrize("edited", [False, True])
@pytest.mark.parametrize("still", [True, False])
def test_what_the_user_stood_for_and_withdrew_is_theirs_who_said_it_before(
    helix: Helix, tmp_path: Path, edited: bool, still: bool
) -> None:
    """Also where an agent had put it in other words meanwhile."""
    mine, theirs = Repository(helix, tmp_path, "mine"), Repository(helix, tmp_path, "theirs")
    if edited:
        mine.read(False, CLAUDE=(RULE,))
    theirs.read(False, CLAUDE=(RULE,))
    if edited:
        memories.edit(helix, linter(helix)[0].id, EditRequest(trigger="Run the linter daily.", agent="claude"))
    mine.read(True, CLAUDE=(RULE,))
    assert [(one.trigger, one.provenance.trust) for one in linter(helix)] == [(RULE, Trust.USER_ASSERTED)]
    if not still:
        theirs.read(False, CLAUDE=())
    mine.read(True, CLAUDE=())
    assert [one.provenance.trust for one in linter(helix)] == [Trust.TOOL_OUTPUT] * still
    theirs.read(False, CLAUDE=())
    assert linter(helix) == []


def test_a_rule_stays_the_users_as_long_as_one_file_says_it_that_they_stand_for(helix: Helix, tmp_path: Path) -> None:
    """Which they did once it was known already."""
    mine, theirs = Repository(helix, tmp_path, "mine"), Repository(helix, tmp_path, "theirs")
    mine.read(False, CLAUDE=(RULE,))
    mine.read(False, CLAUDE=(RULE, "Never commit generated files."))
    mine.read(True, CLAUDE=(RULE, "Never commit generated files."), AGENTS=(RULE,))
    theirs.read(False, CLAUDE=(RULE,))
    mine.read(True, CLAUDE=(RULE, "Never commit generated files."), AGENTS=())
    assert [one.provenance.trust for one in linter(helix)] == [Trust.USER_ASSERTED]


@pytest.mark.parametrize("mine", [False, True])
def test_an_import_that_was_stopped_before_it_let_go_of_anything_does_so_the_next_time(
    helix: Helix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mine: bool
) -> None:
    repository = Repository(helix, tmp_path)
    repository.read(mine, CLAUDE=(RULE,))
    with monkeypatch.context() as stopped:
        stopped.setattr(Importer, "_let_go", lambda self: None)
        repository.read(mine, CLAUDE=())
    assert len(linter(helix)) == 1
    repository.read_again(mine)
    assert linter(helix) == []


def test_what_a_file_says_instead_is_no_version_of_the_rule_that_went(helix: Helix, tmp_path: Path) -> None:
    repository = Repository(helix, tmp_path)
    repository.read(True, CLAUDE=(RULE,))
    (gone,) = linter(helix)
    repository.read(True, CLAUDE=("Never commit generated files to the repository.",))
    memories.feedback(helix, [gone.id], -1.0)
    told = memories.memories(helix, MemoryFilter(scope="shop", status=[Status.ACTIVE]), first=200).items
    assert (memories.get(helix, gone.id).failed, [one.failed for one in told]) == (1.0, [0.0] * len(told))
    with pytest.raises(ConflictError) as refused:
        memories.forget(helix, gone.id)
    assert "generated" not in str(refused.value.hint)


def test_a_rule_that_is_left_alone_in_its_list_stays_what_a_person_made_of_it(helix: Helix, tmp_path: Path) -> None:
    repository = Repository(helix, tmp_path)
    notes = repository.root / "CLAUDE.md"
    notes.write_text(f"# Rules\n\n- Keep functions short.\n- {RULE}\n", "utf-8")
    repository.read_again(True)
    (told,) = linter(helix)
    memories.edit(helix, told.id, EditRequest(kind=Kind.PREFERENCE))
    notes.write_text(f"# Rules\n\n- {RULE}\n", "utf-8")
    repository.read_again(True)
    (kept,) = linter(helix)
    assert (kept.kind, kept.trigger, kept.resolution) == (Kind.PREFERENCE, told.trigger, told.resolution)


def test_rules_that_an_older_helix_read_in_a_changelog_go_once_it_is_read_again(
    helix: Helix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = Repository(helix, tmp_path)
    with monkeypatch.context() as older:
        older.setattr(markdown, "_CHANGELOG", re.compile("(?!)"))
        repository.read(False, CHANGELOG=(RULE,), CLAUDE=("Never commit generated files.",))
    assert len(linter(helix)) == 1
    for _ in range(2):
        repository.read_again(False)
        assert linter(helix) == []
    assert len(memories.memories(helix, MemoryFilter(scope="shop", status=[Status.ACTIVE])).items) == 2
