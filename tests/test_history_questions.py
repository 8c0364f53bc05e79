"""Questions on a real history, written before any result was seen, are answered by recall with the real model.

`curl_history.jsonl` avoids the words of the commits on purpose, `curl_history_sampled.jsonl` asks about commits drawn
at random as a developer would. Here the history is cut down to the answers among other commits; the whole of it is
`scripts/bench history`.
"""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helix import settings as configuration
from helix.model.recall import RecallQuery
from helix.operations import ingest
from helix.service import Helix
from tests.sampling import some
from tests.waiting import UNHURRIED, finished

ROOT = Path(__file__).resolve().parent.parent
SETS = ("curl_history", "curl_history_sampled")
OTHERS = 100


def questions(name: str) -> list[dict[str, Any]]:
    lines = (ROOT / "tests" / "questions" / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


@pytest.fixture(scope="module")
def history(
    tmp_path_factory: pytest.TempPathFactory, evaluation_data: Path, models_path: Path
) -> Iterator[tuple[Helix, dict[str, str]]]:
    """A service over the answers and other commits, and the data's id of each commit."""
    folder = tmp_path_factory.mktemp("history")
    with gzip.open(evaluation_data / "curl_history" / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    wanted = {commit for name in SETS for question in questions(name) for commit in question["commits"]}
    others = random.Random(5).sample([row for row in rows if row["id"] not in wanted], OTHERS)
    chosen = [row for row in rows if row["id"] in wanted] + others
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, chosen)), "utf-8")
    repository = folder / "repository"
    subprocess.run([sys.executable, str(ROOT / "scripts" / "make_history"), str(folder), str(repository)], check=True)
    log = ["git", "-C", str(repository), "log", "--format=%H %(trailers:key=Helix-Eval-Id,valueonly,separator=)"]
    ids = dict(line.split() for line in subprocess.check_output(log, text=True).splitlines())
    home = folder / "home"
    home.mkdir()
    (home / "models").symlink_to(models_path)
    with Helix.open(configuration.load({"home": home}, environ=UNHURRIED, cwd=folder)) as helix:
        helix.store.graph.suspend("no question asks it, and it would take most of the time")
        finished(helix, ingest.ingest_git(helix, str(repository)))
        yield helix, ids


@pytest.mark.parametrize("name", some(SETS, 1))
def test_at_least_fifteen_of_twenty_questions_are_answered_in_the_top_five(
    history: tuple[Helix, dict[str, str]], name: str
) -> None:
    helix, ids = history
    missed = []
    for question in questions(name):
        answer = helix.recall(RecallQuery(query=question["question"], limit=5))
        assert answer.mode == "hybrid"
        found = {ids[item.node.source.rsplit(":", 1)[-1]] for item in answer.items}  # type: ignore[union-attr]
        if not found & set(question["commits"]):
            missed.append(question["question"])
    assert len(missed) <= 5, missed


def test_every_answer_says_why(history: tuple[Helix, dict[str, str]]) -> None:
    helix, _ = history
    for item in helix.recall(RecallQuery(query=questions(SETS[0])[0]["question"], explain=True)).items:
        assert item.reason
        assert item.arms
        assert item.factors
