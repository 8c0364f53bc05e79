"""Tokens: text as the lexical index sees it, code-aware and in any language, and an estimate of its cost in a prompt.

Every token consists of letters, digits and `_` only. Paths, dotted and hyphenated names, snake_case and camelCase give
both their parts and the whole, the whole joined by `_`; digits are kept.

A grammar of words, paths and names in code.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any

from helix.model.letters import normalised
from helix.text.word_lists import word_list

# A compound: word characters held together by the joints of paths, modules, options and identifiers.
_COMPOUND = re.compile(r"\w+(?:[./\\:+\-]{1,2}\w+)*")
_JOINT = re.compile(r"[^\w]+|_+")
# Where an identifier changes case or between letters and digits: parse|HTTP|Response, sha|256.
_HUMPS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
# Scripts written without blanks between words: their runs become pairs of characters.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0002fa1f]+"
)
# Letters and signs that models hardly know, and read as bytes: Han and emoji beyond the basic plane are among them.
_RARE = re.compile("[\u0700-\u08ff\u1200-\u177f\u1800-\u1cff\ua000-\uabff\U00010000-\U0010ffff]")
_RARE_TOKENS = 3
# What may be a mark: neither word nor ASCII. The sound marks of kana make other letters and stay.
_MARK = re.compile(r"[^\x00-\x7f\w\u3099\u309a]")
# Words, numbers and signs as word-piece models cut them first.
_RUNS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+|[^\s\w]|_")
_LONGEST_TOKEN = 120
_CACHED_STEMS = 20_000
_CACHED_COMPOUNDS, _LONGEST_KNOWN = 20_000, 40

STOPWORDS = word_list("text/tokens", "stopwords")


def lexical_tokens(text: str, *, stem: bool = True) -> list[str]:
    """Return the tokens of a text in order, compounds as parts and whole; English words stemmed (Snowball)."""
    return list(_tokens(text, stemmed if stem else None))


def tokens_by(text: str, word: Callable[[str], str]) -> list[str]:
    """Return the tokens of a text as `lexical_tokens` does, each English word as what `word` makes of it."""
    return list(_tokens(text, word))


def query_terms(text: str, limit: int | None = 64) -> list[str]:
    """Return the distinct tokens of a question in order, without English stopwords unless there is nothing else."""
    terms = list(dict.fromkeys(_tokens(text, stemmed)))
    stopwords = _stemmed_stopwords()
    return ([term for term in terms if term not in stopwords] or terms)[:limit]


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a language model reads in the text.

    Counts a token for every seven letters of a word (three where they are capitals), three digits, a sign or a
    character of a script without blanks, and three for a letter that hardly any text has. Against the word pieces of
    bge-small it is within 8 % over a body of prose, code or commits and 22 % below over lists of paths; of single
    texts nineteen in twenty are within 20 %.
    """
    return sum(map(_pieces, _RUNS.findall(text)))


def _pieces(run: str) -> int:
    if len(run) == 1:
        return _RARE_TOKENS if _RARE.match(run) else 1
    if run.isascii() and run.isalnum():
        size = 3 if run[0].isdigit() or (run.isupper() and len(run) > 1) else 7
        return 1 + (len(run) - 1) // size
    known = _RARE.sub("", run)
    unspaced = sum(map(len, _UNSPACED.findall(known)))
    return _RARE_TOKENS * (len(run) - len(known)) + unspaced + (len(known) - unspaced + 1) // 2


def _tokens(text: str, word: Callable[[str], str] | None) -> Iterator[str]:
    compounds = _COMPOUND.findall(_folded(text))
    return chain.from_iterable(
        _known(one, word) if len(one) <= _LONGEST_KNOWN else _of_compound(one, word) for one in compounds
    )


@lru_cache(maxsize=_CACHED_COMPOUNDS)
def _known(compound: str, word: Callable[[str], str] | None) -> tuple[str, ...]:
    return tuple(_of_compound(compound, word))


def _of_compound(compound: str, word: Callable[[str], str] | None) -> Iterator[str]:
    """Yield the tokens of words that joints hold together, parts and whole, each English word as `word` has it."""
    if compound.isascii() and compound.isalpha() and compound[1:].islower():  # a plain word, as most are
        plain = compound.lower()[:_LONGEST_TOKEN]
        yield word(plain) if word else plain
        return
    if _UNSPACED.search(compound):
        yield from _pairs(compound, word)
        return
    parts = [part for part in _JOINT.split(compound) if part]
    small = [hump.casefold()[:_LONGEST_TOKEN] for part in parts for hump in _humps(part)]
    if len(parts) > 1:
        yield "_".join(part.casefold() for part in parts)[:_LONGEST_TOKEN]
    for part in parts:
        if len(_humps(part)) > 1:
            yield part.casefold()[:_LONGEST_TOKEN]
    yield from (word(one) if word and one.isascii() and one.isalpha() else one for one in small)


def _humps(part: str) -> list[str]:
    return _HUMPS.findall(part) if part.isascii() else [part]


def _pairs(compound: str, word: Callable[[str], str] | None) -> Iterator[str]:
    position = 0
    for run in _UNSPACED.finditer(compound):
        if before := compound[position : run.start()]:
            yield from _tokens(before, word)
        chars = run.group()
        yield from (chars[i : i + 2] for i in range(max(1, len(chars) - 1)))
        position = run.end()
    if rest := compound[position:]:
        yield from _tokens(rest, word)


def _folded(text: str) -> str:
    """Fold width and compatibility forms and take marks off their letters; case stays, it shows where words meet.

    Marks go in every script: FTS5 would cut words at them, and each consonant of हिन्दी would be a word of its own.
    """
    if text.isascii():
        return text
    decomposed = normalised("NFKD", text)
    return normalised("NFC", _MARK.sub(_without_mark, decomposed))


def _without_mark(match: re.Match[str]) -> str:
    return "" if unicodedata.category(match.group()).startswith("M") else match.group()


@lru_cache(maxsize=_CACHED_STEMS)
def stemmed(word: str) -> str:
    """Return the Snowball stem of an English word's token."""
    return str(_stemmer().stem_word(word))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    from py_rust_stemmers import SnowballStemmer  # loaded with the first text

    return SnowballStemmer("english")


@lru_cache(maxsize=1)
def _stemmed_stopwords() -> frozenset[str]:
    return STOPWORDS | {stemmed(word) for word in STOPWORDS}
