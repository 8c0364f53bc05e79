"""What a language model is asked about episodes and memories, and how little of its answers is believed.

Every function answers None for what the model did not answer, or answered in a way that does not hold: the caller then
does what it does without a model. A text that was asked about is data; what an answer says must stand in that text.

Tally: a language model that counts what it was asked, so that a job tells what happened and not what it wanted.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from helix.memory.contradiction.detect import Contradiction, Ground, Statement
from helix.model.provenance import Trust
from helix.providers.llm import Answer, LanguageModel, ModelQuestion
from helix.text.excerpts import head
from helix.text.statement.grounding import grounded, invented

_MOST_EVIDENCE = 24
_MOST_INSIGHTS = 3
_LONGEST_LINE, _LONGEST_SUMMED = 400, 1_500
_SUMMARY_LEAST, _INSIGHT_LEAST = 0.7, 0.5


def _object(**properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of an object with exactly these properties, as strict structured output wants it."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


_LINE = {"type": "string"}

IMPORTANCE = ModelQuestion(
    task="importance",
    instructions=(
        "Rate how much each text will matter to a developer's later work: 1 is small talk, 3 routine, 5 a useful "
        "detail, 7 a decision, rule or hard-won fix, 10 what must never be forgotten. Judge what happened, not how "
        "it is put."
    ),
    schema=_object(importance={"type": "integer", "minimum": 1, "maximum": 10}),
    max_tokens=20,
    batch=20,
)
CONTRADICTION = ModelQuestion(
    task="contradiction",
    instructions=(
        "Each text is a JSON object with two statements, a and b. Say whether they cannot both hold at the same "
        "time of the same thing: `contradict`, else `compatible`. Different things, more detail, or other words for"
        " the same are compatible. In `left` copy the words of a, in `right` those of b, that stand against each "
        "other; else leave them empty."
    ),
    schema=_object(verdict={"type": "string", "enum": ["contradict", "compatible"]}, left=_LINE, right=_LINE),
    max_tokens=80,
    batch=12,
)
REFLECTION = ModelQuestion(
    task="reflection",
    instructions=(
        f"Each text is a list of numbered notes. Ask the at most {_MOST_INSIGHTS} most telling questions that they "
        "answer together, about what recurs, what causes what, and what to do differently; answer each in one sentence "
        "that follows from two or more of the notes, in their words. In `notes` list the numbers of those notes. No "
        "insights where the notes have none."
    ),
    schema=_object(
        insights={
            "type": "array",
            "maxItems": _MOST_INSIGHTS,
            "items": _object(
                question=_LINE, insight=_LINE, notes={"type": "array", "items": {"type": "integer"}, "minItems": 2}
            ),
        }
    ),
    max_tokens=500,
)
SUMMARY = ModelQuestion(
    task="summary",
    instructions=(
        "Each text is a list of numbered notes. Sum them up in a few lines that keep who, what, when, names, "
        "numbers and decisions, in the notes' own words. Add nothing."
    ),
    schema=_object(lines={"type": "array", "items": _LINE, "minItems": 1, "maxItems": 20}),
    max_tokens=600,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InsightAnswer:
    """A question, the sentence that answers it, and the places (from 0) of the two or more texts it follows from."""

    question: str
    text: str
    cites: tuple[int, ...]


def answers_apart(
    model: LanguageModel, question: ModelQuestion, texts: Sequence[str], trusts: Sequence[Trust]
) -> list[Answer]:
    """Ask a language model about texts, each with a trust, those of one trust in a call; answers are in their order.

    A text may talk a model into how all of a call are answered: a stranger's has no say in what a person's becomes.
    """
    places = defaultdict[Trust, list[int]](list)
    for place, trust in enumerate(trusts):
        places[trust].append(place)
    found: dict[int, Answer] = {}
    for alike in places.values():
        found.update(zip(alike, model.answer(question, [texts[place] for place in alike]), strict=True))
    return [found[place] for place in range(len(texts))]


def opposed(
    model: LanguageModel, pairs: Sequence[tuple[Statement, Statement]], trusts: Sequence[Trust]
) -> list[Contradiction | None]:
    """Ask a language model for each pair why the two cannot both hold; None where they can, or no answer holds.

    The words that stand against each other must be words of the two. `trusts` are of the weaker of each pair.
    """
    texts = [json.dumps({"a": left.text, "b": right.text}, ensure_ascii=False) for left, right in pairs]
    found: list[Contradiction | None] = []
    for (left, right), answer in zip(pairs, answers_apart(model, CONTRADICTION, texts, trusts), strict=True):
        value = answer.value if answer.value is not None else {"verdict": "", "left": "", "right": ""}
        one, other = one_line(value["left"]), one_line(value["right"])
        holds = value["verdict"] == "contradict" and _quoted(one, left.text) and _quoted(other, right.text)
        found.append(Contradiction(ground=Ground.MODEL, left=one, right=other, sure=False) if holds else None)
    return found


def importances(model: LanguageModel, texts: Sequence[str], trusts: Sequence[Trust]) -> list[float | None]:
    """Ask a language model for the importance of each text, of such a trust, 1..10, or None."""
    answers = answers_apart(model, IMPORTANCE, texts, trusts)
    return [None if answer.value is None else float(answer.value["importance"]) for answer in answers]


def insights(model: LanguageModel, texts: Sequence[str]) -> tuple[InsightAnswer, ...] | None:
    """Ask a language model for insights from the first 24 texts, at least one, or None.

    An insight is dropped unless it cites two texts or more, all of them there, its words, numbers and names are theirs,
    and its question names nothing that is in no text.
    """
    given = texts[:_MOST_EVIDENCE]
    answer = model.answer(REFLECTION, [_numbered(given, _LONGEST_LINE)])[0] if given else None
    if answer is None or answer.value is None:
        return None
    found: list[InsightAnswer] = []
    for entry in answer.value["insights"]:
        question, text = one_line(entry["question"]), one_line(entry["insight"])
        cites = tuple(sorted({int(number) - 1 for number in entry["notes"]}))
        if len(cites) < 2 or not all(0 <= place < len(given) for place in cites) or not question:
            continue
        if grounded(text, [given[place] for place in cites], least=_INSIGHT_LEAST) and not invented(question, given):
            found.append(InsightAnswer(question=question, text=text, cites=cites))
    return tuple(found) or None


def summary(model: LanguageModel, texts: Sequence[str]) -> tuple[str, ...] | None:
    """Ask a language model for lines that sum up the texts; None for words that no text says, or no shorter ones.

    Texts that are too long to be shown whole are not summed up: what is left out would be lost.
    """
    if any(len(text) > _LONGEST_SUMMED for text in texts):
        return None
    (answer,) = model.answer(SUMMARY, [_numbered(texts, _LONGEST_SUMMED)])
    if answer.value is None:
        return None
    lines = tuple(line for each in answer.value["lines"] if (line := one_line(each)))
    short = sum(map(len, lines)) < sum(map(len, texts))
    holds = all(grounded(line, texts, least=_SUMMARY_LEAST) for line in lines)
    return lines if lines and short and holds else None


def _numbered(texts: Sequence[str], longest: int) -> str:
    return "\n".join(f"{number}. {one_line(text, longest)}" for number, text in enumerate(texts, 1))


def one_line(text: str, longest: int = _LONGEST_LINE) -> str:
    """Return a language model's text as one line to keep: no controls, blanks run together, cut."""
    return head(" ".join(text.split()), longest)


def _quoted(words: str, text: str) -> bool:
    """Return whether the words stand in the text as they are, but for blanks and case."""
    return bool(words) and " ".join(words.casefold().split()) in " ".join(text.casefold().split())


class CountingModel:
    """A language model behind which another one answers.

    `asked` counts the texts that were sent to a provider, `unanswered` those without an answer, sent or not.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.asked = self.unanswered = 0

    def answer(self, question: ModelQuestion, texts: Sequence[str]) -> list[Answer]:
        """Return the answers of the model behind, and count them."""
        answers = self._model.answer(question, texts)
        self.asked += sum(answer.sent for answer in answers)
        self.unanswered += sum(answer.value is None for answer in answers)
        return answers
