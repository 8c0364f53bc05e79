"""Output: what people read: colour and columns on a terminal, plain lines that never change shape in a pipe."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from helix.model.provenance import SPOKEN_HERE
from helix.model.speaker import agent_of
from helix.text.inert import UNSEEN, inert, quoted, told_label, visible

if TYPE_CHECKING:
    from rich.console import Console

Part = str | tuple[str, str]
"""A piece of a line: plain text, or text and its style on a terminal."""

# Stored text may hold escape sequences, which a terminal would obey, and lone surrogates, which no stream can carry.
_UNPRINTABLE = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{UNSEEN}]")

_SHORT = 500
_BELOW = 4
"""How far what has no room in its row is indented below it."""


def clean(text: str) -> str:
    """Return a text for printing, without anything that a terminal, or the agent that runs the command, would obey.

    Line breaks and tabs stay.
    """
    return inert(text) if agent_of(os.environ) else visible(text)


def printed_text(text: str, record: Mapping[str, Any] | None = None) -> str:
    """Return a stored text as a command prints it: to an agent as one quoted line, unless somebody here stands for it.

    So are the names that stand beside it: of files, of people, of where it was read. Without the record that it is of,
    nobody stands for it.
    """
    if not text or not agent_of(os.environ) or (record or {}).get("saidBy") in SPOKEN_HERE:
        return text
    return quoted(text)


def continued(words: str) -> str:
    """Return words with their further lines indented: a path may hold a line end, and behind it a forged message."""
    return words.replace("\n", "\n  ")


def claimed(text: str) -> str:
    """Return what a command prints that nobody stands for yet, as one line in quotes, whoever reads it."""
    return quoted(text)


def printed_name(what: str, name: str) -> str:
    """Return a node's name as a command prints it, by its label: a file or a person may be called anything."""
    return name if what.lower() == "memory" else printed_text(one_line(name))


def printed_label(text: str) -> str:
    """Return what a scope or an agent is called as a command prints it: to an agent quoted, if more than a name."""
    return told_label(text) if agent_of(os.environ) else text


def escape(json_text: str) -> str:
    """Return JSON for printing with what a terminal would obey written as escapes: the same JSON."""
    return _UNPRINTABLE.sub(lambda match: json.dumps(match[0])[1:-1], json_text)


def shorten(text: str, length: int = _SHORT) -> str:
    """Return the text for a terminal, cut to `length` characters with an ellipsis where it is longer."""
    text = text.strip()
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def one_line(text: str, length: int = 80) -> str:
    """Return a text as one printed line of at most `length` characters."""
    return shorten(" ".join(text.split()), length)


def printed_size(count: float) -> str:
    """Return a number of bytes as a command prints it: `3.4 MB`."""
    if count < 1000:
        return f"{count:.0f} B"
    units = ["kB", "MB", "GB", "TB"]
    power = min(int(math.log10(count)) // 3, len(units))
    return f"{count / 1000**power:.1f} {units[power - 1]}"


class Output:
    """Writes to one stream; Rich is loaded only when that is a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._console: Console | None = None
        self.width: int | None = None  # of the terminal; None where there is none
        if stream.isatty() and os.environ.get("TERM") != "dumb":
            from rich.console import Console  # heavy, and of no use in a pipe

            self._console = Console(file=stream, highlight=False, emoji=False, markup=False)
            self.width = self._console.width

    def line(self, *parts: Part, indent: int = 0) -> None:
        """Write one line; `indent` also holds for the lines it wraps or breaks into."""
        pieces = [(clean(part), "") if isinstance(part, str) else (clean(part[0]), part[1]) for part in parts]
        if self._console is None:
            margin = " " * indent
            text = "".join(piece for piece, _ in pieces)
            self._stream.write("".join(f"{margin}{line}".rstrip() + "\n" for line in text.split("\n")))
        else:
            from rich.padding import Padding
            from rich.text import Text

            self._console.print(Padding(Text.assemble(*pieces), (0, 0, 0, indent), expand=False))

    def say(self, words: str) -> None:
        """Write words beside what is shown, to stderr: advice and warnings, never data."""
        self._stream.flush()  # what was shown before stands above it
        Output(sys.stderr).line(continued(words))

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, text: bool = True) -> None:
        """Write rows under their column names; in a pipe, separated by tabs.

        `text`: on a terminal the last column may be cut. Without it each cell stays whole.
        """
        cells = [[" ".join(clean(shown(value)).split()) for value in row] for row in rows]
        if self._console is None:
            names = [" ".join(clean(name).split()) for name in columns]
            self._stream.write("".join("\t".join(row) + "\n" for row in (names, *cells)))
        elif cells:
            from helix.cli.table_layout import columns_of

            width = self._console.width
            laid = columns_of(columns, cells, width, text=text)
            for row, style in ((columns, "bold"), *((row, "") for row in cells)):
                self.line((laid.line(row, width), style))
                for line in laid.lines_below(row, width - _BELOW):
                    self.line((line, style), indent=_BELOW)
            if laid.said:
                self.line((f"in each row: {laid.said}", "dim"))

    def fields(self, pairs: Mapping[str, Any]) -> None:
        """Write `name: value` lines, values in one column; what is empty is left out."""
        texts = {_name(name): shown(value) for name, value in pairs.items() if value not in (None, "", [], {})}
        width = max(map(len, texts), default=0) + 2
        if self._console is None:
            for name, value in texts.items():
                self.line(f"{name}:".ljust(width), ("\n" + " " * width).join(value.splitlines()))
        elif texts:
            from rich.table import Table
            from rich.text import Text

            grid = Table.grid(padding=0)
            grid.add_column(width=width, no_wrap=True, style="bold")
            grid.add_column(overflow="fold")
            for name, value in texts.items():
                grid.add_row(f"{name}:", Text(clean(value)))
            self._console.print(grid)


def _name(name: str) -> str:
    """Return a field's name, which a strand's manifest may say, as one that can be no more than a name."""
    return one_line(clean(name))


def shown(value: Any) -> str:
    """Return a value as a command prints it: yes and no, three digits, lists and tables on one line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {shown(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(shown(item) for item in value)
    return "" if value is None else str(value)
