"""Commands that take in what is there already: ingest git, ingest notes, ingest jsonl."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import click

from helix import files
from helix.cli.invocation import Invocation
from helix.cli.jsonl_upload import Chunk, chunks
from helix.cli.options import import_scope_option, new_scope_option
from helix.cli.output import one_line, told
from helix.cli.progress import Meter, follow, meter
from helix.cli.render import ingest_summary
from helix.errors import InvalidInputError, NotFoundError

_NO_NOTES = "no notes are there: Markdown (.md, .mdx, .mdc, .markdown), .rst and .txt"
_NOT_YOURS = "they count as what the repository says; with --mine they count as your own words"
_COUNTS = ("episodes", "memories", "edges", "skipped", "redacted", "quarantined")


@click.group()
def ingest() -> None:
    """Take in a repository's history, notes, an agent's history, or JSON lines; nothing is taken in twice.

    \b
    helix ingest git .
    helix ingest notes CLAUDE.md docs/adr
    """


@ingest.command()
@click.argument("path", type=click.Path(path_type=Path), default=".")
@new_scope_option
@click.option("--limit", type=click.IntRange(min=1), help="Only the newest so many commits.")
@click.pass_obj
def git(invocation: Invocation, /, path: Path, scope: str | None, limit: int | None) -> None:
    """Take in the history of a git repository, by default of this folder.

    \b
    helix ingest git ~/src/curl
    """
    data = invocation.run("ingest_git", path=path.absolute(), scope=scope, limit=limit)
    _finish(invocation, "ingestGit", data["ingestGit"])


@ingest.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@new_scope_option
@click.option("--mine", is_flag=True, help="You wrote them, or stand for what they say: they count as your own words.")
@click.pass_obj
def notes(invocation: Invocation, /, paths: tuple[Path, ...], scope: str | None, mine: bool) -> None:
    """Take in Markdown notes: files, or folders with all below them.

    They count as what the repository says, like its commits: quoted, below what you say, and not in a brief. With
    --mine they count as yours, those too that were taken in before.

    \b
    helix ingest notes CLAUDE.md AGENTS.md docs/adr
    helix ingest notes --mine ~/.claude/CLAUDE.md
    """
    data = invocation.run("ingest_notes", paths=[path.absolute() for path in paths], scope=scope, mine=mine or None)
    _finish(invocation, "ingestNotes", data["ingestNotes"], none=_NO_NOTES, some="" if mine else _NOT_YOURS)


@ingest.command()
@click.argument("path", type=click.Path(path_type=Path))
@import_scope_option
@click.pass_obj
def transcript(invocation: Invocation, /, path: Path, scope: str | None) -> None:
    """Take in Claude Code's history: a file, or a folder of them. Each session goes into its own project's scope.

    \b
    helix ingest transcript ~/.claude/projects
    """
    data = invocation.run("ingest_transcript", path=path.absolute(), scope=scope)
    _finish(invocation, "ingestTranscript", data["ingestTranscript"])


@ingest.command()
@click.argument("file")
@import_scope_option
@click.option("--source", help="What the ids in the lines belong to: by default the file. Known ones are left out.")
@click.option("--bulk", is_flag=True, help="For many thousand lines: the graph is built once, when all are in.")
@click.option(
    "--vectors",
    type=click.Path(path_type=Path),
    help="With --bulk: a .npy file of the lines' embeddings by the store's model, a float32 row of length 1 for each.",
)
@click.pass_obj
def jsonl(
    invocation: Invocation, /, file: str, scope: str | None, source: str | None, bulk: bool, vectors: Path | None
) -> None:
    """Take in JSON lines from FILE, or from stdin with -. Lines that are refused are named, the rest goes in.

    \b
    helix ingest jsonl memories.jsonl
    zcat episodes.jsonl.gz | helix ingest jsonl -
    helix ingest jsonl --bulk memories.jsonl --vectors memories.npy
    """
    if bulk:
        _bulk(invocation, file, {"scope": scope, "source": source}, vectors)
        return
    if vectors is not None:
        raise InvalidInputError("--vectors needs --bulk", hint="without --bulk lines are embedded by the daemon")
    # Two files may well use the same ids for different things; stdin has no name to tell them apart by.
    source = source or ("stdin" if file == "-" else str(Path(file).absolute()))
    report: dict[str, Any] = {"source": source, **dict.fromkeys(_COUNTS, 0), "problems": []}
    with _opened(file) as (stream, total), meter(invocation, "ingest jsonl", in_bytes=True) as show:
        _send_all(invocation, chunks(stream), report, show, total, {"scope": scope, "source": source})
    _show(invocation, {"ingestJsonl": report}, report)


def _bulk(invocation: Invocation, file: str, options: dict[str, str | None], vectors: Path | None) -> None:
    if file == "-":
        raise InvalidInputError("--bulk needs a file, not stdin", hint="write the lines to a file first")
    paths = {"path": Path(file).absolute(), "vectors": None if vectors is None else vectors.absolute()}
    _finish(invocation, "ingestBulk", invocation.run("ingest_bulk", **paths, **options)["ingestBulk"])


@contextmanager
def _opened(file: str) -> Iterator[tuple[BinaryIO, int]]:
    """Yield the stream to read and its length in bytes, 0 where that is not known."""
    if file == "-":
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
    options: dict[str, str | None],
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
            show(chunk.bytes_read, total, f"{report['episodes'] + report['memories']} taken in")
    except BaseException:
        # Ctrl-C as well: whoever stops here has to know that the same command goes on from there.
        invocation.say(f"up to line {reached} everything is in; the same command takes in the rest, and nothing twice")
        raise


def _finish(invocation: Invocation, field: str, job: dict[str, Any], none: str = "", some: str = "") -> None:
    """Follow a job and show what it came to; `none` is said where it met nothing, `some` where it took any in."""
    job = follow(invocation, job, cancels=True)
    report = job["result"]
    if none and not report["problems"]:
        invocation.say_if_none([count for count in _COUNTS if report[count]], none)
    if some and report["memories"] and not invocation.json:
        invocation.say(some)
    _show(invocation, {field: job}, report)


def _show(invocation: Invocation, data: dict[str, Any], report: dict[str, Any]) -> None:
    invocation.emit(data, lambda out: out.line(ingest_summary(report)))
    if report["problems"]:
        if not invocation.json:
            for problem in report["problems"]:
                invocation.say(f"{told(one_line(problem['where'], 300))}: {problem['why']}")
        raise click.exceptions.Exit(InvalidInputError.exit_code)
