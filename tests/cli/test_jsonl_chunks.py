"""Chunks of JSON lines: whatever the bytes, every line is either sent once under its number or named as a problem."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.cli import ingest_commands
from helix.cli.ingest_commands import Chunk, chunks


def cut(data: bytes) -> list[Chunk]:
    return list(chunks(io.BytesIO(data)))


@given(st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b""))))
def test_every_line_is_sent_under_its_number_or_named(lines: list[bytes]) -> None:
    found = cut(b"".join(line + b"\n" for line in lines))
    sent = {number: line for chunk in found for number, line in enumerate(chunk.lines, chunk.first_line)}
    named = {place for chunk in found for place, _ in chunk.problems}
    for number, line in enumerate(lines, 1):
        try:
            text = line.decode("utf-8").strip("\ufeff\r\n")
        except UnicodeDecodeError:
            assert f"line {number}" in named
            assert number not in sent
        else:
            assert sent[number] == text
    assert len(sent) + len(named) == len(lines)


@given(st.integers(0, 4 * ingest_commands.CHUNK_LINES))
def test_no_chunk_has_more_lines_than_may_be_sent_at_once(count: int) -> None:
    found = cut(b"{}\n" * count)
    assert sum(len(chunk.lines) for chunk in found) == count
    assert all(len(chunk.lines) <= ingest_commands.CHUNK_LINES for chunk in found)
    assert not found or found[-1].bytes_read == 3 * count


def test_chunks_are_bounded_by_what_is_sent_not_by_what_is_read() -> None:
    line = b'"' * (ingest_commands.CHUNK_BYTES // 10) + b"\n"  # each quote is sent as two characters
    assert [len(chunk.lines) for chunk in cut(line * 9)] == [4, 4, 1]


@pytest.mark.parametrize("ending", [b"\n", b""])
def test_a_line_too_long_for_one_request_is_named_and_the_rest_goes_in(
    monkeypatch: pytest.MonkeyPatch, ending: bytes
) -> None:
    monkeypatch.setattr(ingest_commands, "LINE_BYTES", 20)
    monkeypatch.setattr(ingest_commands, "CHUNK_BYTES", 10)
    first, *rest = cut(b"{}\n" + b"x" * 95 + ending + (b"{1}\n" if ending else b""))
    assert (first.lines, first.problems) == (("{}",), (("line 2", "longer than 20 bytes"),))
    assert [(chunk.lines, chunk.first_line) for chunk in rest] == ([(("{1}",), 3)] if ending else [])


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_a_line() -> None:
    assert cut(b"\xef\xbb\xbf{}\r\n{}\r\n")[0].lines == ("{}", "{}")
