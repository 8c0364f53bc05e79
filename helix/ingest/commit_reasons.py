"""Commit reasons: what a commit's message says in sentences, and which of them say why. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from helix.text.cues import words
from helix.text.regex import regex
from helix.text.sentences import sentences

LONGEST = 700
"""Characters of reasons that are kept."""
_LEAST_WORDS = 3

# A list in a commit tells the steps by which it came about: a squashed commit lists the subjects of its parts.
_LIST = regex(r"[ \t]*(?:[-*•+]|\d{1,2}[.)])[ \t]+")
_INDENTED = regex(r"^(?: {4,}|\t)")
_FENCE = regex(r"\s*(?:```|~~~)")
# For lines without space around them: two runs of characters that may be space take the square of its length.
_OTHER = regex(
    r"(?:#{1,6} |>|\||[-=_*]{3,}\s*$|\W*(?:https?://|<?!--)|(?:refs?|see(?: also)?|thanks)\b"
    r"|(?:this )?(?:partly |partially )?reverts? (?:the )?commit\b)",
    re.IGNORECASE,
)
_CREDIT = regex(
    r"\W*(?:initially |originally |also )?(?:reported|spotted|found|noticed|discovered|identified|flagged|caught"
    r"|detected|suggested|pointed out|inspired|assisted|reviewed|tested|co-?authored|analy[sz]ed|diagnosed)"
    r"[- ](?:and \S+ )?by\b"
    r"|\W*(?:follow[- ]?up (?:to|of)|bug|ref|credit)s?\b:? ",
    re.IGNORECASE,
)
"""What begins a sentence on who found it or where it is tracked."""
_URL = regex(r"\(?<?https?://[^\s)>]+>?\)?:?")
_LINK = regex(r"\[([^\]\n]{1,200})\]\([^)\s]{1,500}\)")

WHY = words(
    r"because|so that|otherwise|due to|therefore|hence|which means|this means|as a result|in order to|to avoid",
    r"to prevent|previously|prior to|turns? out|regress(?:ions?|ed)|introduced (?:by|in)",
    r"since(?! v?\d)|the (?:issue|problem|reason|cause|fix) (?:is|was)|(?:root )?cause[ds]?",
    r"instead of|rather than|in favou?r of|no longer|not needed|unneeded|stopped needing",
    r"silently|broken?|breaks|breaking|fails?|failed|failing|failures?|rejects?|raised|lost|los(?:es|ing)|leak\w*",
    r"deliberate(?:ly)?|by design|on purpose|known limitation|intentional(?:ly)?",
    r"had to|would (?:be|have|pass|fail)|cannot|can't|could not|(?:does|do|did|was|were|has|have) ?n[o']t",
)
"""Words of a cause, of a purpose, or of what was wrong."""


def prose(body: str) -> list[str]:
    """Return the sentences of a body that are written to be read: no steps, code, headings, tables, or bare links."""
    found = (one.text for paragraph in _paragraphs(body) for one in sentences(paragraph) if _says(one.text))
    return [f"{one[:-1]}." if one.endswith(":") else one for one in found]  # what it led to is no prose


RULE = words(
    r"(?:documentation|code|coding|commit|naming|project|house|our) (?:style|convention)s?|by convention|house rule",
    r"from now on|rule of thumb|(?:should|must) (?:always|never)|always use|never use",
)
"""Words by which a project states how it does things."""


def why(said: Sequence[str]) -> str:
    """Return the sentences that say why, or state a rule, with what they need to be understood; "" where none does.

    Of a long text the first sentence, each that gives a reason, and the one before it are kept, up to LONGEST.
    """
    giving = [place for place, sentence in enumerate(said) if WHY.search(sentence) or RULE.search(sentence)]
    if not giving:
        return ""
    wanted = [0, *giving, *(place - 1 for place in giving if place), *range(len(said))]
    kept: set[int] = set()
    left = LONGEST
    for place in dict.fromkeys(wanted):
        if len(said[place]) <= left:
            kept.add(place)
            left -= len(said[place]) + 1
    return " ".join(said[place] for place in sorted(kept))


def _paragraphs(body: str) -> Iterator[str]:
    """Yield the paragraphs that are text, each on one line: a line break within one ends no sentence."""
    lines: list[str] = []
    fenced = listed = False
    for line in [*body.split("\n"), ""]:
        if _FENCE.match(line):
            fenced = not fenced
            line = ""
        bare = line.strip()
        listed = bool(_LIST.match(line)) or (listed and bool(bare))
        if fenced or not bare or listed or _INDENTED.match(line) or _OTHER.match(bare):
            if lines:
                yield " ".join(lines)
            lines = []
        else:
            lines.append(bare)


def _says(sentence: str) -> bool:
    if len(sentence.split()) < _LEAST_WORDS or _CREDIT.match(sentence):
        return False
    return not sentence.endswith(":") or bool(WHY.search(sentence))


def plain(text: str) -> str:
    """Return a commit message without its links, of which the words stay."""
    return _URL.sub("", _LINK.sub(r"\1", text))
