"""Output: safe on a terminal, and the same plain lines in every pipe."""

from __future__ import annotations

import io
import json

import pytest
from command_line import Terminal
from hypothesis import given
from hypothesis import strategies as st

from helix.cli.output import Output, clean, escape, one_line, printed_size, shorten


def written(write: object, *arguments: object, stream: io.StringIO | None = None) -> str:
    stream = io.StringIO() if stream is None else stream
    getattr(Output(stream), str(write))(*arguments)
    return stream.getvalue()


@given(st.text())
def test_nothing_a_terminal_would_obey_is_ever_written(text: str) -> None:
    shown = clean(text)
    assert not [mark for mark in shown if (ord(mark) < 32 and mark not in "\n\t") or 127 <= ord(mark) < 160]
    shown.encode("utf-8")


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_escaped_json_is_the_same_json(data: object) -> None:
    text = escape(json.dumps(data, ensure_ascii=False, indent=2))
    assert json.loads(text) == data
    text.encode("utf-8")


def test_a_table_in_a_pipe_is_lines_of_tabs_without_colour() -> None:
    rows = [("a\tb", 0.123456, True), ("line\nbreak", None, ["x", "y"])]
    assert written("table", ("NAME", "N", "OK"), rows) == "NAME\tN\tOK\na b\t0.123\tyes\nline break\t\tx, y\n"


def test_the_names_of_columns_are_cleaned_as_what_stands_below() -> None:
    """A statement of Cypher names them."""
    assert written("table", ("a\x1b]0;b\x07c\n",), [("d",)]) == "a\ufffdc\nd\n"


def test_lines_in_a_pipe_keep_their_indent_and_lose_their_style() -> None:
    stream = io.StringIO()
    Output(stream).line(("bold", "bold"), " plain\nnext", indent=2)
    assert stream.getvalue() == "  bold plain\n  next\n"


def test_no_color_is_honoured_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in written("line", ("x", "bold red"), stream=Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[31" not in written("line", ("x", "red"), stream=Terminal())


def test_markup_in_stored_text_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert "[red]x[/red] :smile:" in written("line", "[red]x[/red] :smile:", stream=Terminal())
    assert "[red]" in written("table", ("A",), [("[red]x",)], stream=Terminal())


def test_fields_leave_out_what_is_empty() -> None:
    assert written("fields", {"a": 1, "b": "", "long": {"x": 2}, "none": None}) == "a:    1\nlong: x 2\n"


def test_texts_are_cut_with_an_ellipsis_only_where_they_are_longer() -> None:
    assert shorten("abc", 3) == "abc"
    assert shorten("abcd", 3) == "ab…"
    assert one_line(" a\n b ", 10) == "a b"


def test_sizes_are_for_people() -> None:
    assert [printed_size(n) for n in (0, 999, 1000, 3_400_000, 5 * 10**15)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "3.4 MB",
        "5000.0 TB",
    ]
