"""Told: what a text says, sentence by sentence, in the normal form by which what was erased is looked for.

Not measured, as no data labels what was erased: it is a grammar of how people and programs frame a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from helix.model.letters import normalised
from helix.model.written import NO_TAG, AsRead, as_read

LEAST_WORDS = 3
"""Words of a text by which what was erased is looked for: a shorter one stands in many that do not mean it."""
_LEAST_LETTERS = 8
"""Letters of a word by which it is looked for, too: one with digits in it, or of a script without blanks."""
_WORD = re.compile(r"[^\W_]+")
_IGNORED = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
)
_UNSEEN = re.compile(f"[{_IGNORED}]")
"""What Unicode calls default ignorable (DerivedCoreProperties.txt), of the first plane."""
_SEPARATED = re.compile(r"\w+")
_ABBREVIATED = re.compile(
    r"\b(?:[a-z]|[ap]m|mr|mrs|ms|dr|prof|st|no|nr|vs|etc|inc|ltd|jr|sr|approx|fig|cf|al|e\.g|i\.e|u\.s)\.$", re.I
)
_SENTENCE_ENDS = re.compile(
    r"(?<=[.!?\u2026:])[\"'\u201d\u2019)\]\u00bb*_`]*\s+|(?<=[\u3002\uff01\uff1f\uff1a])|\n[ \t]*(?=[^\W\d_a-z])|\s>\s+"
)
_ITEM = r"[ \t]*(?:>[ \t]*)*(?:(?:[-*+\u2022\u2023\u25e6\u2192]|\d{1,3}[.)]|#{1,6})[ \t]+(?:\[[ xX]\][ \t]+)?)?"
_NO_WORDS = r"\[\^[^\]\s]{1,40}\]|(?<=\])\([^()\s]*\)"
_TAGS = (
    r"abbr|[abipqsu]|blockquote|center|code|d[dlt]|del|details|div|em|fig(?:caption|ure)|font|h[1-6r]|img|ins|kbd|li|mark"
    r"|[ou]l|picture|pre|small|source|span|strong|summary|t(?:able|body|[dhrt]|head)|var|video"
)
_COMMENT = r"<!--(?P<said>(?:[^<-]+|<(?!!--)|-(?!->))*+)-->"
_QUOTED = re.compile(r"=\s*+(?:\"(?P<one>[^\"]*)\"|'(?P<other>[^']*)')")


@dataclass(frozen=True, slots=True)
class _Frames:
    """What stands around the words of a sentence: the marks of an item, and what is blanked as no word of it."""

    block: re.Pattern[str]
    markup: re.Pattern[str]

    def blanked(self, text: str) -> str:
        return self.markup.sub(lambda found: " " * len(found[0]), text)


_FRAMES = _Frames(
    re.compile(_ITEM + r"(?:\[![\w-]{1,40}\][-+]?[ \t]*)?"),
    re.compile(
        rf"{_NO_WORDS}|{_COMMENT}|(?:(?<![^\W_])<(?:{_TAGS})|<(?:w?br|su[bp])|</[a-z][a-z0-9-]*)(?=[\s/>])[^<>]*>", re.I
    ),
)
"""Also a callout's kind, a footnote's mark, a link's address, a comment and a tag, which `Promise<void>` is not."""
_FORMER_FRAMES = _Frames(re.compile(_ITEM), re.compile(rf"{_NO_WORDS}|[<{NO_TAG}][^<>{NO_TAG}\s][^<>{NO_TAG}]*>"))
"""Those of older tombstones, for which whatever stood in angle brackets was a tag."""
_LONGEST_END = 12
"""Characters that an abbreviation has at most, with the marks behind it."""


def normal(text: str) -> str:
    """Return the words of an erased text in normal form: one case, a blank between two, nothing else.

    Marks of emphasis are no letters, and what nobody sees parts no word.
    """
    return words_as_written(as_read(text).text)


def words_as_written(text: str) -> str:
    """Return the words of a text in normal form as they are written, as older tombstones told them."""
    return " ".join(_WORD.findall(_UNSEEN.sub("", normalised("NFKC", text)).casefold()))


def told_sentences(*texts: str) -> list[str]:
    """Return what texts say, in normal form: each sentence of three words or more, or all where every one is shorter.

    By these a plan to erase looks through what was said: it is shown before anything goes.
    """
    told = [" ".join(piece.words) for text in texts for piece in _sentences(as_read(text))]
    return [one for one in told if is_telling(one)] or [one for one in [normal(" ".join(texts))] if one]


def former_normal(text: str) -> str:
    """Return the words of a text as tombstones told them that are older than `normal`: an underscore was a letter."""
    return " ".join(_SEPARATED.findall(normalised("NFKC", text).casefold()))


@dataclass(frozen=True, slots=True)
class ToldSentence:
    """A sentence of a text to look through for what was erased: where it stands, and its words in normal form.

    Or a heading, an item of a list or a cell of a table without an end. It begins with the mark of its item, and ends
    behind all that belongs to it.
    """

    start: int
    end: int
    words: tuple[str, ...]


def left_of(text: str, told: Sequence[ToldSentence]) -> str:
    """Return what is left of a text without what it told of what was erased."""
    for found in reversed(told):
        text = text[: found.start] + text[found.end :]
    return text


def said_in(text: str) -> str:
    """Return the words of a text's sentences in normal form: those of `normal` without marks of lists and links."""
    return " ".join(word for sentence in _sentences(as_read(text)) for word in sentence.words)


def _sentences(read: AsRead, frames: _Frames = _FRAMES) -> Iterator[ToldSentence]:
    """Yield the sentences of a text. A line goes on with the one before it, but in code; an item begins another."""
    for start, end, words in _sentences_of(frames.blanked(read.text), frames.block):
        yield ToldSentence(read.place(start), read.place(end), words)


def each_said(read: AsRead) -> Iterator[list[ToldSentence]]:
    """Yield the sentences of a text, those that older tombstones tell, and each comment's and attribute's own."""
    said = list(_sentences(read))
    yield said
    former = list(_sentences(read, _FORMER_FRAMES))
    if former != said:
        yield former
    for start, text in _aside(read.text):
        yield [
            ToldSentence(read.place(start + one), read.place(start + end), words)
            for one, end, words in _sentences_of(_FRAMES.blanked(text), _FRAMES.block)
        ]


def _aside(text: str) -> Iterator[tuple[int, str]]:
    """Yield what a text says in comments and in the attributes of tags, and where each stands."""
    for found in _FRAMES.markup.finditer(text) if "<" in text else ():
        if found["said"]:
            yield found.start("said"), found["said"]
        elif found[0].startswith("<"):
            for value in _QUOTED.finditer(found[0]):
                part = "one" if value["one"] is not None else "other"
                yield found.start() + value.start(part), value[part]


def _sentences_of(plain: str, block: re.Pattern[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    for start, end in _blocks(plain, block):
        marked, at = start, block.match(plain, start, end).end()  # type: ignore[union-attr]  # it matches nothing, too
        for found in _SENTENCE_ENDS.finditer(plain, at, end):
            end_of_it = plain[max(at, found.start() - _LONGEST_END) : found.start()]
            if not _ABBREVIATED.search(end_of_it.rstrip("\"'\u201d\u2019)]*_`")):
                yield from _sentence(plain, marked, at, found.end())
                marked = at = found.end()
        yield from _sentence(plain, marked, at, end)


def _sentence(plain: str, marked: int, start: int, end: int) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    if words := words_as_written(plain[start:end]).split():
        yield marked, end, tuple(words)


def _blocks(plain: str, block: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield where each paragraph, heading, item, cell and line of code begins and ends."""
    start, at, in_code = 0, 0, False
    for line in plain.splitlines(keepends=True):
        end, bare = at + len(line), line.strip()
        fence, row = bare.startswith(("```", "~~~")), bare.startswith("|")
        marked = block.match(line)
        begins = fence or row or in_code or not bare or (marked is not None and bool(marked[0].strip(" \t>")))
        if begins and at > start:
            yield start, at
            start = at
        if row:
            cells = [at + cell.end() for cell in re.finditer(r"[^|]+", line) if cell[0].strip()]
            yield from pairwise([at, *cells[:-1], end])
            start = end
        if bare.startswith("#"):
            yield start, end
            start = end
        at, in_code = end, in_code != fence
    if at > start:
        yield start, at


def is_telling(said: str) -> bool:
    """Return whether a text in normal form is long enough, or odd enough, to be looked for in others."""
    words = said.split()
    odd = (word for word in words if not word.isascii() or not (word.isalpha() or word.isdigit()))
    return len(words) >= LEAST_WORDS or any(len(word) >= _LEAST_LETTERS for word in odd)
