"""Staged: the rows of one import lie ready in two files of the store before the first of them is written.

They are checked and cleaned by then. So an import that a kill cuts short is brought to its end at the next start, and
one that turns out to be no good has changed nothing.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from helix import files
from helix.store.erasing import STAGED, STRANDS
from helix.strands.lineage import Known, RowsKept, prune_version_rows, read_version_rows, rows_file, rows_known
from helix.strands.packed_lines import PackedLines, read_lines
from helix.strands.rows import canonical_json, in_batches, read_row
from helix.strands.three_way import Incoming

_JOB = re.compile(r"[\w-]+", re.ASCII)


class Staged:
    """What one job is to write, and what is known of all rows that the other side has."""

    def __init__(self, folder: Path, job: str) -> None:
        """Nothing is read or written by this. Raises ValueError for a job that a damaged or crafted journal names."""
        if not _JOB.fullmatch(job):
            raise ValueError(f"no job is called {job!r:.100}")
        self._folder, self.job, self.count = folder, job, 0
        self._rows, self._known = (folder / STRANDS / f"{job}-{part}{STAGED}" for part in ("rows", "known"))

    def writing(self) -> Staging:
        """Return what a strand's rows are put into, in place of any that were there."""
        self.remove()
        files.private_folder(self._rows.parent)
        return Staging(self._folder, PackedLines(self._rows))

    def keep(self, staging: Staging) -> None:
        """Have the disk hold what was put there."""
        self.count = staging.count
        staging.lines.close()
        staging.kept.moved_to(self._known)

    def batches(self, most: int, heaviest: int | None) -> Iterator[list[Incoming]]:
        """Yield a strand's rows, so many and so many bytes at once; raises OSError or ValueError for damaged ones."""
        for lines in in_batches(read_lines(self._rows), len, most, heaviest):
            yield [_parse_incoming(line) for line in lines]

    def known(self, version: str) -> Iterator[Known]:
        """Yield what is known of the strand rows of the other side, whose version that is."""
        yield from read_version_rows(self._known) if self._known.is_file() else rows_known(self._folder, version) or ()

    def known_as(self, version: str) -> None:
        """Keep what is known of the rows as those of a version, where that was not done."""
        if self._known.is_file():
            self._known.replace(rows_file(self._folder, version))
            prune_version_rows(self._folder)

    def remove(self) -> None:
        """Remove what there is of it."""
        for file in (self._rows, self._known):
            files.remove(file)


class Staging:
    """Takes the rows of an import, and what is known of the other side's; nothing stays unless it is kept."""

    def __init__(self, folder: Path, lines: PackedLines) -> None:
        self.lines, self.kept, self.count = lines, RowsKept(folder), 0

    def __enter__(self) -> Staging:
        return self

    def __exit__(self, *_: object) -> None:
        self.lines.abandon()
        self.kept.__exit__()

    def add(self, batch: Sequence[Incoming]) -> None:
        """Take rows that may change something."""
        self.count += len(batch)
        for one in batch:
            self.lines.add(_line(one))


def _line(one: Incoming) -> bytes:
    digests = [None if each is None else each.hex() for each in (one.base, one.of_theirs)]
    vectors = [None if each is None else base64.b64encode(each).decode() for each in one.vectors]
    return canonical_json([one.key, None if one.theirs is None else one.theirs.said(), *digests, vectors])


def _parse_incoming(line: bytes) -> Incoming:
    key, said, base, of_theirs, vectors = json.loads(line)
    return Incoming(
        key=tuple(key),
        theirs=None if said is None else read_row(said),
        base=None if base is None else bytes.fromhex(base),
        of_theirs=None if of_theirs is None else bytes.fromhex(of_theirs),
        vectors=tuple(None if each is None else base64.b64decode(each) for each in vectors),
    )
