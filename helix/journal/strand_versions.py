"""Versions: what a store held when a strand was written or imported, each with the versions it came from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from helix.journal.backend import Backend
from helix.model.clock import LATEST


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVersion:
    """One version. `seq`: the row of the log at which the store held exactly this; None for one from elsewhere.

    `at` and `taken_at` are moments (microseconds); `taken_at` is None for what was never imported.
    """

    id: str
    selection: str = ""
    seq: int | None = None
    at: int = 0
    root: str = ""
    parents: tuple[str, ...] = ()
    who: str = ""
    why: str = ""
    tag: str = ""
    taken_at: int | None = None


_MOST_PARENTS = 1_000
_COLUMNS = "id, selection, seq, at, root, parents, who, why, tag, taken_at"


_LATER = ", ".join(
    f"{name} = max(strand_version.{name}, excluded.{name})" for name in ("selection", "root", "who", "why", "at")
)
_KNOWN = ", ".join(f"{name} = coalesce(excluded.{name}, strand_version.{name})" for name in ("seq", "taken_at"))
_FIRST = ", ".join(
    f"{name} = CASE strand_version.{name} WHEN '{none}' THEN excluded.{name} ELSE strand_version.{name} END"
    for name, none in (("tag", ""), ("parents", "[]"))
)
_LEARNED = f"{_LATER}, {_KNOWN}, {_FIRST}"


class Versions:
    """The versions that one journal knows."""

    def __init__(self, database: Backend) -> None:
        self._database = database

    def keep(self, versions: Iterable[StoredVersion]) -> None:
        """Write versions of strands to the journal; one that is known stays, but learns what it was not known with.

        A tag of theirs names neither a version that has one here, nor one beside another that has the same.
        """
        with self._database.transaction() as connection:
            taken = {
                tag: ident for tag, ident in connection.execute("SELECT tag, id FROM strand_version WHERE tag != ''")
            }
            rows = [
                (v.id, v.selection, v.seq, v.at, v.root, json.dumps(v.parents), v.who, v.why, tag, v.taken_at)
                for v in versions
                for tag in (v.tag if taken.get(v.tag, v.id) == v.id else "",)
            ]
            connection.executemany(
                f"INSERT INTO strand_version ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                f" ON CONFLICT (id) DO UPDATE SET {_LEARNED}",
                rows,
            )

    def let_go(self, after: int, taken: str = "") -> list[str]:
        """Know of no strand version in the journal that the store held it behind a row of its log, and of one that it
        was `taken`; return the ids of them all."""
        with self._database.transaction() as connection:
            held = [ident for (ident,) in connection.execute("SELECT id FROM strand_version WHERE seq > ?", (after,))]
            connection.execute("UPDATE strand_version SET seq = NULL WHERE seq > ?", (after,))
            connection.execute("UPDATE strand_version SET taken_at = NULL WHERE id = ?", (taken,))
        return [*held, *([taken] if taken and taken not in held else [])]

    def tag(self, version_id: str, tag: str) -> None:
        """Give a strand version in the journal a name, which no other one has then."""
        with self._database.transaction() as connection:
            connection.execute("UPDATE strand_version SET tag = '' WHERE tag = ?", (tag,))
            connection.execute("UPDATE strand_version SET tag = ? WHERE id = ?", (tag, version_id))

    def tagged(self, tag: str) -> StoredVersion | None:
        """Return the strand version of that tag from the journal; None where none has it."""
        found = self._select_versions("WHERE tag = ?", tag)
        return found[0] if found else None

    def head(self, selection: str) -> StoredVersion | None:
        """Return the last strand version of a selection in the journal that the store itself has held, or None."""
        found = self._select_versions(
            "WHERE selection = ? AND seq IS NOT NULL ORDER BY seq DESC, rowid DESC LIMIT 1", selection
        )
        return found[0] if found else None

    def get(self, version_id: str) -> StoredVersion | None:
        """Return a strand version from the journal by its id; None where it is not known."""
        found = self._select_versions("WHERE id = ?", version_id)
        return found[0] if found else None

    def named(self, wanted: str) -> list[StoredVersion]:
        """Return the strand versions in the journal of that tag, or those whose ids begin so."""
        tagged = self.tagged(wanted)
        return (
            [tagged] if tagged is not None else self._select_versions("WHERE substr(id, 1, ?) = ?", len(wanted), wanted)
        )

    def all(self) -> list[StoredVersion]:
        """Return every strand version in the journal that was held or imported, the newest first."""
        return self._select_versions(
            "WHERE seq IS NOT NULL OR taken_at IS NOT NULL ORDER BY coalesce(taken_at, at) DESC, rowid DESC"
        )

    def ancestry(self, starts: Sequence[str], most: int) -> list[StoredVersion]:
        """Return the journal's strand versions that lead to these, these first, then the nearest, `most` at most."""
        found: dict[str, StoredVersion] = {}
        seen, ahead = set[str](), list(dict.fromkeys(starts))
        while ahead and len(found) < most:
            # Strands of strangers name any number of versions that nobody has: they are asked for together.
            rows = self._select_versions("WHERE id IN (SELECT value FROM json_each(?))", json.dumps(ahead))
            known = {version.id: version for version in rows}
            nearest = [known[one] for one in ahead if one in known][: most - len(found)]
            found.update((version.id, version) for version in nearest)
            seen.update(ahead)
            ahead = [one for one in dict.fromkeys(chain.from_iterable(v.parents for v in nearest)) if one not in seen]
        return list(found.values())

    def _select_versions(self, where: str, *values: Any) -> list[StoredVersion]:
        with self._database.reading() as connection:
            rows = connection.execute(f"SELECT {_COLUMNS} FROM strand_version {where}", values).fetchall()
        return [
            StoredVersion(
                id=row[0],
                selection=row[1],
                seq=row[2],
                at=_moment(row[3]) or 0,
                root=row[4],
                parents=_parents(row[5]),
                who=row[6],
                why=row[7],
                tag=row[8],
                taken_at=_moment(row[9]),
            )
            for row in rows
        ]


def _moment(at: object) -> int | None:
    return at if isinstance(at, int) and 0 <= at <= LATEST else None


def _parents(told: str) -> tuple[str, ...]:
    """Return the versions that a row names as its origin; none where it is damaged, as a restored one may be."""
    try:
        said = json.loads(told)
    except (ValueError, TypeError, RecursionError):
        return ()
    return tuple(one for one in said if isinstance(one, str))[:_MOST_PARENTS] if isinstance(said, list) else ()
