"""Steps: finds the procedure that a text tells as a list of things to do, numbered, bulleted or in one line. Pure.

Not measured, as no public set has its procedures labelled. In 43 turns of 2,152 (LongMemEval) it sees one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from helix.memory.extraction.gate import TECHNICAL
from helix.text.cues import IMPERATIVE, RULE, STEP, cue_pattern
from helix.text.spotting.entities import mentions

_LEAST_STEPS, _MOST_STEPS = 3, 20
_LONGEST_GOAL = 400
_LINE = re.compile(
    r"^[ \t]*(?:step[ \t]+)?(?:(?P<number>\d{1,2})[.):]|[-*+\u2022])[ \t]+(?P<text>\S.*)$", re.IGNORECASE | re.MULTILINE
)
_INLINE = re.compile(r"(?:(?<=\s)|(?<=^)|(?<=\())\(?(?P<number>\d{1,2})[.)][ \t]+(?=\S)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_JOINT = re.compile(r"(?:[\s,;]|[,;\s]\s*(?:and|then))+$", re.IGNORECASE)
_BEFORE_VERB = re.compile(r"^(?:[*_\"'(]|(?:first|then|next|finally|lastly|now|please|and)\b[, ]+)*", re.IGNORECASE)
_TOLD_TO_DO = cue_pattern(
    r"how (?:we|i|to|you)|to [a-z]+|steps?|process|procedure|checklist|routine|recipe|runbook|playbook|workflow|guide",
    r"releas(?:e|ing)|deploy(?:ing|ment)?|setup|setting up|instructions?",
    r"(?:before|after|when(?:ever)?|every time) .+|[a-z]+ing (?:an?|the|our|my) .+",
    r"(?:[a-z]+ ){0,3}(?:procedure|process|steps|checklist|routine|runbook|playbook)(?: (?:for|of|to) .+)?",
    r".+ like this|.+ as follows|.+ in this order",
)
_TOLD_ONCE = re.compile(
    r"(?:please )?(?:remember(?: that| to|:)?|note(?: to self)?:|keep in mind:?|(?:don't|do not|never) forget(?: how)?"
    r"|from now on,?|going forward,?"
    r"|(?:we|the team|i)(?:'ve| have)? (?:now )?(?:decided|agreed|settled)(?: to| that| on)?)\s+",
    re.IGNORECASE,
)
_DONE_SO = cue_pattern(
    r"[a-z]+ed (?:an?|the|our|my) .+ (?:again|like this|as follows|this way|in this order)|how (?:i|we) [a-z]+ed .+"
)
_DONE = cue_pattern(
    r"(?!need|feed|speed|seed|red)[a-z]{2,}ed|ran|did|went|built|sent|set|put|wrote|made|took|shut|got|brought|cut"
    r"|drew|gave|reset|rebuilt|rewrote|chose"
)
_SEQUENCE = re.compile(
    r"(?:(?<=\A)|(?<=[.!?:;,]\s)|(?<=\n))first(?:ly)?(?: of all)?,?\s+(?=[a-z])[^\n]*", re.IGNORECASE
)
_FIRST = re.compile(r"\Afirst(?:ly)?(?: of all)?,?\s+", re.IGNORECASE)
_THEREAFTER = re.compile(
    r"[,;.]?\s+(?:and )?(?:then|next|after (?:that|which)|afterwards|finally|lastly|last of all),?\s+", re.IGNORECASE
)
_HEADING = re.compile(r"^(?:#{1,6}[ \t]|\*\*).*$|:\W*$")
_KEPT_TO = cue_pattern(
    r"(?:always|from now on|going forward|every time|remember|stick to|keep to|follow)\b[^.\n]{0,80}"
    r"\b(?:(?:this|that) way|like (?:this|that)|(?:these|those) steps|in (?:this|that) order"
    r"|(?:this|that) (?:list|order|procedure|process|checklist|recipe|routine|runbook|playbook))",
)
_OURS = cue_pattern(r"we|our|us|i|my")


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """What is done (`goal`) by which steps, in order.

    `settled`: it is said beside the list that it is always done so. `ours`: those who speak do it themselves.
    `technical`: half of them name a file, a command or the like.
    """

    goal: str
    steps: tuple[str, ...]
    settled: bool
    ours: bool
    technical: bool


def procedure(text: str) -> Procedure | None:
    """Extract a procedure as a memory: a text's list of 3 to 20 steps behind a lead, or None.

    A numbered list may be led in by anything where half of its steps are technical, by a heading or a colon where most
    of them begin with a verb; a bulleted one by a heading or a colon that speaks of a way to do something.
    """
    for numbered, before, steps, behind in _lists(text):
        goal = " ".join(before.split())
        goal, told_once = _bare(goal)
        if not goal or len(goal) > _LONGEST_GOAL or not _LEAST_STEPS <= len(steps) <= _MOST_STEPS:
            continue
        lead, _ = _bare(before.strip().rsplit("\n", 1)[-1].rsplit(". ", 1)[-1].strip())
        done = _DONE_SO.match(lead) is not None and 2 * sum(_DONE.match(step) is not None for step in steps) > len(
            steps
        )
        bidden = done or 2 * sum(map(_begins_with_verb, steps)) > len(steps)
        technical = 2 * sum(map(_is_technical, steps)) >= len(steps)
        headed = _HEADING.search(lead) is not None
        to_do = done or _TOLD_TO_DO.match(lead.lstrip("#*_ \t")) is not None
        if (numbered and (technical or (bidden and (headed or to_do)))) or (bidden and headed and to_do):
            return Procedure(
                goal=goal.strip("#* \t").rstrip(": ").strip(),
                steps=tuple(steps),
                settled=told_once or _KEPT_TO.search(f"{goal}\n{behind}") is not None,
                ours=_OURS.search(lead) is not None,
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
    yield from _in_sequence(text)


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


def _in_sequence(text: str) -> Iterator[tuple[bool, str, list[str], str]]:
    """Yield what is told as a sequence: first this, then that, finally the rest. Without a lead it leads in itself."""
    if (match := _SEQUENCE.search(text)) is None:
        return
    told, *behind = _SENTENCE_END.split(match[0], maxsplit=1)
    if len(_THEREAFTER.findall(told)) + 1 < _LEAST_STEPS:  # each step may be a sentence of its own
        told, behind = match[0], []
    first, *others = _THEREAFTER.split(told)
    steps = [" ".join(step.split()).rstrip(".!,; ") for step in (_FIRST.sub("", first), *others)]
    if all(steps) and all(map(_begins_with_verb, steps)):
        before = text[: match.start()].strip() or f"{told.rstrip('.!')}:"
        yield True, before if _HEADING.search(before) else f"{before}:", steps, " ".join(behind)


def _bare(lead: str) -> tuple[str, bool]:
    """Return what a lead says behind "remember" and its like, and whether that was there: once is enough then."""
    match = _TOLD_ONCE.match(lead)
    if match is None:
        return lead, False
    rest = lead[match.end() :]
    return rest[:1].upper() + rest[1:], True


def _begins_with_verb(step: str) -> bool:
    bare = _BEFORE_VERB.sub("", step, count=1)
    return RULE.match(bare) is None and any(verbs.match(bare) for verbs in (IMPERATIVE, STEP))


def _is_technical(step: str) -> bool:
    return any(mention.kind in TECHNICAL for mention in mentions(step))
