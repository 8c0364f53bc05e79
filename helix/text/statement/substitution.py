"""Substitution: whether two statements are one sentence with other words in some places.

Of 526 pairs of sentences (STS-B) that are near and agree otherwise 144 are told apart: 47 of the 104 scored below 3 and
44 of the 218 scored 4 or more. Of 9 near pairs of held-out developers' sentences, all different, 8 are told apart.

What adds nothing there stays for what anybody would expect. The words of firmness leave 8 of 455 different pairs (SICK)
together, and so, with synonyms and reasons, the wordings of one rule: "always" and "never forget to". The order of two
things tells `copy A to B` from `copy B to A`, and the names of a virtual environment are one.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache

from helix.text.discourse_markers import without_openers
from helix.text.tokens import STOPWORDS, lexical_tokens
from helix.text.word_lists import list_of_word, word_list

_LIGHT = word_list("text/statement/substitution", "light")
_ONE_FOR_ANOTHER = list_of_word("text/statement/substitution", "one_for_another")
_REASON = re.compile(
    r"[,;:]? \b(?:because|since|otherwise|or else|so that|as (?:it|they|we|this)|that way)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_WORD = re.compile(r"[^\W_]+(?:[._:/+\-'\u2019][^\W_]+)*")
_LISTS = frozenset(("and", "or", "nor", "und", "oder", "et", "ou"))
_ARTICLES = frozenset(("a", "an", "the"))
_MOST_WORDS = 120
_LEAST_STEM = 4

_Words = tuple[frozenset[str], ...]


def words_exchanged(one: str, other: str) -> bool:
    """Return whether two statements are one sentence, but for words exchanged in some places.

    `Never commit generated files` and `Never commit large files` are near in their words and in any vector, and each
    says what the other does not; so do `A before B` and `B before A`. Articles, openers, reasons, firmness, word forms
    and a few words that stand for each other make no difference, nor does what only one of the two says more. Which of
    the two comes first makes none either.
    """
    a, b = (_stems_of(text) for text in sorted((one, other)))
    left, right = (tuple(dict.fromkeys(word for word in words if _says_something(word))) for words in (a, b))
    if sorted(map(sorted, left)) == sorted(map(sorted, right)):
        return _swapped(a, b)
    found = [
        (left[start:end], right[from_:to])
        for what, start, end, from_, to in SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
        if what != "equal"
    ]
    (gone, come), *more = found
    return not more and bool(gone and come) and gone != left and not any(_akin(x, y) for x in gone for y in come)


@lru_cache(maxsize=4096)
def _stems_of(text: str) -> _Words:
    """Return what each word of a statement counts as: its stems, for a compound those of its parts too."""
    plain = without_aliases(_REASON.sub("", without_openers(text))).casefold().replace("\u2019", "'")
    found = _WORD.findall(plain)[:_MOST_WORDS]
    read = (frozenset((word,) if _says_nothing(word) else _stems(word)) for word in found if word not in _ARTICLES)
    return tuple(read)


def _stems(word: str) -> list[str]:
    return lexical_tokens(_ONE_FOR_ANOTHER.get(word, word)) or [word]


def _says_nothing(word: str) -> bool:
    return word in STOPWORDS or word in _LIGHT


def _says_something(word: frozenset[str]) -> bool:
    return len(word) > 1 or not any(map(_says_nothing, word))


def _swapped(one: _Words, other: _Words) -> bool:
    """Return whether two texts of the same words have some in each other's place, and not only in a list."""
    apart = [place for place, (x, y) in enumerate(zip(one, other, strict=False)) if x != y]
    if len(one) != len(other) or not all(_says_something(words[place]) for place in apart for words in (one, other)):
        return False
    between = [one[place] for place in range(apart[0], apart[-1]) if place not in apart] if apart else []
    return bool(between) and not frozenset().union(*between) & _LISTS


def _akin(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether a word is the other or a part of it, as `generated` of `auto-generated` and `lint` of `linter`."""
    if one <= other or other <= one:
        return True
    short, long = sorted((*one, *other), key=len) if len(one) == len(other) == 1 else ("", "")
    return len(short) >= _LEAST_STEM and long.startswith(short)


# A script that activates an environment is what it activates.
_VENV = re.compile(
    r"\bvirtual ?env(?:ironment)?s?\b|\.?\bvenv/(?:bin|scripts)/activate(?:\.\w+)?\b|\.venv\b", re.IGNORECASE
)


def without_aliases(text: str) -> str:
    """Return a statement in which a virtual environment is called `venv`, whatever it calls it."""
    return _VENV.sub("venv", text)
