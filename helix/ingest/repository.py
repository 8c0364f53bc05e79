"""Repository: finds a git repository and runs git in it, reading only, whatever the user's configuration says."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from helix.errors import HelixError, InvalidInputError, NotARepositoryError, NotFoundError
from helix.files import is_file, is_folder, is_there, real_path, work_tree_of
from helix.identity import git_folders, scope_of_repository
from helix.processes import NEUTRAL_FOLDER, environment
from helix.text.cleaning import clean

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
# The messages of LC_ALL=C are what errors are told apart by.
_GIVEN = {
    "LC_ALL": "C",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",  # a commit is what its id says
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
# A partial clone must not fetch what it lacks: a repository may say that this is done by a program (`ext::`), or which
# one is asked for a password. Git before 2.44 does not know GIT_NO_LAZY_FETCH, a repository's `protocol.ext.allow` goes
# before `protocol.allow`, and a bundle (`fetch.bundleURI`) is fetched before protocols are looked at: so no protocol is
# allowed, and git finds none of the programs that reach others in the folder where it looks for its own.
_READING = {"GIT_ALLOW_PROTOCOL": "", "GIT_ASKPASS": "", "GIT_EXEC_PATH": NEUTRAL_FOLDER}
"""What is different where a repository is read only."""
_EXCHANGING = {
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",  # none that runs a program of somebody's choice
    "GIT_AUTHOR_EMAIL": "helix@localhost",
    "GIT_AUTHOR_NAME": "helix",
    "GIT_COMMITTER_EMAIL": "helix@localhost",
    "GIT_COMMITTER_NAME": "helix",
    "GIT_HTTP_LOW_SPEED_LIMIT": "100",  # bytes in a second, over so many seconds
    "GIT_HTTP_LOW_SPEED_TIME": "120",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=20 -oServerAliveInterval=30",
}
"""What is different where something is exchanged with another repository: how it may be reached, and who commits."""
_EVENTS = (
    *("fsmonitor-watchman", "post-checkout", "post-index-change", "post-merge", "post-receive", "post-update"),
    *("pre-auto-gc", "pre-push", "pre-receive", "proc-receive", "push-to-checkout", "reference-transaction", "update"),
)
"""When git runs a hook, of the commands that Helix uses here and in a repository on a disk (githooks, git 2.56)."""
NO_HOOKS = {"core.hooksPath": os.devnull, **{f"hook.{event}.enabled": "false" for event in _EVENTS}}
"""What has git run no hook: from 2.54 on a repository's configuration may name them, too."""
_OVERRIDES = {
    **NO_HOOKS,
    "core.attributesFile": os.devnull,
    "core.quotepath": "off",
    "core.fsmonitor": "false",
    "diff.orderFile": os.devnull,
    "diff.relative": "false",
    "fetch.bundleURI": "",
    "protocol.allow": "never",
}
_PATIENCE_SECONDS = 5
"""How long git may take to say where a repository is."""
_SILENCE_SECONDS = 300
"""How long git may say nothing while it tells of a history. A few trees that hold each other can have it walk through
more folders than a lifetime has seconds."""
_EXCHANGE_SECONDS = 24 * 3_600
"""How long one exchange with another repository may take, which goes on as long as git tells of progress."""
_MOST_BROUGHT = 16 << 30
"""Bytes of packs that one exchange may bring; at most half of what is free on the disk."""
_MOST_COMPLAINTS = 16 << 20
"""Bytes that git may write beside its answer: progress, and what another repository has it say."""
_LAST_COMPLAINTS = 10_000
_MEMORY_BYTES = 4 << 30
"""Memory that git may take, half of the machine's at most: it lists all files of a commit before it tells of the first,
and a few hundred bytes can name billions. Only Linux keeps to it."""
_LOOK_SECONDS = 0.2
_FOUND_BY = frozenset({"packed-refs", "refs", "reftable", "worktrees"})
"""What of a git folder leads to commits by their names, beside what is written in capitals, such as HEAD."""
_MOST_REFS = 200_000
_OPENED_FIRST = ("HEAD", "config", "config.worktree", "commondir", "packed-refs", "shallow", "info/grafts")
"""What git opens before anything else; it waits for ever where one of them is a pipe that nobody writes to."""
_GIT = ("git", "--no-pager", *(part for key, value in _OVERRIDES.items() for part in ("-c", f"{key}={value}")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A git repository: the folder it was found from, where its objects are, and its work tree unless it is bare.

    What git is asked of it ends soon after `stopped` says so.
    """

    folder: Path
    common_dir: Path
    work_tree: Path | None
    stopped: Callable[[], bool]

    @classmethod
    def find(cls, path: Path, stopped: Callable[[], bool] = lambda: False) -> Repository:
        """Return the repository that `path` (a folder in it, or its git folder) belongs to.

        Raises what `check` does, InvalidInputError where git refuses to read it or `stopped` says so before git
        answers, NotFoundError where git is not installed.
        """
        folder = path.expanduser()
        check(folder)
        run = partial(_run, folder, stopped=stopped)
        common = Path(os.fsdecode(run("rev-parse", "--git-common-dir").rstrip(b"\n")))
        inside = run("rev-parse", "--is-inside-work-tree").strip() == b"true"
        top = run("rev-parse", "--show-toplevel").rstrip(b"\n") if inside else b""
        return cls(
            folder=folder,
            common_dir=real_path(folder / common),
            work_tree=Path(os.fsdecode(top)) if top else None,
            stopped=stopped,
        )

    @property
    def scope(self) -> str:
        """The id of the git project; see `helix.identity`."""
        return scope_of_repository(self.common_dir)

    def has_commits(self) -> bool:
        """Return whether HEAD leads to a commit: false in a new repository."""
        question = ("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return bool(_run(self.folder, *question, failing=b"", stopped=self.stopped))

    def output(self, *arguments: str, silence: float | None = None) -> bytes:
        """Return what a git command writes; raises InvalidInputError with git's own words where it fails."""
        return _run(self.folder, *arguments, stopped=self.stopped, silence=silence or _SILENCE_SECONDS)

    @contextmanager
    def stream(
        self, *arguments: str, asked: IO[bytes] | None = None, silence: float | None = None
    ) -> Iterator[GitOutput]:
        """Yield what a git command writes while it runs; leaving early ends it, a failure raises InvalidInputError.

        `asked` is the file that it reads.

        It is ended, too, soon after `stopped` says so, and where it is silent for long: git may wait or work for ever.
        """
        with _stream(self.folder, arguments, self.stopped, silence or _SILENCE_SECONDS, asked=asked) as told:
            yield told


@contextmanager
def exchanging(
    folder: Path, *arguments: str, stopped: Callable[[], bool], given: Mapping[str, str] | None = None
) -> Iterator[GitOutput]:
    """Yield what a git command writes that may change `folder`, a git repository of Helix's own, and reach another.

    No hook runs, and nobody is asked for a password. It may take long where it is asked for its `--progress`. Raises
    InvalidInputError in git's words where it fails.
    """
    told = {**_EXCHANGING, "GIT_DIR": os.fspath(folder.absolute()), **(given or {})}
    most = _bytes_in(folder) + min(_MOST_BROUGHT, shutil.disk_usage(folder).free // 2)

    def is_full() -> bool:
        return _bytes_in(folder) > most

    with _stream(folder, arguments, stopped, _SILENCE_SECONDS, given=told, is_full=is_full) as stream:
        yield stream


def _bytes_in(folder: Path) -> int:
    """Return how much a git folder has by packs, those that just arrive among them."""
    total = 0
    for file in (folder / "objects" / "pack").glob("*"):
        with suppress(FileNotFoundError):  # an arriving pack gets another name
            total += file.stat().st_size
    return total


def check(folder: Path) -> None:
    """Raise NotARepositoryError where no git repository is, by its files alone: git may wait for ever.

    Raises InvalidInputError where something else than a file is in the place of what git opens first.
    """
    if not is_folder(folder):
        what = "is a file" if is_there(folder) else "does not exist"
        raise NotARepositoryError(f"{folder} {what}", hint="name a folder inside a git repository")
    folder = real_path(folder)  # as git goes there
    found = git_folders(folder)
    if not found:
        raise NotARepositoryError(f"{folder} is not a git repository", hint="name a folder inside one")
    tree = work_tree_of(folder)
    if tree is not None and not {found[0], *found[0].parents}.intersection(git_folders(tree)):
        words = f"{found[0]} says that it is a git repository, and is a folder of another one's files"
        raise InvalidInputError(words, hint=f"name {tree}, or move the folder out of it")
    for one in (place / name for place in found for name in _OPENED_FIRST):
        if is_there(one) and not is_file(one):
            raise InvalidInputError(f"git cannot read {one}: it is not a file", hint="remove what is in its place")
    if (link := _leads_away(found)) is not None:
        words = f"{link} leads out of the git repository that it is in"
        raise InvalidInputError(words, hint="name the repository that it leads to, or clone this one anew")


def _leads_away(places: Sequence[Path]) -> Path | None:
    """Return a link by which git would find a commit, and which leads out of the git folders; None for none.

    Raises InvalidInputError where there are too many references to look at.
    """
    inside, seen = [real_path(place) for place in places], 0
    for place in places:
        found = [one for one in place.iterdir() if one.name in _FOUND_BY or one.name.isupper()]
        for one in found:  # those of a folder are put behind
            seen += 1
            if seen > _MOST_REFS:
                raise InvalidInputError(f"{place} has very many references", hint="git pack-refs --all")
            if one.is_symlink():
                if not any(real_path(one).is_relative_to(kept) for kept in inside):
                    return one
            elif one.is_dir():
                found += one.iterdir()
    return None


class GitOutput:
    """What a git command writes, as it comes; `waiting_since` says since when nothing has, `code` how it ended.

    `ended` is why it was ended before its time.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.waiting_since: float | None = None
        self.ended: HelixError | None = None
        self.complained, self.complained_at = 0, 0.0
        self.code = 0

    def read(self, most: int) -> bytes:
        """Return what git has written, at most so many bytes, as soon as there is anything; empty at the end."""
        self.waiting_since = time.monotonic()
        block = os.read(self._stream.fileno(), most)
        self.waiting_since = None
        return block

    def fields(self, end: bytes, longest: int, block: int = 1 << 16) -> Iterator[bytes]:
        """Yield what stands between the ends, each cut at `longest` bytes."""
        pending = bytearray()
        while data := self.read(block):
            *complete, rest = data.split(end)
            for part in complete:
                pending += part
                yield bytes(pending[:longest])
                pending.clear()
            if len(pending) < longest:
                pending += rest
        if pending:
            yield bytes(pending)

    def objects(self) -> Iterator[tuple[str, bytes, int, Iterator[bytes]]]:
        """Yield the objects that `git cat-file --batch` tells of: their ids, kinds, bytes and parts.

        The parts of one are read before the next one.
        """
        pending = bytearray()

        def is_more() -> bool:
            block = self.read(1 << 16)
            pending.extend(block)
            return bool(block)

        def parts(left: int) -> Iterator[bytes]:
            while left and (pending or is_more()):
                part = bytes(pending[:left])
                del pending[: len(part)]
                left -= len(part)
                yield part

        while True:
            while b"\n" not in pending:
                if not is_more():
                    return
            end = pending.index(b"\n")
            told = bytes(pending[:end]).split()
            del pending[: end + 1]
            if len(told) == 3:  # of what is missing it says that
                yield told[0].decode("ascii"), told[1], int(told[2]), parts(int(told[2]))
                next(parts(1), b"")  # the end of its line


def _start(
    folder: Path,
    arguments: tuple[str, ...],
    complaints: IO[bytes],
    given: Mapping[str, str],
    asked: IO[bytes] | None,
) -> subprocess.Popen[bytes]:
    command = (*_GIT, "-C", os.fspath(folder.absolute()), *arguments)
    try:
        process = subprocess.Popen(
            command,
            cwd=NEUTRAL_FOLDER,
            env=environment(without=_LOCATING, given={**_GIVEN, **given}),
            stdin=asked or subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=complaints,
            start_new_session=True,  # what it starts in turn, to reach another repository, ends with it
        )
    except FileNotFoundError as error:
        raise NotFoundError("git is not installed, or not on the PATH", hint="install git, then try again") from error
    _limit_memory(process.pid)
    return process


def _limit_memory(pid: int) -> None:
    """Have a process get no more memory than _MEMORY_BYTES; files that it maps do not count."""
    if not sys.platform.startswith("linux"):
        return
    import resource

    half = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    with suppress(ProcessLookupError):  # it has ended already
        _, hard = resource.prlimit(pid, resource.RLIMIT_DATA)
        limit = min(_MEMORY_BYTES, half)
        resource.prlimit(pid, resource.RLIMIT_DATA, (limit if hard < 0 else min(limit, hard), hard))


@contextmanager
def _stream(
    folder: Path,
    arguments: tuple[str, ...],
    stopped: Callable[[], bool],
    silence: float,
    failing: bool = False,
    given: Mapping[str, str] | None = None,
    is_full: Callable[[], bool] | None = None,
    asked: IO[bytes] | None = None,
) -> Iterator[GitOutput]:
    """Yield what a git command writes; its failure is an error unless it may be `failing`.

    With `is_full` it may be silent as long as it tells of progress, and is ended once that says so.
    """
    with tempfile.TemporaryFile() as complaints:
        process = _start(folder, arguments, complaints, _READING if given is None else given, asked)
        assert process.stdout is not None
        told, finished, over = GitOutput(process.stdout), False, threading.Event()
        why = partial(_why_to_end, folder, told, complaints, silence, is_full)
        watch = threading.Thread(target=_end_when, args=(process, told, stopped, why, over), daemon=True)
        watch.start()
        try:
            yield told
            finished = True
        finally:
            over.set()
            process.stdout.close()
            if not finished:
                _kill(process)
            told.code = process.wait()
            watch.join()
        if told.ended is not None:
            raise told.ended
        if told.code != 0 and not failing:
            complaints.seek(max(0, os.fstat(complaints.fileno()).st_size - _LAST_COMPLAINTS))
            raise _refusal(folder, complaints.read(_LAST_COMPLAINTS))


def _end_when(
    process: subprocess.Popen[bytes],
    told: GitOutput,
    stopped: Callable[[], bool],
    why: Callable[[float], HelixError | None],
    over: threading.Event,
) -> None:
    began = time.monotonic()
    while not over.wait(_LOOK_SECONDS):
        told.ended = why(began)
        if told.ended is not None or stopped():
            _kill(process)
            return


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a command with all that it has started: what waits for a pipe would stay for ever."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _why_to_end(
    folder: Path,
    told: GitOutput,
    complaints: IO[bytes],
    silence: float,
    is_full: Callable[[], bool] | None,
    began: float,
) -> HelixError | None:
    """Return why a command that began then is to be ended: it is silent, says too much, or brings too much."""
    now, since, said = time.monotonic(), told.waiting_since, os.fstat(complaints.fileno())
    if said.st_size > told.complained:
        told.complained, told.complained_at = said.st_size, now
    if is_full is not None and since is not None:
        since = max(since, told.complained_at)
    if since is not None and now - since > silence:
        return _silence(folder, silence)
    if said.st_size > _MOST_COMPLAINTS or (is_full is not None and now - began > _EXCHANGE_SECONDS):
        return InvalidInputError(f"git came to no end in {folder}", hint="see what the other repository does")
    if is_full is not None and is_full():
        return InvalidInputError("the other repository sends more than there is room for", hint="make room on the disk")
    return None


def _run(
    folder: Path,
    *arguments: str,
    stopped: Callable[[], bool],
    failing: bytes | None = None,
    silence: float | None = None,
) -> bytes:
    """Return the command's output, or `failing`, where that is given, when git answers with a failure."""
    with _stream(folder, arguments, stopped, silence or _PATIENCE_SECONDS, failing is not None) as told:
        output = b"".join(iter(lambda: told.read(1 << 16), b""))
    return output if told.code == 0 or failing is None else failing


def _silence(folder: Path, seconds: float) -> InvalidInputError:
    return InvalidInputError(
        f"git did not answer within {seconds} seconds in {folder}",
        hint="trees that hold each other keep it at work, and a pipe in place of one of git's files makes it wait",
    )


def _refusal(folder: Path, complaints: bytes) -> InvalidInputError:
    words = clean(complaints.decode("utf-8", "replace")).strip()
    if "not a git repository" in words:
        return NotARepositoryError(f"{folder} is not a git repository", hint="name a folder inside one")
    if "dubious ownership" in words:
        return InvalidInputError(
            f"git refuses to read {folder}: it belongs to another user",
            hint=f"if you trust it: git config --global --add safe.directory {shlex.quote(str(real_path(folder)))}",
        )
    reason = next(
        (line for line in words.splitlines() if line.startswith(("fatal:", "error:"))),
        words[-300:] or "it gave no reason",
    )
    return InvalidInputError(
        f"git cannot read {folder}: {reason}", hint=f"see what `git -C {shlex.quote(str(folder))} log` says"
    )
