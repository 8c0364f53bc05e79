"""Message: takes a commit message apart into subject, body, trailers, and what it refers to. Pure functions.

A grammar of subjects, trailers and references as git and forges write them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from helix.ingest.plain import shorten
from helix.text.excerpts import head
from helix.text.regex import regex

_MOST_MESSAGE = 60_000
_MOST_SUBJECT = 300
_MOST_ISSUES = 20

_PERSON_KEY = regex(
    r"(?:acked|approved|assisted|authored|bisected|co-authored|co-developed|discovered|found|helped|mentored|patch|"
    r"reported|requested|reviewed|signed-off|spotted|suggested|tested)-by|credits-to|thanks-to"
)
_REFERENCE_KEY = regex(
    r"bug|closes|fixes(?:-bug)?|follow-up-to|issue|link|pr|refs?|references|related|resolves|reverts|see(?:-also)?"
)
_FORMAL_KEY = regex(r"cc|change-id|signed-off-by")
_TRAILER = regex(r"(?P<key>[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*)\s*:\s+(?P<value>\S.*)")
_TARGET = r"(?:[\w./-]*#\d+|https?://[^\s,]+)"
_CLOSING = regex(rf"(?P<key>closes|fixes|resolves|refs?)\s+(?P<value>{_TARGET}(?:[,\s]+(?:and\s+)?{_TARGET})*)", re.I)
# A line that only points at other commits says nothing by itself: it becomes an edge, and stays in the evidence.
_POINTER = regex(
    r"[-* ]*(?:this is a )?(?:fol+ow[- ]?up to|cherry[- ]?picked from):?"
    r"(?:[\s,&]|and|commit|#\d+|\b[0-9a-f]{7,64}\b)+\.?",
    re.I,
)
_ANGLED_EMAIL = regex(r"[ \t]?<[^<>\s@]+@[^<>\s@]+>")
# Not behind a slash or colon, nor before one: there it is part of a URL or of a remote path. Atomic, so that no
# shorter host is tried; a host that ends in a digit is an IP address to log in at.
_BARE_EMAIL = regex(r"(?<![\w./:@+-])[\w.+-]{1,64}@(?>[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})(?<=[A-Za-z])(?!:\S|[@/])")
_ISSUE = regex(r"(?<![\w&/#])(?:#|GH-)(?P<number>[1-9]\d{0,6})\b")
_ISSUE_URL = regex(r"https?://[^\s/]+/[^\s/]+/[^\s/]+/(?:-/)?(?:issues|pull|merge_requests)/(?P<number>\d{1,7})\b")
_CVE = regex(r"\bCVE-\d{4}-\d{4,7}\b", re.I)

_HEAD = regex(
    r"^(?:(?::\w+:|[^\w\s\"'`.(<\[@#$/*-])\s*)*(?:(?:fix|feat|chore|docs?|refactor|perf|tests?|build|ci|style)(?:\([^)]*\))?!?:\s*)?"
)
_TAIL = regex(
    r"(?<![\s,;-])[\s,;-]*(?:\((?:[\w./-]*#|GH-)\d+\)|\[(?:skip ci|ci skip|no ci)\]"
    r"|(?:\b(?:refs?|closes?|closed|fix(?:es|ed)?|resolves|see)\b:?\s*[\w./-]*#\d+(?:[\s,&]+(?:and\s+)?[\w./-]*#\d+)*[\s,&]*))[.\s]*$",
    re.IGNORECASE,
)
_BLAMED = regex(
    r"\b(?:broken?|broke|breakage|regress\w*|introduced|caused|reverts?|reverted)\b[^.\n#]{0,40}(?<![\w&/])#(?P<number>[1-9]\d{0,6})\b",
    re.IGNORECASE,
)
_MERGE = regex(r"Merge (?:pull request|branch|remote-tracking|tag|commit|[\w./-]+ into)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A commit message without e-mail addresses. `body` has no trailers; `trailers` are those worth keeping."""

    subject: str
    body: str
    trailers: tuple[str, ...]

    @property
    def text(self) -> str:
        """The commit message as evidence: subject, body, and the trailers that say something."""
        return "\n\n".join(part for part in (self.subject, self.body, "\n".join(self.trailers)) if part)


class Naming(StrEnum):
    """How a message speaks of the earlier commit it names."""

    REVERTS = "reverts"
    REPLACES = "replaces"
    FIXES = "fixes"
    BLAMES = "blames"
    FOLLOWS = "follows"
    SINCE = "since"
    PICKS = "picked from"
    MENTIONS = "refers to"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """An earlier commit as named in a message, by the whole or the beginning of its hash."""

    sha: str
    naming: Naming


def parse_message(raw: str) -> Message:
    """Parse any text as a commit message; an empty one has an empty subject."""
    text = without_emails(head(raw, _MOST_MESSAGE)).strip()  # redacted whole, before it is taken apart
    first, _, rest = text.partition("\n\n")
    subject = " ".join(first.split())
    if len(subject) > _MOST_SUBJECT:
        rest = f"{subject}\n\n{rest}"
        subject = shorten(subject, _MOST_SUBJECT)
    kept: list[str] = []
    trailers: list[str] = []
    paragraphs = re.split(r"\n[ \t]*\n", rest.strip("\n"))
    for number, paragraph in enumerate(paragraphs, 1):
        lines, found = _split_trailers(paragraph, last=number == len(paragraphs))
        trailers += found
        if lines:
            kept.append("\n".join(lines).rstrip())
    return Message(subject=subject, body="\n\n".join(kept).strip("\n"), trailers=tuple(trailers))


def without_emails(text: str) -> str:
    """Return a commit message without e-mail addresses; `user@host` in URLs and remote paths stays."""
    return _BARE_EMAIL.sub("[email]", _ANGLED_EMAIL.sub("", text))


def titled(subject: str) -> str:
    """Return a commit's subject as a title: without the kind of change, signs, and issue numbers at its end."""
    title = _HEAD.sub("", subject)
    while (shorter := _TAIL.sub("", title)) != title and shorter:
        title = shorter
    return title or subject


def merged_title(message: Message) -> str:
    """Return the title of the pull request that a merge commit brought; "" where it names branches alone."""
    if not _MERGE.match(message.subject):
        return message.subject
    return shorten(" ".join(message.body.partition("\n")[0].split()), _MOST_SUBJECT)


def blamed(text: str) -> tuple[str, ...]:
    """Return the issues and pull requests that a commit message blames for a fault, as `#123`."""
    return tuple(dict.fromkeys(f"#{match['number']}" for match in _BLAMED.finditer(text)))


def issues(text: str) -> tuple[str, ...]:
    """Return the issues and pull requests a commit message names, as `#123`, in order, each once, at most 20."""
    found = sorted([*_ISSUE.finditer(text), *_ISSUE_URL.finditer(text)], key=re.Match.start)
    return tuple(dict.fromkeys(f"#{match['number']}" for match in found))[:_MOST_ISSUES]


def advisories(text: str) -> tuple[str, ...]:
    """Return the CVE numbers that a commit message names."""
    return tuple(dict.fromkeys(match[0].upper() for match in _CVE.finditer(text)))


def _split_trailers(paragraph: str, *, last: bool) -> tuple[list[str], list[str]]:
    """Return the lines of the paragraph that are text, and its trailers worth keeping.

    A line of a known key is a trailer wherever it stands. An unknown one with a hyphen (`Some-Id: 4711`) is a trailer
    in the last paragraph only: it may as well be the header of a protocol that the commit is about.
    """
    lines: list[str] = []
    trailers: list[str] = []
    dropped = False
    for line in paragraph.split("\n"):
        if dropped and line[:1] in (" ", "\t"):
            continue
        match = _CLOSING.fullmatch(line) or _TRAILER.fullmatch(line)
        key = match["key"].lower() if match else ""
        if _POINTER.fullmatch(line):
            trailers.append(line.strip())
            continue
        known = _PERSON_KEY.fullmatch(key) or _REFERENCE_KEY.fullmatch(key)
        formal = _FORMAL_KEY.fullmatch(key)
        dropped = bool(known or formal) or (last and "-" in key)
        if not dropped:
            lines.append(line)
        elif match and known and not formal:
            trailers.append(f"{match['key']}: {match['value'].strip()}")
    return (lines if any(line.strip() for line in lines) else []), trailers


_SHA = regex(r"(?:(?<![\w/.=-])|(?<=/commit/))[0-9a-f]{7,64}(?![\w/-])", re.I)
_WINDOW = 80
_LIST = regex(r"(?:and|#\d+|[\s,&`'\"()])*", re.I)
# The rest of a sentence up to the hash; the dot of a version number does not end one.
_REST = r"(?:[^.;]|\.(?!\s))*$"
_CUES: tuple[tuple[Naming, re.Pattern[str]], ...] = tuple(
    (naming, regex(pattern, re.I))
    for naming, pattern in (
        (Naming.PICKS, rf"\bcherry[- ]?pick\w*\b{_REST}"),
        (Naming.REVERTS, rf"\b(?:reverts?|reverted|reverting|backs? out|undo(?:es)?)\b{_REST}"),
        (Naming.REPLACES, r"\b(?:supersedes|replaces)\W*(?:commit\W*)?$"),
        (Naming.FOLLOWS, rf"\bfol+ow(?:s|ing)?[-\s]?up\b{_REST}|\bfollows?\b\W*(?:commit\W*)?$"),
        (
            Naming.BLAMES,
            r"\b(?:regress(?:ion|ed|es)?|broken?|breaks?|breakage|caused|introduced|bisected|fallout|culprit|"
            rf"accidental(?:ly)?|mistake(?:nly)?|bug(?: was)?)\b{_REST}",
        ),
        (Naming.FIXES, r"\bfix(?:es|ing|up)?\b(?: up)?\W*(?:(?:for|of|commit)\W*)*$"),
        (Naming.SINCE, r"\bsince\W*(?:commit\W*)?$"),
    )
)


def references(text: str) -> Iterator[Reference]:
    """Yield the commits that a commit message names, in order; whether they exist is for the caller to know.

    What is said about a commit is read from the words before it, on the same sentence; in a list of commits the
    words before the first hold for all.
    """
    previous: re.Match[str] | None = None
    naming = Naming.MENTIONS
    for match in _SHA.finditer(text):
        word = match[0].lower()
        if len(word) < 40 and (word.isdigit() or not any(c.isdigit() for c in word)):
            continue  # a number, or a word such as "defaced"
        listed = previous is not None and _LIST.fullmatch(text, previous.end(), match.start())
        if not listed:
            start = max(match.start() - _WINDOW, previous.end() if previous else 0)
            before = text[start : match.start()].rsplit("\n\n", 1)[-1]
            naming = next((name for name, cue in _CUES if cue.search(before)), Naming.MENTIONS)
        previous = match
        yield Reference(sha=word, naming=naming)
