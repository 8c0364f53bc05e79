"""Commit index: the commits read so far, by hash, number and title, and which of them were taken back.

Not measured, as no history has its reverts and removals labelled.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from helix.ingest.message import Message, Naming, issues, merged_title, titled

_BUCKET = 4  # hex digits: few buckets, each short, where one per commit would double the memory
_REMEMBERED = 20_000
_MOST_DEPRECATED = 1_000
_MOST_REMOVED = 20
"""Deprecations that one removal ends, the latest of them. A repository chooses its titles: all of them by one word."""
_MOST_TAKEN_BACK = 20
"""Commits that one commit ends, or revives. A revert of a revert, and so on, adds one at each step."""
_MERGED_AT_MOST = 40
"""How many commits of a merged branch are looked at for the words of its merge."""
_TOOK_BACK = re.compile(r"(?:revert|back(?:ed|s)? out)(?:s|ed|ing)?:? +(?P<what>.+)", re.IGNORECASE)
_AGAIN = re.compile(
    r"(?:reapply|re-apply|reland|revert(?:s|ed)?:? +[\"\u201c]?revert(?:s|ed)?)\b[:\s]*(?P<what>.+)", re.IGNORECASE
)
_DEPRECATES = re.compile(r"deprecates? +(?P<what>.+)", re.IGNORECASE)
_REMOVES = re.compile(r"(?:remove|drop|delete)(?:d|s|ped)? +(?P<what>.+)", re.IGNORECASE)
_BESIDE = re.compile(r"\(?(?:#|GH-)\d+\)?|[\"\u201c\u201d]")
_WORD = re.compile(r"[\w.]+")
_LITTLE = frozenset({"a", "an", "the", "for", "of", "in", "on", "deprecated", "and", "to"})

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Undone:
    """The commits that hold no longer because of another one, and those that hold again."""

    ends: tuple[str, ...] = ()
    revives: tuple[str, ...] = ()


@dataclass(slots=True)
class CommitIndex:
    """The commits seen so far; titles, numbers and reverts of the latest 20,000 alone, and 1,000 deprecations."""

    _buckets: dict[str, list[str]] = field(default_factory=dict)
    _first_parent: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _titles: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _by_title: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _by_number: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _undone: OrderedDict[str, Undone] = field(default_factory=OrderedDict)
    _ended_by: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _deprecations: OrderedDict[frozenset[str], str] = field(default_factory=OrderedDict)

    def add(self, sha: str, message: Message | None = None, parents: Sequence[str] = ()) -> None:
        """Take in a commit of a git history: what it says where that is known, and whether it is a merge."""
        bucket = self._buckets.setdefault(sha[:_BUCKET], [])
        if sha not in bucket:
            bucket.append(sha)
        if message is None:
            return
        _keep(self._first_parent, sha, parents[0] if parents else "")
        _keep(self._titles, sha, message.subject)
        _keep(self._by_title, _key(message.subject), sha)
        for number in issues("\n".join((message.subject, *message.trailers))):
            _keep(self._by_number, number, parents[1] if len(parents) > 1 else sha)
        if (match := _DEPRECATES.fullmatch(titled(message.subject))) is not None:
            _keep(self._deprecations, _words(match["what"]), sha, most=_MOST_DEPRECATED)

    def resolve(self, named: str) -> str | None:
        """Return the one commit that the beginning of a hash stands for; None where it is none, or one of several."""
        found = [sha for sha in self._buckets.get(named[:_BUCKET], ()) if sha.startswith(named)]
        return found[0] if len(found) == 1 else None

    def numbered(self, number: str) -> str | None:
        """Return the latest commit that says that it belongs to an issue or pull request (`#12`)."""
        return self._by_number.get(number)

    def says_no_more(self, message: Message, parents: Sequence[str]) -> bool:
        """Return whether a merge says nothing beside what a commit says that it merged."""
        if len(parents) < 2:
            return False
        said = _words(merged_title(message))
        merged = parents[1]
        for _ in range(_MERGED_AT_MOST):
            if said <= _words(self._titles.get(merged, "")):
                return True
            merged = self._first_parent.get(merged, "")
        return False

    def undo(self, sha: str, message: Message, named: Mapping[str, Naming]) -> Undone:
        """Return what a commit takes back: by a revert, a revert of a revert, or as it removes what was deprecated.

        Whoever takes a commit back ends what it had revived, and revives what it had ended.
        """
        undone = self._undo(message, named)
        ends = tuple(dict.fromkeys((*undone, *self._of(undone, lambda one: one.revives))))[:_MOST_TAKEN_BACK]
        taken_back = Undone(ends, self._of(undone, lambda one: one.ends)[:_MOST_TAKEN_BACK])
        if ends:
            _keep(self._undone, sha, taken_back)
        for one in ends:
            _keep(self._ended_by, one, sha)
        return taken_back

    def _undo(self, message: Message, named: Mapping[str, Naming]) -> tuple[str, ...]:
        title = titled(message.subject)
        by_hash = tuple(one for one, naming in named.items() if naming is Naming.REVERTS)
        if (again := _AGAIN.fullmatch(title)) is not None:
            last = self._ended_by.get(self._titled(again["what"]) or "")
            return by_hash or (() if last is None else (last,))
        if (back := _TOOK_BACK.fullmatch(title)) is not None:
            reverted = by_hash[0] if by_hash else self._titled(back["what"])
            if reverted is not None:
                return (reverted,)
        replaced = tuple(one for one, naming in named.items() if naming is Naming.REPLACES)
        if (removes := _REMOVES.fullmatch(title)) is not None and (gone := _words(removes["what"])):
            replaced += tuple(one for what, one in self._deprecations.items() if gone <= what)[-_MOST_REMOVED:]
        return replaced

    def _of(self, commits: Sequence[str], of: Callable[[Undone], tuple[str, ...]]) -> tuple[str, ...]:
        known = (self._undone[one] for one in commits if one in self._undone)
        return tuple(dict.fromkeys(sha for one in known for sha in of(one)))

    def _titled(self, quoted: str) -> str | None:
        """Return the latest commit with the title that a revert quotes, with or without a number behind it."""
        number = issues(quoted)
        return self._by_title.get(_key(quoted)) or (self._by_number.get(number[-1]) if number else None)


def _keep(table: OrderedDict[Key, Value], key: Key, value: Value, most: int = _REMEMBERED) -> None:
    """Put something into a table as the latest; the oldest of more than `most` leaves it."""
    table[key] = value
    table.move_to_end(key)
    if len(table) > most:
        table.popitem(last=False)


def _key(title: str) -> str:
    """Return what titles of the same words have in common: a text takes far less memory than a set."""
    return " ".join(sorted(_words(title)))


def _words(text: str) -> frozenset[str]:
    found = _WORD.findall(titled(_BESIDE.sub(" ", text)).casefold())
    return frozenset(word.strip(".") for word in found) - _LITTLE
