"""Inert: text as it leaves for a terminal or an agent, without anything that a terminal or a model would obey.

Stored text stays as it was told. What is shown of it passes here: `visible` for a terminal, `inert` for an agent.
GraphQL and `--json` give the stored text, where JSON keeps it apart from everything around it.

A grammar of what terminals and models obey; SECURITY.md promises that it is neutralised.
"""

from __future__ import annotations

import re

BROKEN = "\u2039"
"""What stands in the place of the sign that opens a tag or a control token: it reads the same and opens nothing."""

_SEQUENCES = re.compile(
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC: titles, links, the clipboard
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c]*(?:\x1b\\|\x9c)?"  # DCS, SOS, PM, APC
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, the cursor
    r"|\x1b[ -/]*[0-~]"
)
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# Format characters and whatever else is drawn as nothing: soft hyphens, zero-width and bidirectional marks, fillers,
# variation selectors, tags. Signs of the Arabic script that are drawn stay.
UNSEEN = (
    "\u00ad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that nobody sees, as they stand in the brackets of a pattern."""
_UNSEEN = re.compile(f"[{UNSEEN}]")
_LINE_ENDS = re.compile("\r\n|[\u2028\u2029]")
# Control tokens of chat formats: ChatML and Llama 3 `<|...|>`, DeepSeek's with a wide bar, Llama 2, Mistral, Gemma.
_TOKENS = re.compile(
    r"<(?=[|\uff5c][\w/])|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])"
    r"|<(?=<?/?SYS>)|<(?=/?(?:start_of_turn|end_of_turn|bos|eos|s)>)",
    re.IGNORECASE,
)
_TURN = re.compile(r"^([ \t]*(?:Human|Assistant))[ \t]*:", re.MULTILINE)
_LIKELY = re.compile(r"[<\[]|Human|Assistant", re.IGNORECASE)
_TAG = re.compile("[<\uff1c](?=\\s{0,99}/?\\s{0,99}[A-Za-z!?|\uff5c])")  # blanks may run together later


_NAME = re.compile(r"[\w.@+/:~-]*")
_QUOTES = str.maketrans("\u00ab\u00bb", "\u2039\u203a")


def seen(text: str) -> str:
    """Return a text without the characters that nobody sees."""
    return text if text.isascii() else _UNSEEN.sub("", text)


def visible(text: str) -> str:
    """Return a text as a terminal may show it: line breaks and tabs stay, invisible characters go.

    Escape sequences and single controls become U+FFFD, control tokens of chat formats and turns do not open any more.
    """
    if text.isascii() and text.isprintable() and not _LIKELY.search(text):
        return text
    plain = _SEQUENCES.sub("\ufffd", _LINE_ENDS.sub("\n", text))
    plain = seen(_CONTROLS.sub("\ufffd", plain))
    return _TURN.sub(r"\1 -", _TOKENS.sub(BROKEN, plain))


def inert(text: str) -> str:
    """Return a text without what reads as markup: as `visible` has it, and no tag opens."""
    return _TAG.sub(BROKEN, visible(text))


def quoted(text: str) -> str:
    """Return a foreign text, a file's name and a person's included, as one line in quotes that it cannot end.

    An agent is told nothing that nobody here stands for in any other way. The text is inert already.
    """
    return f"\u00ab{' '.join(text.translate(_QUOTES).split())}\u00bb"


def told_label(text: str) -> str:
    """Return the name of a scope, or an agent's, as it is where it is no more than a name, and else quoted.

    Whoever wrote a strand or a file that was imported chose those in it, and may have written a sentence.
    """
    return text if _NAME.fullmatch(text) else quoted(inert(text))
