"""JSON files: the objects of a file that has one in each line, or all in one long list, whoever wrote it.

Of a list there is no more than one object in memory.
"""

from __future__ import annotations

import codecs
import json
import re
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
    """Yield each JSON line of a file to import, by place and object, a problem for one that holds none.

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


_BLOCK = 1 << 18
_LONGEST = 1 << 26
"""Characters of one object: a conversation of years has fewer."""
MOST_VALUES, _MOST_IN_COLUMN = 2_000_000, 100_000
"""Values of one object, and of a column of a database. Twenty million empty lists in 60 MB became three gigabytes, and
kept the daemon for minutes."""
_OVERLAP = 200
"""Characters that a key takes with the bracket behind it, and that two blocks may divide."""
_GAP = re.compile(r"[\s,]*")


def objects_of(
    path: Path, *keys: str, longest: int = _LONGEST, beside: bool = False
) -> Iterator[Mapping[str, Any] | IngestProblem]:
    """Yield the objects to import of a JSON list: the file, or what it has under the first of these keys.

    `beside` is a list that a file may have beside another: nothing is yielded where it has none or is a list itself.
    A problem, the last thing yielded, says that it is no JSON, or that one object is too long (`longest` characters) or
    holds too much.
    """
    try:
        with files.open_regular(path) as file:
            pieces = codecs.iterdecode(iter(lambda: file.read(_BLOCK), b""), "utf-8-sig", "replace")
            text = _begun(pieces, keys, beside=beside)
            if text is not None:
                yield from _objects(text, pieces, longest)
    except (OSError, ValueError, RecursionError) as error:
        yield IngestProblem(where=str(path), why=f"cannot be read to its end: {error}")


def _objects(text: str, pieces: Iterator[str], longest: int) -> Iterator[Mapping[str, Any]]:
    at, decoder = 0, json.JSONDecoder()
    while True:
        gap = _GAP.match(text, at)
        at = gap.end() if gap else at
        if text[at : at + 1] == "]":
            return
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError:
            text, at = text[at:], 0
            more = _as_much(pieces, len(text))
            if not more:
                raise
            if len(text) > longest:
                raise ValueError(f"one object has more than {longest:,} characters") from None
            text += more
            check_values(text)
            continue
        if isinstance(value, Mapping):
            yield value


def check_values(text: str, most: int = MOST_VALUES) -> None:
    """Raise ValueError where JSON to import may hold more values than an object should, before it is read.

    Commas and brackets in its texts count too.
    """
    if sum(map(text.count, "[{,")) > most:
        raise ValueError(f"one object holds more than {most:,} values")


def read_json(value: object, most: int = _MOST_IN_COLUMN) -> object:
    """Return what a text of an imported database holds as JSON; None for what is none, or holds too many values."""
    if not isinstance(value, str):
        return None
    try:
        check_values(value, most)
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _as_much(pieces: Iterator[str], length: int) -> str:
    """Return at least so much more, or the rest: to try again at every block would take the square of the time."""
    read: list[str] = []
    for piece in pieces:
        read.append(piece)
        length -= len(piece)
        if length <= 0:
            break
    return "".join(read)


def _begun(pieces: Iterator[str], keys: tuple[str, ...], *, beside: bool) -> str | None:
    """Return the text from where the list begins; None where it need not be there and is not."""
    text = next(pieces, "")
    if text.lstrip().startswith("["):
        return None if beside else text[text.index("[") + 1 :]
    while text:
        for key in keys:
            if found := re.search(rf'"{key}"\s*:\s*\[', text):
                return text[found.end() :]
        more = next(pieces, "")
        text = text[-_OVERLAP:] + more if more else ""
    if beside:
        return None
    raise ValueError(f"no list, and none under {' or '.join(keys)}")
