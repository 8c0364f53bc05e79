"""Two people's stores of one project: each has half of its history and notes that contradict; then they merge."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.histories import make_repository
from helix.errors import HelixError
from helix.memory.remember.request import StoreRequest
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.model.reports import Job, JobState
from helix.operations import ingest, memories, review, strands, upkeep
from helix.operations import strand_keys as keys
from helix.providers.embedder import Embedder
from helix.service import Helix
from helix.settings import Settings

SCOPE = "the-project"
QUESTIONS = 12
TOP = 5
NOTES = (
    ("the api of staging listens on which port", "8001", "8002"),
    ("releases are cut on which day", "on monday", "on friday"),
    ("the tests need which database", "they need postgres 15", "they need postgres 16"),
)
"""What both people noted, and what each of them says to it."""
Say = Callable[[str], None]


def done(helix: Helix, job: Job) -> Mapping[str, Any]:
    """Return what a job came to; raises HelixError where it failed."""
    while (now := upkeep.job(helix, job.id)).state is JobState.RUNNING:
        time.sleep(0.05)
    if now.state is not JobState.DONE or now.result is None:
        raise HelixError(f"{job.kind}: {now.error}")
    return now.result


def subject(commit: Mapping[str, Any]) -> str:
    """Return the first line of a commit's message."""
    return next(iter(str(commit["message"]).strip().splitlines()), "")


def questions_of(commits: Sequence[Mapping[str, Any]], seed: int) -> list[str]:
    """Return the subjects of some commits that say something of their own, to be asked for."""
    told = [subject(commit) for commit in commits]
    own = [one for one in told if len(one.split()) >= 5 and told.count(one) == 1 and len(one) < 100]
    return random.Random(seed).sample(own, min(QUESTIONS, len(own)))


def hits(helix: Helix, questions: Sequence[str]) -> int:
    """Return how many questions find their commit among the first answers."""
    return sum(_hit(helix, question) for question in questions)


def _hit(helix: Helix, question: str) -> bool:
    answer = helix.recall(RecallQuery(query=question, limit=TOP, scope=SCOPE))
    return any(question.lower() in item.text.lower() for item in answer.items)


def exchange(here: Helix, there: Helix, path: Path) -> Mapping[str, Any]:
    """Take into one store what another one holds."""
    done(there, strands.export_strand(there, str(path), recipients=["other"]))
    return done(here, strands.import_strand(here, str(path)))


def root(helix: Helix, path: Path) -> str:
    """Return the root over all that a store holds, as its strand says."""
    done(helix, strands.export_strand(helix, str(path), recipients=["other"], with_vectors=False))
    return strands.inspect_strand(helix, str(path)).root


def measure(
    commits: Sequence[Mapping[str, Any]], settings: Settings, say: Say, embedder: Embedder | None = None
) -> dict[str, Any]:
    """Return what the merge of two people's stores comes to; each has one half of the history.

    `hits` are those of each half by itself, and of both merged stores.
    """
    middle = len(commits) // 2
    halves = (commits[:middle], commits[middle:])
    questions = [questions_of(half, seed) for seed, half in enumerate(halves)]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        people = []
        for number, half in enumerate(halves):
            home = folder / f"person-{number}"
            home.mkdir()
            if settings.models_path.is_dir():
                (home / "models").symlink_to(settings.models_path.absolute())
            own = replace(settings, home=home, db_path=home / "store")
            helix = stack.enter_context(Helix.open(own, embedder=embedder))
            keys.new_key(helix, "me")
            make_repository(list(half), folder / f"repository-{number}")
            told = done(helix, ingest.ingest_git(helix, str(folder / f"repository-{number}"), scope=SCOPE))
            for about, *said in NOTES:
                memories.store(helix, StoreRequest(trigger=about, resolution=said[number], kind="fact", scope=SCOPE))
            helix.worker.settle()
            say(f"person {number}: {told}")
            people.append(helix)
        for here, there in (people, people[::-1]):
            (key,) = (key for key in keys.keys(there) if key.own)
            keys.import_key(here, "other", key.public)
            keys.trust_key(here, "other", Trust.USER_ASSERTED)  # else the roots differ by the trust
        one, other = people
        before = [hits(helix, asked) for helix, asked in zip(people, questions, strict=True)]
        counts = [exchange(one, other, folder / "1.dna"), exchange(other, one, folder / "2.dna")]
        roots = [root(helix, folder / f"root-{number}.dna") for number, helix in enumerate(people)]
        after = [[hits(helix, asked) for asked in questions] for helix in people]
        waiting = review.contradictions(one, first=100).items
        told_of = [f"{case.first.name}: {_said(case.first)} | {_said(case.second)}" for case in waiting]
    return {
        "commits": [len(half) for half in halves],
        "questions": [len(asked) for asked in questions],
        "hits_before": before,
        "hits_after": after,
        "same_root": roots[0] == roots[1],
        "counts": [dict(one["counts"]) for one in counts],
        "asked_of_the_person": told_of,
    }


def _said(side: Any) -> str:
    return f"{side.trigger} {side.resolution}".strip()
