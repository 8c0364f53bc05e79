"""Ids: a task of the client's own list, as people and models name it, as the client's id of it."""

from __future__ import annotations

import re
import unicodedata

_MARKS = " \t*_`'\"\u201c\u201d\u2018\u2019\xab\xbb()[]{}<>.,;:!|"
_NUMBERED = re.compile(
    r"(?:(?:the|client(?:'s)?|my)\s+)?(?:(?:task|todo|item|id|number|no|nr)\b[\s.:]*){0,3}"
    r"\#?\s*(\d{1,18})(?![\w]|[.\-/]\w)(?:\W.*)?",
    re.IGNORECASE | re.DOTALL,
)
_TALKED_ABOUT = re.compile(r"\s*(?:[,;:](?!\S)|\s[(\[]|\s[-\u2013\u2014]+\s).*", re.DOTALL)
_NOTHING = frozenset({"", "-", "none", "null", "n/a", "na", "nil", "unknown", "tbd", "?"})
_PLACEHOLDER = re.compile(r"\s*[`*]*<[^<>]*>[`*]*\s*")


def client_task(text: str) -> str:
    """Return the client's id of a task out of how it is named: `4` of `#4`, `Task #4: docs`, or `**4** (docs)`.

    Of an id that is no number what stands around it is taken off; what is more than a word stays as it is, in one line.
    Empty where nothing is named.
    """
    said = next((line for line in text.splitlines() if line.strip()), "")
    if _PLACEHOLDER.fullmatch(said):
        return ""
    said = " ".join(unicodedata.normalize("NFKC", said).strip(_MARKS).split())
    if said.lower() in _NOTHING:
        return ""
    numbered = _NUMBERED.fullmatch(said)
    if numbered:
        return numbered[1]
    return _TALKED_ABOUT.sub("", said).strip(_MARKS).removeprefix("#")


def is_one_word(said: str) -> bool:
    """Return whether an id could be one of a client's: a word, and no sentence about one."""
    return bool(said) and not any(sign.isspace() for sign in said)
