"""Excerpts: the parts of a long text that are kept, redacted before they are cut.

Half a secret matches no rule. So a cut is made in the redacted text, and a word at the edge of what was read is left
out.
"""

from __future__ import annotations

from helix.text.cleaning import clean
from helix.text.redact import redact

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
    """Return a text without its middle where it is longer than `most`: its beginning and its end, redacted then."""
    if len(text) <= most:
        return text
    half = (most - len(GAP)) // 2
    before, last = head(text, half), text[-half - _REACH :]
    after = redact(clean(last if len(last) == len(text) else "".join(last.split(maxsplit=1)[-1:]))).text
    return f"{before}{GAP}{after[-half:].lstrip()}"


def _without_last_word(text: str) -> str:
    words = text.rsplit(maxsplit=1)
    return words[0] if len(words) > 1 else ""
