"""What takes long to work out is not worked out again and again, and nothing stale is given that was quick to find."""

from __future__ import annotations

from collections.abc import Callable

from helix.store.store import CostlyAnswers


class Work:
    """Answers with how often it was done; each time takes so many seconds."""

    def __init__(self) -> None:
        self.time = self.takes = 0.0
        self.done = 0

    def __call__(self) -> int:
        self.time += self.takes
        self.done += 1
        return self.done


def asking(work: Work) -> Callable[..., int]:
    answers = CostlyAnswers(lambda: work.time)
    return lambda question="all", generation=1, seq=1: answers.of(question, generation, seq, work)


def test_a_store_that_is_as_it_was_is_not_worked_through_again() -> None:
    ask = asking(Work())
    assert [ask(), ask(), ask(seq=2), ask(seq=2)] == [1, 1, 2, 2]


def test_what_took_long_is_good_for_longer_and_not_for_ever() -> None:
    work = Work()
    ask, work.takes = asking(work), 2.0
    assert [ask(), ask(seq=2)] == [1, 1]
    work.time += 59
    assert ask(seq=3) == 1
    work.time += 2
    assert ask(seq=3) == 2


def test_another_store_and_another_question_have_answers_of_their_own() -> None:
    work = Work()
    ask, work.takes = asking(work), 2.0
    assert [ask(), ask("shop"), ask(), ask(generation=2)] == [1, 2, 1, 3]


def test_only_the_last_few_are_kept() -> None:
    ask = asking(Work())
    for number in range(9):
        ask(str(number))
    assert [ask("8"), ask("1"), ask("0")] == [9, 2, 10]
