"""Codes: errors, tests and commits, by the shape of a word or by a number and the words around it.

Of 300 questions on curl's history 17 name a test that other commits name, 9 of them with the right one, as does 0.1 %
of the others. Errors: 5, none with the right one; they are for looking up what failed, not for questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from helix.model.entity import EntityKind, FoundEntity
from helix.text.path_patterns import canonical_path
from helix.text.regex import regex
from helix.text.spotting.paths import is_file_name
from helix.text.word_lists import word_list, words

COMMIT_DIGITS = 12
"""Digits of a commit's hash that name it, as an import of a history writes them."""

_ERROR_CLASS = regex(
    r"(?:\w+(?:\.|::))*([A-Z][A-Za-z0-9_]+(?:Error|Exception|Warning|Failure|Interrupt)"
    r"|StopIteration|StopAsyncIteration|SystemExit|GeneratorExit)",
    re.ASCII,
)
_ERRNOS = word_list("text/spotting/codes", "errnos")
_ERROR_CODE = regex(
    r"E[1-9]\d\d|E0\d{3}|W[1-6]\d\d|F[4-8]\d\d|[CRWEF][01]\d{3}"  # linters, rustc
    r"|TS\d{4,5}|CS\d{4}|LNK\d{4}|MSB\d{4}|NU1\d{3}|ORA-\d{5}|0x8[0-9A-Fa-f]{7}"
    r"|CVE-\d{4}-\d{4,7}|GHSA(?:-[0-9a-z]{4}){3}"
    r"|(?:CURLE|CURLM|CURLUE|ERR|ERROR|SSL_ERROR|NS_ERROR)_[A-Z0-9_]+"
    r"|SIG(?:ABRT|ALRM|BUS|CHLD|CONT|FPE|HUP|ILL|INT|KILL|PIPE|QUIT|SEGV|STOP|SYS|TERM|TRAP|TSTP|USR[12]|WINCH|XCPU)"
)
_TEST_NAME = regex(r"test_\w+|test[A-Z]\w+|Test[A-Z]\w*[a-z]\w*", re.ASCII)
_TEST_NUMBER = regex(r"test(\d{1,5})", re.ASCII)
_COMMIT = regex(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}")
_EXPONENT = regex(r"\d+e\d+")

_HTTP = regex(
    r"(?:HTTP(?:/\d(?:\.\d)?)?[ \t]+)?(?:(?:response|error|status|code|return)[ \t:]+){0,3}([1-5]\d\d)(?![\w.%]*\w)",
    re.IGNORECASE | re.ASCII,
)
_HTTP_PHRASE = regex(
    r"[ \t:]+(?:not found|internal server error|bad request|unauthorized|forbidden|method not allowed|bad gateway"
    r"|service unavailable|gateway time-?out|too many requests|moved permanently|request time-?out|unprocessable)",
    re.IGNORECASE,
)
_EXIT = regex(
    r"exit(?:ed|s)?[ \t]+(?:with[ \t]+)?(?:an?[ \t]+)?(?:(?:code|status|value)[ \t:=]+){1,2}(?:of[ \t]+)?"
    r"(-?\d{1,5})(?!\w)",
    re.IGNORECASE | re.ASCII,
)
_ERRNO = regex(r"errno[ \t:=]+(\d{1,3})(?!\w)", re.IGNORECASE | re.ASCII)
_SEGFAULT = regex(r"seg(?:mentation[ \t]+fault|faults?)", re.IGNORECASE)
_TESTS = regex(
    r"tests?[ \t]+(?:cases?[ \t]+)?(\d{1,5}(?:(?:,[ \t]*(?:and[ \t]+)?|[ \t]+and[ \t]+|[ \t]*&[ \t]*|/)\d{1,5}){0,15})"
    r"(?![\w.%:-]*\w)"
    r"(?![ \t]+(?:cases?|times?|users?|different|people|files?|samples?|seconds?|minutes?|days?|more|of)\b)",
    re.IGNORECASE | re.ASCII,
)
_NUMBER_WORDS = words("test tests exit exited exits errno segmentation segfault segfaults http status")


def error_in(word: str) -> str | None:
    """Return the error that a word of a text names: the class without its module, an errno, a signal or a code."""
    if word in _ERRNOS or _ERROR_CODE.fullmatch(word):
        return word
    match = _ERROR_CLASS.fullmatch(word)
    return match.group(1) if match else None


def test_in(word: str) -> str | None:
    """Return the test that a word of a text names: a function, a class, `test 1234` or `path::name`."""
    if match := _TEST_NUMBER.fullmatch(word):
        return f"test {int(match.group(1))}"
    path, scope, name = word.partition("::")
    if scope and name and is_file_name(path.replace("\\", "/").rpartition("/")[2]):
        return f"{canonical_path(path)}::{name}"
    return word if _TEST_NAME.fullmatch(word) else None


def commit_in(word: str) -> str | None:
    """Return the commit that a word of a text names: COMMIT_DIGITS digits of a hash, with a digit and a letter."""
    if not 6 < len(word) < 41 or not _COMMIT.fullmatch(word) or _EXPONENT.fullmatch(word):
        return None
    return word[:COMMIT_DIGITS]


def numbered(text: str, start: int, word: str) -> Iterator[FoundEntity]:
    """Yield the error, test or commit that a text's lower-cased word says with a number: `HTTP 404`, `exit code 1`."""
    if not (word in _NUMBER_WORDS or word.startswith("http/") or (len(word) == 3 and word[0] in "345")):
        return
    if word.startswith("test"):
        if match := _TESTS.match(text, start):
            for number in re.findall(r"\d+", match.group(1)):
                yield FoundEntity(start, match.end(), EntityKind.TEST, f"test {int(number)}")
    elif word.startswith("seg"):
        if match := _SEGFAULT.match(text, start):
            yield FoundEntity(start, match.end(), EntityKind.ERROR, "SIGSEGV")
    elif word.startswith("e"):
        for pattern, name in ((_EXIT, "exit code"), (_ERRNO, "errno")):
            if match := pattern.match(text, start):
                yield FoundEntity(start, match.end(), EntityKind.ERROR, f"{name} {int(match.group(1))}")
    elif word[0].isdecimal():
        if word.isdecimal() and (match := _HTTP_PHRASE.match(text, start + 3)):
            yield FoundEntity(start, match.end(), EntityKind.ERROR, f"HTTP {word}")
    elif (match := _HTTP.match(text, start)) and (word != "status" or match.group(1)[0] in "45"):
        yield FoundEntity(start, match.end(), EntityKind.ERROR, f"HTTP {match.group(1)}")
