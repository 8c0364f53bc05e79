"""Families: tokens known by their shape (a vendor's prefix, a JWT), and strings random enough to be secrets alone.

Without it 566 of the 3,035 secrets in docs/benchmarks/safety.md are missed that are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from helix.text.regex import regex
from helix.text.secrets import strength
from helix.text.secrets.secret_names import UNMISTAKABLE, Promise, promise_of
from helix.text.secrets.span import Span
from helix.text.word_lists import word_data

_CANDIDATE = regex(r"[A-Za-z0-9_~.+/-]{16,}={0,2}")
_SEGMENT = regex(r"[A-Za-z0-9+/_-]{20,}={0,2}")
_LOOKS_LIKE_DATA = 4096
_CONTEXT = 90

_SHAPES = word_data("text/secrets/families", "shapes")

_KINDS = (*sorted(UNMISTAKABLE & _SHAPES.keys()), *(kind for kind in _SHAPES if kind not in UNMISTAKABLE))


def _of_kinds(kinds: Iterable[str]) -> str:
    return "|".join(f"({'|'.join(_SHAPES[kind])})" for kind in kinds)


# A prefix that nothing else has is known behind any sign: in paths, in names of files, behind `x=`. The letter of an
# escaped line break or blank (`\\n`, `%0A`, `\\u000a`) is none of the token behind it.
_ESCAPED = r"(?<=\\[nrt])|(?<=%0[9AaDd])|(?<=%20)|(?<=\\u000[9AaDd])|(?<=\\x0[9AaDd])"
_KNOWN = regex(
    rf"(?:(?<![A-Za-z0-9])|{_ESCAPED})(?:{_of_kinds(kind for kind in _KINDS if kind in UNMISTAKABLE)})"
    rf"|(?:(?<![\w+/.-])|{_ESCAPED})(?:{_of_kinds(kind for kind in _KINDS if kind not in UNMISTAKABLE)})"
)
_CAN_BE_SECRET = regex(r"\d|[a-z][A-Z]|A[A-Z]{19}|hf_|api_org_|[sr]k_|sk-|gh[opsur]_")
_SAMPLE_END, _REPEATED_END = 16, 10
_CAPITALS = regex(r"^.{2,40}[_.-][A-Z][A-Z0-9_]{15,}$")
"""The end of a sample: behind a prefix in small letters no name of anything goes on in capitals."""
_PREFIX = regex(r"^[^_.-]*[_.-](?:[a-z]{2,8}[_-])?")
_BY_ENTROPY_OF_TAIL = frozenset({"vendor-token", "api-key", "hashicorp-token"})
# Tokens that hold signs at which candidates end.
_APART = {
    "openshift-token": ("~", regex(r"(?<!\w)sha256~[\w-]{40,}")),
    "facebook-token": ("|", regex(r"(?<!\w)\d{15,16} ?(?:\||%7C) ?[\w-]{27,40}")),
    "aws-secret-key": (
        "AKIA",
        regex(r"(?<!\w)AKIA(?!\w*EXAMPLE)[A-Z0-9]{16}[\"']?[,:;|\s]{1,3}[\"']?[A-Za-z0-9+/]{40}(?![\w+/=])"),
    ),
    "amazon-token": ("Atz", regex(r"\bAtz[ar](?:\||%7C)[\w-]{60,}")),
}
# What stands before the rest of a token of an unmistakable prefix that a terminal or a mail has broken in two.
_FIRST_PART = regex(
    r"(?<![A-Za-z0-9])(?:gh[oprsu]_|github_pat_|glpat-|sk-(?:ant|proj)-|xox[bp]-)[\w-]{4,100}"
    r"(?:\r?\n|\\n)[ \t>|]{0,8}\Z"
)
_PART_REACH = 130
# Tokens with a colon: the end of what stands before it, and what stands behind.
_COLON = (
    ("telegram-token", regex(r"(?<![\w.])(?:bot)?\d{6,12}\Z"), regex(r":A[\w-]{29,45}(?![\w-])")),
    ("google-push-key", regex(r"AAAA[\w-]{7}\Z"), regex(r":APA91b[\w-]{100,}")),
    ("asana-token", regex(r"(?<![\w/])[0-2]/\d{13,20}(?:/\d{13,20})?\Z"), regex(r":[0-9a-f]{32}(?!\w)")),
    ("ghost-key", regex(r"(?<!\w)[0-9a-f]{24}\Z"), regex(r":[0-9a-f]{64}(?!\w)")),
)
_COLON_HINT = regex(r":(?:A[\w-]{29}|[0-9a-f]{32})")
_COLON_REACH = 46
_INTEGRITY = regex(
    r"(?:sha(?:1|224|256|384|512)[-:~]|md5[-:]|\bh1:|ssh-[a-z0-9-]+\s{1,2}|ecdsa-[\w-]+\s{1,2}|base64,)$", re.IGNORECASE
)
_BENIGN = regex(
    r"fingerprint|checksum|digest|integrity|\bhash|sha-?\d|md5|signature|etag|cursor|nonce|public|message-id|boundary|(?<![a-z])ids?\W{1,4}$",
    re.IGNORECASE,
)
# Names of C++ and Rust as linkers see them; what interfaces call their objects.
_NAMES = regex(r"__?[ZR]|[A-Z]{1,5}_k[gw]|(?:(?:srv)?toolu|msg|call|resp|req|run|evt|thread|chatcmpl)[_-]")
_ARMOUR = regex(r"-----BEGIN (?![A-Z ]*PRIVATE)[A-Z0-9 ]{3,40}-----")
_NAME_BEFORE = regex(r"([A-Za-z_][\w.-]{0,60})[\\\"'\])]{0,6}\s{0,4}(?::?=|(?<=[\"']):|=>)\s{0,4}[\\\"'`(]{0,5}$")

_BEHIND_NAMES = " \t\r\n\"'`(\\"


def find(text: str) -> Iterator[Span]:
    """Yield secrets that are tokens of known shape, or strings that look random without any context."""
    for kind, (sign, shape) in _APART.items():
        if sign in text or (sign == "|" and "%7C" in text):
            found = (match for match in shape.finditer(text) if strength.looks_random(match.group()))
            yield from (Span(*match.span(), kind) for match in found)
    if _COLON_HINT.search(text):
        yield from _with_colon(text)
    armoured = _ARMOUR.search(text) is not None
    for candidate in _CANDIDATE.finditer(text):
        start, end = candidate.span()
        if not _CAN_BE_SECRET.search(text, start, end):
            last = text[end - 1]
            if not (last == text[end - 2] or last.isupper()) or not _ends_like_a_sample(text, start, end):
                continue
        known = list(_known(text, start, end)) or list(_parted(text, start, end))
        yield from known
        if not known and not armoured and end - start <= _LOOKS_LIKE_DATA:
            yield from _unknown(text, start, end)


def _with_colon(text: str) -> Iterator[Span]:
    for kind, head, tail in _COLON:
        for token in tail.finditer(text):
            first = head.search(text, max(0, token.start() - _COLON_REACH), token.start())
            if first is not None and strength.looks_random(token.group()):
                yield Span(first.start(), token.end(), kind)


def _parted(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield a token that began on the line before and ends with this candidate."""
    if text.startswith("\\n", start - 1):  # an escaped line break has lent the candidate its letter
        start += 1
    gap = text[max(0, start - 10) : start]
    if "\n" not in gap and not gap.endswith("\\n"):
        return
    first = _FIRST_PART.search(text, max(0, start - _PART_REACH), start)
    rest = text[start:end]
    if first is not None and any(map(str.isdigit, rest)) and strength.word_share(rest) < 0.5:
        yield Span(first.start(), end, "api-key")


def _ends_like_a_sample(text: str, start: int, end: int) -> bool:
    """Whether a candidate without digits goes on with one letter over and over, or in capitals behind small letters."""
    if text[end - _REPEATED_END : end] == text[end - 1] * _REPEATED_END:
        return True
    return text[start].islower() and text[end - _SAMPLE_END : end].isupper()


def _known(text: str, start: int, end: int) -> Iterator[Span]:
    for match in _KNOWN.finditer(text, start, end):
        kind = _KINDS[(match.lastindex or 1) - 1]
        value = match.group()
        made_up = strength.is_template(value) if kind in UNMISTAKABLE else strength.is_stand_in(value)
        if made_up or strength.is_published_sample(value):
            continue
        if kind not in _BY_ENTROPY_OF_TAIL or _random_tail(value):
            yield Span(match.start(), match.end(), kind)


def _random_tail(value: str) -> bool:
    tail = _PREFIX.sub("", value, count=1)
    if tail.startswith("eyJ"):  # data in JSON, which may have no digits in base64
        return True
    if strength.is_made_up(value) or _CAPITALS.search(value):
        return True
    letters = "".join(filter(str.isalpha, tail))
    if strength.is_jumbled(letters, most_words=0.65):  # one token in ten has no two digits
        return True
    return strength.looks_random(tail, least=14) and strength.word_share(tail) <= 0.5


def _unknown(text: str, start: int, end: int) -> Iterator[Span]:
    before = text[max(0, start - _CONTEXT) : start]
    if text[max(0, start - 1) : start + 1] in ("\\n", "\\r", "\\t"):  # an escaped line break, no letter of the value
        start += 1
    found = [match for match in _SEGMENT.finditer(text, start, end) if _looks_unknown(match.group())]
    if not found or _is_told_to_be_none(text, before, start, end):
        return
    for segment in found:
        if not _INTEGRITY.search(text, max(start, segment.start() - 12), segment.start()):
            yield Span(segment.start(), segment.end(), "high-entropy")


def _looks_unknown(value: str) -> bool:
    random = strength.looks_high_entropy(value.rstrip("="))
    return random and not (_NAMES.match(value) or strength.is_published_sample(value))


def _is_told_to_be_none(text: str, before: str, start: int, end: int) -> bool:
    """Whether what stands around a random string says that it is an excerpt, an address, a digest or another name."""
    if text.startswith("..", start) or text.startswith(("..", "…"), end) or text.endswith("..", start, end):
        return True
    name = _NAME_BEFORE.search(before) if before.rstrip(_BEHIND_NAMES).endswith((":", "=", ">")) else None
    if name is not None and promise_of(name[1]) is Promise.NONE and not name[1].isupper():
        return True
    return _in_address(text, start) or bool(_INTEGRITY.search(before) or _BENIGN.search(before))


def _in_address(text: str, start: int) -> bool:
    before = text[max(0, start - 400) : start + 3]
    word = before[max(before.rfind(char) for char in " \t\n\"'<(") + 1 :]
    return "://" in word or "@" in word or word.startswith(("www.", "//", "data:"))
