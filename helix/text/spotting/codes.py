"""Codes: errors, tests and commits, by the shape of the word or by the words around a number."""

from __future__ import annotations

import re
from collections.abc import Iterator

from helix.model.entity import EntityKind
from helix.text.spotting.found import Found
from helix.text.spotting.paths import canonical, is_file_name

_ERROR_CLASS = re.compile(
    r"(?:\w+(?:\.|::))*([A-Z][A-Za-z0-9_]+(?:Error|Exception|Warning|Failure|Interrupt)|StopIteration|SystemExit|GeneratorExit)",
    re.ASCII,
)
_ERRNOS = frozenset(
    "E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EAFNOSUPPORT EAGAIN EALREADY EBADF EBUSY ECANCELED ECHILD ECONNABORTED ECONNREFUSED "
    "ECONNRESET EDEADLK EDOM EDQUOT EEXIST EFAULT EFBIG EHOSTDOWN EHOSTUNREACH EILSEQ EINPROGRESS EINTR EINVAL EIO EISCONN "
    "EISDIR ELOOP EMFILE EMLINK EMSGSIZE ENAMETOOLONG ENETDOWN ENETRESET ENETUNREACH ENFILE ENOBUFS ENODEV ENOENT ENOEXEC "
    "ENOLCK ENOMEM ENOPROTOOPT ENOSPC ENOSYS ENOTBLK ENOTCONN ENOTDIR ENOTEMPTY ENOTFOUND ENOTSOCK ENOTSUP ENOTTY ENXIO "
    "EOPNOTSUPP EOVERFLOW EPERM EPIPE EPROTO EPROTONOSUPPORT EPROTOTYPE ERANGE ERESOLVE EROFS ESHUTDOWN ESPIPE ESRCH ESTALE "
    "ETIMEDOUT ETXTBSY EWOULDBLOCK EXDEV".split()
)
_ERROR_CODE = re.compile(
    r"E[1-9]\d\d|E0\d{3}|W[1-6]\d\d|F[4-8]\d\d|[CRWEF][01]\d{3}|TS\d{4,5}|CS\d{4}|LNK\d{4}|NU1\d{3}|ORA-\d{5}"
    r"|CVE-\d{4}-\d{4,7}|GHSA(?:-[0-9a-z]{4}){3}|(?:CURLE|CURLM|ERR|ERROR|SSL_ERROR|NS_ERROR|STATUS)_[A-Z0-9_]+"
    r"|SIG(?:ABRT|ALRM|BUS|CHLD|CONT|FPE|HUP|ILL|INT|KILL|PIPE|QUIT|SEGV|STOP|SYS|TERM|TRAP|TSTP|USR[12]|WINCH|XCPU)"
    r"|0x8[0-9A-Fa-f]{7}"
)
_TEST_NAME = re.compile(r"test_\w+|test[A-Z]\w+|Test[A-Z]\w*[a-z]\w*", re.ASCII)
_TEST_NUMBER = re.compile(r"test(\d{1,5})")
_COMMIT = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}")
COMMIT_DIGITS = 12
"""Digits of a commit's hash that name it, as an import of a history writes them."""

_HTTP = re.compile(
    r"(?:HTTP(?:/\d(?:\.\d)?)?[ \t]+)?(?:(?:response|error|status|code|return)[ \t:]+){0,3}([1-5]\d\d)(?![\w.%]*\w)",
    re.I,
)
_PHRASES = (
    "not found|internal server error|bad request|unauthorized|forbidden|method not allowed|bad gateway|service unavailable"
    "|gateway timeout|too many requests|conflict|moved permanently|request timeout|unprocessable"
)
_PHRASE_AFTER = re.compile(rf"[ \t:]+(?:{_PHRASES})", re.I)
_EXIT = re.compile(
    r"exit(?:ed|s)?[ \t]+(?:with[ \t]+)?(?:an?[ \t]+)?(?:(?:code|status|value)[ \t:=]+){1,2}(?:of[ \t]+)?(-?\d{1,5})(?!\w)",
    re.I,
)
_ERRNO = re.compile(r"errno[ \t:=]+(\d{1,3})(?!\w)", re.I)
_SEGFAULT = re.compile(r"seg(?:mentation[ \t]+fault|faults?)", re.I)
_TESTS = re.compile(
    r"tests?[ \t]+(?:cases?[ \t]+)?(\d{1,5}(?:(?:,[ \t]*(?:and[ \t]+)?|[ \t]+and[ \t]+|[ \t]*&[ \t]*|/)\d{1,5})*)(?![\w.%:-]*\w)"
    r"(?![ \t]+(?:cases?|times?|users?|different|people|files?|samples?|seconds?|minutes?|days?|percent|more|new|of)\b)",
    re.I,
)


def error_in(word: str) -> str | None:
    """Return the error that a single word names: the class without its module, an errno, a signal or a code."""
    if word in _ERRNOS or _ERROR_CODE.fullmatch(word):
        return word
    match = _ERROR_CLASS.fullmatch(word)
    return match.group(1) if match else None


def test_in(word: str) -> str | None:
    """Return the test that a single word names: a function, a class, `test 1234` or `path::name`."""
    if match := _TEST_NUMBER.fullmatch(word):
        return f"test {int(match.group(1))}"
    path, scope, name = word.partition("::")
    if scope and is_file_name(path.replace("\\", "/").rpartition("/")[2]):
        return f"{canonical(path)}::{name}" if name else None
    return word if _TEST_NAME.fullmatch(word) else None


def commit_in(word: str) -> str | None:
    """Return the first COMMIT_DIGITS digits of a commit's hash."""
    return word[:COMMIT_DIGITS] if 6 < len(word) < 41 and _COMMIT.fullmatch(word) else None


def numbered(text: str, start: int, word: str) -> Iterator[Found]:
    """Yield what a word at `start` says with the number or the words behind it: `HTTP 404`, `exit code 1`, `test 12`."""
    if word in ("test", "tests"):
        if match := _TESTS.match(text, start):
            for number in re.findall(r"\d+", match.group(1))[:16]:
                yield Found(start, match.end(), EntityKind.TEST, f"test {int(number)}")
    elif word.startswith("exit"):
        if match := _EXIT.match(text, start):
            yield Found(start, match.end(), EntityKind.ERROR, f"exit code {int(match.group(1))}")
    elif word == "errno":
        if match := _ERRNO.match(text, start):
            yield Found(start, match.end(), EntityKind.ERROR, f"errno {int(match.group(1))}")
    elif word.startswith("seg"):
        if match := _SEGFAULT.match(text, start):
            yield Found(start, match.end(), EntityKind.ERROR, "SIGSEGV")
    elif (
        (match := _HTTP.match(text, start))
        and (word != "status" or match.group(1)[0] in "45")
        and word[0] not in "123456789"
    ):
        yield Found(start, match.end(), EntityKind.ERROR, f"HTTP {match.group(1)}")
    elif len(word) == 3 and word[0] in "345" and (match := _PHRASE_AFTER.match(text, start + 3)):
        yield Found(start, match.end(), EntityKind.ERROR, f"HTTP {word}")


def is_number_word(word: str) -> bool:
    """Tell whether `numbered` may have something to say about a lower-cased word."""
    return word in _NUMBER_WORDS or word.startswith("http/") or (len(word) == 3 and word.isdecimal())


_NUMBER_WORDS = frozenset(
    {"test", "tests", "exit", "exited", "exits", "errno", "segmentation", "segfault", "segfaults", "http", "status"}
)
