"""Columns: on a terminal names stay whole, nothing is wider than the terminal, and no cell is broken up."""

from __future__ import annotations

import io
import re
from typing import Protocol

import pytest
from command_line import Terminal
from rich.cells import cell_len

from helix.cli.output import Output
from helix.cli.table_layout import columns_of, cut

Row = tuple[str, ...]

_STYLE = re.compile("\x1b\\[[0-9;]*m")
HEADING = ("NAME", "KIND", "N", "TEXT")
ROWS = [
    (
        "tests-need-virtual-environment",
        "convention",
        "7",
        "Tests need the virtual environment, or they fail to import.",
    ),
    ("ルーターの設定", "fact", "12", "ルーターの設定は読み込み順に依存する。順序を変えないこと。"),
]


class Shown(Protocol):
    """Shows a table on a terminal of some width, and returns its lines."""

    def __call__(self, width: int, heading: tuple[str, ...], rows: list[Row], *, text: bool = True) -> list[str]: ...


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """Return the lines of a table on a terminal of some width."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")

    def show(width: int, heading: tuple[str, ...], rows: list[Row], *, text: bool = True) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(width))
        stream = Terminal()
        Output(stream).table(heading, rows, text=text)
        return [_STYLE.sub("", line) for line in stream.getvalue().splitlines()]

    return show


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal_and_names_stay_whole(shown: Shown, width: int) -> None:
    lines = shown(width, HEADING, ROWS)
    assert max(map(cell_len, lines)) <= width
    assert all(any(line.startswith(row[0]) for line in lines) for row in ROWS)


def test_columns_stand_below_each_other_where_characters_are_wide(shown: Shown) -> None:
    heading, first, second = shown(120, HEADING, ROWS)
    kinds = [cell_len(line[: line.index(word)]) for line, word in ((first, "convention"), (second, "fact"))]
    assert kinds == [cell_len(heading[: heading.index("KIND")])] * 2
    assert first.index("  7  ") == heading.index(" N  ") - 1, "numbers end below each other"


def test_a_text_without_room_stands_below_its_row(shown: Shown) -> None:
    lines = shown(60, HEADING, ROWS)
    assert lines[1] == "    TEXT"
    assert lines[3] == "    Tests need the virtual environment, or they fail to imp…"


def test_what_must_stay_whole_is_not_cut(shown: Shown) -> None:
    words = "the address that the daemon binds to on this machine"
    lines = shown(40, ("NAME", "WHAT IT IS"), [("host", words)], text=False)
    assert " ".join(line.strip() for line in lines[3:]) == words


def test_what_says_nothing_has_no_column_where_room_is_short(shown: Shown) -> None:
    heading = ("NAME", "STATUS", "EMPTY", "TEXT")
    rows: list[Row] = [("a" * 30, "active", "", "b" * 40), ("c" * 30, "active", "", "d")]
    narrow, wide = shown(60, heading, rows), shown(120, heading, rows)
    assert "STATUS" not in narrow[0]
    assert narrow[-1] == "in each row: status active"
    assert "STATUS" in wide[0]
    assert "EMPTY" not in wide[0]


def test_a_text_is_cut_by_the_places_it_takes() -> None:
    assert cut("読み込み", 8) == "読み込み"
    assert cell_len(cut("読み込み順", 8)) <= 8
    assert cut("読み込み順", 8).endswith("…")


def test_a_table_without_rows_has_its_columns_in_a_pipe() -> None:
    stream = io.StringIO()
    Output(stream).table(HEADING, [])
    assert stream.getvalue() == "NAME\tKIND\tN\tTEXT\n"
    assert columns_of(HEADING, [], 80, text=True).said == ""
