"""Reading git history: order, sources, links, and every kind of repository there is."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from git_history import START, History

from helix.errors import InvalidInputError, NotARepositoryError, NotFoundError
from helix.identity import project_at
from helix.ingest import git
from helix.ingest.draft import LinkDraft, MemoryDraft, Slice
from helix.model.edge import Relation
from helix.model.memory import Kind

SCOPE = "example.org/ada/project"

Make = Callable[[str], History]


def read(history: History, **options: object) -> list[Slice]:
    return list(git.read_history(history.path, scope=SCOPE, **options))  # type: ignore[arg-type]


def source(sha: str) -> str:
    return f"git:{SCOPE}:{sha}"


def only(memories: tuple[MemoryDraft, ...]) -> MemoryDraft:
    (memory,) = memories
    return memory


def test_commits_come_oldest_first_with_what_they_say_and_touch(history: History) -> None:
    first = history.commit("Add the parser\n\nIt reads dates.\n", {"lib/parse.c": "1", "README": "hi"})
    second = history.commit("Fix a crash in the parser\n\nThe date was not checked.\n", {"lib/parse.c": "2"})
    slices = read(history)
    assert [item.episode.source for item in slices] == [source(first), source(second)]
    assert [item.position for item in slices] == [1, 2] == list(range(1, git.count(history.path) + 1))
    fix = slices[1]
    assert fix.episode.content == "Fix a crash in the parser\n\nThe date was not checked.\n\nFiles:\nM lib/parse.c"
    assert fix.episode.agent == "Ada"
    assert fix.episode.occurred_at == datetime.fromtimestamp(START + 120, UTC)
    memory = only(fix.memories)
    assert (memory.kind, memory.trigger, memory.resolution) == (
        Kind.FAILURE,
        "a crash in the parser",
        "The date was not checked.",
    )
    assert memory.files == ("lib/parse.c",)


def test_reading_twice_gives_the_same_sources_and_a_new_commit_adds_one(history: History) -> None:
    history.commit("Add the parser of dates", {"a": "1"})
    history.commit("Teach the parser about zones", {"a": "2"})
    before = read(history)
    history.commit("Let the parser take week days", {"a": "3"})
    assert read(history)[:2] == before
    assert len({item.episode.source for item in read(history)}) == 3


def test_limit_takes_the_newest_commits_oldest_of_them_first(history: History) -> None:
    shas = [history.commit(f"Teach the parser rule {n}", {"a": str(n)}) for n in range(5)]
    assert [item.episode.source for item in read(history, limit=2)] == [source(sha) for sha in shas[3:]]
    assert git.count(history.path, limit=2) == 2
    with pytest.raises(InvalidInputError):
        read(history, limit=0)


def test_a_fix_solves_the_commit_it_names_which_caused_it(history: History) -> None:
    cause = history.commit("Read dates without a lock", {"a": "1"})
    history.commit("Describe the parser at length", {"b": "1"})
    fix = history.commit(f"Fix a race between two parsers\n\nRegression from {cause[:10]}.\n", {"a": "2"})
    assert read(history)[2].links == (
        LinkDraft(type=Relation.GROUNDED_IN, source=source(fix), target=source(cause), relation="fixes"),
        LinkDraft(type=Relation.SOLVES, source=source(fix), target=source(cause)),
        LinkDraft(type=Relation.CAUSES, source=source(cause), target=source(fix)),
    )


def test_a_revert_is_a_failure_that_says_what_was_taken_back_and_why(history: History) -> None:
    bold = history.commit("Cache every date for ever", {"a": "1"})
    history.git("revert", "--no-edit", bold)
    message = f'Revert "Cache every date for ever"\n\nThis reverts commit {bold}.\n\nMemory use doubled.\n'
    told = history.commit(message, {"c": "1"})
    silent, explained = read(history)[1:]
    assert (only(silent.memories).kind, only(explained.memories).kind) == (Kind.DECISION, Kind.FAILURE)
    assert silent.ends == explained.ends == (source(bold),)
    assert only(silent.memories).trigger == '"Cache every date for ever" was reverted'
    assert only(explained.memories).resolution == "It was taken back: Memory use doubled."
    assert LinkDraft(type=Relation.SOLVES, source=source(told), target=source(bold)) in explained.links


def test_a_follow_up_is_related_to_what_it_follows(history: History) -> None:
    first = history.commit("Add the parser of dates", {"a": "1"})
    message = f"Let the parser take zones\n\nIt failed without.\n\nFollow-up to {first[:12]} #12\n"
    second = history.commit(message, {"a": "2"})
    follow = read(history)[1]
    assert follow.links == (
        LinkDraft(type=Relation.GROUNDED_IN, source=source(second), target=source(first), relation="follows"),
        LinkDraft(type=Relation.RELATED, source=source(second), target=source(first), relation="follows"),
    )
    assert first[:12] in follow.episode.content
    assert only(follow.memories).attributes == {"commit": second, "issues": ["#12"]}


def test_a_link_reaches_back_over_the_limit(history: History) -> None:
    cause = history.commit("Read dates without a lock", {"a": "1"})
    history.commit(f"Fix a race between two parsers\n\nThey lost dates.\n\nFixes: {cause}\n", {"a": "2"})
    (fix,) = read(history, limit=1)
    assert [link.type for link in fix.links] == [Relation.GROUNDED_IN, Relation.SOLVES, Relation.CAUSES]


def test_a_commit_of_another_repository_is_not_linked(history: History) -> None:
    history.commit("Release 1.2.3", {"a": "1"})
    message = f"Fix the parser again\n\nIt was broken, see https://example.org/x/y/commit/{'abc1234' * 5}.\n"
    history.commit(message, {"a": "2"})
    assert (read(history)[0].memories, read(history)[0].episode.silent) == ((), True)
    assert read(history)[1].links == ()


def test_what_was_broken_by_a_number_is_linked_to_the_commit_of_that_number(history: History) -> None:
    cause = history.commit("Read dates without a lock (#413)", {"a": "1"})
    history.commit("Describe the parser at length", {"b": "1"})
    fix = history.commit("Fixed .transform() method\n\nIt failed since I broke it in #413.", {"a": "2"})
    assert read(history)[2].links[0] == LinkDraft(
        type=Relation.GROUNDED_IN, source=source(fix), target=source(cause), relation="fixes"
    )


def test_a_revert_of_a_revert_revives_what_was_taken_back(history: History) -> None:
    bold = history.commit("Cache every date for ever (#12)", {"a": "1"})
    taken = history.commit('Revert "Cache every date for ever (#12)" (#13)', {"a": "2"})
    history.commit('Revert "Revert "Cache every date for ever (#12)" (#13)" (#14)', {"a": "3"})
    _, revert, again = read(history)
    assert (revert.ends, revert.revives) == ((source(bold),), ())
    assert (again.ends, again.revives) == ((source(taken),), (source(bold),))


def test_what_removes_a_deprecated_thing_ends_its_deprecation(history: History) -> None:
    told = history.commit("Deprecate built-in GraphQL support (#1135)", {"a": "1"})
    history.commit("Remove GraphQL support", {"a": "2"})
    assert read(history)[1].ends == (source(told),)


def test_renames_touch_the_new_path_and_tell_the_old_one(history: History) -> None:
    history.commit("Add the parser of dates", {"old name.c": "the same content"})
    history.commit("Give the parser a better home", {"old name.c": None, 'lib/new\u00fc "name".c': "the same content"})
    renamed = read(history)[1].episode
    assert renamed.files == ('lib/new\u00fc "name".c',)
    assert 'R old name.c -> lib/new\u00fc "name".c' in renamed.content


def test_a_commit_of_many_files_touches_the_folders_that_hold_most(history: History) -> None:
    files = {f"lib/deep/er/{n}.c": "x" for n in range(30)} | {f"tests/{n}.c": "x" for n in range(5)} | {"top": "x"}
    history.commit("Import the parser of dates", files)
    (item,) = read(history)
    assert item.episode.files == ("lib/deep/**", "tests/**")
    assert "and 6 more" in item.episode.content


def test_a_name_with_an_asterisk_is_no_pattern(history: History) -> None:
    history.commit("Add the page of one parser", {"*": "1", "app/[id].tsx": "1"})
    history.commit("Import the parsers", {f"a*/{n}.c": "x" for n in range(31)})
    one, many = read(history)
    assert one.episode.files == ("[*]", "app/[id].tsx")
    assert many.episode.files == ("a[*]/**",)


def test_merges_tell_no_files_and_are_no_memories(history: History) -> None:
    history.commit("Add the parser of dates", {"a": "1"})
    history.git("checkout", "--quiet", "-b", "side")
    history.commit("Let the parser take zones", {"b": "1"})
    history.git("checkout", "--quiet", "main")
    history.commit("Let the parser take week days", {"c": "1"})
    history.git("config", "log.diffMerges", "first-parent")
    history.git("merge", "--quiet", "--no-ff", "-m", "Merge branch 'side'", "side")
    merge = read(history)[-1]
    assert (merge.episode.files, merge.memories, merge.episode.silent) == ((), (), True)
    assert len(read(history)) == 4


def test_a_merge_is_found_where_it_says_more_than_what_it_merged(history: History) -> None:
    history.commit("Add the parser of dates", {"a": "1"})
    for branch, title in (("same", "Let the parser take zones (#12)"), ("more", "Speak all calendars")):
        history.git("checkout", "--quiet", "-b", branch, "main~0")
        history.commit("Let the parser take zones", {branch: "1"})
        history.git("checkout", "--quiet", "main")
        message = f"Merge pull request #12 from ada/{branch}\n\n{title}"
        history.git("merge", "--quiet", "--no-ff", "-m", message, branch)
    merges = [item.episode for item in read(history) if "Merge pull" in item.episode.content]
    assert [one.silent for one in merges] == [True, False]
    assert merges[1].content.startswith("Speak all calendars\n\nMerge pull request #12")


def test_no_address_is_kept(history: History) -> None:
    history.commit(
        "Let the parser take zones\n\nIt failed, ask bob@example.org or <eve@example.org>.\n\n"
        "Signed-off-by: Ada <ada@example.org>\nReviewed-by: Eve <eve@example.org>\n",
        {"a": "1"},
        author="Ada <ada@example.org>",
    )
    (item,) = read(history)
    assert "@example" not in repr(item)
    assert "Reviewed-by: Eve" in item.episode.content
    assert "Signed-off" not in item.episode.content
    assert only(item.memories).resolution == "It failed, ask [email] or."


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\n\n\n",
        b"caf\xe9 \xff\xfe broken \xc3",
        b"A" * 300_000,
        b"Fix \x1b[31m\x07 controls\n\n\r\n",
        b"\xf0\x9f\x92\xa9" * 999,
    ],
)
def test_any_message_is_read(history: History, message: bytes) -> None:
    history.commit(message, {"a": "1"})
    last = history.commit("Let the parser take zones", {"a": "2"})
    slices = read(history)
    assert [item.episode.source for item in slices][1:] == [source(last)]
    assert slices[0].episode.content
    assert len(slices[0].episode.content) < 65_536
    repr(slices).encode("utf-8")


def test_a_clock_beyond_all_years_leaves_the_time_open(history: History) -> None:
    tree = history.git("mktree")
    when = b"99999999999999 +0000"
    raw = b"tree %s\nauthor A <a> %s\ncommitter A <a> %s\n\nSent from the far future\n" % (tree.encode(), when, when)
    commit = history.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=raw)
    history.git("update-ref", "refs/heads/main", commit)
    (item,) = read(history)
    assert item.episode.occurred_at is None or item.episode.occurred_at.year > 9000


def test_an_empty_repository_has_no_history(history: History) -> None:
    assert git.count(history.path) == 0
    assert read(history) == []


def test_bare_shallow_and_detached_repositories_are_read(history: History, make_history: Make, tmp_path: Path) -> None:
    shas = [history.commit(f"Teach the parser rule {n}", {"a": str(n)}) for n in range(3)]
    origin = f"file://{history.path}"
    history.git("clone", "--quiet", "--bare", origin, str(tmp_path / "bare.git"))
    assert git.count(tmp_path / "bare.git") == 3
    history.git("clone", "--quiet", "--depth=1", origin, str(tmp_path / "shallow"))
    (newest,) = git.read_history(tmp_path / "shallow")
    assert newest.episode.source.endswith(shas[2])
    history.git("checkout", "--quiet", shas[1])
    assert [item.episode.source for item in read(history)] == [source(sha) for sha in shas[:2]]


def test_a_bare_repository_has_the_scope_of_its_place_whatever_remote_it_says(history: History, tmp_path: Path) -> None:
    """An archive may be one, and its remote the address of another project of the user's."""
    history.commit("Teach the parser rules", {"a": "1"})
    history.git("clone", "--quiet", "--bare", f"file://{history.path}", str(tmp_path / "bare.git"))
    history.git("-C", str(tmp_path / "bare.git"), "remote", "set-url", "origin", "https://github.com/me/shop.git")
    assert git.project_scope(tmp_path / "bare.git") == project_at(tmp_path / "bare.git").scope
    assert git.project_scope(tmp_path / "bare.git").startswith("bare")
    (history.path / "link").symlink_to(tmp_path / "bare.git")
    for way in (history.path / ".." / "bare.git", history.path / "link"):
        assert git.project_scope(way) == git.project_scope(tmp_path / "bare.git")
        assert git.count(way) == 1


def test_a_pushed_folder_that_says_it_is_a_repository_is_read_for_none(history: History, make_history: Make) -> None:
    """Git would read the private repository that lies beside."""
    private = make_history("private")
    private.commit("The partner deal is not public", {"a": "1"})
    files = {"docs/HEAD": "ref: refs/heads/main\n", "docs/objects/x": "", "docs/refs/x": ""}
    history.commit("Add docs", {**files, "docs/commondir": "../../private/.git\n"})
    for reads in (lambda: git.count(history.path / "docs"), lambda: list(git.read_history(history.path / "docs"))):
        with pytest.raises(InvalidInputError, match="a folder of another one's files"):
            reads()
    assert git.count(history.path) == 1


def test_a_submodule_is_a_file_of_its_parent_and_a_project_of_its_own(history: History, make_history: Make) -> None:
    inner = make_history("inner")
    inner.commit("Add the parser of dates", {"a": "1"})
    history.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "vendor/inner")
    history.commit("Take the parser in as a submodule")
    assert read(history)[0].episode.files == (".gitmodules", "vendor/inner")
    assert git.project_scope(history.path / "vendor" / "inner") != git.project_scope(history.path)


def test_a_subfolder_stands_for_its_repository_even_from_inside_a_hook(
    history: History, make_history: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.commit("Add the parser of dates", {"lib/a": "1", "b": "1"})
    other = make_history("other")
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    (item,) = git.read_history(history.path / "lib")
    assert item.episode.files == ("b", "lib/a")


def test_ignored_files_are_left_out_and_a_commit_of_nothing_else_too(history: History) -> None:
    history.commit("Add the parser of dates", {"lib/a.c": "1", "secret/key": "1"})
    history.commit("Change the keys of the parser", {"secret/key": "2"})
    last = history.commit("Say what is not to be read", {".helixignore": "secret/\n"})
    slices = read(history)
    assert [item.episode.source for item in slices][-1] == source(last)
    assert [item.position for item in slices] == [1, 3]
    assert "secret" not in repr(slices)


def test_a_file_that_left_an_ignored_folder_is_one_that_was_added(history: History) -> None:
    history.commit("Begin", {"secret/acquire-initech.md": "one\n" * 20, "other.md": "1"})
    history.commit("Move it", {"secret/acquire-initech.md": None, "docs/p.md": "one\n" * 20})
    history.commit("Say what is not to be read", {".helixignore": "secret/\n"})
    told = [item.episode.content for item in read(history)]
    assert "initech" not in repr(told)
    assert "A docs/p.md" in told[1]


def test_ignore_files_below_the_top_count_for_what_lies_below_them(history: History) -> None:
    history.commit("Plan the merger", {"deals/secret/plan": "1"})
    both = history.commit("Move the parser", {"deals/secret/plan": "2", "deals/open": "1", "plan": "1"})
    last = history.commit("Say what is not to be read", {"deals/.helixignore": "/secret\nplan\n"})
    slices = read(history)
    assert [item.episode.source for item in slices] == [source(both), source(last)]
    assert slices[0].episode.files == ("deals/open", "plan")


def test_leaving_early_ends_git(history: History) -> None:
    for n in range(3):
        history.commit(f"Teach the parser rule {n}", {"a": str(n)})
    before = children()
    reading = git.read_history(history.path)
    next(reading)
    reading.close()
    assert children() <= before


def children() -> set[str]:
    """Return the processes this one has started, of which an earlier test may have left one running."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    return set(listed.read_text().split()) if listed.exists() else set()


def test_what_is_no_repository_is_refused_with_a_hint(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for path in (tmp_path, file, tmp_path / "absent"):
        with pytest.raises(NotARepositoryError) as refusal:
            list(git.read_history(path))
        assert refusal.value.hint
        assert refusal.value.code == "NOT_A_REPOSITORY"


def test_a_repository_of_another_user_is_refused_with_the_way_out(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.commit("Add the parser of dates", {"a": "1"})
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # git's own switch for testing this
    with pytest.raises(InvalidInputError, match="belongs to another user") as refusal:
        list(git.read_history(history.path))
    assert refusal.value.hint
    assert "safe.directory" in refusal.value.hint


def test_without_git_the_error_says_so(history: History, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotFoundError, match="git is not installed"):
        git.count(history.path)


def test_a_damaged_history_yields_what_it_can_and_then_says_why(history: History) -> None:
    shas = [history.commit(f"Teach the parser rule {n}", {"a": str(n)}) for n in range(3)]
    tree = history.git("rev-parse", f"{shas[2]}^{{tree}}")
    (history.path / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    found: list[str] = []
    with pytest.raises(InvalidInputError, match="git cannot read"):
        found.extend(item.episode.source for item in git.read_history(history.path, scope=SCOPE))
    assert found == [source(sha) for sha in shas[: len(found)]]


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/curl/curl.git",
        "https://ada:secret@GitHub.com/curl/curl",
        "git@github.com:curl/curl.git",
        "ssh://git@github.com:22/curl/curl.git/",
        "git://github.com//curl/curl",
    ],
)
def test_all_ways_to_write_an_origin_are_one_project(history: History, url: str) -> None:
    history.git("remote", "add", "origin", url)
    assert git.project_scope(history.path) == "github.com/curl/curl"


def test_without_an_origin_the_work_trees_of_a_repository_share_its_id(history: History, make_history: Make) -> None:
    history.commit("Add the parser of dates", {"a/b": "1"})
    history.git("worktree", "add", "--quiet", "../elsewhere", "-b", "side")
    scope = git.project_scope(history.path)
    assert scope.startswith("project-")
    assert git.project_scope(history.path.parent / "elsewhere") == scope
    assert git.project_scope(history.path / "a" / "b") == scope
    twin = make_history("twin")
    twin.git("remote", "add", "origin", str(history.path))
    assert git.project_scope(twin.path).startswith("twin-")
