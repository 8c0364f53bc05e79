"""Packages: what is installed, imported or pinned to a version, under one name however it is written.

Of 31 issues of SWE-bench 16 name a package that others name, 7 of them with the right one, as do 19 % of the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from helix.model.entity import EntityKind, FoundEntity
from helix.text.regex import regex
from helix.text.word_lists import word_list

_COMMON = word_list("text/spotting/known_words", "common_words")
_FUNCTION_WORDS = word_list("text/spotting/known_words", "function_words")

_ARGUMENTS = regex(r"(?:[ \t]+[^\s`;|&<>]{1,120}){1,32}")
_VALUED_OPTIONS = word_list("text/spotting/packages", "valued_options")
_INSTALLED = regex(
    r"[\"']?(@[a-z0-9][\w.-]*/[a-z0-9][\w.-]*|(?:[\w-]+\.)+[a-z]+/[\w./-]+|[A-Za-z0-9][\w.-]*[A-Za-z0-9])"
    r"(?:\[[\w,-]+\])?(?:[=<>~!@^][^\s]*)?[\"']?",
    re.ASCII,
)
_PINNED = regex(r"(?<![\w.-])([A-Za-z][\w.-]{0,80}[A-Za-z0-9])(?:\[[\w,-]{1,60}\])?(?:==|>=|~=|<=)v?\d+\.\d+", re.ASCII)
_VERSIONED = regex(r"(@[a-z0-9][\w.-]*/[a-z0-9][\w.-]*|[a-z][a-z0-9._-]*)@[~^]?v?\d+(?:\.[\dx]+)+\S*", re.ASCII)
_MODULE = r"[A-Za-z_][\w.]*"
_RENAMED = rf"{_MODULE}(?:[ \t]+as[ \t]+\w+)?"
_IMPORT = regex(
    r"^[ \t]*(?:>>>[ \t]+|In \[\d+\]:[ \t]*)?"
    rf"(?:import[ \t]+({_RENAMED}(?:[ \t]*,[ \t]*{_RENAMED})*)[ \t]*;?[ \t]*(?:#.*)?$"
    rf"|from[ \t]+({_MODULE})[ \t]+import[ \t]+[(\w*])",
    re.ASCII | re.MULTILINE,
)
_MARKED_IMPORT = regex(rf"`(?:import[ \t]+({_MODULE})|from[ \t]+({_MODULE})[ \t]+import\b)[^`\n]{{0,200}}`", re.ASCII)
_SCRIPT_IMPORT = regex(
    r"(?:\brequire\([ \t]*|\bimport\([ \t]*|^import[ \t]+|^(?:import|export)\b[^\n'\"]{0,200}\bfrom[ \t]+)"
    r"['\"]((?:@[\w.-]+/)?[a-z][\w.-]*)(?:/[\w./-]*)?['\"]",
    re.MULTILINE | re.ASCII,
)
_STANDARD = word_list("text/spotting/packages", "standard")


def packages_in(text: str) -> Iterator[FoundEntity]:
    """Yield the packages that a text imports or pins to a version; a Python import counts by its first name."""
    if "import" in text:
        for match in _IMPORT.finditer(text):
            for part in (match.group(1) or match.group(2)).split(","):
                yield from _imported(match.start(), match.end(), part.split()[0].partition(".")[0])
        for match in _MARKED_IMPORT.finditer(text):
            yield from _imported(match.start(), match.end(), (match.group(1) or match.group(2)).partition(".")[0])
    if "import" in text or "require(" in text:
        for match in _SCRIPT_IMPORT.finditer(text):
            yield from _imported(match.start(1), match.end(1), match.group(1))
    if "=" in text:
        for match in _PINNED.finditer(text):
            yield FoundEntity(match.start(), match.end(), EntityKind.PACKAGE, canonical_package(match.group(1)))


def packages_after(text: str, end: int, *, several: bool) -> Iterator[FoundEntity]:
    """Yield the packages that a text names behind an install command ending at `end`, only one unless `several`."""
    arguments = _ARGUMENTS.match(text, end)
    skip = False
    for word in re.finditer(r"\S+", arguments.group()) if arguments else ():
        token = word.group().rstrip(".,:)")
        if skip or token.startswith("-"):
            skip = token in _VALUED_OPTIONS
            continue
        match = _INSTALLED.fullmatch(token)
        if match is None or match.group(1).lower() in _FUNCTION_WORDS or match.group(1).lower() in _COMMON:
            return
        yield FoundEntity(end + word.start(), end + word.end(), EntityKind.PACKAGE, canonical_package(match.group(1)))
        if not several or token != word.group():
            return


def package_in(word: str) -> str | None:
    """Return the package that a word of a text names, such as `lodash@4.17.21`."""
    match = _VERSIONED.fullmatch(word)
    return canonical_package(match.group(1)) if match else None


def canonical_package(name: str) -> str:
    """Return a package's name in lower case with single hyphens (PEP 503): `Py_Foo` is `py-foo`; scoped ones stay."""
    name = name.lower()
    return name if "/" in name else re.sub(r"[-_.]+", "-", name).strip("-")


def _imported(start: int, end: int, name: str) -> Iterator[FoundEntity]:
    if name not in _STANDARD and (plain := canonical_package(name)):
        yield FoundEntity(start, end, EntityKind.PACKAGE, plain)
