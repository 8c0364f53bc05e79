"""The twenty questions on curl's history are well formed, and every commit they name is in the corpus."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

QUESTIONS = Path(__file__).resolve().parents[1] / "questions" / "curl_history.jsonl"


def test_every_question_names_commits_of_the_corpus(evaluation_data: Path) -> None:
    questions = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    assert len(questions) == len({question["question"] for question in questions}) == 20
    with gzip.open(evaluation_data / "curl_history" / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        subjects = {row["id"]: row["text"].partition("\n")[0].lower() for row in map(json.loads, lines)}
    for question in questions:
        assert question["commits"]
        for commit in question["commits"]:
            assert question["question"].lower() not in subjects[commit]
            assert subjects[commit].partition(": ")[2] not in question["question"].lower()
