"""Git: reads a repository's history as slices, one commit each, oldest first, as git lists it.

The patterns are a grammar of what git writes.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

from helix.errors import InvalidInputError
from helix.files import real_path
from helix.helixignore import IgnoreRules, rules_above
from helix.identity import LONGEST_PATH, TOGETHER, git_folders, identify, project_at
from helix.ingest.commit import Commit, FileChange, slice_of
from helix.ingest.commit_index import CommitIndex
from helix.ingest.draft import Slice
from helix.ingest.message import parse_message
from helix.ingest.repository import GitOutput, Repository, check
from helix.text.cleaning import clean

_LONGEST_ID = 100
_LONGEST_FIELD = 1 << 18
"""Bytes of one field (a commit, a path) that are read; the rest of it is passed over."""
_MOST_WORDS, _MOST_WORDS_EACH = 64 << 20, 16 << 10
"""Bytes of commits that are read, and those that each adds: a small pack may tell of gigabytes."""
_WALK_SECONDS = 60
"""How long git may walk without a word: a commit with many parents takes the square of their number."""
_LIMIT_HINT = "what was read by then stands; `--limit` reads the newest commits alone"
_MOST_CHANGES = 10_000
"""Changes of one commit that are kept; others are counted. Few bytes can name billions of files."""
_MOST_LISTED = 20_000_000
"""Changed files that one history may list, kept or not: git takes a microsecond or two for each. A million commits of a
large project have half as many."""
_FOLDERS_KNOWN = 4_096
"""Folders whose rules are held, and what those say of it: a history comes back to the same ones."""
_EFFORT, _MOST_EFFORT = 500_000, 10_000_000
"""Comparisons of a path with a rule that each commit adds, and that are saved up at most: seconds of them."""

# Git looks for no renames: by likeness it reads every file, which a partial clone would have to fetch, and by content
# it takes the square of their number.
_CHANGES = (
    *("diff-tree", "--stdin", "--always", "--root", "-r", "-z", "--raw", "--no-abbrev", "--no-renames"),
    *("--no-ext-diff", "--no-textconv"),
)
_SHA1_DIGITS = 40
_ENCODINGS = re.compile(
    r"(?:iso-?8859|latin|windows-?\d|cp-?\d|koi8|mac|euc|iso-?2022|s(?:hift)?[-_]?jis|gb|big5|(?:us-)?ascii)[\w-]*",
    re.I,
)
"""Encodings that people write in; Python knows others, one of which takes the square of a text's length."""
_PERSON = re.compile(rb"(?P<name>[^<]*)<[^>]*> *(?P<at>-?\d{1,20})")
_CHANGE = re.compile(rb":\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*")


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
    return int(repository.output("rev-list", "--count", *range_of(limit), "HEAD", "--", silence=_WALK_SECONDS))


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
    range_of(limit)  # it raises for one below 1
    repository = Repository.find(Path(path), stopped)
    if not repository.has_commits():
        return
    scope = scope or repository.scope
    rules = _Ignored(repository.work_tree)
    index = CommitIndex()
    with TemporaryFile() as ids, TemporaryFile() as same:
        known: deque[bytes] = deque()
        with repository.stream("rev-list", "--reverse", "--date-order", "HEAD", "--", silence=_WALK_SECONDS) as lines:
            for line in lines.fields(b"\n", _LONGEST_ID):
                known.append(line)
                if limit is not None and len(known) > limit:  # a commit may name one from before the range
                    index.add(known.popleft().decode("ascii"))
        for file in (ids, same):  # each process reads on from where it is
            file.writelines(line + b"\n" for line in known)
            file.seek(0)
        known.clear()
        with (
            repository.stream("cat-file", "--batch", "--buffer", asked=ids) as objects,
            repository.stream(*_CHANGES, asked=same) as changes,
        ):
            listed = _listed(changes.fields(b"\0", _LONGEST_FIELD))
            for position, commit in enumerate(_commits(objects, listed), 1):
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


class _Change(NamedTuple):
    """A change as git lists it, with the hashes of what the file held before and after."""

    status: str
    path: str
    was: bytes
    now: bytes


_Listed = tuple[list[_Change], int]
"""Changes of a commit, and how many more it has."""


def _commits(objects: GitOutput, listed: Iterator[_Listed]) -> Iterator[Commit]:
    """Yield commits by what hashes to their ids, with the changes that are listed of them.

    Git hashes what it gets, and not what it reads. Raises InvalidInputError where a commit is not what its id says, or
    where they are longer than people write.
    """
    read, number = 0, 0
    for sha, kind, size, content in objects.objects():
        number, read = number + 1, read + size
        if read > _MOST_WORDS + number * _MOST_WORDS_EACH:
            raise InvalidInputError("the commits of this history are longer than people write", hint=_LIMIT_HINT)
        digest = hashlib.new("sha1" if len(sha) == _SHA1_DIGITS else "sha256", b"%s %d\0" % (kind, size))
        kept, left = bytearray(), size
        for part in content:
            left -= len(part)
            digest.update(part)
            kept += part[: max(_LONGEST_FIELD - len(kept), 0)]
        if left:  # git ended amid a commit, and its stream says why once the other has come to its end
            for _ in listed:
                pass
            return
        if digest.hexdigest() != sha:
            words = f"the commit {sha[:12]} is not what its id says: other words were put in its place"
            raise InvalidInputError(words, hint="clone the repository anew; `git fsck` tells what is wrong")
        found = next(listed, None)
        if found is None:  # git ended before its time, and its stream says why: what a commit touched is not known
            return
        yield _commit(sha, bytes(kept), *found)


def _commit(sha: str, raw: bytes, changes: list[_Change], more: int) -> Commit:
    """Return a commit as git keeps it: lines with a word in front, one without, and the message."""
    head, _, message = raw.partition(b"\n\n")
    lines = [line.partition(b" ") for line in head.split(b"\n")]
    told = {name: value for name, _, value in reversed(lines)}
    author, committer = _PERSON.match(told.get(b"author", b"")), _PERSON.match(told.get(b"committer", b""))
    encoding = told.get(b"encoding", b"").decode("ascii", "replace")
    return Commit(
        sha=sha,
        parents=tuple(value.decode("ascii", "replace") for name, _, value in lines if name == b"parent"),
        authored_at=(_moment(author["at"]) if author else None) or (_moment(committer["at"]) if committer else None),
        author=_text(author["name"].strip(), encoding) if author else "",
        message=parse_message(_text(message.lstrip(b"\n"), encoding)),
        changes=tuple(_with_renames(changes)),
        more_changes=more,
    )


def _listed(fields: Iterator[bytes]) -> Iterator[_Listed]:
    """Yield the changes of each commit that git lists, and how many more there are: an id, then each with its path.

    Raises InvalidInputError where there are too many of all.
    """
    sha, listed = next(fields, None), 0
    while sha is not None:
        changes: list[_Change] = []
        following, more = None, 0
        for field in fields:
            change = _CHANGE.fullmatch(field)
            if change is None:
                following = field
                break
            path = next(fields, b"")
            if len(changes) < _MOST_CHANGES and len(path) <= LONGEST_PATH:
                was, now, status = change.groups()
                changes.append(_Change(chr(status[0]), _text(path), was, now))
            else:
                more += 1
        listed += len(changes) + more
        if listed > _MOST_LISTED:
            raise InvalidInputError(f"the history lists more than {_MOST_LISTED:,} changed files", hint=_LIMIT_HINT)
        yield changes, more
        sha = following


def _with_renames(changes: list[_Change]) -> Iterator[FileChange]:
    """Yield the changes of a commit, a file that went and one that came with the same content as one that was renamed.

    One that keeps its name goes before the others.
    """
    gone = [one for one in changes if one.status == "D"]
    came = [one for one in changes if one.status == "A"]
    old: dict[str, str] = {}
    for of in (lambda one, blob: (blob, one.path.rpartition("/")[2]), lambda _, blob: blob):
        left: dict[object, list[str]] = {}
        for one in reversed(gone):
            left.setdefault(of(one, one.was), []).append(one.path)
        for one in came:
            if one.path not in old and (same := left.get(of(one, one.now))):
                old[one.path] = same.pop()
        taken = set(old.values())
        gone = [one for one in gone if one.path not in taken]
    for one in changes:
        if one.status == "A" and one.path in old:
            yield FileChange(status="R", path=one.path, old_path=old[one.path])
        elif one.status != "D" or one.path not in taken:
            yield FileChange(status=one.status, path=one.path, old_path=one.path)


def _text(data: bytes, encoding: str = "") -> str:
    try:
        return clean(data.decode(encoding if _ENCODINGS.fullmatch(encoding) else "utf-8", "replace"))
    except (LookupError, ValueError):  # one that is not known here, or that gives up
        return clean(data.decode("utf-8", "replace"))


def _moment(seconds: bytes) -> datetime | None:
    """Return the moment of a commit's clock, or None where it is beyond the years that a datetime can say."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None
