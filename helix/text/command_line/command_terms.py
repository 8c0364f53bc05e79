"""Command terms: the words that say what a command does, and how much of that each of them says.

By these a note that a person wrote is found at a command: "Before tagging, ..." at `git tag v2`. Which words a command
shares with a note says more than rules about how notes are written: see docs/benchmarks/agents.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from helix.text.command_line.command_forms import CommandParts, invocation, is_path
from helix.text.command_line.command_words import GIVEN_CODE, SHELLS
from helix.text.command_line.parser import Command
from helix.text.command_line.tools import only_looks
from helix.text.tokens import query_terms

FULL, HALF, LITTLE = 1.0, 0.5, 0.3
"""What a word counts: of a tool, a subcommand, an option or a file's own name; of what else a command is run on; of the
folders on the way to a file, its ending, and a part of a tool's name."""
_LONGEST = 150
_SHORTEST = 2
_VALUE = re.compile(r"[ =]")


def terms_of(commands: Sequence[Command]) -> tuple[Mapping[str, float], ...]:
    """Return the terms (`lexical_tokens`) of each command of a command line that does more than look, by weight."""
    parts = ((part, invocation(part.words)) for part in commands)
    return tuple(_weighed(part, it) for part, it in parts if it is not None and not _looks(it))


def _looks(it: CommandParts) -> bool:
    return only_looks(it.tool, (*it.action, *it.options))


def _weighed(part: Command, it: CommandParts) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for words, weight in _words(part, it):
        for term in query_terms(words):
            if len(term) >= _SHORTEST and not term.isdigit():
                found[term] = max(weight, found.get(term, 0.0))
    return found


def _words(part: Command, it: CommandParts) -> Iterator[tuple[str, float]]:
    tool, action, targets = _subject(it)
    folder, _, name = tool.rpartition("/")
    *parts, whole = query_terms(name.rpartition(".")[0] or name) or [""]
    yield from ((whole, FULL), (" ".join(parts), LITTLE), (folder, LITTLE), (part.folder, LITTLE))
    yield from ((word, FULL) for word in action)
    for target in targets:
        if is_path(target):
            above, _, own = target.partition("::")[0].rstrip("/").rpartition("/")
            name, _, ending = own.rpartition(".")
            yield from ((name or own, FULL), (ending, LITTLE), (above, LITTLE))
        elif " " not in target and len(target) <= _LONGEST:
            yield target, HALF
    for option in it.options:
        said, *value = _VALUE.split(option.strip("'"), maxsplit=1)
        yield said.lstrip("-"), FULL
        yield from ((one, FULL) for one in value if " " not in one.strip("'"))


def _subject(it: CommandParts) -> tuple[str, Sequence[str], Sequence[str]]:
    """Return what is run, what it is to do, and on what: a script is run rather than its interpreter."""
    if it.action[:1] == ("-m",):
        return it.action[-1], (), it.targets
    if it.action and it.action[0] == GIVEN_CODE.get(it.tool):
        return it.tool, (), ()
    first = next(iter(it.targets), "")
    if first and is_path(first) and (it.tool in GIVEN_CODE or it.tool in SHELLS):
        return first, (), it.targets[1:]
    if first and not it.action and not is_path(first) and " " not in first:
        return it.tool, (first,), it.targets[1:]
    return it.tool, it.action, it.targets
