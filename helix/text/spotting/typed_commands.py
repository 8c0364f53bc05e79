"""Typed commands: what is typed at a prompt, told from the same words in a sentence.

Of 31 issues of SWE-bench 4 share a command with another, each with the right one; of 300 questions on curl's history
3 and 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from helix.model.entity import EntityKind, FoundEntity
from helix.text.spotting.packages import packages_after
from helix.text.word_lists import word_list, word_lists

_FUNCTION_WORDS = word_list("text/spotting/known_words", "function_words")

SUBCOMMANDS = word_lists("text/spotting/typed_commands", "subcommands")
_ALONE = word_list("text/spotting/typed_commands", "alone")
HEADS = frozenset(SUBCOMMANDS) | _ALONE
"""Words at which `command_at` is worth a look."""
_ENGLISH = frozenset({"go", "make"})
_ALIASES = {"pip3": "pip", "python3": "python", "i": "install"}
_INSTALLS = frozenset({"add", "i", "install", "get"})
_PACKAGE_HEADS = word_list("text/spotting/typed_commands", "package_heads")

_WORD_AFTER = re.compile(r"[ \t]+([a-z][a-z0-9_-]*(?::[a-z][a-z0-9_-]*)*)(?![\w./\\=(@])", re.ASCII)
_INSTALL_AFTER = re.compile(r"[ \t]+pip[ \t]+install\b")
_ARGUMENT_AFTER = re.compile(r"[ \t]+(?:--?[A-Za-z]|[./~]\S|https?:|[A-Za-z][\w-]*[/.][A-Za-z])", re.ASCII)
_MODULE_AFTER = re.compile(r"[ \t]+-m[ \t]+([A-Za-z][\w.-]*)", re.ASCII)
_PROMPT = re.compile(r"(?:^|\n)[ \t]{0,8}(?:[$%][ \t]+|[\w@~:/.-]{1,40}\$[ \t]+)(?:sudo[ \t]+)?$", re.ASCII)
_PROMPT_LENGTH = 60


def command_at(text: str, start: int, end: int) -> Iterator[FoundEntity]:
    """Yield the typed command whose head is text[start:end], and the packages it installs; nothing for a mere word.

    The name is the head and its subcommand: "git rebase"; "pytest" for `python -m pytest -k x`.
    """
    head = text[start:end]
    typed = _is_typed(text, start)
    if head in ("python", "python3") and (module := _MODULE_AFTER.match(text, end)):
        end, head = module.end(), module.group(1)
        if head not in HEADS:
            yield FoundEntity(start, end, EntityKind.COMMAND, f"python -m {head}")
            return
        typed = True
    if head == "uv" and (pip := _INSTALL_AFTER.match(text, end)):
        yield FoundEntity(start, pip.end(), EntityKind.COMMAND, "uv pip")
        yield from packages_after(text, pip.end(), several=typed)
    elif head in _ALONE:
        if typed and _is_run(text, start, end):
            yield FoundEntity(start, end, EntityKind.COMMAND, _ALIASES.get(head, head))
    else:
        yield from _with_subcommand(text, start, end, head, typed)


def _with_subcommand(text: str, start: int, end: int, head: str, typed: bool) -> Iterator[FoundEntity]:
    after = _WORD_AFTER.match(text, end)
    name = _ALIASES.get(head, head)
    if after:
        word = after.group(1)
        prompted = typed and not _at_line_start(text, start)
        if word in SUBCOMMANDS[head] or (prompted and word not in _FUNCTION_WORDS):
            yield FoundEntity(start, after.end(), EntityKind.COMMAND, f"{name} {_ALIASES.get(word, word)}")
            if word in _INSTALLS and head in _PACKAGE_HEADS:
                yield from packages_after(text, after.end(), several=typed)
            return
    if typed and (text[end : end + 1] == "`" or (head not in _ENGLISH and _ARGUMENT_AFTER.match(text, end))):
        yield FoundEntity(start, end, EntityKind.COMMAND, name)


def _is_run(text: str, start: int, end: int) -> bool:
    """Tell whether what follows a typed head can follow a command: an argument or nothing, after a prompt any word."""
    if text[end : end + 1] in ("`", "\n", "\r", "") or _ARGUMENT_AFTER.match(text, end):
        return not (start == 0 and end == len(text))
    return not _at_line_start(text, start) and _WORD_AFTER.match(text, end) is not None


def _is_typed(text: str, start: int) -> bool:
    """Tell whether a backtick, a prompt or the start of a line stands before `start`."""
    if text[start - 1 : start] == "`":
        return text[max(0, start - 3) : start] != "```"  # a fence is followed by its language
    if _at_line_start(text, start):
        return True
    return _PROMPT.search(text, max(0, start - _PROMPT_LENGTH), start) is not None


def _at_line_start(text: str, start: int) -> bool:
    line = text.rfind("\n", max(0, start - 9), start) + 1
    return (line > 0 or start < 9) and not text[line:start].strip()
