"""Explain: why an item is in the answer, in one sentence that a person understands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from helix.model.episode import Episode
from helix.model.memory import Memory
from helix.model.recall import ArmHit
from helix.model.records import Node
from helix.recall.question import RecallQuestion
from helix.recall.walk import Seeds
from helix.store.catalogue import CatalogueView
from helix.store.node_columns import FloatArray
from helix.store.projection import GraphSnapshot

_MOST_WORDS = 3
_LONGEST_NAME = 60


_WALKED = ("pagerank", "neighbours")
"""Arms that came to an item over edges."""

_REST_OF_WORD = re.compile(r"\w*")


def reason(
    hits: Sequence[ArmHit], *, text: str, question: RecallQuestion, linked: str, standing: str = "", folded: str = ""
) -> str:
    """Return the sentence why an item is in a recall answer: words matched, meaning, files, time, links, how it stands.

    `folded` names what says less and was excluded for it.
    """
    arms = {hit.arm: hit for hit in hits}
    parts: list[str] = []
    if "lexical" in arms:
        parts.append(_words(question.terms, text))
    if "named" in arms:
        parts.append("hardly anything else has a name that you gave")
    if "yours" in arms:
        holds = "is about the file" if "files" in arms else "holds every word of the question"
        parts.append(f"you said it, and it {holds}")
    if "vector" in arms:
        parts.append(f"{ordinal(arms['vector'].rank)} by meaning")
    if "files" in arms:
        parts.append(f"about {question.files[0]}" if len(question.files) == 1 else "about the files given")
    if "time" in arms:
        parts.append("from the time named")
    if "solves" in arms:
        parts.append("solves a failure found here")
    if walked(hits):
        if linked:
            parts.append(f"linked to {linked}")
        elif not parts:
            parts.append("near in the graph to what was found")
    if standing:
        parts.append(standing)
    if folded:
        parts.append(f"also said by {folded}")
    return "; ".join(parts)


def named_in(less: Mapping[int, Sequence[int]], nodes: Mapping[int, Node]) -> dict[int, str]:
    """Return for each item of a recall answer the names of what was excluded because it says less, then a count.

    `less` maps what was excluded to the places that say it; of several the first is told.
    """
    left_out: dict[int, list[Node]] = {}
    for place in less:
        leader = place
        while leader in less:
            leader = less[leader][0]
        left_out.setdefault(leader, []).append(nodes[place])
    return {place: _listed(held) for place, held in left_out.items()}


def _listed(nodes: Sequence[Node]) -> str:
    names = [node.name for node in nodes if isinstance(node, Memory)]
    episodes = sum(isinstance(node, Episode) for node in nodes)
    reflections = len(nodes) - len(names) - episodes
    counted = [
        f"{count} {word}{'s' if count > 1 else ''}"
        for count, word in ((episodes, "episode"), (reflections, "reflection"))
        if count
    ]
    return ", ".join([*names, *counted])


def walked(hits: Sequence[ArmHit]) -> bool:
    """Return whether an arm of recall that walks the graph brought the item."""
    return any(hit.arm in _WALKED for hit in hits)


def ordinal(number: int) -> str:
    """Return a rank as its ordinal in a recall's explanation: 1st, 2nd, 3rd, 4th, ..., 11th, ..."""
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def links(
    rows: Sequence[int], *, view: CatalogueView, graph: GraphSnapshot, seeds: Seeds, near: FloatArray
) -> Mapping[int, str]:
    """Return for each recall candidate the name of the neighbour the walk most likely came from, where one has a name.

    That is an entity of the query, else what was found first, else the nearest.
    """
    if not rows:
        return {}
    found = graph.neighbours(rows)
    came_from = near[found.rows] + np.isin(found.rows, seeds.entities) + 0.5 * np.isin(found.rows, seeds.rows)
    names: dict[int, str] = {}
    for place in np.argsort(-came_from, kind="stable"):
        if came_from[place] <= 0 or len(names) == len(rows):
            break
        row, name = rows[found.origin[place]], view.name_of(int(found.rows[place]))
        # An older version has the name of the row itself, and says nothing about why it is here.
        if row not in names and name and name != view.name_of(row):
            names[row] = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    return names


def _words(terms: Sequence[str], text: str) -> str:
    seen: dict[str, None] = {}
    small = text.lower()
    shown = text if len(small) == len(text) else small  # a few letters grow when they are lowered
    for term in terms:
        if (start := small.find(term)) != -1:
            seen[_word_at(shown, start)] = None
            if len(seen) == _MOST_WORDS:
                break
    if not seen:
        return "matched by its words"
    return f"matched the word{'s' if len(seen) > 1 else ''} {', '.join(repr(word) for word in seen)}"


def _word_at(text: str, start: int) -> str:
    """Return the whole word around a place: terms are stems, what is shown is the word as it stands in the text."""
    end = _REST_OF_WORD.match(text, start).end()  # type: ignore[union-attr]  # an empty match is a match
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return text[start:end]
