"""Question: what a query asks, read from its text: bounded text, terms, things spoken of, and the time it names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from helix.errors import InvalidInputError
from helix.model.clock import to_micros
from helix.model.edge import Label
from helix.model.entity import Mention
from helix.model.memory import Status
from helix.model.recall import RecallQuery
from helix.text.cleaning import clean
from helix.text.rare import rare_names
from helix.text.spotting.entities import mentions
from helix.text.times.dates import time_range
from helix.text.tokens import estimate_tokens, query_terms

MAX_CHARACTERS = 8_192
"""Longest query read: a whole issue report fits, what follows says it again."""
EMBEDDED_CHARACTERS = 2_000
"""How much of it is embedded: what the model's window holds."""
MAX_TERMS = 256
"""Terms looked at before the most selective are chosen."""
MAX_FILES = 64
ANSWERED_WITH = frozenset({Status.ACTIVE, Status.ARCHIVED})
"""Statuses that a question may name."""

TOLD = frozenset({Label.MEMORY, Label.EPISODE, Label.REFLECTION})
"""Labels that a question may name: of what says something. Others are names, or what was planned and done."""

MentionsOf = Callable[..., tuple[Mention, ...]]
TimeRangeOf = Callable[[str, datetime], tuple[datetime, datetime] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReading:
    """The functions of text that recall uses; the defaults are those of `helix.text`."""

    mentions: MentionsOf = mentions
    time_range: TimeRangeOf = time_range
    query_terms: Callable[[str, int], list[str]] = query_terms
    estimate_tokens: Callable[[str], int] = estimate_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuestion:
    """A query as read. `time` is a half-open range in microseconds, None where no time is named.

    `names` are the tokens of words that are shaped like the name of one thing: a ticket, a code, a symbol.
    """

    text: str
    terms: tuple[str, ...]
    mentions: tuple[Mention, ...]
    files: tuple[str, ...]
    time: tuple[int, int] | None
    cut: bool
    names: tuple[str, ...] = ()

    @property
    def is_a_name(self) -> bool:
        """Whether the question of a recall is nothing but names, such as a ticket's number alone."""
        return 0 < len(self.text.split()) == len(self.names)

    @property
    def embedded(self) -> str:
        """The part of a recall question's text that stands for its meaning."""
        return self.text[:EMBEDDED_CHARACTERS]


def read_question(query: RecallQuery, now: datetime, reading: TextReading) -> RecallQuestion:
    """Read the question of a recall; times in it count from `moment_of`. Raises InvalidInputError for no text."""
    whole = clean(query.query)
    if not whole:
        raise InvalidInputError("the query is empty", hint="say what you want to know")
    text = whole[:MAX_CHARACTERS]
    files = tuple(dict.fromkeys(path.strip() for path in query.files if path.strip()))[:MAX_FILES]
    named = reading.time_range(text, moment_of(query, now))
    return RecallQuestion(
        text=text,
        terms=tuple(reading.query_terms(text, MAX_TERMS)),
        mentions=reading.mentions(text, files=files),
        files=files,
        time=None if named is None else (to_micros(named[0]), to_micros(named[1])),
        cut=len(whole) > len(text),
        names=rare_names(text),
    )


def moment_of(query: RecallQuery, now: datetime) -> datetime:
    """Return the moment at which a recall query is asked: as it says, else as of when it asks, else now."""
    return query.asked_at or query.as_of or now


def check_query(query: RecallQuery, page_size: int) -> None:
    """Raise InvalidInputError for numbers of a recall query out of range and filters that contradict each other."""
    if not 1 <= query.limit <= page_size:
        raise InvalidInputError(f"limit {query.limit} is not between 1 and {page_size}")
    if query.budget_tokens < 0:
        raise InvalidInputError(f"a budget of {query.budget_tokens} tokens is negative", hint="0 means no budget")
    if not set(query.status) <= ANSWERED_WITH:
        raise InvalidInputError(
            "a question is answered with what is active or archived",
            hint="`memories` lists every status; `knownAt` answers with what was known then",
        )
    if not query.labels or not TOLD.issuperset(query.labels):
        raise InvalidInputError(
            "a question is answered with memories, episodes and reflections",
            hint="name at least one of these labels; `helix graph` finds nodes of all others",
        )
