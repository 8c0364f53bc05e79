"""About: the commands and errors that a memory is about, not only speaks of; by these it is found where they occur.

They are entities whose names nothing else has: a command's is its normal form behind `$ `, an error's its own line.

Not measured, as what it finds reaches agents together with `rule_commands`, whose figure counts both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from helix.model.entity import EntityKind, Mention
from helix.model.memory import Kind
from helix.text.command_line.command_forms import Level, forms, is_path, whole_forms
from helix.text.command_line.command_words import ALONE_ENOUGH, WITH_ACTIONS
from helix.text.command_line.rule_commands import keys_of_rule
from helix.text.cues import TROUBLE
from helix.text.error_lines import keys_of, kind_of, named_in, signature_of
from helix.text.spotting.typed_commands import HEADS, SUBCOMMANDS
from helix.text.word_lists import word_list, word_lists

_FUNCTION_WORDS = word_list("text/spotting/known_words", "function_words")

ABOUT_KINDS = frozenset({Kind.FAILURE, Kind.SYSTEMIC, Kind.PATTERN, Kind.CONVENTION})
"""Kinds of memory that are shown at the command or error they are about."""

COMMAND, ERROR = "command", "error"
"""Attributes of a memory that say which command or error it is about: any line of either, or a list of lines."""

PROMPT = "$ "
"""How the name of the entity of a whole command begins, as it would at a prompt."""

RULED = "$* "
"""How the name of the entity begins that rules of a tool or a file are found by."""

_READ = 2_000
_MOST = 24
_CODE = re.compile(r"```[^\n]*\n(.{1,1000}?)```|`([^`\n]{2,300})`", re.DOTALL)
_QUOTED = re.compile(r"(?<!\w)'([^'\n]{8,300})'(?!\w)|\"([^\"\n]{8,300})\"|“([^”\n]{8,300})”")
_PROMPTED = re.compile(r"^[ \t]*\$[ \t]+(\S.{0,300})$", re.MULTILINE)
_WORD = re.compile(r"\S+")
_HEADED = re.compile(r"[a-z_./~\\][\w./~+\\-]*|[A-Z][A-Z0-9_]*=\S*")
_DECLARES = word_list("text/about", "declares")
_HEAD = re.compile(r"(?<![\w./$-])(?:sudo[ \t]+)?([a-z][\w.-]*)(?=[ \t]+\S)")
_VERB_LIKE = re.compile(r".*(?:ly|s|ed|ing)")
_ENGLISH = frozenset({"go", "make", "time", "watch", "exec", "node", "ping", "kill", "script"})
_ENGLISH_ACTIONS = word_lists("text/about", "english_actions")
_NESTED = frozenset({"run", "compose", "exec", "pip"})
_TAKES_NAMES = word_list("text/about", "takes_names")
_MOST_WORDS = 6


def about(trigger: str, attributes: Mapping[str, object]) -> tuple[Mention, ...]:
    """Return the commands and errors that a memory's text is about, by trigger and attributes, each once, at most 24.

    The attributes `command` and `error` say it most exactly. In the trigger a command counts where it stands as code
    or is told from prose by its own words, never a tool alone; an error with its message as code or quoted, or by its
    class and what it quotes.
    """
    found: dict[tuple[EntityKind, str], None] = {}
    for line in _lines(attributes.get(ERROR)):
        found.update(dict.fromkeys((EntityKind.ERROR, key) for key in _keys(signature_of(line, failed=True))))
    for line in commands_in_attributes(attributes):
        found.update(dict.fromkeys((EntityKind.COMMAND, PROMPT + text) for text in _given(line)))
    text = trigger[:_READ]
    found.update(dict.fromkeys((EntityKind.COMMAND, PROMPT + form) for form in _commands(text)))
    found.update(dict.fromkeys((EntityKind.ERROR, key) for key in _errors(text)))
    return tuple(Mention(kind=kind, name=name) for kind, name in found)[:_MOST]


def _keys(signature: str) -> tuple[str, ...]:
    return tuple(key for key in (*keys_of(signature), kind_of(signature)) if key)


def commands_in_attributes(attributes: Mapping[str, object]) -> tuple[str, ...]:
    """Return the commands that the text of a memory's attribute `command` tells, a line each."""
    return tuple(one for line in _lines(attributes.get(COMMAND)) for one in line.splitlines() if one.strip())


def ruled(text: str) -> tuple[Mention, ...]:
    """Return the commands and files that a rule's text names, as the entities by which it is found there."""
    return tuple(Mention(kind=EntityKind.COMMAND, name=RULED + key) for key in keys_of_rule(text))


def own_commands(trigger: str, attributes: Mapping[str, object]) -> frozenset[str]:
    """Return from a text the normal forms of the command that it belongs to, to tell it from others of like words.

    That is the attribute `command`, else the code that the trigger begins with, be it a command or not. Empty where it
    begins with none, or where that is cut short.
    """
    match = _CODE.match(trigger[:_READ].lstrip())
    lines = commands_in_attributes(attributes) or ([match[1] or match[2]] if match is not None else [])
    whole = (" ".join(line.split()) for line in lines if not line.rstrip().endswith("..."))
    return frozenset(form for line in whole for form in whole_forms(line) or (line,))


def _lines(value: object) -> list[str]:
    given = value if isinstance(value, list | tuple) else [value]
    return [line for line in given if isinstance(line, str) and line.strip()]


def _given(line: str) -> Iterator[str]:
    """Yield what a command that was run is known by: its last part as a whole, and what it was run on."""
    found = forms(line)
    whole = next((form.text for form in found if form.level is Level.WHOLE), None)
    if whole is None:
        return
    yield whole
    for form in forms(whole):
        if form.level is Level.TARGET and any(map(is_path, form.text.split()[1:])) and "::" not in whole:
            yield form.text
            return


def _commands(text: str) -> Iterator[str]:
    for match in _CODE.finditer(text):
        for line in (match[1] or match[2]).splitlines():
            yield from _of_code(line, known=match[1] is not None)
    for match in _PROMPTED.finditer(text):
        yield from _of_code(match[1])
    yield from _of_prose(_CODE.sub("\x00", text))


def _of_code(line: str, *, known: bool = False) -> Iterator[str]:
    """Yield the commands of a line of code; in a block, which may be of any language, only those of `known` tools."""
    first = line.split(maxsplit=1)[0] if line.strip() else ""
    alone = len(line.split()) == 1
    if not _HEADED.fullmatch(first) or first in _DECLARES or "*" in line.split()[-1]:
        return
    for form in whole_forms(line):
        head = form.split(maxsplit=1)[0]
        if head in HEADS or head in WITH_ACTIONS or head in ALONE_ENOUGH or _is_script(first) or not (known or alone):
            yield form


def _is_script(word: str) -> bool:
    return word.startswith(("./", "bin/", "scripts/")) or word.endswith(".sh")


def _of_prose(text: str) -> Iterator[str]:
    for match in _HEAD.finditer(text):
        head = match[1]
        if head not in HEADS:
            continue
        said = _command_words(head, text[match.end() :].partition("\n")[0])
        if len(said) > 1:
            yield from whole_forms(" ".join(said))


def _command_words(head: str, rest: str) -> list[str]:
    """Return the words of a sentence that belong to a command whose first word is `head`."""
    said, named = [head], False
    known = _ENGLISH_ACTIONS.get(head, SUBCOMMANDS.get(head, frozenset()))
    for match in _WORD.finditer(rest):
        word = match[0] if match[0].endswith("...") else match[0].rstrip(".,;:)!?\"'")
        if not word or len(said) > _MOST_WORDS or "\x00" in word:
            break
        if word.startswith("-") or is_path(word):
            named = True
        elif len(said) == 1 and head in SUBCOMMANDS:
            if word not in known:
                break
        elif named or head not in SUBCOMMANDS or not _is_argument(word, said[-1], said[1]):
            break
        said.append(word)
        if word != match[0]:
            break
    if head in _ENGLISH and len(said) > 1 and not (said[1] in known or is_path(said[1])):
        return [head]
    return said


def _is_argument(word: str, before: str, action: str) -> bool:
    """Return whether a plain word behind a subcommand is its argument rather than how the sentence goes on."""
    if not word.isascii() or not re.fullmatch(r"[a-z@][\w.:@/=-]*", word):
        return False
    if before in _NESTED:
        return True
    return action in _TAKES_NAMES and not (word in _FUNCTION_WORDS or _VERB_LIKE.fullmatch(word))


def _errors(text: str) -> Iterator[str]:
    """Yield the keys of the errors that a text names; one that tells of trouble may quote any line as its error."""
    failed = TROUBLE.search(text) is not None
    for match in (*_CODE.finditer(text), *(_QUOTED.finditer(_CODE.sub("\x00", text)) if failed else ())):
        yield from keys_of(signature_of(next(filter(None, match.groups())), failed=failed))
    yield from named_in(text)
