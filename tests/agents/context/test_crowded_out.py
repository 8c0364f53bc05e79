"""Holds that what repeats a common question, however often, leaves the user's own answer in recall and in contexts."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from helix import settings as configuration
from helix.memory.remember.request import StoreRequest
from helix.model.memory import Kind
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.operations import contexts, ingest, memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from tests.waiting import UNHURRIED, finished

QUESTION = "How do we run the tests here?"
ANSWER = "Run the tests with `make check`; plain pytest misses its environment."
BESIDE = "Write a line in the changelog where a change can be seen."
SCOPE = "shop"
COMMITS = 200


def stream(message: str) -> bytes:
    """Return a history for `git fast-import` of COMMITS commits with the message, each of them a little different."""
    commits = []
    for number in range(COMMITS):
        said = message.format(number=number).encode()
        who = f"committer Ada <ada@example.org> {1_700_000_000 + 60 * number} +0000".encode()
        commits.append(b"commit refs/heads/main\n%b\ndata %d\n%b\n" % (who, len(said), said))
    return b"".join(commits)


@pytest.fixture(
    scope="module", params=[QUESTION, QUESTION + " Part {number}", QUESTION + " Run the tests with tox -e py{number}"]
)
def helix(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Helix]:
    home = tmp_path_factory.mktemp("crowded")
    repository = home / "repository"
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(repository)], check=True)
    subprocess.run(["git", "-C", str(repository), "fast-import", "--quiet"], input=stream(request.param), check=True)
    with Helix.open(configuration.load({"home": home}, environ=UNHURRIED, cwd=home), embedder=HashEmbedder()) as opened:
        for name, text in (("testing", ANSWER), ("changelog", BESIDE)):
            memories.store(
                opened,
                StoreRequest(
                    trigger=name,
                    resolution=text,
                    kind=Kind.CONVENTION.value,
                    scope=SCOPE,
                    trust=Trust.USER_ASSERTED,
                ),
            )
        finished(opened, ingest.ingest_git(opened, str(repository), scope=SCOPE))
        opened.worker.settle()
        yield opened


@pytest.mark.parametrize("limit", [5, 10])
def test_the_users_own_answer_is_among_the_first_five_of_a_recall(helix: Helix, limit: int) -> None:
    items = helix.recall(RecallQuery(query=QUESTION, scope=SCOPE, limit=limit)).items
    told = [item for item in items[:5] if ANSWER in item.text]
    assert len(told) == 1
    assert "holds every word of the question" in told[0].reason
    assert not any(BESIDE in item.text for item in items)


def test_whoever_asks_is_told_the_users_own_answer_and_nothing_else_of_it(helix: Helix) -> None:
    block = contexts.explorer_context(helix, QUESTION, scope=SCOPE)
    assert block.injected == ("testing",)
    assert ANSWER in block.text


def test_a_note_that_lacks_a_word_of_the_question_gives_way_to_what_fits_much_better(helix: Helix) -> None:
    question = "How do we run the tests here on another machine?"
    assert contexts.explorer_context(helix, question, scope=SCOPE).injected == ()
