"""Excerpts: the parts of a long text that are kept, redacted before they are cut.

Half a secret matches no rule. So a cut is made in the redacted text, and a word at the edge of what was read is left
out. `gist` alone redacts nothing: it is for texts of the store, of which it takes the sentences that matter to a
question.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from helix.text.cleaning import clean
from helix.text.secrets.redact import redact, redacted_from
from helix.text.tokens import query_terms

_REACH = 8_192
"""Characters read beyond what is kept: as far as a secret that begins in there can go on."""
GAP = "\n...\n"


def head(text: str, most: int) -> str:
    """Return the beginning of a text: cleaned, redacted, of at most `most` characters, cut between words if it can be.

    Time is bounded whatever the length: what lies far behind the cut is not read.
    """
    found = redact(clean(text[: most + _REACH])).text
    if len(text) > most + _REACH and len(found) <= most:
        found = _without_last_word(found)  # it may be half a secret, drawn in by what was taken out before it
    if len(found) <= most:
        return found
    kept = found[:most]
    words = kept.rsplit(maxsplit=1)
    return words[0] if len(words) > 1 and not found[most].isspace() and len(words[1]) < most // 2 else kept.rstrip()


def shortened(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters; a longer one is redacted, then cut."""
    return text if len(text) <= limit else head(text, limit)


def ends(text: str, most: int) -> str:
    """Return the beginning and the end of a text longer than `most`, redacted first; a shorter one as it is."""
    if len(text) <= most:
        return text
    half = (most - len(GAP)) // 2
    before, last = head(text, half), text[-half - _REACH :]
    read, start = clean(last), 0
    if len(last) < len(text):  # its first word may be half a secret, or the name of one may stand before it
        start = max(len(read) - len("".join(read.split(maxsplit=1)[-1:])), min(_REACH, len(read) // 2))
    after = redacted_from(read, start)
    return f"{before}{GAP}{after[-half:].lstrip()}"


def _without_last_word(text: str) -> str:
    words = text.rsplit(maxsplit=1)
    return words[0] if len(words) > 1 else ""


_END = re.compile(r"(?<=[.!?\u2026])[\"'\u201d\u2019)\]*_`]*\s+(?=[^\sa-z])|(?<=[\u3002\uff01\uff1f])|\n\s*")
_BETWEEN = 1


def gist(text: str, limit: int, question: str = "") -> str:
    """Return at most `limit` characters of a text in whole sentences, in their order; all of it where it is short.

    The sentence that shares most words with the question comes first, else the first one; then those beside it. Only
    where no sentence is short enough is one cut, between words, and marked as cut.
    """
    if len(text) <= limit:
        return text
    said = [part.strip() for part in _END.split(text) if part.strip()]
    wanted = frozenset(query_terms(question))
    shared = [len(wanted.intersection(query_terms(part))) for part in said] if wanted else [0] * len(said)
    best = max(range(len(said)), key=lambda place: (shared[place], -place))
    nearest = sorted(
        range(len(said)), key=lambda place: (place != 0 and abs(place - best) > 1, abs(place - best), place)
    )
    kept = _fitting(said, nearest, limit)
    if kept:
        return " ".join(said[place] for place in sorted(kept))
    cut = said[best][:limit]
    return f"{cut.rsplit(maxsplit=1)[0] if ' ' in cut else cut[:-1]}\u2026"


def _fitting(said: Collection[str], order: Collection[int], limit: int) -> list[int]:
    kept: list[int] = []
    spent = 0
    lengths = [len(part) for part in said]
    for place in order:
        if spent + lengths[place] <= limit:
            kept.append(place)
            spent += lengths[place] + _BETWEEN
    return kept
