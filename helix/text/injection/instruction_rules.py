"""Instruction rules: what a text is found to do that reads like an instruction; each counts once where it is found.

A rule is a run of concepts that speaks to an agent, with how much it says; one pass finds them all.

Measured by leaving them out, on 100 public injections, goals and poisoned experiences, of which 81 are found, and 3,450
commit messages of three projects, of which 7 are taken for instructions. Without the rules 33 of the 81 are missed,
without the forms 25, without the habits none. Six rules that added nothing there and raised false alarms were deleted.
The injections were known while rules were written, and the commits chose what was deleted: on fresh texts expect less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from helix.text.injection.concepts import ConceptWord
from helix.text.word_lists import word_data


class Reason(StrEnum):
    """What a text is found to do that reads like an instruction."""

    ADDRESSED = "speaks to whatever agent reads it"
    ADDRESSES = "says what an agent has to do"
    ADMITS = "lets somebody in"
    ALWAYS_TRUE = "a check that cannot fail"
    BLANK = "a blank that the reader is to fill in"
    CARRIES_AWAY = "an address that carries data away"
    CONCEALED = "text concealed from people"
    CONSENT = "claims a leave that it cannot give"
    CUSTOM = "makes it the custom"
    DESTRUCTION = "destroys evidence"
    DICTATES = "dictates what the agent answers"
    EXFILTRATION = "sends data elsewhere"
    FALSE_SUCCESS = "calls work done whatever came of it"
    FOLLOWS = "has the agent follow a text from elsewhere"
    HIDES = "hides an instruction in an encoding"
    IMITATION = "imitates the messages of a model or a tool"
    INVISIBLE = "invisible or reordered characters"
    LANDS = "lands work that nobody has looked at"
    LEAKS = "asks for hidden instructions"
    LIBERTY = "frees the agent of its limits"
    NO_CHECKS = "passes over checks"
    OVERRIDES = "sets earlier instructions aside"
    PREEMPTS = "puts itself before what was asked"
    PROMOTES = "praises a product"
    REMOTE_CODE = "runs code from elsewhere"
    REPETITION = "a text, how often to write it, and what to put between"
    ROLE = "gives the agent another role"
    RUNS_CODE = "markup that runs code"
    SECRECY = "keeps something from the user"
    STANDING = "gives an order for all time to come"
    TASK = "gives the agent a task of its own"
    TEMPLATE = "speaks in the markup that parts a model's turns"
    TRANSFERS = "moves money"
    TRIGGER = "waits for an occasion to act"
    UNWATCHED = "keeps those away who would look"
    WORDING = "fixes the very words of the answer"
    WEAKENS = "gives up what protects a system"


_NEGATED_WITHIN = 2
_NEVER = -1


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """Concepts that follow each other in one sentence, at most `reach` words apart, and what that is worth.

    `negatable`: it says the contrary right behind a negation (`never skip the tests`).
    """

    reason: Reason
    weight: float
    concepts: tuple[str, ...]
    reach: int
    negatable: bool


def _read() -> Iterator[Rule]:
    for reason, rows in word_data("text/injection/instruction_rules", "rules").items():
        for weight, reach, concepts, *said in rows:
            yield Rule(Reason[reason.upper()], weight, tuple(concepts.split()), reach, "negatable" in said)


RULES = tuple(_read())


class _Places:
    """Where concepts stand in rules: pairs of the place in a rule and the rule's number."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._of_one: dict[str, list[tuple[int, int]]] = {}
        for number, rule in enumerate(rules):
            for place, concept in enumerate(rule.concepts):
                self._of_one.setdefault(concept, []).append((place, number))
        # A word's concepts are one of a few thousand sets, however many texts are read.
        self._of_word: dict[frozenset[str], list[tuple[int, int]]] = {}

    def of(self, concepts: frozenset[str]) -> list[tuple[int, int]]:
        """Return where the concepts of an instruction's word stand, the later first.

        One word never stands for two places.
        """
        known = self._of_word.get(concepts)
        if known is None:
            found = [place for concept in concepts for place in self._of_one.get(concept, ())]
            known = self._of_word[concepts] = sorted(found, reverse=True)
        return known


_places = lru_cache(maxsize=4)(_Places)


class RuleMatcher:
    """The rules being looked for in a run of words; `steps` counts what was done."""

    def __init__(self, rules: tuple[Rule, ...] = RULES) -> None:
        self._rules = rules
        self._places = _places(self._rules)
        self.steps = 0

    def found(self, words: Iterable[ConceptWord]) -> Iterator[tuple[int, Rule]]:
        """Yield the rules of instructions that words meet, and the offset of the last word of each meeting.

        For each rule it is kept where its first 1, 2, ... concepts were last met in this sentence, so that every word
        is looked at once.
        """
        met = [[(_NEVER, _NEVER)] * len(rule.concepts) for rule in self._rules]
        sentence, negated = 0, _NEVER
        for position, word in enumerate(words):
            self.steps += 1
            if word.concepts is None:
                sentence, negated = position, _NEVER
                continue
            if not word.concepts:
                continue
            moves = self._places.of(word.concepts)
            self.steps += len(moves)
            for place, number in moves:
                rule = self._rules[number]
                before, began = met[number][place - 1] if place else (position, position)
                if before < sentence or position - before > rule.reach:
                    continue
                met[number][place] = (position, began)
                denied = rule.negatable and negated != _NEVER and began - negated <= _NEGATED_WITHIN
                if place + 1 == len(rule.concepts) and not denied:
                    yield word.offset, rule
            if "negation" in word.concepts:
                negated = position
