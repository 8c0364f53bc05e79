"""Real repositories made of recorded commit histories: parents, dates, messages and file names are theirs."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_AUTHOR = "A Developer <developer@example.invalid>"


def history_of(path: Path) -> list[Mapping[str, Any]]:
    """Read a recorded history (`{hash, parents, time, author, message, files}` a line), parents before children."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def make_repository(commits: list[Mapping[str, Any]], folder: Path) -> dict[str, str]:
    """Make a git repository of a history in a new folder; return the hash that each recorded commit has there."""
    git = ["git", "-C", str(folder)]
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(folder)], check=True)
    marks = folder / ".git" / "marks"
    stream = b"".join(_stream(commits))
    subprocess.run([*git, "fast-import", "--quiet", f"--export-marks={marks}"], input=stream, check=True)
    subprocess.run([*git, "reset", "--quiet", "--hard", "main"], check=True)
    made = dict(line.split() for line in marks.read_text("ascii").splitlines())
    return {commit["hash"]: made[f":{number}"] for number, commit in enumerate(commits, 1)}


def _stream(commits: list[Mapping[str, Any]]) -> Iterator[bytes]:
    number_of = {commit["hash"]: number for number, commit in enumerate(commits, 1)}
    for number, commit in enumerate(commits, 1):
        message = str(commit["message"]).encode("utf-8", "replace")
        author = f"{commit.get('author') or 'somebody'} <{commit.get('author') or 'somebody'}@example.invalid>"
        when = f"{int(commit['time'])} +0000"
        yield f"commit refs/heads/main\nmark :{number}\nauthor {author} {when}\ncommitter {_AUTHOR} {when}\n".encode()
        yield f"data {len(message)}\n".encode() + message + b"\n"
        parents = [number_of[parent] for parent in commit["parents"] if parent in number_of]
        for place, parent in enumerate(parents):
            yield f"{'merge' if place else 'from'} :{parent}\n".encode()
        for file in commit["files"]:
            yield from _change(file, number)
        yield b"\n"


def _change(file: Mapping[str, Any], number: int) -> Iterator[bytes]:
    path = _quoted(file["path"])
    if file["status"] == "D":
        yield f"D {path}\n".encode()
        return
    if file["status"] == "R" and file.get("from"):
        yield f"D {_quoted(file['from'])}\n".encode()
    content = f"as of commit {number}\n".encode()
    yield f"M 100644 inline {path}\ndata {len(content)}\n".encode() + content + b"\n"


def _quoted(path: str) -> str:
    return json.dumps(path, ensure_ascii=False)
