"""JSON lines: the objects of a file that has one in each line, whoever wrote it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from helix import files
from helix.errors import InvalidInputError
from helix.ingest.jsonl import parsed
from helix.ingest.plain import bounded_lines
from helix.model.reports import IngestProblem

_LONGEST_LINE = 1 << 24


def objects_in(path: Path) -> Iterator[tuple[str, Mapping[str, Any] | IngestProblem]]:
    """Yield the place and the object of each line that is not blank, a problem for one that holds none.

    No more than one line is in memory, and none of more than 16 MiB.
    """
    try:
        with files.open_regular(path) as stream:
            for number, raw in bounded_lines(stream, _LONGEST_LINE):
                where = f"line {number}"
                if raw is None:
                    yield where, IngestProblem(where=where, why=f"longer than {_LONGEST_LINE:,} bytes")
                    continue
                try:
                    line = raw.decode("utf-8").strip("\ufeff \t\r\n")
                    if line:
                        yield where, parsed(line)
                except UnicodeDecodeError:
                    yield where, IngestProblem(where=where, why="not UTF-8 text")
                except InvalidInputError as error:
                    yield where, IngestProblem(where=where, why=error.message)
    except OSError as error:
        yield str(path), IngestProblem(where=str(path), why=f"cannot be read: {error.strerror}")
