"""Forms: the patterns by which an instruction gives itself away: markup, addresses, headings, forms of speech.

Of 213 fresh injections (docs/benchmarks/safety.md), of which 68 are found, 9 are missed without them, of 666 public
jailbreaks 33. The habits (a weakness is made the custom, an occasion is waited for, leave to act is claimed) find 35 of
the 666 and none of the 213; of 3,450 commit messages 1 is taken for an instruction by them alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from helix.text.injection.instruction_rules import Reason
from helix.text.regex import regex
from helix.text.word_lists import word_data, word_rows


class InstructionForm(NamedTuple):
    """A form, what it is worth, and texts of which one stands in every text that has it; none: it is always tried."""

    reason: Reason
    weight: float
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]


_CALL = re.compile(r"\(\?&(\w+)\)")
_ANCHORS = word_data("text/injection/forms", "anchors")


def _read(rows: tuple[Mapping[str, Any], ...], parts: Mapping[str, Any]) -> Iterator[InstructionForm]:
    for row in rows:
        anchors = row.get("anchors", "")
        anchors = _ANCHORS.get(anchors, anchors.split()) if isinstance(anchors, str) else anchors
        pattern = _CALL.sub(lambda call: "".join(parts[call[1]]), "".join(row["pattern"]))
        found = regex(pattern, 0 if row.get("case") else re.IGNORECASE)
        yield InstructionForm(Reason[row["reason"].upper()], row["weight"], tuple(anchors), found)


FORMS = (
    *_read(word_rows("text/injection/forms", "forms"), word_data("text/injection/forms", "parts")),
    *_read(word_rows("text/injection/habits", "forms"), word_data("text/injection/habits", "parts")),
)
