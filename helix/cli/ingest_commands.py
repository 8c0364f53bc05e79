"""Commands that ingest what is there already: ingest git, ingest notes, ingest jsonl.

JSON lines are read in bounded memory on their way to the daemon, whatever the input, and cut into chunks.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import click

from helix import files
from helix.cli.declared import ask, asking, command, group
from helix.cli.given import STDIN
from helix.cli.invocation import Invocation
from helix.cli.options import GIVEN_SCOPE, IMPORT, As, flag, project_scope
from helix.cli.output import Output, one_line, printed_text
from helix.cli.progress import Meter, meter
from helix.cli.render import ingest_summary
from helix.errors import InvalidInputError, NotFoundError
from helix.identity import identify

_NO_NOTES = "no notes are there: Markdown (.md, .mdx, .mdc, .markdown), .rst and .txt"
_NOT_YOURS = "they count as what the repository says; with --mine they count as your own words"
_COUNTS = ("episodes", "memories", "edges", "skipped", "redacted", "quarantined")


group(
    "ingest",
    "Ingest a repository's history, notes, an agent's history, or JSON lines; nothing is ingested twice.",
    "helix ingest git .",
    "helix ingest notes CLAUDE.md docs/adr",
)


def _shown(out: Output, report: Mapping[str, Any]) -> None:
    out.line(ingest_summary(report))
    for problem in report["problems"]:
        out.say(f"{printed_text(one_line(problem['where'], 300))}: {printed_text(one_line(problem['why'], 300))}")


def _code(report: Mapping[str, Any]) -> int:
    return InvalidInputError.exit_code if report["problems"] else 0


command(
    "ingest git",
    "ingest_git",
    "helix ingest git ~/src/curl",
    says="Ingest the history of a git repository, by default of this folder.",
    show=_shown,
    code=_code,
    cancels=True,
    path=As("path", default=".", required=False),
    scope=GIVEN_SCOPE,
    limit=As("--limit", "-n"),
)


@asking(
    "ingest notes",
    "ingest_notes",
    "helix ingest notes CLAUDE.md AGENTS.md docs/adr",
    "helix ingest notes --mine ~/.claude/CLAUDE.md",
    says="Ingest Markdown notes: files, or folders but for what git ignores.\n\n"
    "They count as what the repository says, like its commits: quoted, below what you say, and not in a brief. With "
    "--mine they count as yours, those too that were ingested before. What they say no more is retired when they are "
    "ingested again.",
    scope=GIVEN_SCOPE,
)
def _notes(invocation: Invocation, **asked: Any) -> None:
    def show(out: Output, report: Mapping[str, Any]) -> None:
        if not report["problems"] and not any(report[count] for count in _COUNTS):
            out.say(_NO_NOTES)
        if report["memories"] and "mine" not in asked:
            out.say(_NOT_YOURS)
        _shown(out, report)

    if code := _code(ask(invocation, "ingest_notes", {**_found_here(invocation, asked), **asked}, show, cancels=True)):
        raise click.exceptions.Exit(code)


def _found_here(invocation: Invocation, asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return as scope the project of this folder, where notes below it lie in no project that tells of itself."""
    first = Path(next(iter(asked["paths"]), "/"))
    below = Path.cwd() in first.parents and identify(first, home=Path.home(), passing_over=True) is None
    return {"scope": found} if below and (found := project_scope(invocation, Path.cwd())) else {}


command(
    "ingest transcript",
    "ingest_transcript",
    "helix ingest transcript ~/.claude/projects",
    says="Ingest Claude Code's history: a file, or a folder of them. Each session goes into its own project's scope.",
    show=_shown,
    code=_code,
    cancels=True,
    scope=IMPORT,
    agent=None,
)


@asking(
    "ingest jsonl",
    "ingest_bulk",
    "helix ingest jsonl memories.jsonl",
    "zcat episodes.jsonl.gz | helix ingest jsonl -",
    "helix ingest jsonl --bulk memories.jsonl --vectors memories.npy",
    says="Ingest JSON lines from FILE, or from stdin with -. Lines that are refused are named, the rest goes in.",
    path=As("file", type=str),
    scope=IMPORT,
    agent=None,
    bulk=flag("--bulk", words="For many thousand lines: the graph is built once, when all are in."),
    vectors=As(
        help="With --bulk: a .npy file of the lines' embeddings by the store's model, a float32 row of length 1 for "
        "each."
    ),
)
def _jsonl(invocation: Invocation, path: str, bulk: bool, **asked: Any) -> None:
    if bulk and path == STDIN:
        raise InvalidInputError("--bulk needs a file, not stdin", hint="write the lines to a file first")
    if bulk:
        whole = {**asked, "path": Path(path).absolute()}
        report = ask(invocation, "ingest_bulk", whole, _shown, cancels=True)
    elif "vectors" in asked:
        raise InvalidInputError("--vectors needs --bulk", hint="without --bulk lines are embedded by the daemon")
    else:
        # Two files may well use the same ids for different things; stdin has no name to tell them apart by.
        asked = {"source": "stdin" if path == STDIN else str(Path(path).absolute()), **asked}
        report = {"source": asked["source"], **dict.fromkeys(_COUNTS, 0), "problems": []}
        with _opened(path) as (stream, total), meter(invocation, "ingest jsonl", in_bytes=True) as progress:
            _send_all(invocation, chunks(stream), report, progress, total, asked)
        invocation.emit({"ingestJsonl": report}, lambda out: _shown(out, report))
    if code := _code(report):
        raise click.exceptions.Exit(code)


@asking(
    "import",
    "import_memories",
    "helix import ~/.claude-mem/claude-mem.db --plan",
    "helix import ~/vault --scope notes",
    says="Import what another memory keeps: its notes, its database or its export, or an export of Helix.\n\n"
    "Helix tells from the content what it is; docs/import-export.md lists what it knows. Nothing is imported twice.",
    scope=IMPORT,
    source=As("--from", metavar="NAME"),
    plan=As("--plan", is_flag=True),
    agent=None,
)
def _import(invocation: Invocation, **asked: Any) -> None:
    def show(out: Output, report: Mapping[str, Any]) -> None:
        if report["planned"]:
            out.line(f"{report['source']}: this would come in")
        for example in report["examples"]:
            out.line(printed_text(one_line(example, 200)), indent=3)
        _shown(out, report)

    if code := _code(ask(invocation, "import_memories", asked, show, cancels=True)):
        raise click.exceptions.Exit(code)


@contextmanager
def _opened(file: str) -> Iterator[tuple[BinaryIO, int]]:
    """Yield the stream to read and its length in bytes, 0 where that is not known."""
    if file == STDIN:
        yield sys.stdin.buffer, 0
        return
    try:
        with files.open_regular(file) as stream:
            yield stream, os.fstat(stream.fileno()).st_size
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {file}") from error
    except IsADirectoryError as error:
        raise InvalidInputError(f"{file} is a folder", hint="name a file of JSON lines, or - for stdin") from error
    except OSError as error:
        words = f"{file} cannot be read: {error.strerror or error}"
        raise InvalidInputError(words, hint="name a file of JSON lines, or - for stdin") from error


def _send_all(
    invocation: Invocation,
    pieces: Iterator[Chunk],
    report: dict[str, Any],
    show: Meter,
    total: int,
    options: Mapping[str, Any],
) -> None:
    """Send chunk after chunk and add up what came of them; says how far it got when it does not get to the end."""
    reached = 0
    try:
        for chunk in pieces:
            if chunk.lines:
                part = invocation.run("ingest_jsonl", lines=chunk.lines, first_line=chunk.first_line, **options)
                for count in _COUNTS:
                    report[count] += part["ingestJsonl"][count]
                report["problems"] += part["ingestJsonl"]["problems"]
            report["problems"] += [{"where": where, "why": why} for where, why in chunk.problems]
            reached = chunk.first_line + len(chunk.lines) - 1
            show(chunk.bytes_read, total, f"{report['episodes'] + report['memories']} ingested")
    except BaseException:
        # Ctrl-C as well: whoever stops here has to know that the same command goes on from there.
        invocation.say(f"all up to line {reached} is ingested; the same command ingests the rest, and nothing twice")
        raise


CHUNK_LINES = 200
CHUNK_BYTES = 100_000
"""A chunk is embedded within one request: on a slow machine this many bytes take seconds, not the whole time limit."""

LINE_BYTES = 3_000_000
"""Longest line, as it is sent: with its envelope it still fits into one request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Lines that follow each other, the number of the first, and what was refused just behind them.

    `bytes_read` counts from the start of the input. `problems` are (place, reason).
    """

    lines: tuple[str, ...]
    first_line: int
    bytes_read: int
    problems: tuple[tuple[str, str], ...] = ()


def chunks(stream: BinaryIO) -> Iterator[Chunk]:
    """Yield a command's input lines in chunks of at most CHUNK_LINES and, unless one line is longer, CHUNK_BYTES.

    A line that is not UTF-8, or longer than LINE_BYTES, is excluded and named; memory stays bounded even when the
    input has no line breaks at all.
    """
    lines: list[str] = []
    first, number, held, position = 1, 0, 0, 0
    while raw := stream.readline(LINE_BYTES + 1):
        number += 1
        before, position = position, position + len(raw)
        whole = raw.endswith(b"\n") or len(raw) <= LINE_BYTES
        if not whole:
            position += _skip_line(stream)
        line, sent, problem = _decoded(raw) if whole else ("", 0, f"longer than {LINE_BYTES:,} bytes")
        if problem:
            yield Chunk(
                lines=tuple(lines), first_line=first, bytes_read=position, problems=((f"line {number}", problem),)
            )
            lines, first, held = [], number + 1, 0
            continue
        if lines and (len(lines) == CHUNK_LINES or held + sent > CHUNK_BYTES):
            yield Chunk(lines=tuple(lines), first_line=first, bytes_read=before)
            lines, first, held = [], number, 0
        lines.append(line)
        held += sent
    if lines:
        yield Chunk(lines=tuple(lines), first_line=first, bytes_read=position)


def _decoded(raw: bytes) -> tuple[str, int, str]:
    """Return the line, its size as it is sent, and what is wrong with it ("" when nothing is)."""
    try:
        line = raw.decode("utf-8").strip("\ufeff\r\n")
    except UnicodeDecodeError:
        return "", 0, "not UTF-8 text"
    sent = len(json.dumps(line))
    return line, sent, "" if sent <= LINE_BYTES else f"longer than {LINE_BYTES:,} bytes as it is sent"


def _skip_line(stream: BinaryIO) -> int:
    """Read to the end of the line and return how many bytes that took."""
    skipped = 0
    while rest := stream.readline(CHUNK_BYTES):
        skipped += len(rest)
        if rest.endswith(b"\n"):
            break
    return skipped
