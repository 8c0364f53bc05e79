"""Repository: finds a git repository and runs git in it, reading only, whatever the user's configuration says."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from helix.errors import InvalidInputError, NotARepositoryError, NotFoundError
from helix.identity import scope_of_repository
from helix.settings import foreign_environment
from helix.text.names import clean

# A hook runs with these set; they would make git read the hook's repository instead of the one that was named.
_LOCATING = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)
# The messages of LC_ALL=C are what errors are told apart by; a partial clone must not fetch what it lacks.
_GIVEN = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
_OVERRIDES = {
    "core.quotepath": "off",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "diff.relative": "false",
    "log.diffMerges": "off",
    "log.follow": "false",
    "log.showRoot": "true",
    "log.showSignature": "false",
    "protocol.allow": "never",
}
_GIT = ("git", "--no-pager", *(part for key, value in _OVERRIDES.items() for part in ("-c", f"{key}={value}")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A git repository: the folder it was found from, where its objects are, and its work tree unless it is bare."""

    folder: Path
    common_dir: Path
    work_tree: Path | None

    @classmethod
    def find(cls, path: Path) -> Repository:
        """Return the repository that `path` (a folder in it, or its git folder) belongs to.

        Raises NotARepositoryError where there is none, InvalidInputError where git refuses to read it, NotFoundError
        where git is not installed.
        """
        folder = path.expanduser()
        if not folder.is_dir():
            what = "is a file" if folder.exists() else "does not exist"
            raise NotARepositoryError(f"{folder} {what}", hint="name a folder inside a git repository")
        common = Path(os.fsdecode(_run(folder, "rev-parse", "--git-common-dir").rstrip(b"\n")))
        inside = _run(folder, "rev-parse", "--is-inside-work-tree").strip() == b"true"
        top = _run(folder, "rev-parse", "--show-toplevel").rstrip(b"\n") if inside else b""
        return cls(
            folder=folder,
            common_dir=(folder / common).resolve(),
            work_tree=Path(os.fsdecode(top)) if top else None,
        )

    @property
    def scope(self) -> str:
        """The project's id; see `helix.identity`."""
        return scope_of_repository(self.common_dir)

    def has_commits(self) -> bool:
        """Return whether HEAD leads to a commit: false in a new repository."""
        return bool(_run(self.folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", failing=b""))

    def output(self, *arguments: str) -> bytes:
        """Return what a git command writes; raises InvalidInputError with git's own words where it fails."""
        return _run(self.folder, *arguments)

    @contextmanager
    def stream(self, *arguments: str) -> Iterator[IO[bytes]]:
        """Yield what a git command writes while it runs; leaving early ends it, a failure raises InvalidInputError."""
        with tempfile.TemporaryFile() as complaints:
            process = _start(self.folder, arguments, complaints)
            assert process.stdout is not None
            finished = False
            try:
                yield process.stdout
                finished = True
            finally:
                process.stdout.close()
                if not finished:
                    process.terminate()
                code = process.wait()
            if code != 0:
                complaints.seek(0)
                raise _refusal(self.folder, complaints.read(10_000))


def _start(folder: Path, arguments: tuple[str, ...], complaints: IO[bytes]) -> subprocess.Popen[bytes]:
    command = (*_GIT, "-C", os.fspath(folder), *arguments)
    environment = foreign_environment(without=_LOCATING, given=_GIVEN)
    try:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints, env=environment
        )
    except FileNotFoundError as error:
        raise NotFoundError("git is not installed, or not on the PATH", hint="install git, then try again") from error


def _run(folder: Path, *arguments: str, failing: bytes | None = None) -> bytes:
    """Return the command's output, or `failing`, where that is given, when git answers with a failure."""
    with tempfile.TemporaryFile() as complaints:
        with _start(folder, arguments, complaints) as process:
            output, _ = process.communicate()
        if process.returncode == 0:
            return output
        if failing is not None:
            return failing
        complaints.seek(0)
        raise _refusal(folder, complaints.read(10_000))


def _refusal(folder: Path, complaints: bytes) -> InvalidInputError:
    words = clean(complaints.decode("utf-8", "replace")).strip()
    if "not a git repository" in words:
        return NotARepositoryError(f"{folder} is not a git repository", hint="name a folder inside one")
    if "dubious ownership" in words:
        return InvalidInputError(
            f"git refuses to read {folder}: it belongs to another user",
            hint=f"if you trust it: git config --global --add safe.directory {folder.resolve()}",
        )
    reason = next(
        (line for line in words.splitlines() if line.startswith(("fatal:", "error:"))),
        words[-300:] or "it gave no reason",
    )
    return InvalidInputError(f"git cannot read {folder}: {reason}", hint=f"see what `git -C {folder} log` says")
