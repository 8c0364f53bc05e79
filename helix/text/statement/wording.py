"""Wording: what two texts have in common and where they part - negations, numbers, names, words exchanged.

Of 1,500 foreign pairs (SICK) 164 contradictions are found: 4 without the words that deny, 160 without the opposites.
Without the names 104 more of 1,500 pairs (STS-B) are taken for the same, 93 of them wrongly; without `against` 2. Of
18,533 pairs of foreign sentences 353 are judged otherwise where `#388` counts, 3 where articles do. With a foreign
sentence before or behind both, 870 of 1,280 held-out contradictions are sure, 620 if it is compared as well.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from helix.text.tokens import STOPWORDS, lexical_tokens, query_terms
from helix.text.word_lists import word_list, word_lists

NEGATIONS = word_list("text/statement/wording", "negations")
PLAIN = word_list("text/statement/wording", "plain")
_SIDED = word_list("text/statement/wording", "sided")
_BETWEEN = word_list("text/statement/wording", "between")
NARROWING = word_list("text/statement/wording", "narrowing")
_PAIRS = [(one, other) for one, others in word_lists("text/statement/wording", "opposites").items() for other in others]
_OPPOSITES_OF = {
    word: tuple(sorted({other for pair in _PAIRS if word in pair for other in pair if other != word}))
    for pair in _PAIRS
    for word in pair
}
# Words of a text: letters with an apostrophe inside, and whatever holds digits, dots, dashes or underscores together.
_WORD = re.compile(r"[^\W_]+(?:[._:/\-'][^\W_]+)*")
# Capitals within a sentence, and identifiers: what a text names.
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z]\w+|\b\w+[_./]\w[\w./]*|\b[a-z]+[A-Z]\w*")
_CODE = re.compile(r"`([^`]+)`|(?<!\S)--?\w\S*|(?<!\S)\S*\w[/_=]\w\S*|\w{2,}\.\w{2,}")
_NUMBER = re.compile(r"\d+(?:[.\-_]\d+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
# A denial of "must be done" and one of "is done" count as the same: the modal is dropped before they are compared.
_MODAL = re.compile(r"\b(?:must|shall|may|might|ought to|ha(?:s|ve) to|needs? to|need(?= not))\b", re.IGNORECASE)
# `We decided against it` denies, `we test against it` does not.
_AGAINST = re.compile(
    r"\b(?:decid\w+|decision|vot\w+|advis\w+|argu\w+|chos\w+|(?:am|are|is|i'm|we're)) against\b", re.IGNORECASE
)
_COMPARED = 120
_COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_COUNTED = re.compile(
    rf"\b(?<!no )(?<!any )(?:{'|'.join(_COUNTS)})\b(?= (?!of\b|another\b|or\b|and\b)[a-z])", re.IGNORECASE
)
_REFERENCE = re.compile(r"(?<!\w)#(?=\d+\b)")
# A bullet, a heading, a quoted line, the number of a reference, and what ends a sentence.
_NO_SIGN = re.compile(
    r"(?m)^[ \t]*(?:(?:[-*\u2022]|#{1,6}|[+>](?=[ \t]+[^\W\d]))[ \t]+)+"
    r"|(?<!\w)#(?=\d+\b)|(?<=[\w)\]}\"'`])[!?]+(?=[\s)\"'`]|$)"
)
_EMPHASIS = re.compile(r"(?<![\w*~])(\*{1,3}|~~)(?=[^\s*~])([^\n]{0,400}?[^\s*~])\1(?![\w*~])")
# An option or a minus, an arrow, a dot before a name, a range, and whatever is neither a word nor punctuation.
_SIGN = re.compile(
    r"(?<!\S)-[A-Za-z]\b|(?<![\w-])-(?=[\d.(])|(?<!-)-+>|<-+|(?<![\w.!?])\.{1,2}(?=[\w/])"
    r"|(?<!\.)\.{2,}(?=[\w=])|:{2,}|:=|[^\w\s.,;:'\"`()-]+"
)
_OTHER_SCRIPT = re.compile(r"[^\W\d_\x00-\u024f\u03bc\u1e00-\u1eff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """Words of one text (`left`) where the other has others (`right`), and the words before and after them.

    Either side may be empty: then the other text has words more. What stands before and after is the left text's.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Return the words of a statement in order, small letters, apostrophes made plain; the first 120."""
    return tuple(_WORD.findall(text.casefold().replace("\u2019", "'")))[:_COMPARED]


@lru_cache(maxsize=4096)
def negated(text: str) -> bool:
    """Return whether a statement denies what it speaks of: an odd number of its words deny."""
    denials = sum(word in NEGATIONS for word in words(text)) + len(_AGAINST.findall(text))
    return denials % 2 == 1


def numbers(text: str) -> frozenset[str]:
    """Return the numbers and versions of a statement."""
    return frozenset(_NUMBER.findall(text))


@lru_cache(maxsize=4096)
def signs(text: str) -> tuple[str, ...]:
    """Return what a statement says by signs, in order: operators, options of one letter, units of money, emoji.

    Punctuation is none, nor are bullets and emphasis. A model hardly reads them: `< 5 ms` and `> 5 ms` are 0.99 alike
    to it, a green and a red circle 1.0.
    """
    plain = _NO_SIGN.sub(" ", _EMPHASIS.sub(r"\2", text.replace("\N{MINUS SIGN}", "-")))
    found = ("".join(filter(_is_sign, one)) for one in _SIGN.findall(plain))
    return tuple(one for one in found if one)


def _is_sign(letter: str) -> bool:
    return letter.isascii() or unicodedata.category(letter)[0] == "S"


def signs_agree(left: str, right: str) -> bool:
    """Return whether two statements have the same signs in one order.

    Of 290 pairs that are the same on STS-B and SICK and agree otherwise one differs by signs, `$200` and `200 USD`.
    """
    return signs(left) == signs(right)


def may_add_signs(left: str, right: str) -> bool:
    """Return whether one statement may say the other with more: it has its signs, and no others with the same words."""
    if query_terms(left, None) == query_terms(right, None):
        return signs_agree(left, right)
    one, other = frozenset(signs(left)), frozenset(signs(right))
    return one <= other or other <= one


def in_latin_script(text: str) -> bool:
    """Return whether all letters of a text are Latin ones (and `\N{GREEK SMALL LETTER MU}`, as in a microsecond)."""
    return _OTHER_SCRIPT.search(text) is None


def spelling(text: str) -> str:
    """Return a text without punctuation, white space and case."""
    return "".join(
        letter for letter in text.casefold() if not letter.isspace() and unicodedata.category(letter)[0] != "P"
    )


def counted(text: str) -> str:
    """Return a statement with its small numbers in digits, where they count: `two approvals`, not `one of`.

    `#388` counts nothing: it is read as `issue 388`.
    """
    text = _REFERENCE.sub("issue ", text)
    return _COUNTED.sub(lambda match: str(_COUNTS.index(match[0].casefold()) + 1), text)


def names(text: str) -> frozenset[str]:
    """Return the names in a statement: capitals within a sentence, and identifiers; small letters."""
    return frozenset(name.casefold() for name in _NAME.findall(text))


@lru_cache(maxsize=4096)
def terms(text: str) -> frozenset[str]:
    """Return the stems of a statement's words that carry meaning, without those that deny."""
    return frozenset(query_terms(" ".join(word for word in words(text) if word not in NEGATIONS)))


def stated(text: str) -> frozenset[str]:
    """Return the `terms` of a statement without the words that make of it a duty or a possibility."""
    return terms(_MODAL.sub(" ", text))


def overlap(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the share of words two statements have in common (Jaccard, 0..1); 0 where neither has any."""
    return len(left & right) / len(left | right) if left or right else 0.0


def opposites(left: str, right: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of opposite words of which one stands in one statement alone, its opposite in the other."""
    a, b = frozenset(words(left)), frozenset(words(right))
    only_b = b - a
    return tuple((one, other) for one in sorted(a - b) for other in _OPPOSITES_OF.get(one, ()) if other in only_b)


def differences(left: str, right: str) -> list[Exchange]:
    """Return where the words of two statements differ in more than articles and forms of `to be`, in order."""
    a, b = words(left), words(right)
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    return [
        Exchange(left=a[start:end], right=b[from_:to], before=a[:start], after=a[end:])
        for what, start, end, from_, to in blocks
        if what != "equal" and not PLAIN.issuperset((*a[start:end], *b[from_:to]))
    ]


def sentences_apart(left: str, right: str) -> tuple[str, str]:
    """Return two statements without the sentences both begin and end with; as they are where nothing is left."""
    a, b = _SENTENCE_END.split(left.strip()), _SENTENCE_END.split(right.strip())
    while len(a) > 1 and len(b) > 1 and words(a[0]) == words(b[0]):
        a, b = a[1:], b[1:]
    while len(a) > 1 and len(b) > 1 and words(a[-1]) == words(b[-1]):
        a, b = a[:-1], b[:-1]
    return " ".join(a), " ".join(b)


def exchanged(left: str, right: str) -> bool:
    """Return whether two statements are alike but for a word or a few in each other's place.

    `fails on Linux` and `fails on Windows` are as near as vectors can be and say different things. So are texts that
    name different things in their capitals. What is worded anew throughout is left to the cosine.
    """
    a, b = set(query_terms(left, None)), set(query_terms(right, None))
    only_a, only_b = a - b, b - a
    if not only_a or not only_b:
        return False
    few = max(len(only_a), len(only_b)) <= max(2, len(a & b) // 2)
    names_a, names_b = names(left), names(right)
    return few or bool(names_a - names_b and names_b - names_a)


def adds_code(known: str, said: str) -> bool:
    """Return whether a statement has code that a known one lacks: a flag, a path, words in backquotes."""
    code = " ".join(found[1] or found[0] for found in _CODE.finditer(said))
    return not set(words(code)) <= set(words(known))


def reordered(left: str, right: str) -> bool:
    """Return whether two statements say the same things in another order: who does it to whom, or what comes first.

    What is only said first instead of last, as `before tests` may be, changes nothing. Words more on either side change
    nothing either where one thing stands behind `from`, `over` or the like in one statement and another in the other.
    Of pairs that agree otherwise on STS-B and SICK these words tell 5 different ones apart and 2 of 290 that are the
    same.
    """
    a, b = _telling(left), _telling(right)
    if sorted(a) == sorted(b):
        return a != b and not any(a[start:] + a[:start] == b for start in range(1, len(a)))
    return _sides_exchanged(words(left), words(right))


def _sides_exchanged(left: Sequence[str], right: Sequence[str]) -> bool:
    """Return whether a word between two sides has another of the things behind it that both statements name."""
    pivots = [word for word in dict.fromkeys(left) if word in _BETWEEN and left.count(word) == right.count(word) == 1]
    if not pivots:
        return False
    a, b = ({stem for word in side for stem in lexical_tokens(word)} for side in (left, right))
    sides = ((_behind(left, pivot), _behind(right, pivot)) for pivot in pivots)
    return any(one != other and one in b and other in a for one, other in sides)


def _behind(said: Sequence[str], pivot: str) -> str:
    """Return the stem of the first thing behind a word."""
    behind = (word for word in said[said.index(pivot) + 1 :] if word not in STOPWORDS and word not in _BETWEEN)
    return next((stem for word in behind for stem in lexical_tokens(word)[:1]), "")


def turned_round(left: str, right: str) -> tuple[str, str] | None:
    """Return what has changed places around a word that tells two sides apart, in two statements; or None."""
    a, b = words(left), words(right)
    sides = [word for word in a if word in _SIDED]
    if len(sides) != 1 or sides[0] not in b or not reordered(left, right):
        return None
    at, there = a.index(sides[0]), b.index(sides[0])
    gone = [word for word in a[:at] if word in b[there:] and word not in b[:there]]
    come = [word for word in b[:there] if word in a[at:] and word not in a[:at]]
    return (gone[0], come[0]) if gone and come else None


def _telling(text: str) -> list[str]:
    """Return the stems of a statement in order; what `and` or `or` joins in one order, as both orders say the same."""
    found = [word for word in lexical_tokens(text) if word not in PLAIN]
    for at in range(1, len(found) - 1):
        if found[at] in ("and", "or"):
            found[at - 1], found[at + 1] = sorted((found[at - 1], found[at + 1]))
    return found
