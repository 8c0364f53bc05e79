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
from functools import lru_cache
from itertools import permutations

from helix.text.injection.concepts import ConceptWord

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

    reason: str
    weight: float
    concepts: tuple[str, ...]
    reach: int
    negatable: bool


def _in_order(reason: str, weight: float, concepts: str, reach: int, *, negatable: bool = False) -> list[Rule]:
    return [Rule(reason, weight, tuple(concepts.split()), reach, negatable)]


def _in_any_order(reason: str, weight: float, concepts: str, reach: int, *, negatable: bool = False) -> list[Rule]:
    return [Rule(reason, weight, order, reach, negatable) for order in permutations(concepts.split())]


RULES = (
    *_in_any_order(OVERRIDES, 1.0, "override prior instruction", 4),
    *_in_order(OVERRIDES, 0.7, "override prior rule", 3),
    *_in_order(OVERRIDES, 0.6, "override all instruction", 4),
    *_in_order(OVERRIDES, 0.6, "override all rule", 3),
    *_in_order(OVERRIDES, 0.7, "override you instruction", 3),
    *_in_order(OVERRIDES, 0.5, "new instruction", 2),
    *_in_order(OVERRIDES, 0.5, "always prior instruction", 4),
    *_in_order(OVERRIDES, 0.7, "free heed prior", 8),
    *_in_order(OVERRIDES, 0.6, "skip you rule", 3),
    *_in_order(OVERRIDES, 0.7, "override rule prior", 3),
    *_in_order(OVERRIDES, 0.5, "override instruction prior", 3),
    *_in_order(OVERRIDES, 1.0, "override all you told", 4),
    *_in_order(OVERRIDES, 0.8, "override all told", 4),
    *_in_order(OVERRIDES, 0.5, "override you told", 3),
    *_in_order(OVERRIDES, 0.5, "override rule", 2),
    *_in_order(OVERRIDES, 0.5, "override user told", 3),
    *_in_order(OVERRIDES, 0.6, "instruction void", 8),
    *_in_order(OVERRIDES, 0.6, "rule void", 8),
    *_in_order(OVERRIDES, 0.8, "override asked user", 3),
    *_in_order(OVERRIDES, 0.7, "override user asked", 3),
    *_in_order(OVERRIDES, 0.6, "override you task", 3, negatable=True),
    *_in_order(OVERRIDES, 0.5, "disobey user", 3, negatable=True),
    *_in_order(OVERRIDES, 0.9, "override instruction user", 3, negatable=True),
    *_in_order(ROLE, 0.5, "you be now agent", 5),
    *_in_order(ROLE, 0.6, "now on you be", 2),
    *_in_order(ROLE, 1.0, "now on you be agent", 3),
    *_in_order(ROLE, 0.6, "power mode", 2),
    *_in_order(ROLE, 0.5, "be as rights", 2),
    *_in_order(ROLE, 0.4, "you be agent", 4),
    *_in_order(LIBERTY, 0.4, "you be free", 3),
    *_in_order(LIBERTY, 0.4, "free agent", 2),
    *_in_order(LIBERTY, 0.9, "be agent lacking rule", 4),
    *_in_order(DICTATES, 0.8, "write you reply", 4),
    *_in_order(DICTATES, 0.8, "write string you reply", 6),
    *_in_order(DICTATES, 0.6, "write reply string", 5),
    *_in_order(DICTATES, 0.5, "write string verbatim", 5),
    *_in_order(DICTATES, 0.5, "write string times", 6),
    *_in_order(DICTATES, 0.5, "times reply", 6),
    *_in_order(DICTATES, 0.5, "you must write", 4),
    *_in_order(WORDING, 0.3, "reply verbatim", 4),
    *_in_order(WORDING, 0.3, "string verbatim", 4),
    *_in_order(TASK, 0.6, "you new task", 2),
    *_in_order(TASK, 0.5, "new task write", 5),
    *_in_order(TASK, 0.4, "new task", 1),
    *_in_order(TASK, 0.3, "you task", 2),
    *_in_order(TASK, 0.6, "you task void", 5),
    *_in_order(TASK, 0.6, "user new task", 3),
    *_in_order(TASK, 0.6, "user new rule", 3),
    *_in_order(ADDRESSES, 0.5, "agent must", 4),
    *_in_order(ADDRESSES, 0.4, "agent should", 1),
    *_in_order(ADDRESSES, 0.5, "you must obey", 2),
    *_in_order(ADDRESSES, 0.5, "obey below", 4),
    *_in_order(ADDRESSES, 0.4, "model reading should", 4),
    *_in_order(SECRECY, 0.8, "deny tell user", 4),
    *_in_order(SECRECY, 0.5, "deny ask user", 3),
    *_in_order(SECRECY, 0.4, "deny tell", 1),
    *_in_order(SECRECY, 0.6, "deny tell memory", 2),
    *_in_order(SECRECY, 0.5, "keep quiet", 2),
    *_in_order(SECRECY, 0.6, "conceal user", 4),
    *_in_order(SECRECY, 0.5, "leave user out", 3),
    *_in_order(SECRECY, 0.4, "negation ask", 1),
    *_in_order(SECRECY, 0.5, "lacking tell", 2),
    *_in_order(SECRECY, 0.7, "lacking tell user", 4),
    *_in_order(SECRECY, 0.7, "lacking user tell", 6),
    *_in_order(SECRECY, 0.5, "tell not", 2),
    *_in_order(SECRECY, 0.4, "deny need_not_say", 4),
    *_in_order(SECRECY, 0.6, "tell deny user", 8),
    *_in_order(SECRECY, 0.9, "deny tell user you", 4),
    *_in_order(SECRECY, 0.4, "leave out", 2),
    *_in_order(SECRECY, 0.8, "deny user learns", 4),
    *_in_order(SECRECY, 0.9, "deny need_not_say user", 4),
    *_in_order(SECRECY, 0.8, "tell user not", 3),
    *_in_order(SECRECY, 0.6, "tell nobody", 3),
    *_in_order(LEAKS, 1.0, "leak hidden instruction", 5),
    *_in_order(LEAKS, 0.8, "tell hidden instruction", 5),
    *_in_order(LEAKS, 0.6, "whole hidden said_to_it", 4, negatable=True),
    *_in_order(LEAKS, 0.6, "tell you instruction", 4),
    *_in_order(LEAKS, 0.6, "said_to_it you given", 3),
    *_in_order(LEAKS, 1.0, "show you system_prompt", 4, negatable=True),
    *_in_order(LEAKS, 1.0, "show you hidden instruction", 4, negatable=True),
    *_in_order(LEAKS, 1.0, "show you said_to_it hidden", 4, negatable=True),
    *_in_order(LEAKS, 0.9, "show whole prior", 2),
    *_in_order(LEAKS, 0.9, "show said_to_it you given", 3, negatable=True),
    *_in_order(LEAKS, 0.5, "you hidden said_to_it", 1),
    *_in_order(LEAKS, 0.9, "asks_what you hidden said_to_it", 3),
    *_in_order(LEAKS, 0.6, "show whole before", 4),
    *_in_order(LEAKS, 0.6, "show hidden rule", 3, negatable=True),
    *_in_order(LEAKS, 0.9, "show instruction hidden", 3, negatable=True),
    *_in_order(LEAKS, 0.6, "show hidden said_to_it", 3, negatable=True),
    *_in_order(EXFILTRATION, 0.7, "send private outside", 8, negatable=True),
    *_in_order(EXFILTRATION, 0.9, "send private address", 12, negatable=True),
    *_in_order(EXFILTRATION, 0.8, "private send address", 12, negatable=True),
    *_in_order(EXFILTRATION, 0.9, "send keyfile address", 8, negatable=True),
    *_in_order(EXFILTRATION, 0.9, "keyfile send address", 8, negatable=True),
    *_in_order(EXFILTRATION, 1.0, "send keyfile mailbox", 12, negatable=True),
    *_in_order(EXFILTRATION, 1.0, "send private mailbox", 12, negatable=True),
    *_in_order(EXFILTRATION, 0.5, "send mailbox", 4, negatable=True),
    *_in_order(EXFILTRATION, 0.6, "send data address", 8, negatable=True),
    *_in_order(EXFILTRATION, 0.6, "send data place", 8, negatable=True),
    *_in_order(EXFILTRATION, 0.5, "write api key", 3, negatable=True),
    *_in_order(EXFILTRATION, 0.5, "push keyfile outside", 5, negatable=True),
    *_in_order(EXFILTRATION, 0.5, "send api key", 3, negatable=True),
    *_in_order(EXFILTRATION, 1.0, "transfer account", 14, negatable=True),
    *_in_order(EXFILTRATION, 0.9, "send keyfile forum", 6, negatable=True),
    *_in_order(EXFILTRATION, 0.9, "send api key forum", 6, negatable=True),
    *_in_order(EXFILTRATION, 0.9, "write you api key forum", 6, negatable=True),
    *_in_order(EXFILTRATION, 0.9, "spill keyfile forum", 6, negatable=True),
    *_in_order(EXFILTRATION, 0.9, "spill variables forum", 8, negatable=True),
    *_in_order(EXFILTRATION, 0.9, "disclose content keyfile forum", 6, negatable=True),
    *_in_order(EXFILTRATION, 0.9, "turn content keyfile", 8, negatable=True),
    *_in_order(EXFILTRATION, 0.9, "variables spill forum", 6, negatable=True),
    *_in_order(EXFILTRATION, 0.9, "keyfile send forum", 6, negatable=True),
    *_in_order(EXFILTRATION, 0.9, "send variables address", 6, negatable=True),
    *_in_order(EXFILTRATION, 0.9, "turn content variables", 8, negatable=True),
    *_in_order(EXFILTRATION, 0.9, "send keyfile outside", 8, negatable=True),
    *_in_order(EXFILTRATION, 0.9, "keyfile send outside", 8, negatable=True),
    *_in_order(EXFILTRATION, 0.6, "keyfile disclose outside", 8, negatable=True),
    *_in_order(EXFILTRATION, 0.6, "keyfile disclose forum", 10, negatable=True),
    *_in_order(EXFILTRATION, 0.6, "send content keyfile", 8, negatable=True),
    *_in_order(EXFILTRATION, 0.5, "disclose content keyfile", 5, negatable=True),
    *_in_order(EXFILTRATION, 0.6, "show content keyfile", 5, negatable=True),
    *_in_order(EXFILTRATION, 0.9, "send api key mailbox", 8, negatable=True),
    *_in_order(EXFILTRATION, 0.5, "disclose keyfile forum", 8, negatable=True),
    *_in_order(EXFILTRATION, 0.5, "agent send keyfile", 6, negatable=True),
    *_in_order(EXFILTRATION, 0.5, "send data outside", 8, negatable=True),
    *_in_order(REMOTE_CODE, 0.9, "execute what address", 4, negatable=True),
    *_in_order(REMOTE_CODE, 0.6, "fetch execute script", 6, negatable=True),
    *_in_order(REMOTE_CODE, 0.6, "execute remote script", 4, negatable=True),
    *_in_order(REMOTE_CODE, 0.6, "remote script execute", 4, negatable=True),
    *_in_order(REMOTE_CODE, 0.7, "decode execute", 5),
    *_in_order(REMOTE_CODE, 0.5, "address execute", 3, negatable=True),
    *_in_order(REMOTE_CODE, 0.6, "fetch execute address", 4, negatable=True),
    *_in_order(NO_CHECKS, 0.5, "skip check", 3, negatable=True),
    *_in_order(NO_CHECKS, 0.5, "skip execute check", 3, negatable=True),
    *_in_order(NO_CHECKS, 0.4, "destroy check", 2, negatable=True),
    *_in_order(NO_CHECKS, 0.5, "approve lacking check", 6, negatable=True),
    *_in_order(NO_CHECKS, 0.5, "approve deny check", 8, negatable=True),
    *_in_any_order(LANDS, 0.5, "push straight mainline", 4, negatable=True),
    *_in_order(LANDS, 0.5, "push lacking check", 6, negatable=True),
    *_in_order(LANDS, 0.4, "push straight", 3, negatable=True),
    *_in_order(ADMITS, 0.5, "grant rights account", 4, negatable=True),
    *_in_order(ADMITS, 0.6, "grant mailbox rights", 5, negatable=True),
    *_in_order(ADMITS, 0.4, "grant leave_to_act", 4, negatable=True),
    *_in_order(FALSE_SUCCESS, 0.8, "mark as success", 5, negatable=True),
    *_in_order(FALSE_SUCCESS, 0.5, "always success", 3, negatable=True),
    *_in_order(FALSE_SUCCESS, 0.5, "success always", 3, negatable=True),
    *_in_order(UNWATCHED, 0.3, "deny unwatched", 4),
    *_in_order(UNWATCHED, 0.3, "success always", 1),
    *_in_order(UNWATCHED, 0.4, "lacking ask", 2),
    *_in_order(DESTRUCTION, 0.4, "destroy evidence", 5, negatable=True),
    *_in_order(TRIGGER, 0.4, "when you asked", 4),
    *_in_order(TRIGGER, 0.4, "when asked tell", 6),
    *_in_order(TRIGGER, 0.6, "when asked suggest", 6),
    *_in_order(TRIGGER, 0.4, "when user asked", 5),
    *_in_order(TRIGGER, 0.4, "each turn", 1),
    *_in_order(TRIGGER, 0.5, "each turn you", 3),
    *_in_order(ADDRESSED, 0.5, "as_if agent you", 6),
    *_in_order(ADDRESSED, 0.6, "as_if agent reading", 4),
    *_in_order(ADDRESSED, 0.6, "as_if reading agent", 5),
    *_in_order(ADDRESSED, 0.4, "as_if you be agent", 4),
    *_in_order(ADDRESSED, 0.6, "as_if you be model", 4),
    *_in_order(ADDRESSED, 0.5, "agent reading this_text", 3),
    *_in_order(ADDRESSED, 0.5, "model reading this_text", 3),
    *_in_order(ADDRESSED, 0.6, "as_if be model", 2),
    *_in_order(ADDRESSED, 0.5, "agent reading", 3),
    *_in_order(ADDRESSED, 0.5, "reading agent must", 6),
    *_in_order(ADDRESSED, 0.4, "you context", 1),
    *_in_order(ADDRESSED, 0.6, "you reading as_if model", 3),
    *_in_order(ADDRESSED, 0.6, "you reading as_if agent", 3),
    *_in_order(PREEMPTS, 0.3, "before turn visit", 6),
    *_in_order(PREEMPTS, 0.3, "turn before visit", 6),
    *_in_order(PREEMPTS, 0.5, "before anything", 4),
    *_in_order(PREEMPTS, 0.4, "before turn address", 4),
    *_in_order(PREEMPTS, 0.5, "deny begin when visit", 8),
    *_in_order(FOLLOWS, 0.4, "visit address carry_out", 10, negatable=True),
    *_in_order(FOLLOWS, 0.7, "address carry_out what", 8, negatable=True),
    *_in_order(FOLLOWS, 0.9, "treat as you instruction", 3, negatable=True),
    *_in_order(FOLLOWS, 0.3, "carry_out what tell", 3, negatable=True),
    *_in_order(FOLLOWS, 0.5, "carry_out tell you", 5, negatable=True),
    *_in_order(FOLLOWS, 0.9, "address carry_out tell you", 8, negatable=True),
    *_in_order(FOLLOWS, 0.7, "address carry_out tell", 6, negatable=True),
    *_in_order(FOLLOWS, 0.5, "address instruction carry_out", 5, negatable=True),
    *_in_order(FOLLOWS, 0.4, "visit address approve", 6, negatable=True),
    *_in_order(FOLLOWS, 0.7, "address carry_out all", 6, negatable=True),
    *_in_order(FOLLOWS, 0.9, "address submit", 8, negatable=True),
    *_in_order(CONSENT, 0.5, "user approved", 2),
    *_in_order(CONSENT, 0.5, "you total leave_to_act", 4),
    *_in_order(CONSENT, 0.5, "approved total leave_to_act", 3),
    *_in_order(CONSENT, 0.5, "treat as_if user", 6, negatable=True),
    *_in_order(TRANSFERS, 0.5, "approve money", 3, negatable=True),
    *_in_order(PROMOTES, 0.4, "promote", 1),
)


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
