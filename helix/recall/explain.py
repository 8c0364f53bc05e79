"""Explain: why an item is in the answer, in one sentence that a person understands."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from helix.model.recall import ArmHit
from helix.recall.question import Question
from helix.recall.walk import Seeds
from helix.store.catalogue import CatalogueView
from helix.store.columns import FloatArray
from helix.store.projection import GraphSnapshot

_MOST_WORDS = 3
_LONGEST_NAME = 60


def reason(
    hits: Sequence[ArmHit],
    *,
    row: int,
    text: str,
    question: Question,
    view: CatalogueView,
    graph: GraphSnapshot,
    seeds: Seeds,
    near: FloatArray,
) -> str:
    """Return the sentence: words matched, rank by meaning, files, time, and what it is linked to."""
    arms = {hit.arm: hit for hit in hits}
    parts: list[str] = []
    if "lexical" in arms:
        parts.append(_words(question.terms, text))
    if "vector" in arms:
        parts.append(f"{ordinal(arms['vector'].rank)} by meaning")
    if "files" in arms:
        parts.append(f"about {question.files[0]}" if len(question.files) == 1 else "about the files given")
    if "time" in arms:
        parts.append("from the time named")
    if "solves" in arms:
        parts.append("solves a failure found here")
    if "pagerank" in arms or "neighbours" in arms:
        linked = _linked(row, view, graph, seeds, near)
        if linked:
            parts.append(f"linked to {linked}")
        elif not parts:
            parts.append("near in the graph to what was found")
    return "; ".join(parts)


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 3rd, 4th, ..., 11th, ..."""
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def _words(terms: Sequence[str], text: str) -> str:
    # Terms are stems: what is shown is the word as it stands in the text.
    words = (re.search(rf"\w*{re.escape(term)}\w*", text, re.IGNORECASE) for term in terms)
    seen = list(dict.fromkeys(word.group() for word in words if word is not None))[:_MOST_WORDS]
    if not seen:
        return "matched by its words"
    return f"matched the word{'s' if len(seen) > 1 else ''} {', '.join(repr(term) for term in seen)}"


def _linked(row: int, view: CatalogueView, graph: GraphSnapshot, seeds: Seeds, near: FloatArray) -> str:
    """Return the name of the neighbour the walk most likely came from: an entity of the query, else the nearest."""
    rows = graph.neighbours([row]).rows
    came_from = near[rows] + np.isin(rows, seeds.entities) + 0.5 * np.isin(rows, seeds.rows)
    for place in np.argsort(-came_from, kind="stable"):
        name = view.name_of(int(rows[place]))
        # An older version has the name of the row itself, and says nothing about why it is here.
        if came_from[place] > 0 and name and name != view.name_of(row):
            return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    return ""
