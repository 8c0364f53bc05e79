"""A git repository as a place of strands: a branch of its own, which nobody ever has to check out.

Commits are made of objects alone, in a bare repository of Helix's own beside the store. So no working tree, filter,
attribute or hook has a part in it. A push that is refused because another machine was quicker is made anew on top of
what that one left: strands of two machines never have the same name.

A repository on a disk has git run in it, here and as this user: by a push its hooks, and what else its configuration
names. Whoever can write to the disk chooses those, so git is told of none of them, and writes no log there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote

from helix import files
from helix.errors import ConflictError, InvalidInputError, NotFoundError
from helix.identity import git_folders
from helix.ingest.repository import NO_HOOKS, GitOutput, exchanging
from helix.strands.place import Remote, StrandName, check_size

BRANCH = "refs/heads/helix-strands"
"""The branch that has the strands, in a folder for each signer."""
_TRIES = 8
_HERE = "refs/helix/strands"
_MOST_ANSWER = 16 << 20
"""Bytes of what is listed there: a few trees that hold each other name more files than there is memory for."""
_LEFT = ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*", "objects/??/tmp_*", "index.*")
"""What there is in a repository of Helix's own where git was killed, or gave up, in the middle of its work."""
_OVERRIDES = {
    **NO_HOOKS,
    "core.alternateRefsCommand": "true",
    "core.fsmonitor": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "receive.autogc": "false",
    "receive.shallowUpdate": "false",  # git would write the repository's `shallow`, through a link too
    "receive.updateServerInfo": "false",
    "receive.denyCurrentBranch": "refuse",  # git would change the files of a work tree, by programs that filter them
}
_THERE = " ".join(("GIT_ALLOW_PROTOCOL= git", *(f"-c {name}={value}" for name, value in _OVERRIDES.items())))
"""How git runs in a repository on a disk: no program that is named there, and nothing fetched that it lacks."""
_FORMAT = r"^(core\.(bare|repositoryformatversion|sharedrepository)|extensions\.(objectformat|refstorage))$"
"""What a push heeds of the configuration of a repository on a disk: how it is laid out, and who else may write it."""
_OF_ITS_OWN = ("objects", "packed-refs", "refs", "reftable", "shallow", "worktrees")
"""What of a repository on a disk a push looks at or changes, but for its HEAD."""
_LONGEST_HEAD = 4_096


class GitRemote(Remote):
    """The branch of one repository. `folder` is the bare one of Helix's own; it is made where it is missing."""

    def __init__(self, folder: Path, url: str, stopped: Callable[[], bool]) -> None:
        self._folder, self._url, self._stopped = folder, url, stopped
        self._near = url.startswith(("/", "file://"))
        self._head = ""

    def names(self) -> list[str]:
        """Return the names of all files of the branch that strands are left on, once it was fetched."""
        self._update()
        if not self._head:
            return []
        listed = self._git("ls-tree", "-r", "-z", "--name-only", self._head)
        return [name.decode("utf-8", "replace") for name in listed.split(b"\0") if name]

    def fetch(self, name: str, target: Path, most: int) -> None:
        """Write a strand of the branch to a new file."""
        blob = f"{self._head}:{StrandName.read(name)}"
        check_size(int(self._word("cat-file", "-s", blob)), most)
        asked = ("cat-file", "blob", blob)
        with os.fdopen(files.create_private(target, exclusive=True), "wb") as file, self._run_git(*asked) as told:
            file.writelines(_blocks(told))

    def publish(self, source: Path, name: str) -> None:
        """Commit a strand and push it; try again each time another machine has pushed first."""
        self._ready()
        blob = self._word("hash-object", "-w", "--no-filters", "--", os.fspath(source.absolute()))
        self._commit(["update-index", "--add", "--cacheinfo", f"100644,{blob},{StrandName.read(name)}"])

    def remove(self, names: Sequence[str]) -> None:
        """Commit that strands are gone; the history of the branch still has them."""
        if names:
            self._ready()
            self._commit(["update-index", "--force-remove", "--", *names])

    def _ready(self) -> None:
        """Fetch the branch anew where the repository went with what was erased meanwhile."""
        if not (self._folder / "HEAD").is_file():
            self._head = ""
            self._update()

    def _commit(self, change: Sequence[str]) -> None:
        for _ in range(_TRIES):
            commit = self._committed(change)
            try:
                how = ("--progress", "--no-verify", *self._run_there("receive-pack"))
                with self._bare_of_settings() as there:
                    self._git("push", *how, "--", there, f"{commit}:{BRANCH}")
            except InvalidInputError as refused:
                before = self._head
                self._update()
                if self._head == before or self._stopped():
                    raise refused
            else:
                self._head = commit
                return
        raise ConflictError(f"others were quicker {_TRIES} times", hint="try again later")

    def _committed(self, change: Sequence[str]) -> str:
        """Return a commit on top of the branch as it was fetched last."""
        index = self._folder / f"index.{os.urandom(8).hex()}"
        # To take a name out of the index, git wants a working tree, though it looks at none.
        given = {"GIT_INDEX_FILE": os.fspath(index.absolute()), "GIT_WORK_TREE": os.fspath(self._folder.absolute())}
        try:
            self._word("read-tree", self._head or "--empty", given=given)
            self._word(*change, given=given)
            tree = self._word("write-tree", given=given)
        finally:
            index.unlink(missing_ok=True)
        return self._word("commit-tree", tree, *(("-p", self._head) if self._head else ()), "-m", "strands")

    def _update(self) -> None:
        """Fetch what the branch leads to; there may be none yet. What came before it is not fetched."""
        if any(found for left in _LEFT for found in self._folder.glob(left)):
            self._begin_anew()
        if not (self._folder / "HEAD").is_file():
            files.private_folder(self._folder)
            self._git("init", "--quiet", "--bare", "--template=")
        try:
            told = self._git("ls-remote", *self._run_there("upload-pack"), "--", self._url, BRANCH).split()
        except InvalidInputError as error:
            raise NotFoundError(f"{self._url} cannot be reached: {error.message}", hint=error.hint) from error
        head = told[0].decode("ascii") if told else ""
        if head and head != self._head:
            how = ("--progress", "--no-tags", "--depth=1", *self._run_there("upload-pack"))
            try:
                self._git("-c", "fetch.unpackLimit=1", "fetch", *how, "--", self._url, f"+{BRANCH}:{_HERE}")
            except InvalidInputError:
                self._begin_anew()
                raise
            head = self._word("rev-parse", "--verify", _HERE)
        self._head = head

    def _begin_anew(self) -> None:
        """Remove the own repository: git that was ended leaves locks in it that hold for ever, and packs by half."""
        files.remove(self._folder)
        self._head = ""

    def _run_there(self, program: str) -> Sequence[str]:
        """Return what says how the other repository's side is run, where that is done on this machine."""
        return (f"--{program}={_THERE} {program}",) if self._near else ()

    @contextmanager
    def _bare_of_settings(self) -> Iterator[str]:
        """Yield what to push to: of a repository on a disk a private folder that leads to objects and branches alone.

        Git adds a line to a branch's log where there is one, whatever the settings, and also through a link: whoever
        can write to the disk could have it written into any file of this user. Nor is its configuration heeded, which
        names programs, but for its format.
        """
        if not self._near:
            yield self._url
            return
        there = _on_a_disk(self._url)
        with TemporaryDirectory(prefix="helix-sync-") as folder:
            for name in _OF_ITS_OWN:
                (Path(folder) / name).symlink_to(there / name)
            told = self._git("config", "--null", "--file", str(there / "config"), "--get-regexp", _FORMAT)
            lines = []
            for key, _, value in (one.partition("\n") for one in told.decode().split("\0")):
                if value.isalnum():  # not a place, where branches may lie elsewhere
                    lines.append("[{}]\n{} = {}\n".format(*key.split("."), value))
            files.write_private(Path(folder) / "config", "".join(lines))
            files.write_private(Path(folder) / "HEAD", files.read_text(there / "HEAD", _LONGEST_HEAD))
            yield folder

    def _word(self, *arguments: str, given: dict[str, str] | None = None) -> str:
        return self._git(*arguments, given=given).decode("ascii").strip()

    def _git(self, *arguments: str, given: dict[str, str] | None = None) -> bytes:
        answer = bytearray()
        with self._run_git(*arguments, given=given) as told:
            for block in _blocks(told):
                answer += block
                if len(answer) > _MOST_ANSWER:
                    raise InvalidInputError(f"{self._url} names more files or branches than any place of strands has")
        return bytes(answer)

    def _run_git(self, *arguments: str, given: dict[str, str] | None = None) -> AbstractContextManager[GitOutput]:
        command = ("-c", "gc.autoDetach=false", "-c", "maintenance.autoDetach=false", *arguments)
        return exchanging(self._folder, *command, stopped=self._stopped, given=given)


def _on_a_disk(url: str) -> Path:
    """Return the folder of a repository on this machine's disks, as git finds it."""
    path = Path(unquote(url.removeprefix("file://")) if url.startswith("file://") else url)
    found = git_folders(path if path.exists() else path.with_name(f"{path.name}.git"))
    if not found:
        raise NotFoundError(f"{url} is not a git repository any more")
    return found[-1]


def _blocks(told: GitOutput) -> Iterator[bytes]:
    return iter(lambda: told.read(1 << 16), b"")
