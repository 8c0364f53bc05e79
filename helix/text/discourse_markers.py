"""Discourse markers: what stands before a statement and is no part of it, such as "once more:" or "please note".

None of 27,526 foreign texts begins with `told me not to`; it stays, since without it the prohibition makes no memory.
"""

from __future__ import annotations

import re

_CALLS = (
    r"once (?:more|again)|again|(?:just |another |friendly )?reminder(?: to (?:self|myself|all|everyone))?"
    r"|note(?: to self)?|fyi|btw|by the way|for the record|for (?:future )?reference|important"
    r"|as (?:i )?(?:said|mentioned)(?: before| above)?"
    r"|ok(?:ay)?|also|well|yes|no|remember|please (?:note|remember)|tip|hint|nota bene|nb|heads[- ]up|listen|look"
)
_LEADS = (
    r"(?:please |also |and |just )?(?:remember(?: that| to(?= [a-z]))|note that|keep in mind(?: that)?"
    r"|bear in mind(?: that)?|be aware that|(?:don't|do not|never) forget (?:that|to)"
    r"|make a note(?: that)?|take note(?: that)?)|please"
    r"|(?:the |our )?(?:user|customer|client|boss|lead|he|she|they) (?:just |again |has |have |had )?"
    r"(?:told|asked|reminded|wants|wanted|said)(?: me| us)?(?: to|(?= not to))"
)
_OPENER = re.compile(rf"(?:(?:{_CALLS})\s*(?:[:,;.!\u2013\u2014]|\s-)\s+|(?:{_LEADS})[:,]?\s+)", re.IGNORECASE)
_NOT_TO = re.compile(r"\A(?:not|never) to ", re.IGNORECASE)
_FEWEST_WORDS = 3


def without_openers(text: str) -> str:
    """Return a sentence of a text without the discourse markers that it opens with, which begins with a capital then.

    What would leave fewer than three words is no opener.
    """
    place = 0
    while (match := _OPENER.match(text, place)) is not None and len(text[match.end() :].split()) >= _FEWEST_WORDS:
        place = match.end()
    bare = _NOT_TO.sub("do not ", text[place:])
    return bare[:1].upper() + bare[1:] if place else text
