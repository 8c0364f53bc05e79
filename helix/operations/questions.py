"""Recall: find what matters for a question, and say why it was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from helix.memory.change.intake import known_kind
from helix.model.memory import Kind
from helix.model.recall import RecallAnswer, RecallItem, RecallQuery
from helix.operations.checks import check_length, page_size
from helix.operations.listed import query as listed
from helix.recall import prefix_search
from helix.recall.prefix_search import Completable
from helix.service import Helix


@dataclass(frozen=True, slots=True, kw_only=True)
class KindAnswer:
    """What recall answered for one kind of memory."""

    kind: Kind
    answer: Annotated[RecallAnswer, "What was found of that kind."]


@listed
def recall(helix: Helix, question: RecallQuery) -> RecallAnswer:
    """Find what matters for a question: by meaning, by words, by files and by time, walked through the graph.

    An empty store, or a question nothing is close to, gives an empty list.
    """
    page_size(helix, "limit", question.limit)
    check_length(helix, "query", question.query)
    return helix.recall(question)


@listed
def recall_by_type(
    helix: Helix,
    query: str,
    kinds: Annotated[Sequence[Kind], "The kinds to answer for, in the order wanted; all where it is empty."] = (),
    limit: int = 5,
    scope: Annotated[str | None, "Look in this scope and in `global`; everywhere where it is not said."] = None,
) -> list[KindAnswer]:
    """Find the best few memories of each kind, kind by kind, in the order of `kinds`."""
    check_length(helix, "query", query)
    size = page_size(helix, "limit", limit)
    wanted = [known_kind(kind) for kind in kinds] or list(Kind)
    return [
        KindAnswer(kind=kind, answer=helix.recall(RecallQuery(query=query, kinds=(kind,), limit=size, scope=scope)))
        for kind in wanted
    ]


@listed
def completions(helix: Helix, of: Completable, prefix: str = "", limit: int = 50) -> list[str]:
    """List words of the store that begin with a prefix, in the order of letters."""
    return prefix_search.completions(helix.store, of, prefix, page_size(helix, "limit", limit))


@listed
def last(
    helix: Helix, session: Annotated[str, "The session; whichever asked last where it is not said."] = ""
) -> RecallAnswer | None:
    """Show again what a session was answered last; null when it was answered nothing yet."""
    return helix.answers.of(session)


@listed
def why(
    helix: Helix,
    name_or_id: str,
    session: Annotated[str, "The session; whichever asked last where it is not said."] = "",
) -> RecallItem:
    """Explain the place of a memory in the last answer of a session."""
    return helix.answers.place_of(name_or_id, session)
