"""Tally: a language model that counts what it was asked, so that a job tells what happened and not what it wanted."""

from __future__ import annotations

from collections.abc import Sequence

from helix.providers.llm import Answer, LanguageModel, Question


class Tally:
    """A language model behind which another one answers.

    `asked` counts the texts that were sent to a provider, `unanswered` those without an answer, sent or not.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.asked = self.unanswered = 0

    def answer(self, question: Question, texts: Sequence[str]) -> list[Answer]:
        """Return the answers of the model behind, and count them."""
        answers = self._model.answer(question, texts)
        self.asked += sum(answer.sent for answer in answers)
        self.unanswered += sum(answer.value is None for answer in answers)
        return answers
