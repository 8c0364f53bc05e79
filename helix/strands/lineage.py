"""Versions: what a store held at a moment, known by the digest over its rows and by the versions it came from.

A version's id is made of its root and its parents, as a commit's is in git. So two stores that come to the same by the
same way know it by the same id. Of the last versions the digest of each row is kept in a file, to tell which of two
sides has changed a row since; without that file nothing is lost, but what one side took away comes back.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from helix import files
from helix.errors import ConflictError, InvalidInputError, NotFoundError
from helix.journal.log import Journal
from helix.journal.strand_versions import StoredVersion
from helix.model.clock import to_micros
from helix.store.erasing import STAGED, STRANDS
from helix.store.store import Store
from helix.strands.packed_lines import PackedLines, read_lines
from helix.strands.rows import Key, Selection, StrandRow, Tree, canonical_json, row_digest
from helix.text.secrets.redact import redact

SCRATCH = "scratch."
"""How the names of folders begin in which strands lie that come or go just now."""
MOST_ANCESTORS = 1_000
_KEPT = 12
SHORT = 16
"""Bytes of a digest that tell two contents of one row apart, and digits of an id that tell two versions apart."""
_DRAFT = ".draft"
_LONGEST_TAG = 100
_LIKE_AN_ID = re.compile("[0-9a-f]{1,32}")
_ID = re.compile(r"\w+", re.ASCII)
"""What an id of a version is: strands and backups of strangers may name anything, such as a file elsewhere."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a row at a version: its key, and the beginning of its digest."""

    key: Key
    digest: bytes


def version_id(selection: str, root: str, parents: Iterable[str]) -> str:
    """Return the id of a strand's version, 32 hexadecimal digits."""
    told = canonical_json({"parents": sorted(parents), "root": root, "selection": selection})
    return hashlib.sha256(told).hexdigest()[:32]


def foreign_version_id(signer: str, version: str) -> str:
    """Return the id by which this store knows a strand's version that somebody else's key (hexadecimal) has signed.

    An id says by its root what the version holds. What is signed by somebody else is not imported as it is, and may
    hold anything where it tells of changes alone: it must not pass for the version of that id. The first SHORT digits
    of an id are enough.
    """
    return hashlib.sha256(canonical_json({"signer": signer, "version": version[:SHORT]})).hexdigest()[:32]


def note_version(
    store: Store,
    selection: Selection,
    *,
    who: str,
    why: str,
    parents: Sequence[str] = (),
) -> StoredVersion:
    """Note the strand version that a selection of the store is now, a new one where its rows changed; return it.

    `parents` are versions that were imported since the last one: where the
    store holds exactly what one of them does, it is that version from now on.
    """
    head = store.journal.versions.head(selection.named)
    if head and not parents and head.seq == store.journal.last_seq and rows_known(store.path, head.id) is not None:
        return head  # nobody has written anything since
    with RowsKept(store.path) as kept:
        counted = VersionRows(kept)
        with store.journal.snapshot() as (seq, state):
            for row in selection.rows(state):
                counted.add(row, row_digest(row.line()))
        return counted.noted(store, selection, seq, who=who, why=why, parents=parents)


class VersionRows:
    """Takes all rows of a selection, as they were at one moment, to note the version that they are."""

    def __init__(self, kept: RowsKept) -> None:
        self._kept, self.tree = kept, Tree()

    def add(self, row: StrandRow, of_row: bytes) -> None:
        """Take a row of a strand's version by its digest; rows come in the order of their keys."""
        self.tree.add(row, of_row)
        self._kept.add(Known(row.key, of_row))

    def noted(
        self, store: Store, selection: Selection, seq: int, *, who: str, why: str, parents: Sequence[str] = ()
    ) -> StoredVersion:
        """Note the strand version of the rows that were taken, held by the store at row `seq` of its log; return it."""
        known, root, named = store.journal.versions, self.tree.root, selection.named
        head = known.head(named)
        version = _same(store.journal, root, head, parents)
        if version is None:
            origin = [] if head is None else [head.id]
            parents = tuple(sorted({*origin, *parents}))
            at = to_micros(store.runtime.clock())
            version = StoredVersion(id=version_id(named, root, parents), parents=parents, who=who, why=why, at=at)
        held = replace(version, selection=named, root=root, seq=seq)
        known.keep([held])
        self._kept.known_as(held.id)
        return held


def _same(journal: Journal, root: str, head: StoredVersion | None, parents: Sequence[str]) -> StoredVersion | None:
    """Return the version that holds exactly this already: one that was imported, or else the last one."""
    taken = [version for one in parents if (version := journal.versions.get(one)) is not None]
    held = (version for version in (*taken, head) if version is not None and version.root == root)
    return next((one for one in held if one.id == version_id(one.selection, one.root, one.parents)), None)


def version_named(journal: Journal, wanted: str) -> StoredVersion:
    """Return the strand version with that tag, or whose id begins so; raises NotFoundError or ConflictError."""
    found = journal.versions.named(wanted.strip()) if wanted.strip() else []
    if not found:
        raise NotFoundError(f"there is no version {wanted!r}", hint="`helix strand log` lists them")
    if len(found) > 1:
        raise ConflictError(f"{len(found)} versions begin with {wanted!r}", hint="write more of the id")
    return found[0]


def tag_of(words: str) -> str:
    """Return the tag of a strand's version as it is kept; raises InvalidInputError for words that can be no tag."""
    tag = redact(words.strip()).text
    if not is_version_tag(tag):
        raise InvalidInputError(
            f"{words!r:.200} is not a name for a version",
            hint="100 characters at most, no dash before them, and not how an id may begin: such as `before-the-move`",
        )
    return tag


def is_version_tag(tag: str) -> bool:
    """Return whether words can be the tag of a strand's version: one line, no option, and not as an id begins."""
    said = 0 < len(tag) <= _LONGEST_TAG and tag.isprintable() and tag == tag.strip()
    return said and not tag.startswith("-") and not _LIKE_AN_ID.fullmatch(tag)


def free_tag(journal: Journal, words: str) -> str:
    """Return a free tag for the strand version that the store is now; raises what `tag_of` does, and ConflictError.

    That is for the tag of a version that the store is not any more.
    """
    tag = tag_of(words)
    holder = journal.versions.tagged(tag)
    if holder is not None and holder.seq != journal.last_seq:
        raise _taken(holder)
    return tag


def name_version(journal: Journal, version: str, tag: str, *, move: bool = False) -> None:
    """Give a strand's version a tag; raises ConflictError for a tag of another, or a second one, unless to `move`."""
    known = journal.versions
    holder, held = known.tagged(tag), known.get(version)
    if holder is not None and holder.id != version and not move:
        raise _taken(holder)
    if held is not None and held.tag not in ("", tag) and not move:
        raise _taken(held)
    journal.versions.tag(version, tag)


def _taken(holder: StoredVersion) -> ConflictError:
    return ConflictError(
        f"version {holder.id[:12]} is called {holder.tag!r} already",
        hint="`helix strand tag VERSION NAME --move` gives a version a name all the same",
    )


def contained_versions(journal: Journal, selection: str) -> set[str]:
    """Return the ids of the strand versions whose content the store has taken up.

    It has held them or taken them in, or what it holds came from them by way of others.
    """
    known = journal.versions
    head = known.head(selection)
    line = [] if head is None else known.ancestry([head.id], MOST_ANCESTORS)
    return {one.id for one in (*known.all(), *line)}


def rows_file(folder: Path, version: str) -> Path:
    """Return where a strand version's digests of rows are kept; the folder is made. ValueError: it is no version."""
    if not _ID.fullmatch(version):
        raise ValueError(f"no version is called {version!r:.100}")
    return files.private_folder(folder / STRANDS) / f"{version}.rows"


def remove_drafts(folder: Path, job: str = "") -> None:
    """Remove unfinished files of strands, but for what `job` goes on with; while no other job works with versions."""
    for pattern in (f"*{_DRAFT}", f"*{STAGED}", f"{SCRATCH}*"):
        for left in (folder / STRANDS).glob(pattern):
            if not job or not left.name.startswith(job):
                files.remove(left)


def rows_known(folder: Path, version: str) -> Iterator[Known] | None:
    """Return the rows of a version in the order of their keys; None where its file is not kept."""
    if not _ID.fullmatch(version):
        return None
    file = rows_file(folder, version)
    return read_version_rows(file) if file.is_file() else None


def prune_version_rows(folder: Path) -> None:
    """Remove the kept rows of the oldest strand versions beyond the last ones."""
    held = sorted((folder / STRANDS).glob("*.rows"), key=lambda file: file.stat().st_mtime_ns)
    for file in held[:-_KEPT]:
        file.unlink(missing_ok=True)


class RowsKept:
    """Keeps what is known of the rows of a version: lines of JSON, the key and 32 hexadecimal digits, packed by zlib.

    They are known under a version once `known_as` was called; otherwise nothing stays of them.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._draft = rows_file(folder, os.urandom(8).hex()).with_suffix(_DRAFT)
        self._lines = PackedLines(self._draft)

    def __enter__(self) -> RowsKept:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.abandon()
        self._draft.unlink(missing_ok=True)

    def add(self, row: Known) -> None:
        """Take one row of a strand's version; they come in the order of their keys."""
        self._lines.add(canonical_json([*row.key, row.digest[:SHORT].hex()]))

    def known_as(self, version: str) -> None:
        """Keep the rows under a strand's version; those of the oldest version beyond the last ones go."""
        self.moved_to(rows_file(self._folder, version))
        prune_version_rows(self._folder)

    def moved_to(self, file: Path) -> None:
        """Put the rows into a file of that name."""
        self._lines.close()
        self._draft.replace(file)


def read_version_rows(path: Path) -> Iterator[Known]:
    """Yield the key and digest of each row of a strand's version from the file that keeps them."""
    for line in read_lines(path):
        *key, of_row = json.loads(line)
        yield Known(tuple(key), bytes.fromhex(of_row))
