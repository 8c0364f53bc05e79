"""Table layout: how rows fit a terminal of some width, so that names stay whole and no cell is broken up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

places = cell_len
"""Returns how many places of a terminal a text takes."""

GAP = "  "
_LEAST = 24
"""Fewest places for a text beside other columns: with less room it goes below them."""
_NUMBER = re.compile(r"[-+]?[\d.,]+%?")


def cut(text: str, width: int) -> str:
    """Return a table cell's text, with an ellipsis where it takes more than `width` places of a terminal."""
    return text if cell_len(text) <= width else set_cell_size(text, max(width - 1, 0)).rstrip() + "…"


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The columns of a table: those beside each other, those below them, and what each row says and so has none."""

    sizes: tuple[int, ...]
    numbers: frozenset[int]
    text: int
    beside: tuple[int, ...]
    below: tuple[int, ...]
    said: str

    def line(self, row: Sequence[str], width: int) -> str:
        """Return the line of a row, or of the heading."""
        line = GAP.join(self._padded(row[at], at) for at in self.beside).rstrip()
        return cut(line, width) if self.beside[-1] == self.text else line

    def lines_below(self, row: Sequence[str], width: int) -> list[str]:
        """Return what stands below the line of a row: in one line where that has room."""
        cells = [row[at] for at in self.below if row[at]]
        line = GAP.join(cells)
        lines = cells if cell_len(line) > width else [line] * bool(cells)
        return [*lines[:-1], cut(lines[-1], width)] if self.text in self.below and lines else lines

    def _padded(self, cell: str, at: int) -> str:
        blanks = " " * (self.sizes[at] - cell_len(cell))
        return blanks + cell if at in self.numbers else cell + blanks


def columns_of(names: Sequence[str], rows: Sequence[Sequence[str]], width: int, *, text: bool) -> TableColumns:
    """Return the layout of a printed table's columns. With `text` its last is a text, cut where it is too long.

    A column is left out where it is empty, or where room is short and it says the same in each row. Whatever still has
    no room stands below the rest of its row.
    """
    every = range(len(names))
    last = len(names) - 1 if text else -1
    sizes = tuple(max(map(cell_len, (names[at], *(row[at] for row in rows)))) for at in every)

    def fits(shown: Sequence[int]) -> bool:
        taken = (min(sizes[at], _LEAST) if at == last else sizes[at] for at in shown)
        return sum(taken) + len(GAP) * (len(shown) - 1) <= width

    shown, same = [at for at in every if at == 0 or not rows or any(row[at] for row in rows)], list[int]()
    if not fits(shown) and len(rows) > 1:
        same = [at for at in shown[1:] if at != last and len({row[at] for row in rows}) == 1]
        shown = [at for at in shown if at not in same]
    beside = next((shown[:count] for count in range(len(shown), 1, -1) if fits(shown[:count])), shown[:1])
    return TableColumns(
        sizes=sizes,
        numbers=frozenset(at for at in every if rows and all(_NUMBER.fullmatch(row[at]) for row in rows)),
        text=last,
        beside=tuple(beside),
        below=tuple(shown[len(beside) :]),
        said=", ".join(f"{names[at].lower()} {rows[0][at]}" for at in same),
    )
