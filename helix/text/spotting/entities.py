"""Entities: the things that a text speaks of, found by their shape, without a model.

Of 300 questions on curl's history 180 share a symbol with a commit, 160 a name, 76 a file, 17 a test; the modules
that find each say how often with the right one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from helix.model.entity import EntityKind, FoundEntity, Mention
from helix.text.path_patterns import canonical_path
from helix.text.spotting import codes, packages, paths, typed_commands
from helix.text.spotting.codes import COMMIT_DIGITS
from helix.text.spotting.proper_names import concepts_in
from helix.text.spotting.symbols import symbols_in
from helix.text.word_lists import word_list

MOST_MENTIONS = 64
LONGEST_TEXT = 100_000
"""Characters looked at: a text that long has named what it is about, and the time stays bounded."""

_SALIENCE = {
    kind: rank
    for rank, kind in enumerate(
        (
            *(EntityKind.FILE, EntityKind.ERROR, EntityKind.TEST, EntityKind.COMMAND, EntityKind.PACKAGE),
            *(EntityKind.COMMIT, EntityKind.SYMBOL, EntityKind.PERSON, EntityKind.CONCEPT, EntityKind.URL),
        )
    )
}
_CHUNK = re.compile("[^\\s\"'`<>|,;()\\[\\]{}=!?\u00ab\u00bb\u2018\u2019\u201c\u201d\\x00]+")
_LONGEST_CHUNK = 300
_HANDLE = re.compile(r"@[A-Za-z][A-Za-z0-9-]{1,38}")
_TAGS = word_list("text/spotting/entities", "tags")
_DECORATED = re.compile(
    r"\(|[ \t]*\r?\n[ \t]*(?:@|(?:async[ \t]+)?def[ \t]|class[ \t]|public|private|protected|static|final)"
)
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1|`[^`\n]{1,200}`", re.MULTILINE | re.DOTALL)
_CODE_LINE = re.compile(
    r"^[ \t]*(?:>>>|\.\.\.[ \t]|In \[\d+\]:|[#%][ \t]*(?:include|define|if|endif)\b|\$[ \t]|(?:async[ \t]+)?def[ \t]"
    r"|class[ \t]+\w+[(:]|import[ \t]+[\w.]+|from[ \t]+\S+[ \t]+import|return\b|@\w|at [\w.$]+\(|File \"|Traceback"
    r"|(?:if|for|while|with|elif|try|else|except)\b[^\n]*:[ \t]*$).*$"
    r"|^[^\n]*(?:[;{}]|\)[ \t]*:|[ \t]=[ \t][^\n]*|==[^\n]*|[+\-]=[^\n]*|\w\([\w\"'., =\[\]]*\))[ \t]*$",
    re.MULTILINE,
)

_URL = re.compile(r"\b(https?|ftps?|ssh|git|wss?|file)://([^\s<>\"'`|\\^{}\x00-\x1f]{2,2000})", re.IGNORECASE)
_COMMIT = re.compile(r"/commits?/([0-9a-f]{7,40})(?![0-9a-z])")
_ADDRESSED = re.compile(r"[^/]*@.*")
_QUERY = re.compile(r"[?#]")


def urls_in(text: str) -> Iterator[FoundEntity]:
    """Yield a text's URLs without query, fragment, credentials or e-mail address, and the commits that they show."""
    for match in _URL.finditer(text):
        rest = _without_punctuation(match.group(2))
        start, end = match.start(), match.start(2) + len(rest)
        place = _QUERY.split(rest, maxsplit=1)[0]
        host, slash, path = place.partition("/")
        host = host.rpartition("@")[2].lower()
        if not host:
            continue
        path = _ADDRESSED.sub("", path)
        yield FoundEntity(start, end, EntityKind.URL, f"{match.group(1).lower()}://{host}{slash}{path}".rstrip("/"))
        if commit := _COMMIT.search(slash + path):
            yield FoundEntity(start, end, EntityKind.COMMIT, commit.group(1)[:COMMIT_DIGITS])


def _without_punctuation(url: str) -> str:
    """Return a URL without the punctuation of the sentence around it; a closing bracket stays if it was opened."""
    surplus = url.count(")") - url.count("(")
    end = len(url)
    while end and (url[end - 1] in ".,;:!?*_]" or (url[end - 1] == ")" and surplus > 0)):
        surplus -= url[end - 1] == ")"
        end -= 1
    return url[:end]


def mentions(text: str, *, files: Sequence[str] = ()) -> tuple[Mention, ...]:
    """Return the entities that a text mentions: `files` first, then those found, at most MOST_MENTIONS, by kind.

    Names are in one form, however a thing is written: paths with `/`, commands as their first two words, packages with
    hyphens, URLs without query. Names that differ in case alone are one mention, as first written. Only the first
    LONGEST_TEXT characters are read, in linear time; any string will do. E-mail addresses are never mentions.
    """
    given = (FoundEntity(-1, -1, EntityKind.FILE, path) for path in map(canonical_path, files) if path)
    spotted = sorted(_spotted(text[:LONGEST_TEXT]), key=lambda found: (_SALIENCE[found.kind], found.start))
    unique: dict[tuple[EntityKind, str], str] = {}
    for found in (*given, *spotted):
        unique.setdefault((found.kind, found.name.casefold()), found.name)
    return tuple(Mention(kind=kind, name=name) for (kind, _), name in unique.items())[:MOST_MENTIONS]


def _spotted(text: str) -> Iterator[FoundEntity]:
    urls = list(urls_in(text)) if "://" in text else []
    rest = _blanked(text, urls)
    code = [*_code(rest), *packages.packages_in(rest)]
    yield from urls
    yield from code
    # a name such as CarShare is code by its shape, yet it may be one word of a longer name
    certain = [found for found in code if found.kind is not EntityKind.SYMBOL or not found.name.isalnum()]
    prose = _blanked(rest, sorted(certain))
    if "`" in prose or "~~~" in prose:
        prose = _FENCED.sub(_blank, prose)
    yield from concepts_in(_CODE_LINE.sub(_blank, prose))


def _code(text: str) -> Iterator[FoundEntity]:
    """Yield what has the shape of code, word by word; what an earlier word reaches over is not looked at again."""
    end = 0
    for match in _CHUNK.finditer(text):
        if match.start() < end:
            continue
        tail = match.group().rstrip(".:*-&")
        word = tail.lstrip("*&")
        start = match.start() + len(tail) - len(word)
        if not word or len(word) > _LONGEST_CHUNK:
            continue
        for found in _named(text, start, word):
            end = max(end, found.end)
            yield found


def _named(text: str, start: int, word: str) -> Iterator[FoundEntity]:
    """Yield what one word names, alone or with the words behind it: the most specific kind only."""
    end = start + len(word)
    if word in typed_commands.HEADS:
        yield from typed_commands.command_at(text, start, end)
        return
    yield from codes.numbered(text, start, word.lower())
    before, after = text[start - 1 : start], text[end : end + 2]
    marked = before == "`" and (after[:1] == "`" or after == "()")
    called = after[:1] == "(" and (after == "()" or "_" in word or "." in word)
    if word.isalpha() and (word.islower() or word.istitle()) and not (marked or called or word.endswith("file")):
        return  # a plain word; Makefile and its like are not
    if "@" in word:
        yield from _with_at(text, start, word)
    elif after == ".{":
        yield from (FoundEntity(start, end, EntityKind.FILE, path) for path in paths.braced(text, start, end + 1))
    elif name := codes.test_in(word):
        yield FoundEntity(start, end, EntityKind.TEST, name)
        if "::" in name:
            yield FoundEntity(start, end, EntityKind.FILE, name.partition("::")[0])
    elif name := codes.error_in(word):
        yield FoundEntity(start, end, EntityKind.ERROR, name)
    elif not called and (name := paths.path_in(word)):
        yield FoundEntity(start, end, EntityKind.FILE, name)
    elif before != "#" and (name := codes.commit_in(word)):
        yield FoundEntity(start, end, EntityKind.COMMIT, name)
    else:
        for name in symbols_in(word, called=called, marked=marked):
            yield FoundEntity(start, end, EntityKind.SYMBOL, name)


def _with_at(text: str, start: int, word: str) -> Iterator[FoundEntity]:
    """Yield the package or the handle in a word with an at sign; an e-mail address is nobody's business."""
    end = start + len(word)
    if name := packages.package_in(word):
        yield FoundEntity(start, end, EntityKind.PACKAGE, name)
    elif _HANDLE.fullmatch(word) and word[1:].lower() not in _TAGS and not _DECORATED.match(text, end):
        yield FoundEntity(start, end, EntityKind.PERSON, word)


def _blanked(text: str, found: Sequence[FoundEntity]) -> str:
    """Return a text of the same length with NUL in place of what was found; `found` is in order."""
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
