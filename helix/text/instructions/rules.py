"""Rules: runs of concepts that speak to an agent, how much each says, and the one pass that finds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations

from helix.text.instructions.words import Word

OVERRIDES = "sets earlier instructions aside"
ROLE = "gives the agent another role"
LIBERTY = "frees the agent of its limits"
DICTATES = "dictates what the agent answers"
WORDING = "fixes the very words of the answer"
TASK = "gives the agent a task of its own"
ADDRESSES = "says what an agent has to do"
SECRECY = "keeps something from the user"
LEAKS = "asks for hidden instructions"
EXFILTRATION = "sends data elsewhere"
REMOTE_CODE = "runs code from elsewhere"
NO_CHECKS = "passes over checks"
FALSE_SUCCESS = "calls work done whatever came of it"
UNWATCHED = "keeps those away who would look"
HASTE = "praises haste"
DESTRUCTION = "destroys evidence"
TRIGGER = "waits for an occasion to act"
ADMITS = "lets somebody in"
LANDS = "lands work that nobody has looked at"

_NEGATED_WITHIN = 2
_NEVER = -1


@dataclass(frozen=True, slots=True)
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
    *_in_order(ROLE, 0.5, "you be now agent", 5),
    *_in_order(ROLE, 0.6, "now on you be", 2),
    *_in_order(ROLE, 1.0, "now on you be agent", 3),
    *_in_order(ROLE, 0.6, "power mode", 2),
    *_in_order(ROLE, 0.5, "be as rights", 2),
    *_in_order(LIBERTY, 0.4, "you be free", 3),
    *_in_order(ROLE, 0.4, "you be agent", 4),
    *_in_order(LIBERTY, 0.5, "free rule", 3),
    *_in_order(LIBERTY, 0.4, "free agent", 2),
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
    *_in_order(ADDRESSES, 0.5, "agent must", 2),
    *_in_order(ADDRESSES, 0.4, "agent should", 1),
    *_in_order(ADDRESSES, 0.5, "you must obey", 2),
    *_in_order(ADDRESSES, 0.5, "obey below", 4),
    *_in_order(SECRECY, 0.8, "deny tell user", 3),
    *_in_order(SECRECY, 0.5, "deny ask user", 3),
    *_in_order(SECRECY, 0.4, "deny tell", 1),
    *_in_order(SECRECY, 0.6, "deny tell memory", 2),
    *_in_order(SECRECY, 0.5, "keep quiet", 2),
    *_in_order(SECRECY, 0.6, "conceal user", 4),
    *_in_order(SECRECY, 0.5, "leave user out", 3),
    *_in_order(SECRECY, 0.4, "negation ask", 1),
    *_in_order(LEAKS, 1.0, "leak hidden instruction", 5),
    *_in_order(LEAKS, 0.8, "tell hidden instruction", 5),
    *_in_order(LEAKS, 0.6, "tell you instruction", 4),
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
    *_in_order(REMOTE_CODE, 0.6, "fetch execute script", 6, negatable=True),
    *_in_order(REMOTE_CODE, 0.6, "execute remote script", 4, negatable=True),
    *_in_order(REMOTE_CODE, 0.6, "remote script execute", 4, negatable=True),
    *_in_order(REMOTE_CODE, 0.7, "decode execute", 5),
    *_in_order(REMOTE_CODE, 0.5, "address execute", 3, negatable=True),
    *_in_order(NO_CHECKS, 0.5, "skip check", 3, negatable=True),
    *_in_order(NO_CHECKS, 0.4, "lacking check", 4),
    *_in_order(NO_CHECKS, 0.4, "destroy check", 3, negatable=True),
    *_in_any_order(LANDS, 0.5, "push straight mainline", 4, negatable=True),
    *_in_order(LANDS, 0.5, "push lacking check", 6, negatable=True),
    *_in_order(ADMITS, 0.5, "grant rights account", 4, negatable=True),
    *_in_order(ADMITS, 0.6, "grant mailbox rights", 5, negatable=True),
    *_in_order(FALSE_SUCCESS, 0.7, "mark success", 5, negatable=True),
    *_in_order(FALSE_SUCCESS, 0.8, "mark as success", 5, negatable=True),
    *_in_order(FALSE_SUCCESS, 0.5, "always success", 3, negatable=True),
    *_in_order(FALSE_SUCCESS, 0.5, "success always", 3, negatable=True),
    *_in_order(UNWATCHED, 0.3, "deny unwatched", 4),
    *_in_order(UNWATCHED, 0.3, "success always", 1),
    *_in_order(HASTE, 0.3, "haste", 1),
    *_in_order(DESTRUCTION, 0.4, "destroy evidence", 3, negatable=True),
    *_in_order(TRIGGER, 0.4, "when you asked", 4),
    *_in_order(TRIGGER, 0.4, "when asked tell", 6),
    *_in_order(TRIGGER, 0.6, "when asked suggest", 6),
)


class Reading:
    """The rules being looked for in a run of words; `steps` counts what was done."""

    def __init__(self, rules: Iterable[Rule] = RULES) -> None:
        self._rules = tuple(rules)
        self._places: dict[str, list[tuple[int, int]]] = {}
        for number, rule in enumerate(self._rules):
            for place, concept in enumerate(rule.concepts):
                self._places.setdefault(concept, []).append((place, number))
        self.steps = 0

    def found(self, words: Iterable[Word]) -> Iterator[tuple[int, Rule]]:
        """Yield the rules that the words meet, and the offset of the last word of each meeting.

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
            moves = [move for concept in word.concepts for move in self._places.get(concept, ())]
            self.steps += len(moves)
            # The later place first: one word must not stand for two places of a rule.
            for place, number in sorted(moves, reverse=True):
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
