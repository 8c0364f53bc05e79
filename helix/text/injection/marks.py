"""Marks: where a text has a form that gives an instruction away, and how it reads without what people do not see.

Of 213 fresh injections it finds 1 more without what people do not see, of 666 public ones 1 by blanks that are to be
filled in. Citations changed none of 24,861 texts, of which 18 have one: they stay, as an advisory may quote an
attack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from helix.text.injection.disguises import unmasked
from helix.text.injection.forms import FORMS, InstructionForm
from helix.text.injection.instruction_rules import Reason

_BRACKETED = re.compile(r"[\[{<'\"]([A-Z][A-Z_]{3,20})[\]}>'\"]")
_MOST_BLANKS = 8
_ABOUT_ATTACKS = re.compile(
    r"\b(?:prompt[ -]injections?|injection attacks?|jailbreaks?|attackers?|vulnerabilit(?:y|ies)|threat models?"
    r"|CVE-\d{4}|GHSA-)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"\n]{4,80}\"|\u201c[^\u201d\n]{4,80}\u201d|`[^`\n]{4,80}`")
_TAGS = {code: code - 0xE0000 for code in range(0xE0020, 0xE007F)}
_UNSEEN = dict.fromkeys(
    map(
        ord,
        "\u00ad\u200b\u200c\u200d\u2060\u2061\u2062\u2063\ufeff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    )
)
_FILL_IN = InstructionForm(Reason.BLANK, 0.4, (), _BRACKETED)


def marks(text: str) -> Iterator[tuple[int, InstructionForm]]:
    """Yield the marks of an instruction to an agent in a text as it was written, and where each begins."""
    lowered = text.lower()
    for form in FORMS:
        if not form.anchors or any(anchor in lowered for anchor in form.anchors):
            for match in form.pattern.finditer(text):
                yield match.start(), form
    for count, match in enumerate(_BRACKETED.finditer(text)):
        # A handful of them, so that looking for each again stays linear.
        if count == _MOST_BLANKS:
            return
        if match[1] in text[match.end() :]:
            yield match.start(), _FILL_IN


def citations(text: str) -> list[tuple[int, int]]:
    """Return where short quotations stand, from and to, that cite instructions behind a word about attacks."""
    if (about := _ABOUT_ATTACKS.search(text)) is None:
        return []
    return [match.span() for match in _QUOTED.finditer(text, about.end())]


def seen(text: str) -> str:
    """Return a text as an agent reads its instructions: characters that people do not see taken out or made plain."""
    return text if text.isascii() else unmasked(text.translate(_TAGS).translate(_UNSEEN))
