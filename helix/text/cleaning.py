"""Cleaning: text as it may be kept, from bytes or characters, and short readable names made from it.

Not measured, as its words are left out of names that people read, and nothing is found by those.
"""

from __future__ import annotations

import codecs
import re

from helix.model.letters import normalised
from helix.text.inert import seen
from helix.text.word_lists import word_list

# Vowel signs and other marks inside words of the scripts that have them; Python's \w leaves them out.
_SIGNS = (
    "\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0981-\u0dff\u0e31-\u0e4e\u0eb1-\u0ece"
    "\u0f18-\u0f84\u102b-\u109d\u17b4-\u17d3"
)
_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{_SIGNS}]|['\u2019](?=[^\W_]))*")
_UNNAMED = re.compile(rf"[^\w.{_SIGNS}]+")
_STOPWORDS = word_list("text/cleaning", "stopwords")
_MOST_WORDS = 6
_FALLBACK = "memory"
# Controls that no text needs; tab and newline stay.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
"""Half of a character: what Python makes of bytes that are no UTF-8. No text that is kept may hold one."""


def clean(text: str) -> str:
    """Clean a text for every store: no lone surrogates or controls, `\n` line ends, no outer blanks."""
    if text.isprintable():
        return text.strip()
    text = LONE_SURROGATE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _CONTROLS.sub("", text).strip()


def decode(data: bytes) -> str:
    """Decode and clean text from bytes: UTF-8, or UTF-16 with its byte order mark; bad bytes as U+FFFD."""
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    return clean(data.decode(encoding, "replace"))


def is_numbered(name: str, slugged: str) -> bool:
    """Return whether a name is a slug as Helix gives it: by itself, with a number, or with the end of an id."""
    return re.fullmatch(r"(?:-\d{1,9})?(?:-[0-9a-f]{6})?", name.removeprefix(slugged)) is not None


def slug(text: str, limit: int = 40) -> str:
    """Return a slug of a text, a name of at most `limit` characters: its first telling words, lower case, with hyphens.

    Letters of any language stay; marks on Latin letters go. A text without letters or digits gives "memory".
    """
    words = _WORD.findall(_plain(text))
    telling = [word for word in words if word not in _STOPWORDS] or words
    name = ""
    for word in telling[:_MOST_WORDS]:
        longer = f"{name}-{word}" if name else word[:limit]
        if len(longer) > limit:
            break
        name = longer
    return name or _FALLBACK


def given_name(text: str) -> str:
    """Clean the text of a name that somebody gave: all of it, lower case, with hyphens for what no name may have.

    Letters, digits, `_` and `.` stay. Empty where there is nothing to keep. A name made by `slug` stays as it is.
    """
    return _UNNAMED.sub("-", _plain(text)).strip("-.")


def _plain(text: str) -> str:
    if text.isascii():
        return clean(text).lower().replace("'", "")
    decomposed = seen(normalised("NFKD", clean(text))).casefold()  # or one name would look like another
    bare = "".join(char for char in decomposed if not "\u0300" <= char <= "\u036f")
    return normalised("NFC", bare).replace("\u2019", "'").replace("'", "")
