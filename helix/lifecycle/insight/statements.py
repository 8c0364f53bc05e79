"""Statements: what episodes tell that an insight may repeat: what was learned of them, or else their own sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from helix.model.edge import Label, Relation
from helix.model.memory import Memory, Status
from helix.store.catalogue import CatalogueView
from helix.store.columns import LABEL_CODE, STATUS_CODE, BoolArray, IndexArray
from helix.store.projection import GraphSnapshot
from helix.store.store import Store
from helix.text.sentences import Sentence, sentences
from helix.text.tokens import query_terms

_ASKS = re.compile(
    r"\b(?:ask(?:s|ed|ing)?|wonder(?:s|ed|ing)?|(?:not |n't |un)(?:sure|know|clear|certain)|no idea|(?:open )?question)"
    r"(?: \w+){0,2} (?:whether|if|why|how|what|when|who|where|which)\b"
    r"|\b(?:frag(?:t|te|ten|en)|unklar|wei\u00df nicht)(?: \w+){0,3},? (?:ob|warum|wie|was|wann|wer|wo|welche\w*)\b",
    re.IGNORECASE,
)
_FRAME = frozenset(
    query_terms(
        "remember note decide decided agree agreed prefer prefers always never must should need needs use uses used"
        " using instead again now because since new make made keep kept run runs running set get like want fix fixed"
    )
)
"""Words that say how a statement is meant and nothing of its matter: two that share them share nothing."""


def words_of_memories(
    store: Store, graph: GraphSnapshot, view: CatalogueView, rows: IndexArray, holds: BoolArray
) -> dict[int, str]:
    """Return by row of an episode what the active memories that were made of it and hold say, each in one line."""
    found = graph.neighbours(rows, Relation.GROUNDED_IN)
    speaks = (view.columns.label == LABEL_CODE[Label.MEMORY]) & (view.columns.status == STATUS_CODE[Status.ACTIVE])
    found = found.where(~found.outgoing & (speaks & holds)[found.rows])
    held = np.unique(found.rows)
    nodes = store.records.nodes([view.ref_of(row) for row in held.tolist()])
    said = {row: node for row, node in zip(held.tolist(), nodes, strict=True) if isinstance(node, Memory)}
    lines: dict[int, set[str]] = {}
    for origin, row in zip(found.origin.tolist(), found.rows.tolist(), strict=True):
        if row in said and not said[row].is_summary:
            lines.setdefault(int(rows[origin]), set()).add(_line(said[row]))
    return {row: "\n".join(sorted(texts)) for row, texts in lines.items()}


def statements_about(text: str, speaker: str, name: str, present: AbstractSet[str]) -> Iterator[Sentence]:
    """Yield the sentences that state something of what is named, in full or by its last part, or that it says itself.

    Questions state nothing, whether asked or told of; greetings neither. `present` are those who are spoken to.
    """
    own = bool(speaker) and speaker.casefold() == name.casefold()
    named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, _calls(name)))})(?!\w)", re.IGNORECASE)
    for sentence in sentences(text, frozenset(present)):
        asks = sentence.asks or _ASKS.search(sentence.text)
        if (own or named.search(sentence.text)) and not asks and not sentence.is_filler:
            yield sentence


def matter(sentence: Sentence, name: str) -> frozenset[str]:
    """Return what a sentence speaks of beside what is named: other names, and the stems of its telling words."""
    calls = _calls(name)
    others = {f"@{other.casefold()}" for other in sentence.names if other.casefold() not in map(str.casefold, calls)}
    rest = sentence.text
    for known in sorted((*sentence.names, *calls), key=len, reverse=True):
        rest = re.sub(rf"(?<!\w){re.escape(known)}(?!\w)", " ", rest, flags=re.IGNORECASE)
    return frozenset(others | (words_in(rest) - _FRAME)) if rest.strip() else frozenset(others)


def joined(matters: Sequence[AbstractSet[str]]) -> list[int]:
    """Return the places of the most of them that hang together, each by something it shares with another, ascending.

    Of equals those with the first place; one that shares nothing with any hangs together with nothing.
    """
    left, best = set(range(len(matters))), list[int]()
    while left:
        reached = [min(left)]
        left.discard(reached[0])
        for place in reached:
            near = sorted(other for other in left if matters[place] & matters[other])
            reached.extend(near)
            left.difference_update(near)
        if len(reached) > max(1, len(best)):
            best = reached
    return sorted(best)


def words_in(text: str) -> frozenset[str]:
    """Return the stems of the telling words of a text, without its numbers."""
    return frozenset(term for term in query_terms(text, limit=len(text)) if not term.isdigit())


def _calls(name: str) -> tuple[str, str]:
    """Return the ways a thing is named: in full, and by the last part of a path."""
    return name, name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def _line(memory: Memory) -> str:
    parts = (memory.trigger.strip().rstrip("."), " ".join(memory.resolution.split()))
    return ": ".join(part for part in parts if part)
