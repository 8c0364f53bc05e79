"""Paths: which written words name a file or a folder.

Of 300 questions on curl's history 76 name a file that commits name, 19 of them with the right one, as does 0.2 % of
the others; of 192 issues of SWE-bench 10, all with the right one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from helix.text.path_patterns import canonical_path
from helix.text.word_lists import word_list, words

_EXTENSIONS = word_list("text/spotting/paths", "extensions")
_INITIALS = frozenset("chrs")
"""Extensions of one letter: in lower case only, and not after a single letter."""
_WELL_KNOWN = re.compile(
    r"(?:GNU)?[Mm]akefile(?:\.[a-z]{2,4})?|Dockerfile(?:\.\w+)?|Containerfile|Gemfile|Rakefile|Jenkinsfile|Vagrantfile"
    r"|Procfile|go\.mod|Pipfile|README|CODEOWNERS|configure\.(?:ac|in)|[\w-]+\.(?:h|py|c|pc|cmake|m4)\.in"
    r"|\.(?:git(?:hub|ignore|attributes|modules)|env(?:\.\w+)?|[a-z]{2,12}rc|[a-z]{2,12}ignore|editorconfig|ssh|vscode)",
    re.ASCII,
)
_DOTTED_FILE = re.compile(r"\.[a-z][\w-]*\.\w+", re.ASCII)
_STEM = re.compile(r"[\w@+$~-][\w@+$~.-]*")
_FRAMEWORKS = re.compile(
    r"(?:node|vue|next|nuxt|three|react|express|ember|backbone|angular|chart|moment|d3|p5|socket|discord|alpine)\.js",
    re.IGNORECASE,
)
_TOP_FOLDERS = word_list("text/spotting/paths", "top_folders")
_ROOTS = word_list("text/spotting/paths", "roots")
_MEDIA_TYPES = words("application audio font image message model multipart text video")
_LINE_SUFFIX = re.compile(r"(?::\d+){1,2}(?:-\d+)?$|#L\d+(?:-L?\d+)?$")
_DRIVE = re.compile(r"[A-Za-z]:[\\/](?![\\/])")
_ESCAPES = re.compile(r"\\[nrt0\\]")
_PART = re.compile(r"[\w@+$~.][\w@+$~.%-]*")
_PLAIN_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_VERSION = re.compile(r"v?\d+(?:\.\d+)*(?:[a-z]\d*)?")
_BRACES = re.compile(r"\{(\w{1,12}(?:, ?\w{1,12}){1,7})\}", re.ASCII)
_DEEPEST, _LONGEST = 24, 240


def path_in(word: str) -> str | None:
    """Return the canonical path that a word of a text names, without blanks or quotes, or None where it names none."""
    word = _LINE_SUFFIX.sub("", word)
    if not 2 < len(word) <= _LONGEST or "*" in word or word.startswith(("self.", "this.")):
        return None
    if "/" in word or "\\" in word:
        return _slashed(word)
    return word if is_file_name(word) else None


def is_file_name(word: str) -> bool:
    """Return whether a word of a text without slashes names a file: a known extension or a well-known name."""
    if _WELL_KNOWN.fullmatch(word):
        return True
    stem, dot, ending = word.rpartition(".")
    extension = ending.lower()
    if not dot or not stem or extension not in _EXTENSIONS or ".." in word or _FRAMEWORKS.fullmatch(word):
        return False
    if stem.startswith("."):
        return _DOTTED_FILE.fullmatch(word) is not None
    if not _STEM.fullmatch(stem):
        return False
    if extension in _INITIALS:
        return ending == extension and len(stem) > 1
    return ending == extension or stem.isupper() or "_" in stem or any(char.isdigit() for char in stem)


def braced(text: str, start: int, end: int) -> Iterator[str]:
    """Yield the file paths of `lib/name.{c,h}`, whose part before the brace is text[start:end]."""
    if match := _BRACES.match(text, end):
        for ending in re.findall(r"\w+", match.group(1)):
            if path := path_in(text[start:end] + ending):
                yield path


def _slashed(word: str) -> str | None:
    drive = _DRIVE.match(word)
    if "\\" in word and not drive and ("/" in word or word[0] == "\\" or _ESCAPES.search(word)):
        return None
    path = canonical_path(word)
    if path.startswith(("a/", "b/")) and is_file_name(path.rpartition("/")[2]):  # the two sides of a diff
        path = path[2:]
    parts = path[2 if drive or path.startswith("~/") else 0 :].strip("/").split("/")
    while parts and parts[0] == "..":
        parts = parts[1:]
    if not parts or len(parts) > _DEEPEST or not all(map(_PART.fullmatch, parts)):
        return None
    if drive or is_file_name(parts[-1]) or _is_folder(word, parts):
        return path if any(char.isalpha() for char in parts[-1]) or len(parts) > 1 else None
    return None


def _is_folder(word: str, parts: list[str]) -> bool:
    """Tell a path without a known extension from words that slashes hold together: and/or, HTTP/2, text/html."""
    if _VERSION.fullmatch(parts[-1]) and len(parts) < 3:
        return False
    if word.startswith("/"):
        return parts[0] in _ROOTS and len(word) > 4
    if word.startswith(("~/", "./", "../", ".\\", "..\\")):
        return any(char.isalpha() for char in parts[-1])
    if len(parts) == 1:  # a slash ends it
        return parts[0] in _TOP_FOLDERS
    if len(parts) == 2 and parts[0] in _MEDIA_TYPES:
        return False
    if parts[0] in _TOP_FOLDERS:
        return all(len(part) > 1 for part in parts)
    if any(part.isupper() or not part[0].isalnum() for part in parts):
        return False
    if any("_" in part for part in parts):
        return True
    telling = any(not _PLAIN_WORD.fullmatch(part) and not _VERSION.fullmatch(part) for part in parts)
    return len(parts) > 2 and telling and all(part[0].islower() for part in parts)
