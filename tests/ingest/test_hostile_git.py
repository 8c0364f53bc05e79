"""A hostile repository: its git configuration names a program in every way that git has, and none of them is run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from git_history import History

from helix.errors import InvalidInputError
from helix.ingest import git
from helix.ingest import repository as asking
from helix.ingest.commit_index import CommitIndex, Undone
from helix.ingest.git import _listed, count, project_scope, read_history
from helix.ingest.message import parse_message
from helix.ingest.repository import _GIVEN, _READING, Repository
from helix.model.recall import RecallQuery
from helix.operations import capture, ingest, memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store.listing import MemoryFilter
from tests.waiting import finished, until

SERVE = Path(__file__).resolve().parents[2] / "scripts" / "serve"
NAMES = (
    *("core.fsmonitor", "core.pager", "core.sshCommand", "core.gitProxy", "core.editor", "core.askPass"),
    *(
        "core.alternateRefsCommand",
        "diff.external",
        "diff.x.command",
        "diff.x.textconv",
        "gpg.program",
        "gpg.ssh.program",
    ),
    *("filter.x.clean", "filter.x.smudge", "filter.x.process", "pager.log", "pager.rev-list", "credential.helper"),
    *("interactive.diffFilter", "remote.origin.uploadpack", "remote.origin.proxy", "uploadpack.packObjectsHook"),
    *("gpg.ssh.program", "gpg.x509.program", "sequence.editor", "difftool.x.cmd"),
)


@pytest.fixture
def hostile(make_history: object, tmp_path: Path) -> History:
    """A repository with a signed commit whose blob of attributes is missing, and programs that leave a file behind."""
    repository: History = make_history("hostile")  # type: ignore[operator]
    program = repository.path / ".git" / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $@" >> {tmp_path}/ran\n', "utf-8")
    program.chmod(0o755)
    for hook in ("post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman", "post-checkout"):
        (repository.path / ".git/hooks").mkdir(exist_ok=True)
        (repository.path / ".git/hooks" / hook).symlink_to(program)
    repository.commit("Begin", {"a.txt": "one", ".gitattributes": "* diff=x filter=x\n"})
    repository.commit("Mend the flaky test of the parser", {"a.txt": "two", "b.txt": "b"})
    raw = repository.git("cat-file", "commit", "HEAD")
    head, _, message = raw.partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    signed = f"{head}\n{signature}\n\n{message}\n".encode()
    made = repository.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=signed)
    repository.git("update-ref", "HEAD", made)
    (tmp_path / "ran").unlink(missing_ok=True)
    included = "".join(f"[{place(name)}]\n\t{name.rpartition('.')[2]} = {program}\n" for name in NAMES)
    included += (
        f"[core]\n\thooksPath = {program.parent}/hooks\n\trepositoryformatversion = 1\n"
        f'[remote "origin"]\n\turl = ext::{program} %S\n\tpromisor = true\n\tpartialclonefilter = blob:none\n'
        "[extensions]\n\tpartialClone = origin\n"
        '[protocol]\n\tallow = always\n[protocol "ext"]\n\tallow = always\n'
        f"[alias]\n\tlog = !{program}\n\trev-parse = !{program}\n\trev-list = !{program}\n"
        "[log]\n\tshowSignature = true\n[submodule]\n\trecurse = true\n[diff]\n\tsubmodule = log\n"
    )
    (repository.path / ".git/hostile").write_text(included, "utf-8")
    with (repository.path / ".git/config").open("a", encoding="utf-8") as config:
        config.write(included)
        config.write(f'[includeIf "gitdir:{repository.path}/"]\n\tpath = hostile\n')
    return repository


def place(name: str) -> str:
    section, *between = name.split(".")[:-1]
    return f'{section} "{between[0]}"' if between else section


def lose(repository: History, what: str) -> None:
    """Take an object away, so that git wants to fetch it."""
    sha = repository_git(repository, "rev-parse", what)
    (repository.path / ".git/objects" / sha[:2] / sha[2:]).unlink()


def repository_git(repository: History, *words: str) -> str:
    """Run git with its own files alone; what the configuration would run is left aside."""
    environment = {**os.environ, "GIT_ALLOW_PROTOCOL": ""}
    command = ["git", "--no-pager", "-C", repository.path, "-c", "core.hooksPath=/dev/null", *words]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("lost", ["", "HEAD:a.txt", "HEAD~1^{tree}", "HEAD~1"])
@pytest.mark.parametrize("knows", [True, False], ids=["git", "a git that does not know GIT_NO_LAZY_FETCH"])
def test_nothing_that_a_repository_names_is_run(
    hostile: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str, knows: bool
) -> None:
    if not knows:
        monkeypatch.delitem(_GIVEN, "GIT_NO_LAZY_FETCH")
    if lost:
        lose(hostile, lost)
    found = []
    for work in (
        lambda: Repository.find(hostile.path).has_commits(),
        lambda: count(hostile.path, limit=5),
        lambda: found.extend(read_history(hostile.path)),
        lambda: found.extend(read_history(hostile.path, limit=1)),
        lambda: project_scope(hostile.path),
    ):
        try:
            work()
        except Exception as error:  # git may well refuse what is left of it
            assert type(error).__module__ == "helix.errors"
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text("utf-8")
    if lost in ("", "HEAD:a.txt"):
        assert found


def test_a_transport_that_starts_before_protocols_are_looked_at_reaches_nobody(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the fetch of a bundle does: it would have a program of the repository's choice say a password."""
    monkeypatch.delitem(_GIVEN, "GIT_NO_LAZY_FETCH")
    monkeypatch.setitem(_READING, "GIT_ALLOW_PROTOCOL", "https")
    history.commit("Begin", {"d/a.txt": "1"})
    history.commit("Go on", {"d/a.txt": "2"})
    with (history.path / ".git/config").open("a", encoding="utf-8") as config:
        config.write("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n")
        config.write('[remote "origin"]\n\turl = https://example.invalid/x\n\tpromisor = true\n')
        config.write("[http]\n\tproxy = http://user@127.0.0.1:1\n")
        config.write(f'[credential]\n\thelper = "!echo ran >> {tmp_path}/ran; :"\n')
    lose(history, "HEAD~1^{tree}")
    with pytest.raises(InvalidInputError):
        list(read_history(history.path))
    assert not (tmp_path / "ran").exists(), "the credential helper"


def lied(history: History, sha: str, words: str) -> None:
    """Put a commit of other words under the id of one that there is."""
    raw = subprocess.run(["git", "-C", history.path, "cat-file", "commit", sha], check=True, capture_output=True).stdout
    said = raw.partition(b"\n\n")[0] + b"\n\n" + words.encode()
    place = history.path / ".git/objects" / sha[:2] / sha[2:]
    place.chmod(0o644)
    place.write_bytes(zlib.compress(b"commit %d\0" % len(said) + said))


@pytest.mark.parametrize("limit", [None, 2])
def test_a_commit_is_what_its_id_says_and_not_what_lies_in_its_place(history: History, limit: int | None) -> None:
    first = history.commit("Use Postgres for the ledger", {"a.txt": "1"})
    history.commit("Go on", {"a.txt": "2"})
    assert len(list(read_history(history.path, limit=limit))) == 2
    lied(history, first, "Use EvilDB for the ledger")
    with pytest.raises(InvalidInputError, match=f"{first[:12]} is not what its id says"):
        list(read_history(history.path, limit=limit))


def without(place: Path) -> None:
    """Take away what is in a place."""
    shutil.rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink(missing_ok=True)


LINKED = ("refs", "refs/heads", "refs/heads/main", "packed-refs", "HEAD", "refs/heads/\udcff", "ORIG_HEAD")
TOLD = {"refs/heads/\udcff": b"ref: refs/heads/\xff\n", "ORIG_HEAD": b"ref: ORIG_HEAD\n"}
"""What HEAD says where it has to say something for the link to be followed."""


@pytest.mark.parametrize("linked", LINKED)
def test_no_link_leads_to_the_commits_of_another_repository(make_history: Any, linked: str) -> None:
    private, clone = make_history("private"), make_history("clone")
    private.commit("Buy the mill of Ada Quastel", {"a.txt": "1"})
    private.git("pack-refs", "--all", "--no-prune")
    clone.commit("Begin", {"a.txt": "2"})
    for one in (private, clone):
        one.git("branch", "-M", "main")
    if linked in TOLD:
        (clone.path / ".git/HEAD").write_bytes(TOLD[linked])
    for below, to in (("objects", "objects"), (linked, "refs/heads/main" if linked in TOLD else linked)):
        without(clone.path / ".git" / below)
        (clone.path / ".git" / below).symlink_to(private.path / ".git" / to)
    with pytest.raises(InvalidInputError, match="leads out of the git repository"):
        list(read_history(clone.path))


def test_a_link_that_names_a_reference_leads_nowhere_else_either(make_history: Any) -> None:
    """Git takes such a link for the name of a reference, and not for a path."""
    private, clone = make_history("private"), make_history("clone")
    private.commit("Buy the mill of Ada Quastel", {"a.txt": "1"})
    clone.commit("Begin", {"a.txt": "2"})
    for one in (private, clone):
        one.git("branch", "-M", "main")
    heads = clone.path / ".git/refs/heads"
    for place, to in (
        (clone.path / ".git/objects", private.path / ".git/objects"),
        (heads / "main", "refs/heads/y"),
        (heads / "y", private.path / ".git/refs/heads/main"),
    ):
        without(place)
        place.symlink_to(to)
    with pytest.raises(InvalidInputError, match="leads out of the git repository"):
        list(read_history(clone.path))


def test_no_name_of_a_reference_is_an_error_of_helix_s_own(history: History) -> None:
    history.commit("Begin", {"a.txt": "1"})
    (history.path / ".git/HEAD").write_bytes(b"ref: refs/heads/x\0y\n")
    assert list(read_history(history.path)) == []


def test_commits_are_told_by_the_words_that_hash_to_their_ids(history: History) -> None:
    """A commit-graph has git's log read them later than what is hashed, where another pack may come first."""
    true = history.commit("Use Postgres for the ledger\n\nBecause it is there.", {"a.txt": "1"})
    (told,) = read_history(history.path)
    raw = repository_git(history, "cat-file", "commit", true)
    assert told.episode.content.startswith(raw.partition("\n\n")[2])
    assert not [one for one in git._CHANGES if "format" in one], "git is asked for no words"


@pytest.mark.parametrize("encoding", ["punycode", "-punycode", "idna", "undefined", "unicode_escape", "a\0b", "UTF-16"])
def test_no_codec_of_another_kind_reads_a_commit(history: History, encoding: str) -> None:
    history.commit("Begin \\x41", {"a.txt": "1"})
    raw = repository_git(history, "cat-file", "commit", "HEAD").replace("\n\n", f"\nencoding {encoding}\n\n", 1)
    made = subprocess.run(
        ["git", "-C", history.path, "hash-object", "-t", "commit", "--literally", "-w", "--stdin"],
        input=raw.encode(),
        check=True,
        capture_output=True,
    ).stdout.decode()
    history.git("update-ref", "HEAD", made.strip())
    (told,) = read_history(history.path)
    assert told.episode.content.startswith("Begin \\x41")


def test_no_commit_is_told_whose_files_git_could_not_list(history: History) -> None:
    """What `.helixignore` excludes would be told as what touches nothing."""
    history.commit("Begin", {".helixignore": "secret/\n"})
    for number in range(4):
        history.commit(f"Plan {number}", {"secret/plan.txt": str(number)})
    assert not [one for one in read_history(history.path) if "Plan" in one.episode.content]
    lose(history, "HEAD~2^{tree}")
    found: list[Any] = []
    with pytest.raises(InvalidInputError):
        found.extend(read_history(history.path))
    assert not [one for one in found if "Plan" in one.episode.content]


def test_a_history_of_words_that_nobody_writes_is_ended(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "_MOST_WORDS", 100_000)
    history.commit("Begin", {"a.txt": "1"})
    for number in range(2):
        history.commit(f"Go on {number}\n\n{'word ' * 15_000}", {"a.txt": str(number)})
    with pytest.raises(InvalidInputError, match="longer than people write"):
        list(read_history(history.path))
    assert list(read_history(history.path, limit=1))


def test_git_looks_up_no_author_in_a_mailmap(history: History) -> None:
    """It takes the square of its length, and waits for ever for a pipe."""
    history.commit("Begin", {"a.txt": "1"})
    os.mkfifo(history.path / ".mailmap")
    assert len(list(read_history(history.path))) == 1


def test_many_files_of_one_content_that_move_take_the_time_of_their_number(history: History) -> None:
    """Each goes with one that has its name, the others in their order."""
    few = {f"a/{number}.txt": "the same" for number in range(3)}
    history.commit("Begin", {**few, "b/x.txt": "the same"})
    moved = {f"c/{number}.txt": "the same" for number in reversed(range(3))}
    history.commit("Move", {**dict.fromkeys(few), "b/x.txt": None, **moved, "c/y.txt": "the same"})
    told = list(read_history(history.path))[-1].episode.content
    pairs = [*((f"a/{number}.txt", f"c/{number}.txt") for number in range(3)), ("b/x.txt", "c/y.txt")]
    assert all(f"R {old} -> {new}" in told for old, new in pairs), told


def test_a_history_that_lists_too_many_files_is_ended(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "_MOST_LISTED", 5)
    history.commit("Begin", {"a.txt": "1"})
    history.commit("Go on", {f"{number}.txt": "1" for number in range(5)})
    found = []
    with pytest.raises(InvalidInputError, match="lists more than 5 changed files"):
        found.extend(read_history(history.path))
    assert list(read_history(history.path, limit=1))


def test_a_commit_is_what_its_id_says_and_not_what_replaces_it(tmp_path: Path) -> None:
    history = History(tmp_path / "replaced")
    history.path.mkdir()
    history.git("init", "--quiet")
    history.commit("The barn is red", {"a.txt": "1"})
    own = history.commit("The barn is green", {"a.txt": "2"})
    other = history.git("commit-tree", "-m", "Somebody else's words", "HEAD^{tree}").strip()
    history.git("replace", own, other)
    told = [one.episode.content for one in read_history(history.path)]
    assert not any("Somebody else" in message for message in told)
    assert len(told) == 2


def test_the_repository_would_run_them(hostile: History, tmp_path: Path) -> None:
    """So that the test above says something: the same calls without what Helix adds."""
    subprocess.run(["git", "-C", hostile.path, "log", "-1"], check=False, capture_output=True)
    assert "--verify" in (tmp_path / "ran").read_text("utf-8"), "the program that checks signatures"
    lose(hostile, "HEAD~1^{tree}")
    (tmp_path / "ran").unlink()
    subprocess.run(["git", "-C", hostile.path, "-c", "log.showSignature=false", "log", "--name-status"], check=False)
    assert "git-upload-pack" in (tmp_path / "ran").read_text("utf-8"), "the program that fetches"


def test_the_script_that_serves_runs_nothing_of_the_folder_it_is_started_in(hostile: History, tmp_path: Path) -> None:
    for name in ("helix", "json", "sitecustomize"):
        (hostile.path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})\n", "utf-8")
    begin, _, rest = SERVE.read_text("utf-8").partition("# Waits for the server")
    assert "leave_with_server()" in rest
    functions = begin.replace('$(cd "$(dirname "$0")/.." && pwd -P)', str(SERVE.parents[1]))
    asked = "\nrunning || :\nhistory_of_here\nwords_of ."
    environment = {**os.environ, "HELIX_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        ["sh", "-c", functions + asked], cwd=hostile.path, env=environment, check=True, capture_output=True, text=True
    )
    assert done.stdout == f"{hostile.path}\nMend the flaky test of the parser\n"
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text("utf-8")


def test_git_that_waits_for_a_pipe_is_ended_when_the_import_is_stopped(
    make_history: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_PATIENCE_SECONDS", 300)
    repository = with_a_pipe_as_branch(make_history)
    asked = []

    def stopped() -> bool:
        asked.append(None)
        return len(asked) > 1

    assert not list(read_history(repository.path, stopped=stopped))


@pytest.mark.parametrize("name", [".git/HEAD", ".git/config", ".git/packed-refs"])
def test_a_pipe_in_place_of_what_git_opens_first_is_refused_before_git_starts(
    make_history: object, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    repository: History = make_history("piped")  # type: ignore[operator]
    repository.commit("Begin", {"a.txt": "one"})
    (repository.path / name).unlink(missing_ok=True)
    os.mkfifo(repository.path / name)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InvalidInputError, match=f"{name}: it is not a file"):
        Repository.find(repository.path)


def test_a_pipe_that_git_meets_later_holds_it_for_seconds(
    make_history: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_PATIENCE_SECONDS", 0.5)
    with pytest.raises(InvalidInputError, match="did not answer"):
        count(with_a_pipe_as_branch(make_history).path)


def with_a_pipe_as_branch(make_history: object) -> History:
    repository: History = make_history("branch")  # type: ignore[operator]
    repository.commit("Begin", {"a.txt": "one"})
    branch = repository.path / ".git" / repository.git("symbolic-ref", "HEAD")
    branch.unlink()
    os.mkfifo(branch)
    return repository


def test_git_ends_with_the_service_that_asks_it(
    make_history: object, helix: Helix, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_PATIENCE_SECONDS", 300)
    started: list[subprocess.Popen[bytes]] = []
    start = asking._start
    monkeypatch.setattr(asking, "_start", lambda *asked: started.append(start(*asked)) or started[-1])
    ingest.ingest_git(helix, str(with_a_pipe_as_branch(make_history).path))
    until(lambda: started)
    helix.close()
    assert all(one.poll() is not None for one in started)


def nested(repository: History, leaf: str, levels: int) -> str:
    """Return a tree of so many levels, each with ten times the one below it: few objects, many paths."""
    tree = leaf
    for _ in range(levels):
        entries = "".join(f"040000 tree {tree}\td{number}\n" for number in range(10))
        tree = repository.git("mktree", stdin=entries.encode())
    return tree


def with_tree_in_between(repository: History, tree: str) -> None:
    """Have the history add a tree and take it away again, so that a clone of it looks like any other."""
    repository.commit("Begin", {"a.txt": "one"})
    added = repository.git("commit-tree", tree, "-p", "HEAD", "-m", "Add the data")
    gone = repository.git("commit-tree", "HEAD^{tree}", "-p", added, "-m", "Remove the data")
    repository.git("update-ref", "HEAD", gone)


def full_folder(repository: History) -> str:
    blob = repository.git("hash-object", "-w", "--stdin", stdin=b"x")
    return repository.git("mktree", stdin="".join(f"100644 blob {blob}\tf{n}\n" for n in range(10)).encode())


def test_of_a_commit_that_names_very_many_files_some_are_kept_and_all_are_counted(make_history: object) -> None:
    repository: History = make_history("many")  # type: ignore[operator]
    with_tree_in_between(repository, nested(repository, full_folder(repository), 4))
    _, added, _ = read_history(repository.path)
    assert added.episode.content.endswith("and 99971 more"), "100,000 files are added, and a.txt is not there"


def test_changes_beyond_ten_thousand_are_counted_and_not_kept() -> None:
    added = b":000000 100644 " + b"0" * 40 + b" " + b"1" * 40 + b" A"
    files = (field for number in range(12_000) for field in (added, b"f%d" % number))
    ((changes, more),) = _listed(iter([b"a" * 40, *files, added, b"d" * 5_000]))
    assert (len(changes), more) == (10_000, 2_001)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits the memory of another process")
def test_git_that_takes_too_much_memory_is_an_error_and_no_danger(
    make_history: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository: History = make_history("bomb")  # type: ignore[operator]
    with_tree_in_between(repository, nested(repository, full_folder(repository), 5))
    monkeypatch.setattr(asking, "_MEMORY_BYTES", 64 << 20)
    with pytest.raises(InvalidInputError, match="memory"):
        list(read_history(repository.path))


def test_git_that_walks_through_folders_without_an_end_is_ended(
    make_history: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository: History = make_history("empty")  # type: ignore[operator]
    with_tree_in_between(repository, nested(repository, repository.git("mktree"), 12))
    monkeypatch.setattr(asking, "_SILENCE_SECONDS", 1)
    with pytest.raises(InvalidInputError, match="did not answer"):
        list(read_history(repository.path))


def many(repository: History, messages: Iterable[str]) -> list[str]:
    """Commit messages one after the other, and return the hashes: git takes them in faster than one by one."""
    stream = "".join(
        f"commit refs/heads/main\ncommitter A <a@b> {1_700_000_000 + at} +0000\ndata {len(one.encode())}\n{one}\n"
        + ("from refs/heads/main^0\n" if at == 0 and repository.git("branch", "--list", "main") else "")
        for at, one in enumerate(messages)
    )
    repository.git("fast-import", "--quiet", stdin=stream.encode())
    return repository.git("log", "--reverse", "--format=%H").split()


def test_a_commit_is_linked_to_the_first_of_very_many_that_it_names(make_history: object) -> None:
    repository: History = make_history("naming")  # type: ignore[operator]
    known = many(repository, (f"Read dates of kind {number}" for number in range(300)))
    many(repository, [f"Fix a race of the parsers\n\nIt crashed because they failed; fixes {' '.join(known)}"])
    *_, last = read_history(repository.path)
    targets = [link.target for link in last.links]
    assert len(targets) == 150  # fifty commits, which it is grounded in, solves and was caused by
    assert {target.rpartition(":")[2] for target in targets} == {*known[:50], last.episode.source.rpartition(":")[2]}


def test_a_removal_ends_the_latest_of_very_many_deprecations(make_history: object) -> None:
    repository: History = make_history("removing")  # type: ignore[operator]
    deprecated = [f"Deprecate support of {number}" for number in range(40)]
    known = many(repository, [*deprecated, "Remove the", "Remove support"])
    *_, nothing, removal = read_history(repository.path)
    assert nothing.ends == ()
    assert [source.rpartition(":")[2] for source in removal.ends] == known[20:40]


@pytest.mark.soak
def test_titles_numbers_and_deprecations_of_long_ago_are_forgotten() -> None:
    index = CommitIndex()
    old = ("Deprecate support of tapes (#1)", "Add a drum (#2)")
    for at, title in enumerate((*old, *(f"Deprecate {number} (#{number})" for number in range(10, 20_010)))):
        index.add(f"{at:040x}", parse_message(title))
    assert (index.numbered("#2"), index.numbered("#20009")) == (None, f"{20_001:040x}")
    told = [index.undo("f" * 40, parse_message(title), {}) for title in ("Remove tapes", 'Revert "Add a drum"')]
    assert told == [Undone(), Undone()]


def test_a_commit_of_a_day_to_come_has_happened_by_now(make_history: object, settings: Settings) -> None:
    """A clock was wrong, or was set: what the user says of it later would be held to be of that day."""
    history: History = make_history("to-come")  # type: ignore[operator]
    history.minutes = 60 * 24 * 365 * 20
    history.commit(
        "Use UTC for all timestamps\n\nLocal times broke the report, because two rows had the same hour. "
        "All timestamps must be kept in UTC from now on.",
        {"a.py": "one"},
    )
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        finished(helix, ingest.ingest_git(helix, str(history.path)))
        (memory,) = memories.memories(helix, MemoryFilter()).items
        (episode,) = [one for one in capture.episodes(helix).items if "report" in one.content]
        assert episode.occurred_at == memory.valid_from == episode.recorded_at
        assert helix.recall(RecallQuery(query="timestamps in UTC", scope=memory.scope)).items
