"""Reading notes: which files, what they say, and that nothing comes in twice."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from helix.errors import NotFoundError
from helix.identity import scope_of_repository
from helix.ingest.draft import MemoryDraft, Slice
from helix.ingest.markdown import read_notes
from helix.model.memory import Kind
from helix.model.provenance import Trust
from helix.model.reports import IngestProblem

GUIDE = """# Guide

The parser reads dates from mail headers and from directory listings.

## Rules

When you write tests:

- Name them as claims about behaviour.
- Never sleep in a test because it makes the suite slow.
- See [the wiki](https://example.org).

## Running

Run the tests with two workers:

```sh
pytest -n 2
```
"""


def slices(found: Iterable[Slice | IngestProblem]) -> list[Slice]:
    return [item for item in found if isinstance(item, Slice)]


def memories(found: Iterable[Slice | IngestProblem]) -> list[MemoryDraft]:
    return [memory for item in slices(found) for memory in item.memories]


def problems(found: Iterable[Slice | IngestProblem]) -> dict[str, str]:
    return {Path(item.where).name: item.why for item in found if isinstance(item, IngestProblem)}


def write(folder: Path, name: str, text: str | bytes) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_sections_become_episodes_and_what_they_say_memories(tmp_path: Path) -> None:
    file = write(tmp_path, "docs/guide.md", GUIDE)
    found = slices(read_notes([file], root=tmp_path, scope="p"))
    assert [item.position for item in found] == [1, 2, 3]
    assert [item.supersedes for item in found] == [
        "notes:p:docs/guide.md#Guide@",
        "notes:p:docs/guide.md#Guide > Rules@",
        "notes:p:docs/guide.md#Guide > Running@",
    ]
    for item in found:
        assert item.episode.source.startswith(item.supersedes)
        assert all(memory.source.startswith(item.supersedes) for memory in item.memories)
        assert item.episode.trust is Trust.TOOL_OUTPUT
        assert item.episode.files == ("docs/guide.md",)
    assert [(memory.kind, memory.trigger, memory.resolution) for item in found for memory in item.memories] == [
        (Kind.FACT, "The parser reads dates from mail headers and from directory listings.", ""),
        (Kind.CONVENTION, "Rules: When you write tests", "Name them as claims about behaviour."),
        (Kind.FAILURE, "Rules: When you write tests", "Never sleep in a test because it makes the suite slow."),
        (Kind.SNIPPET, "Running: Run the tests with two workers", "pytest -n 2"),
    ]
    assert found[2].memories[0].attributes == {"language": "sh"}


def test_unchanged_sections_and_rules_keep_their_sources_when_others_change(tmp_path: Path) -> None:
    file = write(tmp_path, "guide.md", GUIDE)
    before = slices(read_notes([file], root=tmp_path, scope="p"))
    write(tmp_path, "guide.md", GUIDE.replace("Name them as claims", "Name them as statements"))
    after = slices(read_notes([file], root=tmp_path, scope="p"))
    assert [old.episode.source == new.episode.source for old, new in zip(before, after, strict=True)] == [
        True,
        False,
        True,
    ]
    assert after[1].supersedes == before[1].supersedes
    assert after[1].memories[0].source != before[1].memories[0].source
    assert after[1].memories[1].source == before[1].memories[1].source


def test_the_same_file_has_the_same_sources_however_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    file = write(tmp_path, "docs/guide.md", GUIDE)
    monkeypatch.chdir(tmp_path)
    ways = [[file], [tmp_path], [tmp_path / "docs"], ["docs/../docs/guide.md"], [file, tmp_path, file]]
    first, *others = ([item.episode.source for item in slices(read_notes(way, scope="p"))] for way in ways)
    assert "//docs/guide.md#" in first[0], "its repository is not the scope's own"
    assert all(other == first for other in others)
    own = scope_of_repository(tmp_path / ".git")
    assert slices(read_notes([file], scope=own))[0].episode.source.startswith(f"notes:{own}:docs/guide.md#")


def test_without_a_scope_the_whole_path_tells_files_of_one_name_apart(tmp_path: Path) -> None:
    found = [slices(read_notes([write(tmp_path, f"{name}/README.md", GUIDE)]))[0] for name in "ab"]
    assert found[0].episode.source != found[1].episode.source
    assert found[0].supersedes == f"notes:{(tmp_path / 'a' / 'README.md').resolve().as_posix()}#Guide@"


def test_headings_that_repeat_are_told_apart(tmp_path: Path) -> None:
    file = write(tmp_path, "a.md", "# Log\nfirst\n# Log\nsecond\n# user@host\nthird\n# " + "long " * 90 + "\nfourth\n")
    ends = [item.supersedes.partition("#")[2] for item in slices(read_notes([file]))]
    assert ends[:2] == ["Log@", "Log (2)@"]
    assert all(end.count("@") == 1 and len(end) < 250 for end in ends)
    assert len(set(ends)) == 4


def test_a_note_under_the_title_alone_begins_with_its_own_first_sentence(tmp_path: Path) -> None:
    text = "# Notes\n\n- Never push on a Friday. Nobody is there.\n\n## Builds\n\n- Use two workers here, always.\n"
    file = write(tmp_path, "NOTES.md", text)
    assert [(memory.trigger, memory.resolution) for memory in memories(read_notes([file]))] == [
        ("Never push on a Friday.", "Nobody is there."),
        ("Builds", "Use two workers here, always."),
    ]


def test_of_several_headings_at_the_top_each_tells_what_a_note_is_about(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "NOTES.md",
        "# Builds\n\n- Use two workers here, always.\n\n# Releases\n\n- Never on a Friday, please.\n",
    )
    assert [memory.trigger for memory in memories(read_notes([file]))] == ["Builds", "Releases"]


def test_the_words_of_a_note_tell_its_kind(tmp_path: Path) -> None:
    text = """- I prefer short answers.
- We decided to keep the journal in SQLite.
- The store breaks when two daemons open it.
- Use tabs in makefiles.
- The parser is written in C.

# Gotchas

- two clocks disagree here
"""
    file = write(tmp_path, "CLAUDE.md", text)
    kinds = {memory.resolution or memory.trigger: memory.kind for memory in memories(read_notes([file]))}
    assert kinds == {
        "I prefer short answers.": Kind.PREFERENCE,
        "We decided to keep the journal in SQLite.": Kind.DECISION,
        "The store breaks when two daemons open it.": Kind.FAILURE,
        "Use tabs in makefiles.": Kind.CONVENTION,
        "The parser is written in C.": Kind.FACT,
        "two clocks disagree here": Kind.FAILURE,
    }


def test_a_decision_record_is_one_decision(tmp_path: Path) -> None:
    text = """# 7. Keep the journal in SQLite

Date: 2024-03-01

## Status

Superseded by 0009

## Context

Kuzu loses writes.

## Decision

We journal first.

### Detail

In WAL mode.

## Consequences

Two files.
"""
    file = write(tmp_path, "adr/0007-journal.md", text)
    (item,) = slices(read_notes([file], root=tmp_path, scope="p"))
    (memory,) = item.memories
    assert item.supersedes == "notes:p:adr/0007-journal.md#@"
    assert memory.kind is Kind.DECISION
    assert memory.trigger == "Keep the journal in SQLite: Kuzu loses writes."
    assert memory.resolution == "We journal first.\n\nIn WAL mode.\n\nTwo files.\n\nStatus: Superseded by 0009"
    assert memory.confidence < 0.5
    assert memory.valid_from == datetime(2024, 3, 1, tzinfo=UTC)
    assert memory.attributes == {"status": "Superseded by 0009"}


def test_what_explains_a_piece_of_code_is_said_once_but_for_a_rule(tmp_path: Path) -> None:
    told = "Installs shims for all binaries known to the tool, which have to be made anew after each installation."
    rule = "Always run the formatter over all that you have changed before you push a branch to the shared remote."
    file = write(
        tmp_path, "a.md", f"# Manual\n\n## rehash\n\n{told}\n\n    $ tool rehash\n\n{rule}\n\n    $ make fmt\n"
    )
    found = memories(read_notes([file]))
    assert [(one.kind, told in f"{one.trigger} {one.resolution}") for one in found] == [
        (Kind.SNIPPET, True),
        (Kind.CONVENTION, False),
        (Kind.SNIPPET, False),
    ]


def test_code_that_only_a_heading_explains_is_a_snippet_each(tmp_path: Path) -> None:
    code = "```ts\nimport { slice } from 'store'\n```\n```ts\nexport const one = slice()\n```\n"
    text = f"# Guide\n\n## Make a slice\n\n{code}"
    found = memories(read_notes([write(tmp_path, "a.md", text)]))
    assert [(one.kind, one.trigger) for one in found] == [(Kind.SNIPPET, "Make a slice")] * 2


def test_tags_and_links_say_nothing(tmp_path: Path) -> None:
    tags = (
        '<a name="api_nan_decode_write"></a>\n\n<p align="center"><img src="theme-dark-and-wide.png" alt="A theme"></p>'
    )
    assert memories(read_notes([write(tmp_path, "a.md", f"# Decoding\n\n{tags}\n")])) == []


def test_front_matter_names_kind_date_and_files(tmp_path: Path) -> None:
    head = '---\nkind: convention\ndate: 2024-02-30\nglobs: "src/**/*.ts, lib/**"\n---\n'
    file = write(tmp_path, "rule.mdc", f"{head}The names of all types begin with T here.\n")
    (memory,) = memories(read_notes([file]))
    assert (memory.kind, memory.valid_from, memory.files) == (Kind.CONVENTION, None, ("src/**/*.ts", "lib/**"))


def test_a_folder_is_walked_for_notes_only(tmp_path: Path) -> None:
    for name in ("b.md", "a.rst", "deep/er/c.txt", ".hidden/d.md", "node_modules/x/e.md", "code.py", "deep/.dot.md"):
        write(tmp_path, name, f"This file is called {name} by everybody.")
    write(tmp_path, "picture.md", b"\x89PNG\0\0\0")
    write(tmp_path, "latin.md", "\u00e4\u00f6\u00fc".encode("latin-1") * 9)
    write(tmp_path, "huge.txt", b"x" * 1_000_001)
    write(tmp_path, "long.md", "- a\n" * 50_002)
    write(tmp_path, "wide.txt", "Wide text is read by its mark.".encode("utf-16"))
    os.mkfifo(tmp_path / "pipe.md")
    found = list(read_notes([tmp_path], root=tmp_path, scope="p"))
    names = [item.episode.files[0] for item in slices(found)]
    assert names == ["a.rst", "b.md", "deep/.dot.md", "deep/er/c.txt", "wide.txt"]
    assert problems(found) == {
        "huge.txt": "larger than 1,000,000 bytes",
        "latin.md": "not a text file",
        "long.md": "more than 50,000 lines",
        "picture.md": "not a text file",
        "pipe.md": "cannot be read: not a regular file",
    }


def test_ignore_files_hold_from_the_work_tree_down_even_for_a_named_file(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path, ".helixignore", "private/\n*.draft.md\n")
    write(tmp_path, "docs/.helixignore", "/old.md\n")
    for name in ("docs/a.md", "docs/old.md", "docs/b.draft.md", "docs/private/c.md", "docs/sub/old.md"):
        write(tmp_path, name, f"This file is called {name} by everybody.")
    names = [item.episode.files[0] for item in slices(read_notes([tmp_path / "docs"]))]
    assert names == ["docs/a.md", "docs/sub/old.md"]
    named = [tmp_path / "docs" / "old.md", tmp_path / "docs" / "private" / "c.md", tmp_path / "docs" / "private"]
    found = list(read_notes(named))
    assert slices(found) == []
    assert set(problems(found).values()) == {"excluded by .helixignore"}


def test_folders_that_git_ignores_are_passed_over_unless_they_are_named(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path, ".gitignore", "/versions\nbuild/\n*.local.md\n")
    write(tmp_path, "docs/.gitignore", "/made\n!/build\n")
    write(tmp_path, "wide/.gitignore", b"kept/\n" * 10_000)  # longer than a list of names is
    passed_over = ("versions/a.md", "build/b.md", "docs/made/c.md")
    for name in (*passed_over, "docs/build/d.md", "AGENTS.local.md", "wide/kept/e.md"):
        write(tmp_path, name, f"This file is called {name} by everybody.")
    names = [item.episode.files[0] for item in slices(read_notes([tmp_path]))]
    assert names == ["AGENTS.local.md", "docs/build/d.md", "wide/kept/e.md"]
    named = [tmp_path / "versions", tmp_path / "docs" / "made" / "c.md"]
    assert [item.episode.files[0] for item in slices(read_notes(named))] == ["versions/a.md", "docs/made/c.md"]


def test_licences_and_texts_in_a_work_tree_are_read_where_they_are_named(tmp_path: Path) -> None:
    others = ("LICENSE.md", "LICENCE-MIT.md", "CODE_OF_CONDUCT.md", "requirements.txt", "docs/table.txt")
    for name in (*others, "conducting.md", "docs/notices_of_users.md"):
        write(tmp_path, name, f"This file is called {name} by everybody.")
    (tmp_path / ".git").mkdir()
    names = [item.episode.files[0] for item in slices(read_notes([tmp_path]))]
    assert names == ["conducting.md", "docs/notices_of_users.md"]
    named = [item.episode.files[0] for item in slices(read_notes([tmp_path / name for name in others]))]
    assert named == list(others)


@pytest.mark.parametrize("name", ["CHANGELOG.md", "changelog_v12.md", "HISTORY.rst", "NEWS-2.md", "Release Notes.md"])
def test_a_changelog_is_what_happened_and_makes_no_rules(tmp_path: Path, name: str) -> None:
    text = "# Changes\n\n## 1.2\n\n- Always close the stream.\n- Add a parser for dates.\n"
    (item,) = slices(read_notes([write(tmp_path, name, text)]))
    assert "Add a parser" in item.episode.content and item.memories == ()
    (told,) = slices(read_notes([write(tmp_path, "history-of-us.md", text)]))
    assert told.memories


def test_a_file_that_is_named_is_read_whatever_it_is_called(tmp_path: Path) -> None:
    file = write(tmp_path, ".agent/CONTRIBUTING", "Always rebase before you push.")
    (memory,) = memories(read_notes([file]))
    assert memory.kind is Kind.CONVENTION


def test_links_are_followed_once_and_never_out_of_the_folder(tmp_path: Path) -> None:
    write(tmp_path, "notes/AGENTS.md", "Always rebase before you push.")
    write(tmp_path, "outside.md", "This is somebody else's secret text.")
    write(tmp_path, "notes/.env", "KEY=4711")
    for name, target in (
        ("CLAUDE.md", "AGENTS.md"),
        ("leak.md", "../outside.md"),
        ("env.md", ".env"),
        ("gone.md", "nowhere"),
        ("round.md", "round.md"),
        ("long.md", "." + "/../notes" * 300 + "/AGENTS.md"),
    ):
        (tmp_path / "notes" / name).symlink_to(target)
    (tmp_path / "notes" / "loop").symlink_to(".")
    found = list(read_notes([tmp_path / "notes"], root=tmp_path / "notes"))
    assert [item.episode.files for item in slices(found)] == [("AGENTS.md",)]
    assert list(problems(found)) == ["leak.md", "long.md", "round.md"]
    assert list(problems(list(read_notes([tmp_path / "notes/long.md"])))) == ["long.md"]


def test_the_notes_of_another_repository_below_are_left_out_and_told_of(tmp_path: Path) -> None:
    write(tmp_path, "AGENTS.md", "Always rebase before you push.")
    write(tmp_path, "third/clone/CLAUDE.md", "Always install without the lock.")
    write(tmp_path, "third/module/CLAUDE.md", "Always skip the hooks.")
    (tmp_path / ".git").mkdir()
    (tmp_path / "third/clone/.git").mkdir()
    write(tmp_path, "third/module/.git", "gitdir: ../../.git/modules/module\n")
    found = list(read_notes([tmp_path]))
    assert [item.episode.files for item in slices(found)] == [("AGENTS.md",)]
    assert list(problems(found)) == ["clone", "module"]
    assert slices(list(read_notes([tmp_path / "third/clone"])))


def test_a_named_link_is_not_followed_out_of_the_folder_it_lies_in(tmp_path: Path) -> None:
    write(tmp_path, "private/keys.md", "The key of the office is under the mat.")
    write(tmp_path, "clone/AGENTS.md", "Always rebase before you push.")
    (tmp_path / "clone/.git").mkdir()
    for name, target in (("CLAUDE.md", "../private/keys.md"), ("docs", "../private"), ("OWN.md", "AGENTS.md")):
        (tmp_path / "clone" / name).symlink_to(target)
    ways = ["CLAUDE.md", "docs", "docs/keys.md", "OWN.md"]
    found = [list(read_notes([tmp_path / "clone" / way], scope="p")) for way in ways]
    assert [[item.episode.files for item in slices(one)] for one in found] == [[], [], [], [("AGENTS.md",)]]
    assert all("leads out" in why for one in found[:3] for why in problems(one).values())
    assert [len(problems(one)) for one in found] == [1, 1, 1, 0]
    (tmp_path / "home").symlink_to("clone")
    assert len(slices(read_notes([tmp_path / "home"], scope="p"))) == 1


def test_a_link_in_a_folder_does_not_lead_to_what_the_walk_leaves_out(tmp_path: Path) -> None:
    for name in ("secret/plan.md", ".hidden/a.md", "node_modules/b/c.md", "other/d.md", "AGENTS.md"):
        write(tmp_path, name, "Always rebase before you push.")
    (tmp_path / "other/.git").mkdir()
    write(tmp_path, ".helixignore", "secret/\n")
    (tmp_path / "docs").mkdir()
    for number, target in enumerate(
        ("secret/plan.md", ".hidden/a.md", "node_modules/b/c.md", "other/d.md", "AGENTS.md")
    ):
        (tmp_path / "docs" / f"{number}.md").symlink_to(Path("..", target))
    (tmp_path / ".git").mkdir()
    found = list(read_notes([tmp_path / "docs"]))
    assert [item.episode.files for item in slices(found)] == [("AGENTS.md",)]
    assert problems(found) == {"plan.md": "excluded by .helixignore"}


def test_a_section_beyond_one_episode_comes_in_pieces(tmp_path: Path) -> None:
    file = write(
        tmp_path, "long.md", "# Long\n\n" + "\n\n".join(f"Paragraph {n} says a little. " * 20 for n in range(100))
    )
    found = slices(read_notes([file]))
    assert len(found) > 1
    assert all(len(item.episode.content) < 40_000 for item in found)
    assert all(len(memory.resolution) <= 3_000 for item in found for memory in item.memories)


def test_a_missing_path_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    file = write(tmp_path, "a.md", GUIDE)
    with pytest.raises(NotFoundError, match=r"absent\.md"):
        next(iter(read_notes([file, tmp_path / "absent.md"])))


@pytest.mark.skipif(sys.platform == "darwin", reason="its file names are UTF-8")
def test_a_file_whose_name_is_no_text_is_known_by_what_tells_it_from_others(tmp_path: Path) -> None:
    """No store can write such a name as it is: no note beside it was taken in either."""
    for name in (b"\xffme.md", b"\xfeme.md"):
        (tmp_path / os.fsdecode(name)).write_text("Always run the linter before pushing.", "utf-8")
    found = slices(read_notes([tmp_path], root=tmp_path, scope="acme"))
    assert len({one.supersedes for one in found}) == 2
    assert all(one.episode.source.startswith("notes:acme:\ufffdme.md~") for one in found)


def test_folders_within_folders_are_walked_to_some_depth(tmp_path: Path) -> None:
    """A clone can hold more of them than Python can call functions; so many here would stay behind the test."""
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(150):
        os.mkdir("a", dir_fd=folder)
        inner = os.open("a", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    write(tmp_path, "notes.md", GUIDE)
    found = list(read_notes([tmp_path], scope="p"))
    assert slices(found)
    assert [problem.why for problem in found if isinstance(problem, IngestProblem)] == ["more than 100 folders deep"]
