"""A question that nothing answers is a gap until a later memory answers it; closing one can be taken back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helix import settings as configuration
from helix.errors import ConflictError
from helix.memory.job_run.run import Run
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.remember import note_gap
from helix.memory.remember.request import StoreRequest
from helix.memory.upkeep.gaps import close_gaps, reopen_gap
from helix.memory.worker.undo import undo
from helix.model.memory import Kind, Status
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.model.reports import StoreStatus
from helix.operations import memories
from helix.providers.choose import embedder_for
from helix.service import Helix
from helix.store.store import Store
from tests.memory.conftest import START, Moment
from tests.waiting import UNHURRIED

QUESTION = "which port does the api listen on"
ANSWER = "the api does listen on port 8080"


def ask(helix: Helix, store: Store, text: str = QUESTION, **fields: Any) -> str | None:
    noted = note_gap(store, helix.recall(RecallQuery(query=text, **fields)))
    return None if noted is None else noted.id


def tell(helix: Helix, text: str = ANSWER, **fields: Any) -> str:
    return memories.store(helix, StoreRequest(trigger=text, resolution="", kind="fact", **fields)).id


def status(helix: Helix, gap: str) -> Status:
    return memories.get(helix, gap).status


def run(store: Store, job: str, **payload: Any) -> dict[str, Any]:
    return dict(close_gaps(Run(store, job, "close_gaps"), payload))


def test_a_question_that_finds_nothing_good_is_a_gap_and_one_that_does_is_none(living: Helix, store: Store) -> None:
    tell(living, "deploys happen on tuesdays at noon")
    gap = ask(living, store)
    assert gap is not None
    assert (memories.get(living, gap).kind, memories.get(living, gap).provenance.trust) == (
        Kind.GAP,
        Trust.AGENT_INFERRED,
    )
    tell(living)
    assert ask(living, store) is None


def test_the_same_question_again_is_counted(living: Helix, store: Store) -> None:
    gap = memories.store(living, StoreRequest(trigger=QUESTION, resolution="", kind="gap"))
    again = memories.store(living, StoreRequest(trigger=QUESTION, resolution="", kind="gap"))
    assert (again.status, again.id) == (StoreStatus.MERGED, gap.id)


@pytest.mark.parametrize("limit", [{"kinds": (Kind.FAILURE,)}, {"files": ("a.py",)}, {"since": START}])
def test_a_limited_question_says_nothing_of_what_is_known(living: Helix, store: Store, limit: dict[str, Any]) -> None:
    assert ask(living, store, **limit) is None


def test_an_answer_closes_a_gap_and_hides_it_with_an_edge_to_tell(living: Helix, store: Store) -> None:
    gap = ask(living, store)
    assert gap is not None
    answer = tell(living)
    assert status(living, gap) is Status.RETIRED
    assert [(edge.source.id, edge.target.id) for edge in memories.edges(living, gap, "solves")] == [(answer, gap)]
    found = [item.node.id for item in living.recall(RecallQuery(query=QUESTION)).items]
    assert found[0] == answer
    assert gap not in found


@pytest.mark.parametrize(
    "told",
    [
        {"text": "the api returns json and never xml"},
        {"text": "deploys happen on tuesdays at noon"},
        {"text": ANSWER, "scope": "another"},
        {"text": ANSWER, "trust": Trust.WEB},
        {"text": ANSWER, "trust": Trust.TOOL_OUTPUT},
    ],
)
def test_what_does_not_answer_it_leaves_a_gap_open(living: Helix, store: Store, told: dict[str, Any]) -> None:
    gap = ask(living, store)
    assert gap is not None
    tell(living, **told)
    assert status(living, gap) is Status.ACTIVE
    assert run(store, "job") == {}


def test_a_gap_of_a_project_is_closed_from_global(living: Helix, store: Store) -> None:
    gap = ask(living, store, scope="shop")
    assert gap is not None
    tell(living)
    assert status(living, gap) is Status.RETIRED


def test_an_answer_finds_the_gap_of_its_scope_among_the_same_question_in_many_others(
    living: Helix, store: Store
) -> None:
    others = [ask(living, store, scope=f"project {number}") for number in range(9)]
    gap = ask(living, store, scope="shop")
    assert gap is not None
    tell(living, scope="shop")
    assert status(living, gap) is Status.RETIRED
    assert {status(living, other or "") for other in others} == {Status.ACTIVE}


def test_a_gap_closed_by_mistake_is_opened_again_and_not_by_the_same_answer_closed(
    living: Helix, store: Store, moment: Moment
) -> None:
    gap = ask(living, store)
    assert gap is not None
    tell(living)
    moment.forward(days=1)
    assert reopen_gap(store, gap).status is Status.ACTIVE
    assert run(store, "job") == {}
    assert status(living, gap) is Status.ACTIVE
    with pytest.raises(ConflictError):
        reopen_gap(store, gap)


def test_the_job_closes_what_came_in_otherwise_and_undo_opens_it(living: Helix, store: Store, moment: Moment) -> None:
    gap = ask(living, store, scope="shop")
    assert gap is not None
    moved = memories.store(living, StoreRequest(trigger=ANSWER, resolution="", kind="fact", scope="elsewhere")).id
    moved = memories.edit(living, moved, EditRequest(scope="shop")).id
    dry = Run(store, "dry", "close_gaps", dry_run=True)
    assert close_gaps(dry, {}) == {"gaps closed": 1}
    assert status(living, gap) is Status.ACTIVE
    assert run(store, "far", scope="elsewhere") == {}
    assert run(store, "one", scope="shop") == {"gaps closed": 1}
    assert run(store, "two") == {}
    assert status(living, gap) is Status.RETIRED
    undo(store, "one")
    assert (status(living, gap), memories.edges(living, gap, "solves").total) == (Status.ACTIVE, 0)
    assert memories.get(living, moved).status is Status.ACTIVE


def test_a_gap_opens_again_when_its_answer_goes_but_not_when_it_is_reworded(living: Helix, store: Store) -> None:
    gap = ask(living, store)
    assert gap is not None
    answer = tell(living)
    reworded = memories.edit(living, answer, EditRequest(resolution="behind the proxy")).id
    assert run(store, "one") == {}
    assert status(living, gap) is Status.RETIRED
    memories.forget(living, reworded)
    assert run(store, "two") == {"gaps opened again": 1}
    assert status(living, gap) is Status.ACTIVE


@pytest.fixture
def real(tmp_path: Path, models_path: Path, moment: Moment) -> Iterator[Helix]:
    settings = configuration.load(
        {"home": tmp_path / "home", "embedding_model": str(models_path / "bge-small-en-v1.5-int8")},
        environ=UNHURRIED,
        cwd=tmp_path,
    )
    with Helix.open(settings, embedder=embedder_for(settings).embedder, clock=moment) as service:
        yield service


def test_with_the_real_model_questions_and_answers_find_each_other(real: Helix) -> None:
    store = real.store
    for text in ("the linter runs before every commit", "deploys happen on tuesdays", "docs are built with mkdocs"):
        tell(real, text)
    asked = {
        "which port does the api listen on?": "the api listens on port 8080",
        "where are the nightly backups stored?": "nightly backups are stored in the bucket acme-backups",
        "what is the retry policy of the uploader?": "the uploader retries three times with exponential backoff",
    }
    gaps = {question: ask(real, store, question) for question in asked}
    for question, answer in asked.items():
        tell(real, answer)
        assert status(real, gaps.pop(question) or "") is Status.RETIRED
        assert all(status(real, gap or "") is Status.ACTIVE for gap in gaps.values())
