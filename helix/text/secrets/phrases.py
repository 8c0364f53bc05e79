"""Phrases: secrets as people dictate them, a name of several words and the value behind a blank, and passphrases."""

from __future__ import annotations

import re
from collections.abc import Iterator

from helix.text.secrets import strength
from helix.text.secrets.span import Span

_NAMED = re.compile(
    r"\b(?:(?:secret[ _-]access|access|api|secret|private|account|signing|encryption|master|storage)[ _-]keys?"
    r"|(?:access|auth|api|bearer|refresh|session|deploy|bot)[ _-]tokens?|(?:client|app|shared|webhook)[ _-]secrets?)"
    r"(?:\s{1,3}(?:is|was|are|to))?[ \t]{0,3}[:=]?\s{1,4}[\"'`(]{0,2}([A-Za-z0-9+/_.~-]{20,200}={0,2})(?![\w+/])",
    re.IGNORECASE,
)
_PHRASE = re.compile(
    r"\b(?:pass[ -]?phrase|(?:seed|recovery|mnemonic)[ -]phrase)(?:[ \t]{0,3}[:=]|[ \t]{1,3}(?:is|was):?)"
    r"[ \t]{1,4}[\"'`]?"
    r"((?:[a-z]{3,12}[ \t-]){3,23}[a-z]{3,12})(?=[\"'`.,;)]{0,2}(?:\s|$))",
    re.IGNORECASE,
)
_PROSE = frozenset(
    re.findall(
        r"\S+",
        """
    a after all also always and any are ask asked be been before but by can cannot change changed could did does each
    empty enter entered every for from given has have how if in incorrect into invalid is it its kept known least longer
    made may missing must need needed needs never none not now of on one only optional or our please protected required
    same secret set should so some stored than that the their them then there they this to too type typed unset use used
    user value was what when where which who will with without wrong you your
    """,
    )
)
"""Words of sentences about passphrases: no list that passphrases are drawn from is made of them."""
_LEAST_HEX = 32


def find(text: str, lowered: str) -> Iterator[Span]:
    """Yield values behind a name of several words, and passphrases; `lowered` is the text in lower case."""
    if "key" in lowered or "token" in lowered or "secret" in lowered:
        for match in _NAMED.finditer(text):
            if _is_machine_made(match[1]):
                yield Span(*match.span(1), "credential")
    if "phrase" in lowered:
        for match in _PHRASE.finditer(text):
            if _PROSE.isdisjoint(re.split(r"[ \t-]", match[1].lower())):
                yield Span(*match.span(1), "password")


def _is_machine_made(value: str) -> bool:
    if strength.is_filler(value) or strength.is_published_sample(value) or strength.is_uuid(value):
        return False
    if strength.is_hex(value):
        return len(value) >= _LEAST_HEX and not value.isdigit()
    return strength.looks_random(value, least=20) and strength.word_share(value) < 0.4 and any(map(str.isdigit, value))
