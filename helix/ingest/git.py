"""Git: reads a repository's history as slices, one commit each, oldest first, from one running `git log`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from helix.errors import InvalidInputError
from helix.files import real_path
from helix.helixignore import IgnoreRules, rules_above
from helix.identity import LONGEST_PATH, TOGETHER, git_folders, identify, project_at
from helix.ingest.commit import Commit, FileChange, slice_of
from helix.ingest.commit_index import CommitIndex
from helix.ingest.draft import Slice
from helix.ingest.message import parse_message
from helix.ingest.repository import Repository, check
from helix.text.cleaning import clean

_LONGEST_FIELD = 1 << 20
"""Bytes of one field (a message, a path) that are read; the rest of it is passed over."""
_MOST_CHANGES = 10_000
"""Changes of one commit that are kept; others are counted. Few bytes can name billions of files."""
_FOLDERS_KNOWN = 4_096
"""Folders whose rules are held, and what those say of it: a history comes back to the same ones."""
_EFFORT, _MOST_EFFORT = 500_000, 10_000_000
"""Comparisons of a path with a rule that each commit adds, and that are saved up at most: seconds of them."""

# Hash, parents, times of author and committer, the author's name by the mailmap, the message. Renames are looked for
# by equal content only: telling them by likeness reads every file, which a partial clone would have to fetch.
_FORMAT = "--format=%H%x00%P%x00%at%x00%ct%x00%aN%x00%B"
_LOG = (
    *("log", "-z", "--reverse", "--date-order", "--encoding=UTF-8", _FORMAT),
    *("--name-status", "--find-renames=100%", "--no-ext-diff", "--no-textconv", "--no-color", "--no-notes"),
)
_STATUS = re.compile(rb"[A-Z]\d*")


def project_scope(path: str | Path, worktrees: str = TOGETHER, names: Path | None = None) -> str:
    """Return the scope of the git project that a path is in; raises NotARepositoryError where it is in none.

    A bare repository, which no folder upwards tells of, is one too: it has the scope of where it is, whatever remote it
    says it has. Git is not asked. See `helix.identity`.
    """
    place = Path(path).expanduser()
    folder = real_path(place.parent if place.is_file() else place)  # as git goes there
    if identify(folder, worktrees=worktrees, home=Path.home(), names=names) is None:
        check(folder)
        folder = git_folders(folder)[0]
    return project_at(folder, worktrees=worktrees, names=names).scope


def count(
    path: str | Path,
    *,
    limit: int | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> int:
    """Return how many git commits `read_history` goes through with the same arguments."""
    repository = Repository.find(Path(path), stopped)
    if not repository.has_commits():
        return 0
    return int(repository.output("rev-list", "--count", *range_of(limit), "HEAD", "--"))


def read_history(
    path: str | Path,
    *,
    limit: int | None = None,
    scope: str | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[Slice]:
    """Yield the git commits that lead to HEAD as slices, parents before children: the newest `limit`.

    A commit all of whose files `.helixignore` excludes gives no slice. Sources are `git:<scope>:<hash>`, by the
    project's own scope where none is given. Raises NotARepositoryError, or InvalidInputError in git's words where the
    history cannot be read to its end; what was yielded by then stands.
    """
    repository = Repository.find(Path(path), stopped)
    if not repository.has_commits():
        return
    scope = scope or repository.scope
    rules = _Ignored(repository.work_tree)
    index = CommitIndex()
    if limit is not None:  # a commit may name one from before the range, which is known already
        with repository.stream("rev-list", "HEAD", "--") as lines:
            for line in lines.fields(b"\n", _LONGEST_FIELD):
                index.add(line.decode("ascii"))
    with repository.stream(*_LOG, *range_of(limit), "HEAD", "--") as stream:
        for position, commit in enumerate(_commits(stream.fields(b"\0", _LONGEST_FIELD)), 1):
            visible = _visible(commit, rules, stopped)
            drafted = slice_of(visible, scope=scope, index=index, position=position) if visible else None
            index.add(commit.sha, commit.message, commit.parents)
            if drafted is not None:
                yield drafted


class _Ignored:
    """Tells which paths of a history the rules exclude that its work tree has now; none without one.

    A repository brings both its rules and its paths, and a few hundred bytes can name thousands of files, a thousand
    folders deep: each folder is compared once, and each commit adds so many comparisons to those that may be made. What
    is left then counts as excluded.
    """

    def __init__(self, top: Path | None) -> None:
        self._left = _MOST_EFFORT
        self._folders: dict[str, bool] = {}

        @lru_cache(maxsize=_FOLDERS_KNOWN)
        def rules(folder: str) -> IgnoreRules:
            return IgnoreRules() if top is None else rules_above(top / folder, top)

        self._rules = rules

    def begin_commit(self) -> None:
        """Go on with the next commit."""
        self._left = min(max(self._left, 0) + _EFFORT, _MOST_EFFORT)

    def excludes(self, path: str) -> bool:
        """Return whether a path of this commit, or a folder that it lies in, is excluded."""
        rules, at = self._rules(path.rpartition("/")[0]), 0
        if not rules.rules:
            return False
        while (at := path.find("/", at) + 1) > 0:
            folder = path[: at - 1]
            if self._left <= 0:
                return True
            if folder not in self._folders:
                if len(self._folders) == _FOLDERS_KNOWN:
                    self._folders.clear()
                self._folders[folder] = self._matches(rules, folder, is_folder=True)
            self._left -= 1
            if self._folders[folder]:
                return True
        return self._left <= 0 or self._matches(rules, path)

    def _matches(self, rules: IgnoreRules, place: str, *, is_folder: bool = False) -> bool:
        self._left -= len(rules.rules)
        return rules.ignores_here(place, is_folder=is_folder)


def _visible(commit: Commit, rules: _Ignored, stopped: Callable[[], bool]) -> Commit | None:
    """Return the commit without the files that are ignored; None where it touched nothing else, or once `stopped`.

    A file that was renamed out of an ignored place is one that was added.
    """
    if not commit.changes:
        return commit
    rules.begin_commit()

    def ignored(path: str) -> bool:
        return stopped() or rules.excludes(path)

    kept = tuple(
        change
        if change.old_path == change.path or not ignored(change.old_path)
        else replace(change, status="A", old_path=change.path)
        for change in commit.changes
        if not ignored(change.path)
    )
    return replace(commit, changes=kept) if kept and not stopped() else None


def range_of(limit: int | None) -> list[str]:
    """Return the range of commits as git is asked for it; raises InvalidInputError for a limit below 1."""
    if limit is not None and limit < 1:
        raise InvalidInputError(f"the limit must be 1 or more, not {limit}")
    return [] if limit is None else [f"--max-count={limit}"]


def _commits(fields: Iterator[bytes]) -> Iterator[Commit]:
    """Yield the commits of a log: six fields each, then a status with its path, or two paths where one was renamed."""
    sha = next(fields, None)
    while sha is not None:
        parents, authored, committed, author, message = (next(fields, b"") for _ in range(5))
        changes: list[FileChange] = []
        following, more = None, 0
        for field in fields:
            status = field.lstrip(b"\n")
            if not _STATUS.fullmatch(status):
                following = status
                break
            old = next(fields, b"")
            new = next(fields, b"") if status[:1] in (b"R", b"C") else old
            if len(changes) < _MOST_CHANGES and max(len(old), len(new)) <= LONGEST_PATH:
                changes.append(FileChange(status=chr(status[0]), path=_text(new), old_path=_text(old)))
            else:
                more += 1
        yield Commit(
            sha=sha.decode("ascii", "replace").strip(),
            parents=tuple(parents.decode("ascii", "replace").split()),
            authored_at=_moment(authored) or _moment(committed),
            author=_text(author),
            message=parse_message(_text(message)),
            changes=tuple(changes),
            more_changes=more,
        )
        sha = following


def _text(data: bytes) -> str:
    return clean(data.decode("utf-8", "replace"))


def _moment(seconds: bytes) -> datetime | None:
    """Return the moment of a commit's clock, or None where it is beyond the years that a datetime can say."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None
