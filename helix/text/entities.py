"""Entities: the things that a text speaks of, found by their shape, without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from helix.model.entity import EntityKind, Mention
from helix.text.spotting import codes, commands, paths
from helix.text.spotting.found import Found
from helix.text.spotting.proper_names import concepts_in
from helix.text.spotting.symbols import symbol_in

MOST_MENTIONS = 64
LONGEST_TEXT = 100_000
"""Characters looked at; what comes after them names nothing new for a memory, and time stays bounded."""

_SALIENCE = {
    kind: rank
    for rank, kind in enumerate(
        (
            EntityKind.FILE,
            EntityKind.ERROR,
            EntityKind.TEST,
            EntityKind.COMMAND,
            EntityKind.PACKAGE,
            EntityKind.COMMIT,
            EntityKind.SYMBOL,
            EntityKind.PERSON,
            EntityKind.CONCEPT,
            EntityKind.URL,
        )
    )
}
_URL = re.compile(r"\b(https?|ftps?|ssh|git|wss?|file)://([^\s<>\"'`|\\^{}\x00-\x1f]{2,2000})", re.I)
_URL_COMMIT = re.compile(r"/commits?/([0-9a-f]{7,40})(?![0-9a-z])")
_CHUNK = re.compile(r"[^\s\"'`<>|,;()\[\]{}=!?“”‘’«»\x00]+")
_HANDLE = re.compile(r"@[A-Za-z][A-Za-z0-9-]{1,38}")
_TAGS = frozenset(
    "author brief classmethod code deprecated example file import inheritdoc internal link media override param property private "
    "public return returns see since staticmethod throws todo type var version wraps".split()
)
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1", re.MULTILINE | re.DOTALL)
_CODE_LINE = re.compile(
    r"^[ \t]*(?:>>>|\.\.\.[ \t]|In \[\d+\]:|[#$%][ \t]*(?:include|define|if|endif)|(?:async[ \t]+)?def[ \t]|class[ \t]+\w+[(:]|import[ \t]+[\w.]+"
    r"|from[ \t]+\S+[ \t]+import|return\b|@\w|at [\w.$]+\(|File \"|Traceback|(?:if|for|while|with|elif|try|else|except)\b[^\n]*:[ \t]*$).*$"
    r"|^[^\n]*(?:[;{}]|\)[ \t]*:|[ \t]=[ \t][^\n]*|==[^\n]*|[+\-]=[^\n]*|\w\([\w\"'., =\[\]]*\))[ \t]*$",
    re.MULTILINE,
)


def mentions(text: str, *, files: Sequence[str] = ()) -> tuple[Mention, ...]:
    """Return what a text speaks of: `files` first, then at most MOST_MENTIONS in all, by kind and place.

    The same name, whatever its case, is there once for each kind, as first written. Only the first LONGEST_TEXT
    characters are looked at; time is linear in them and any string will do.
    """
    text = text[:LONGEST_TEXT]
    given = (Found(-1, -1, EntityKind.FILE, path) for path in map(paths.canonical, files) if path)
    spotted = sorted(_spotted(text), key=lambda found: (_SALIENCE[found.kind], found.start))
    unique: dict[tuple[EntityKind, str], str] = {}
    for found in (*given, *spotted):
        unique.setdefault((found.kind, found.name.casefold()), found.name)
    return tuple(Mention(kind=kind, name=name) for (kind, _), name in unique.items())[:MOST_MENTIONS]


def _spotted(text: str) -> Iterator[Found]:
    claimed: list[Found] = []
    for found in _urls(text) if "://" in text else ():
        claimed.append(found)
    rest = _blanked(text, claimed)
    code = [*_words(rest), *commands.packages_in(rest)]
    yield from claimed
    yield from code
    prose = _CODE_LINE.sub(_blank, _FENCE.sub(_blank, _blanked(rest, sorted(code))))
    yield from concepts_in(prose)


def _words(text: str) -> Iterator[Found]:
    end = 0
    for match in _CHUNK.finditer(text):
        start = match.start()
        if start < end:  # inside what the words before it already named
            continue
        chunk = match.group()
        for found in _chunk(text, start, chunk):
            end = max(end, found.end)
            yield found


def _chunk(text: str, start: int, chunk: str) -> Iterator[Found]:
    word = chunk.rstrip(".:*-&")
    shift = len(word) - len(word.lstrip("*&"))
    word, start = word[shift:], start + shift
    if not word or len(word) > 300:
        return
    if word in commands.HEADS:
        yield from commands.command_at(text, start, start + len(word))
        return
    if codes.is_number_word(lowered := word.lower()):
        yield from codes.numbered(text, start, lowered)
    if (
        word.isalpha()
        and (word.islower() or word.istitle())
        and text[start - 1 : start] != "`"
        and text[start + len(word) : start + len(word) + 2] != "()"
    ):
        return
    named = _named(text, start, word)
    if named:
        yield Found(start, start + len(word), *named)
        if named[0] is EntityKind.TEST and "::" in named[1]:
            yield Found(start, start + len(word), EntityKind.FILE, named[1].partition("::")[0])


def _named(text: str, start: int, word: str) -> tuple[EntityKind, str] | None:
    """Return what a single word names, the most specific kind first."""
    end = start + len(word)
    after = text[end : end + 2]
    called = after[:1] == "(" and (after == "()" or "_" in word or "." in word)
    if "@" in word:
        return _with_at(word)
    if name := codes.test_in(word):
        return EntityKind.TEST, name
    if name := codes.error_in(word):
        return EntityKind.ERROR, name
    if not called and (name := paths.path_in(word)):
        return EntityKind.FILE, name
    if text[start - 1 : start] != "#" and (name := codes.commit_in(word)):
        return EntityKind.COMMIT, name
    marked = text[start - 1 : start] == "`" and (after[:1] == "`" or after == "()")
    if name := symbol_in(word, called=called, marked=marked):
        return EntityKind.SYMBOL, name
    return None


def _with_at(word: str) -> tuple[EntityKind, str] | None:
    """Return the package or the handle in a word with an at sign; an e-mail address is nobody's business."""
    if name := commands.package_in(word):
        return EntityKind.PACKAGE, name
    if _HANDLE.fullmatch(word) and word[1:].lower() not in _TAGS:
        return EntityKind.PERSON, word
    return None


def _urls(text: str) -> Iterator[Found]:
    for match in _URL.finditer(text):
        rest = match.group(2)
        while rest and (rest[-1] in ".,;:!?*_]" or (rest[-1] == ")" and rest.count("(") < rest.count(")"))):
            rest = rest[:-1]
        start, end = match.start(), match.start(2) + len(rest)
        place = re.split(r"[?#]", rest, maxsplit=1)[0]
        host, slash, path = place.partition("/")
        host = host.rpartition("@")[2].lower()
        if host:
            yield Found(start, end, EntityKind.URL, f"{match.group(1).lower()}://{host}{slash}{path}".rstrip("/"))
            if commit := _URL_COMMIT.search(slash + path):
                yield Found(start, end, EntityKind.COMMIT, commit.group(1)[: codes.COMMIT_DIGITS])


def _blanked(text: str, found: Sequence[Found]) -> str:
    pieces: list[str] = []
    position = 0
    for item in found:
        if item.end > position:
            start = max(position, item.start)
            pieces += (text[position:start], "\x00" * (item.end - start))
            position = item.end
    return "".join((*pieces, text[position:]))


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", "\x00", match.group())
