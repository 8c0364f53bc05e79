"""Steps: finds the procedure that a text tells as a list of things to do, numbered, bulleted or in one line. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from helix.lifecycle.knowledge.gate import TECHNICAL
from helix.text.cues import IMPERATIVE, RULE, STEP, words
from helix.text.entities import mentions

_LEAST_STEPS, _MOST_STEPS = 3, 20
_LONGEST_GOAL = 400
_LINE = re.compile(
    r"^[ \t]*(?:step[ \t]+)?(?:(?P<number>\d{1,2})[.):]|[-*+\u2022])[ \t]+(?P<text>\S.*)$", re.IGNORECASE | re.MULTILINE
)
_INLINE = re.compile(r"(?:(?<=\s)|(?<=^)|(?<=\())\(?(?P<number>\d{1,2})[.)][ \t]+(?=\S)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_JOINT = re.compile(r"(?:[\s,;]|[,;\s]\s*(?:and|then))+$", re.IGNORECASE)
_BEFORE_VERB = re.compile(r"^(?:[*_\"'(]+|(?:first|then|next|finally|lastly|now|please|and)\b[, ]+)*", re.IGNORECASE)
_TOLD_TO_DO = words(
    r"how (?:we|i|to|you)|to [a-z]+|steps?|process|procedure|checklist|routine|recipe|runbook|playbook|workflow|guide",
    r"releas(?:e|ing)|deploy(?:ing|ment)?|setup|setting up|instructions?",
    r"(?:before|after|when(?:ever)?|every time) .+|[a-z]+ing (?:an?|the|our|my) .+",
)
_HEADING = re.compile(r"^(?:#{1,6}[ \t]|\*\*).*$|:\W*$")
_KEPT_TO = words(
    r"(?:always|from now on|going forward|every time|remember|stick to|keep to|follow)\b[^.\n]{0,80}"
    r"\b(?:(?:this|that) way|like (?:this|that)|(?:these|those) steps|in (?:this|that) order"
    r"|(?:this|that) (?:list|order|procedure|process|checklist|recipe|routine|runbook|playbook))",
)
_OURS = words(r"we|our|us|i|my")


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """What is done (`goal`) by which steps, in order.

    `settled`: it is said beside the list that it is always done so. `ours`: those who speak do it themselves.
    `bidden`: most steps begin with what to do. `technical`: half of them name a file, a command or the like.
    """

    goal: str
    steps: tuple[str, ...]
    settled: bool
    ours: bool
    bidden: bool
    technical: bool


def procedure(text: str) -> Procedure | None:
    """Return the procedure that a text tells as its list of 3 to 20 steps behind a lead, or None.

    A numbered list may be led in by anything where half of its steps are technical, by a heading or a colon where most
    of them begin with a verb; a bulleted one by a heading or a colon that speaks of a way to do something.
    """
    for numbered, before, steps, behind in _lists(text):
        goal = " ".join(before.split())
        if not goal or len(goal) > _LONGEST_GOAL or not _LEAST_STEPS <= len(steps) <= _MOST_STEPS:
            continue
        lead = before.strip().rsplit("\n", 1)[-1].rsplit(". ", 1)[-1].strip()
        bidden = 2 * sum(map(_begins_with_verb, steps)) > len(steps)
        technical = 2 * sum(map(_is_technical, steps)) >= len(steps)
        headed = _HEADING.search(lead) is not None
        to_do = _TOLD_TO_DO.match(lead.lstrip("#*_ \t")) is not None
        if (numbered and (technical or (bidden and (headed or to_do)))) or (bidden and headed and to_do):
            return Procedure(
                goal=goal.strip("#* \t").rstrip(": ").strip(),
                steps=tuple(steps),
                settled=_KEPT_TO.search(f"{goal}\n{behind}") is not None,
                ours=_OURS.search(lead) is not None,
                bidden=bidden,
                technical=technical,
            )
    return None


def _lists(text: str) -> Iterator[tuple[bool, str, list[str], str]]:
    """Yield the lists of a text: whether numbered, what stands before, the items, and what stands behind."""
    found = list(_LINE.finditer(text))
    numbers = [int(match["number"]) for match in found if match["number"]]
    if len(numbers) >= _LEAST_STEPS:
        items = [match for match in found if match["number"]]
        if numbers == list(range(1, len(numbers) + 1)):
            yield True, *_parted(text, items)
        return
    for _, run in groupby(_blocks(text, found), key=lambda pair: pair[0]):
        items = [match for _, match in run]
        if len(items) >= _LEAST_STEPS:
            yield False, *_parted(text, items)
    yield from _inline(text)


def _blocks(text: str, found: Sequence[re.Match[str]]) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield each bullet with the number of its list: nothing but blanks stands between those of one."""
    block, end = 0, None
    for match in found:
        if match["number"]:
            continue
        if end is not None and text[end : match.start()].strip():
            block += 1
        end = match.end()
        yield block, match


def _parted(text: str, items: Sequence[re.Match[str]]) -> tuple[str, list[str], str]:
    return (
        text[: items[0].start()],
        [" ".join(item["text"].split()) for item in items],
        text[items[-1].end() :],
    )


def _inline(text: str) -> Iterator[tuple[bool, str, list[str], str]]:
    """Yield the list that runs on in one line: 1. do this 2. do that 3. do the rest. What comes after is no step."""
    found = list(_INLINE.finditer(text))
    if len(found) < _LEAST_STEPS or [int(match["number"]) for match in found] != list(range(1, len(found) + 1)):
        return
    ends = [*(match.start() for match in found[1:]), len(text)]
    pieces = [text[match.end() : end] for match, end in zip(found, ends, strict=True)]
    last, *behind = _SENTENCE_END.split(pieces[-1].split("\n")[0], maxsplit=1)
    rest = text[found[-1].end() + len(last) :] if behind or "\n" in pieces[-1] else ""
    steps = [_JOINT.sub("", " ".join(piece.split())) for piece in (*pieces[:-1], last)]
    yield True, text[: found[0].start()], [step.rstrip(". ") for step in steps], rest


def _begins_with_verb(step: str) -> bool:
    bare = _BEFORE_VERB.sub("", step, count=1)
    return RULE.match(bare) is None and any(verbs.match(bare) for verbs in (IMPERATIVE, STEP))


def _is_technical(step: str) -> bool:
    return any(mention.kind in TECHNICAL for mention in mentions(step))
