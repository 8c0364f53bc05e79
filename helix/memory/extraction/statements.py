"""Statements: candidates made comparable, and whether what two of them say agrees; told from their words alone.

Not measured, as no public set has pairs of what was drawn from chats, with whether they agree.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from helix.memory.contradiction.detect import Statement, contradiction
from helix.memory.extraction.extract import EpisodeCandidate
from helix.model.episode import Episode
from helix.model.memory import Kind
from helix.store.matrix import VectorArray
from helix.store.whole_numbers import vector_of_words, whole_numbers
from helix.text.about import own_commands
from helix.text.statement.replacement import states_change
from helix.text.statement.substitution import without_aliases, words_exchanged
from helix.text.statement.wording import may_add_signs, names, negated, numbers, opposites, reordered, terms, words
from helix.text.tokens import lexical_tokens
from helix.text.word_lists import word_list

_COMMON = word_list("text/spotting/known_words", "common_words")
_FUNCTION_WORDS = word_list("text/spotting/known_words", "function_words")

_OTHER_CLAUSE = re.compile(
    r"[,;]? \b(?:otherwise|or else|because|since|unless|until|so that|if|when|as"
    r"|or (?:the|it|you|they|everything))\b.*",
    re.IGNORECASE | re.DOTALL,
)
_REMINDER = re.compile(r"\b(?:don't|do not|never) forget\b|\bforgot(?:ten)? to\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedCandidate:
    """A candidate with its episode and vector, made comparable.

    `vector` is of what was said, `around` of the episode it was said in. Both hold whole numbers (see `whole_numbers`).
    `same` is equal where two say the very same in surroundings that are the very same. `order` puts candidates into one
    order, whenever they were recorded: when, what, from where.
    """

    candidate: EpisodeCandidate
    episode: Episode
    vector: VectorArray
    around: VectorArray
    terms: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    denies: bool
    changes: bool
    same: bytes
    order: tuple[str, ...]


def said(
    candidate: EpisodeCandidate, episode: Episode, vector: VectorArray | None, around: VectorArray | None
) -> ComparedCandidate:
    """Return an extracted candidate made comparable; without vectors (of unit length, float32) its words make one."""
    text = _statement(candidate)
    own = whole_numbers(vector_of_words(terms(text)) if vector is None else vector)
    wider = own if around is None else whole_numbers(around)
    same = hashlib.blake2b(
        f"{candidate.speaker}\0{bool(candidate.steps)}\0{candidate.trigger}".encode("utf-8", "replace")
    )
    same.update(own.tobytes())
    same.update(wider.tobytes())
    return ComparedCandidate(
        candidate=candidate,
        episode=episode,
        vector=own,
        around=wider,
        terms=_telling(text) or frozenset({text}),
        numbers=numbers(text),
        names=frozenset(name.strip(".") for name in names(text)) | own_commands(text, {}),
        denies=negated(_main(text)),
        changes=states_change(text),
        same=same.digest(),
        order=(
            *(episode.occurred_at.isoformat(), candidate.trigger, episode.source),
            *(f"{candidate.place:06}", episode.session, episode.id),
        ),
    )


def agree(one: ComparedCandidate, other: ComparedCandidate) -> bool:
    """Return whether nothing in two candidates' texts disagrees: denials, numbers, names, speakers, opposites.

    What says that something no longer holds is no repetition of what does not. Of two that were said in so many words
    each is enough by itself: neither may have a number, and of two decisions a name, that the other has not; nor may
    signs differ; and what was said so is not strengthened by a sentence that has another word in the place of one of
    its own.
    """
    if one.candidate.trigger == other.candidate.trigger:
        return True
    explicit = one.candidate.explicit and other.candidate.explicit
    anyhow = one.candidate.explicit or other.candidate.explicit
    decided = explicit and one.candidate.kind is other.candidate.kind is Kind.DECISION
    return (
        one.denies == other.denies
        and one.changes == other.changes
        and one.candidate.speaker == other.candidate.speaker
        and bool(one.candidate.steps) == bool(other.candidate.steps)
        and _match(one.numbers, other.numbers, exactly=explicit)
        and _match(one.names, other.names, exactly=decided)
        and (not explicit or may_add_signs(one.candidate.trigger, other.candidate.trigger))
        and not opposites(one.candidate.trigger, other.candidate.trigger)
        and not (anyhow and words_exchanged(_statement(one.candidate), _statement(other.candidate)))
        and not reordered(_statement(one.candidate), _statement(other.candidate))
        and contradiction(*(Statement(trigger=each.candidate.trigger) for each in (one, other))) is None
    )


def _match(one: frozenset[str], other: frozenset[str], *, exactly: bool) -> bool:
    return one == other if exactly else one <= other or other <= one


def _statement(candidate: EpisodeCandidate) -> str:
    return candidate.trigger.removeprefix(f"{candidate.speaker}: ") if candidate.speaker else candidate.trigger


def _main(text: str) -> str:
    """Return what a sentence says itself, without the clauses of reason, condition or consequence behind it."""
    main = _REMINDER.sub("", text)
    return _OTHER_CLAUSE.sub("", main) or main


def _telling(text: str) -> frozenset[str]:
    """Return the stems of the words that tell what a text is about: not those that stand in any text."""
    told = (word for word in words(without_aliases(text)) if word not in _COMMON and word not in _FUNCTION_WORDS)
    return frozenset(stem for word in told for stem in lexical_tokens(word)) or terms(text)
