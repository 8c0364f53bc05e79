"""The kept answers of language models, and what was spent on them."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread

import pytest

from helix.journal.kept_results import Answers
from helix.model.usage import KeptAnswer, ModelSpend
from tests.journal.conftest import Opened


@pytest.fixture
def answers(tables: Opened) -> Iterator[Answers]:
    database = tables()
    yield Answers(database, most_kept=3)
    database.close()


def spend(month: str, provider: str = "openai/mini", **numbers: float) -> ModelSpend:
    return ModelSpend(month=month, provider=provider, **numbers)  # type: ignore[arg-type]


def test_spend_adds_up_by_month_and_provider_newest_month_first(answers: Answers) -> None:
    answers.charge(spend("2026-03", calls=1, tokens_in=100, tokens_out=10, cost=0.5))
    answers.charge(spend("2026-03", calls=2, failures=1, tokens_in=50, cost=0.25))
    answers.charge(spend("2026-04", "gemini/flash", calls=1))
    answers.charge(spend("2026-04", "a/b", calls=1))
    assert answers.spent("2026-12") == (
        spend("2026-04", "a/b", calls=1),
        spend("2026-04", "gemini/flash", calls=1),
        spend("2026-03", calls=3, failures=1, tokens_in=150, tokens_out=10, cost=0.75),
    )
    assert answers.spent("2026-12", months=1) == answers.spent("2026-12")[:2]


def test_nothing_is_lost_where_several_threads_spend(answers: Answers) -> None:
    def charge() -> None:
        for _ in range(20):
            answers.charge(spend("2026-03", calls=1, tokens_in=3))

    threads = [Thread(target=charge) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers.spent("2026-12") == (spend("2026-03", calls=80, tokens_in=240),)


def test_an_answer_is_kept_under_its_key_and_replaced_by_a_later_one(answers: Answers) -> None:
    first, second = (KeptAnswer(model="m", answer=text, tokens_in=1, tokens_out=2, cost=0.1) for text in ("{}", "[]"))
    assert answers.kept("k") is None
    answers.keep("k", 1, first)
    answers.keep("k", 2, second)
    assert answers.kept("k") == second


def test_of_too_many_answers_the_oldest_go(answers: Answers) -> None:
    for at in range(5):
        answers.keep(f"k{at}", at, KeptAnswer(model="m", answer="{}"))
    assert [answers.kept(f"k{at}") is not None for at in range(5)] == [False, False, True, True, True]


def test_answers_can_be_forgotten_and_what_was_spent_stays(answers: Answers) -> None:
    answers.keep("k", 1, KeptAnswer(model="m", answer='{"said": "something private"}'))
    answers.charge(spend("2026-03", calls=1))
    assert answers.clear() == 1
    assert answers.kept("k") is None
    assert answers.spent("2026-03") == (spend("2026-03", calls=1),)


def test_months_to_come_hide_none_that_is_asked_for(answers: Answers) -> None:
    for number in range(1, 13):
        answers.charge(spend(f"2999-{number:02}", calls=1))
    answers.charge(spend("2026-03", calls=1))
    assert answers.spent("2026-03") == (spend("2026-03", calls=1),)
