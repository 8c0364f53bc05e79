"""Error lines: the one line of an output that says what went wrong, without what differs from run to run.

Of 341 failed commands of recorded runs that printed something 299 get a line, and 122 get one that an earlier run
had; of 5,106 that ended well 67 look failed. The runs were partly seen while rules were written. What clears prefixes
of logs and the frames of a trace changed none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from helix.text.regex import regex
from helix.text.secrets.redact import redact

LONGEST_SIGNATURE = 200
_READ = 16_384
_MOST_LINES = 400
_LONGEST_LINE = 400

_ANSI = regex(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_LEAD = regex(
    r"^(?:E[ \t]+|\[[^\]\n]{1,30}\][ \t]*|\d{4}-\d\d-\d\d[T ][\d:.,]+Z?[ \t]+|\d\d:\d\d:\d\d[.,\d]*[ \t]+|>+[ \t]*)+"
)
_CLASS = regex(
    r"(?:Uncaught[ \t]+|Caused by:[ \t]+|Exception in thread \S+[ \t]+)?(?:[A-Za-z_]\w*(?:\.|::)){0,20}"
    r"((?:[A-Z]\w*(?:Error|Exception|Warning|Failure|Interrupt|Exit|Fault|NotFound|Expired|Refused)))"
    r"(?:[ \t]*\[[\w.-]{1,60}\])?:[ \t]+(\S.*)"
)
_SHELL = regex(r"(?:[@\w][\w@./ -]{0,60}:[ \t]+)?(?:\S*/)?(?:ba|z|da|k)?sh(?::(?:[ \t]*line)?[ \t]*\d+)?:[ \t]+(\S.*)")
_MISSING = regex(r"(?:\S*/)?python[\d.]*:[ \t]+No module named[ \t]+'?([\w.]+)'?.*")
_SPECIFIC = (
    regex(r"(?:.*?[\w)\]\"]:[ \t]+)?(error(?:\[[A-Z]\d+\]|[ \t]+[A-Z]{1,4}\d{2,5})?:[ \t]+\S.*)", re.IGNORECASE),
    regex(r"((?:fatal(?: error)?|panic|abort(?:ed)?|critical):[ \t]+\S.*)", re.IGNORECASE),
    regex(
        r"\S{1,40}:[ \t]+(?:line[ \t]+\d+:[ \t]+)?"
        r"(\S.{0,80}: (?:command not found|No such file or directory|Permission denied|not found))"
    ),
    regex(r"npm (?:ERR!|error)[ \t]+(?!A complete log|code |errno |path |cwd|command )(\S.*)"),
    regex(r"(?:ERROR|FAIL|FAILED)[: \t]+(?!in \d)(\S.*)"),
)
_NOTHING = regex(
    r"(?:error|failed|failure|exit|make|npm|process|command|task|job|script|tests?|build)\b\W*"
    r"(?:(?:the|process|command|completed|finished|failed|exited|with|exit|code|status|error|errors|see|above|found|"
    r"returned|non|zero|nonzero|lifecycle|elifecycle|aborting|stopping|tests?|build|due|to|previous|\d+)\b\W*)*",
    re.IGNORECASE,
)
_ENDED = regex(
    r".*\b(?:exit(?:ed)?|failed|returned|ended|finished)\b.{0,40}\b(?:code|status)[ :]+[12]\b\W*"
    r"|.*\*\*\* \[.*\] Error [12]",
    re.IGNORECASE,
)
"""What a runner of scripts says of one that failed, by its name: nothing of why."""
_PLACEHOLDERS = regex(r"error: expect\(received\)[\w.]*\((?:expected)?\)(?: .*)?", re.IGNORECASE)
"""What `bun test` and Jest say of any expectation that is not met."""
_VOLATILE = (
    (regex(r"0x[0-9a-fA-F]{4,}"), "0x…"),
    (regex(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "…"),
    (regex(r"\b\d{4}-\d\d-\d\d(?:[T ][\d:.,]+Z?)?\b"), "…"),
    (regex(r"\b\d+(?:\.\d+)? ?(?:ms|s|sec|seconds|minutes)\b"), "…"),
    (regex(r"(?<=[\w\])\"']):\d+(?::\d+)?\b"), ""),
    (regex(r"\b(line|pid|port|PID) \d+", re.IGNORECASE), r"\1 …"),
    (regex(r"(?:/[\w.@+~-]+)*/tmp/[^\s'\":,)]+|/var/folders/[^\s'\":,)]+"), "/tmp/…"),
    (regex(r"(?<![\w:])(?:[A-Za-z]:)?(?:[/\\][\w.@+~-]+){3,}"), None),
)
_AT_END = regex(r"(no matches found|command not found|unknown flag|unrecognized \w+|[Nn]o such [\w ]+): .+")
_LEAST_WORDS_OF_KIND = 3
_TRACE = "Traceback (most recent call last):"
_FRAME = regex(r'File "[^"\n]+", line \d+(?:, in .+)?')
_QUOTED = regex(r"'([^'\n]{1,80})'|\"([^\"\n]{1,80})\"|`([^`\n]{1,80})`")
_NAMED = regex(
    r"(?<![\w.])(?:[A-Za-z_]\w*(?:\.|::)){0,20}([A-Z]\w*(?:Error|Exception|Warning|Failure)"
    r"|error(?:\[[A-Z]\d+\]|[ ][A-Z]{1,4}\d{2,5}))"
    r":?(?![\w.])"
)


_AT_PLACE = regex(r"([\w./\\-]{1,200}\.\w{1,10}(?::\d+){0,2}:[ \t]+\S.*)")
"""What a linter says of a place in a file."""
_TOLD_BY_TOOL = regex(
    r"(?!(?:warn(?:ing)?|info|note|hint|debug):)([A-Za-z][\w./ -]{0,40}:[ \t]+\S.{5,})", re.IGNORECASE
)
"""What many tools begin the line with why they ended; said of a command that failed, else of anything.

The last of them counts: before it stands what the tool was doing.
"""


def signature_of(output: str, *, failed: bool = False) -> str:
    """Find the error line in a text, which says what went wrong, as it is compared; else empty.

    `failed`: it is certain that something did, so that a line which only begins as tools begin theirs is one.

    Of a Python trace that is its last line, elsewhere the first that names an error: what follows it follows from it.
    Where none does, it is the last line of a tool's own.
    Addresses, times, line numbers and the folders of files are left out, numbers that may mean something stay. Lines
    that only say that something failed are no signature.
    """
    text = _ANSI.sub("", output)
    lines = [_LEAD.sub("", line.strip(), count=1).strip() for line in _ends(text).splitlines() if line.strip()]
    lines = [_whole_words(line) for line in lines if line]
    lines = [_MISSING.sub(r"ModuleNotFoundError: No module named '\1'", line) for line in lines]
    traced = [line for line in lines if _CLASS.fullmatch(line)]
    if traced and (signature := _plain(traced[-1] if "Traceback (most recent" in text else traced[0])):
        return signature
    first, last = lines[:_MOST_LINES], lines[-_MOST_LINES:]
    told = ((_AT_PLACE, first), (_TOLD_BY_TOOL, last[::-1])) if failed else ()
    for pattern, read in (*((one, first) for one in (_SHELL, *_SPECIFIC)), *told):
        for line in read:
            if (match := pattern.fullmatch(line)) and (signature := _plain(match[1])):
                return signature
    return ""


def keys_of(signature: str) -> tuple[str, ...]:
    """Return from the text of an error line the keys by which it is found, the most exact first.

    First the line itself, then its class with names.
    """
    if not signature:
        return ()
    named = _NAMED.match(signature)
    short = _short(named[1], signature[named.end() :]) if named else ""
    return (signature, short) if short and short != signature else (signature,)


def kind_of(signature: str) -> str:
    """Return an error line's text without what it quotes and names at its end: one kind of error, of many things.

    Empty where too little is left to tell it from others: `KeyError: 'id'`.
    """
    said = _QUOTED.sub("'…'", signature)
    said = _AT_END.sub(r"\1: …", said)
    words = re.findall(r"[A-Za-z]{2,}", said)
    return said if said != signature and len(words) >= _LEAST_WORDS_OF_KIND else ""


def tells_of_failure(output: str) -> bool:
    """Return whether an output says, by a shell's or an interpreter's own words, that a command of it did not work.

    Of a trace the end is enough, as `tail` leaves it.
    """
    lines = [line.strip() for line in _ends(_ANSI.sub("", output)).splitlines() if line.strip()]
    if any(_SHELL.fullmatch(line) or _MISSING.fullmatch(line) or line == _TRACE for line in lines):
        return True
    return bool(lines) and _CLASS.fullmatch(lines[-1]) is not None and any(map(_FRAME.fullmatch, lines))


def names_something(key: str) -> bool:
    """Return whether an error line's text says what it is about by a name, as `Cannot find module 'zod'` does."""
    return _QUOTED.search(key) is not None


def named_in(text: str) -> Iterator[str]:
    """Yield the errors that a text names with what they are about: `ModuleNotFoundError: 'yaml'`."""
    for match in _NAMED.finditer(text):
        rest = re.split(r"[.;](?:\s|$)|\n", text[match.end() : match.end() + 200], maxsplit=1)[0]
        if short := _short(match[1], rest):
            yield short


def _short(name: str, rest: str) -> str:
    quoted = [next(filter(None, groups)) for groups in _QUOTED.findall(rest)]
    return f"{name}: " + " ".join(f"'{word}'" for word in quoted[:3]) if quoted else ""


def _whole_words(line: str) -> str:
    """Return a line cut between words, so that no half of a secret is left at its end."""
    return line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE].rsplit(maxsplit=1)[0]


def _plain(line: str) -> str:
    line = redact(line).text  # before it is cut, and before what differs from run to run is left out
    if match := _CLASS.fullmatch(line):
        line = f"{match[1]}: {match[2]}"
    for pattern, instead in _VOLATILE:
        line = pattern.sub(_last_part if instead is None else instead, line)
    line = " ".join(line.split()).rstrip(" .:")[:LONGEST_SIGNATURE].rstrip()
    said = line.partition(": ")[2] if ": " in line else line
    telling = _QUOTED.search(line) is not None or (
        len(re.findall(r"\w+", line)) > 2 and len(re.findall(r"\w+", said)) > (1 if _NAMED.match(line) else 0)
    )
    empty = any(pattern.fullmatch(line) for pattern in (_NOTHING, _ENDED, _PLACEHOLDERS))
    return line if telling and not empty else ""


def _last_part(match: re.Match[str]) -> str:
    return re.split(r"[/\\]", match[0])[-1]


def _ends(text: str) -> str:
    """Return the lines at the beginning and at the end of a long text, whole ones."""
    if len(text) <= 2 * _READ:
        return text
    beginning, end = text[:_READ].rpartition("\n"), text[-_READ:].partition("\n")
    return f"{beginning[0] or beginning[2]}\n{end[2]}"
