"""The script that makes a repository of a commit corpus makes one that can be read and mapped back."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from helix.ingest import git
from helix.model.edge import Relation

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_history"
ROWS = [  # newest first, as the corpus has them
    (
        "c0ffee00c0de",
        "Fix the cache\n\nRegression from badc0de5e11fee.\nUnrelated: 0123456789abc",
        ["lib/a c.c", 'q"uote'],
    ),
    ("badc0de5e11f", "Cache every date\n\nFor speed.", ["lib/a c.c"]),
    ("5eed5eed5eed", "Add the parser of dates", []),
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    with gzip.open(folder / "corpus.jsonl.gz", "wt", encoding="utf-8") as lines:
        for number, (identifier, text, files) in enumerate(ROWS):
            row = {
                "id": identifier,
                "text": text,
                "ts": f"2024-01-0{3 - number}T00:00:00+00:00",
                "meta": {"files": files},
            }
            lines.write(json.dumps(row) + "\n")
    return folder


def make(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_each_document_is_a_commit_that_maps_back_and_names_the_new_hashes(corpus: Path, tmp_path: Path) -> None:
    target = tmp_path / "made"
    assert make(corpus, target).returncode == 0
    slices = list(git.read_history(target, scope="s"))
    trailer = "--format=%H %(trailers:key=Helix-Eval-Id,valueonly,separator=)"
    log = subprocess.run(["git", "-C", target, "log", "--reverse", trailer], capture_output=True, text=True, check=True)
    ids = dict(line.split() for line in log.stdout.splitlines())
    assert [ids[item.episode.source.rpartition(":")[2]] for item in slices] == [row[0] for row in reversed(ROWS)]
    assert [link.type for link in slices[2].links] == [Relation.GROUNDED_IN, Relation.SOLVES, Relation.CAUSES]
    assert slices[2].links[0].target == slices[1].episode.source
    assert slices[2].episode.files == ("lib/a c.c", 'q"uote')
    assert "0123456789abc" in slices[2].episode.content
    assert "Eval-Id" not in repr(slices)
    assert slices[0].episode.occurred_at is not None
    assert slices[0].episode.occurred_at.isoformat() == "2024-01-01T00:00:00+00:00"
    status = subprocess.run(["git", "-C", target, "status", "--porcelain"], capture_output=True, text=True, check=True)
    assert status.stdout == ""


def test_a_limit_takes_the_newest_documents(corpus: Path, tmp_path: Path) -> None:
    assert make(corpus, tmp_path / "made", "--limit", 2).returncode == 0
    assert git.count(tmp_path / "made") == 2


def test_a_folder_with_something_in_it_and_a_missing_corpus_are_refused(corpus: Path, tmp_path: Path) -> None:
    full = make(corpus, corpus)
    assert full.returncode == 2
    assert "is not empty" in full.stderr
    missing = make(tmp_path / "absent", tmp_path / "made")
    assert missing.returncode == 2
    assert "is missing" in missing.stderr
