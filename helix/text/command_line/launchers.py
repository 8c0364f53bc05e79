"""Launchers: commands that only start another one, in a container, with other rights or in an environment.

Of 78 commands of recorded runs that count tests 63 are judged with it, 42 without.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType

from helix.text.word_lists import word_list, word_lists

_PREFIXES = word_list("text/command_line/launchers", "prefixes")
_RUNS = word_lists("text/command_line/launchers", "runs")
_OPERANDS: Mapping[str, int] = MappingProxyType({"timeout": 1, "gtimeout": 1, "direnv": 1, "aws-vault": 1})
"""How many words of their own stand between the options of a launcher and the command."""
_BEHIND: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {("kubectl", "exec"): ("--",), ("oc", "exec"): ("--",), ("nix", "develop"): ("-c", "--command")}
    | {("nix", "shell"): ("-c", "--command")}
)
"""Launchers that have the command begin behind a word."""
_WITH_VALUE = word_list("text/command_line/launchers", "with_value")

_CONTAINERS = frozenset({"docker", "podman", "nerdctl", "docker-compose", "podman-compose"})
_SHORT_FLAGS = frozenset("ditTPqD")
"""Options of containers' tools that take no value; all others do."""
_LONG_FLAGS = word_list("text/command_line/launchers", "long_flags")
_VERSIONED = re.compile(r"(?:python|pypy)[\d.]*|py|ruby[\d.]*|node|php[\d.]*")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_ONE_NAME: Mapping[str, str] = MappingProxyType(
    {"gradlew": "gradle", "mvnw": "mvn", "mvnd": "mvn", "bazelisk": "bazel", "podman": "docker", "nerdctl": "docker"}
    | {".gradlew": "gradle", ".mvnw": "mvn"}  # as bash reads `.\gradlew`
)
_GIT_VALUE = frozenset({"-C", "-c", "--git-dir", "--work-tree"})
_MOST_LAUNCHERS = 8


def without_launchers(words: Sequence[str]) -> list[list[str]]:
    """Return a command line without each launcher in turn: `uv run pytest` and `pytest`."""
    found = [list(words)]
    while len(found) <= _MOST_LAUNCHERS and found[-1]:
        shorter = _started(found[-1])
        if shorter is None:
            break
        found.append(shorter)
    return found


def bare_command(words: Sequence[str]) -> list[str]:
    """Return a command line without what only starts it (`uv run`, `npx`, `timeout 60`, `python -m`) and path."""
    left = without_launchers(words)[-1]
    return [tool_name(left[0]), *left[1:]] if left else []


def git_verb(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return git's subcommand in a command line and what follows it; an empty one where it is not git's."""
    plain = bare_command(words)
    if not plain or plain[0] != "git":
        return "", []
    rest = plain[1:]
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in _GIT_VALUE else rest[1:]
    return (rest[0], rest[1:]) if rest else ("", [])


def tool_name(word: str) -> str:
    """Return the name of the tool that a command line's first word calls, without path and suffix."""
    name = PurePosixPath(word.replace("\\", "/")).name
    name = re.sub(r"\.(?:exe|cmd|bat|js|phar)$", "", name)
    return _ONE_NAME.get(name, name)


def is_interpreter(word: str) -> bool:
    """Return whether the first word of a command line calls an interpreter of scripts."""
    return _VERSIONED.fullmatch(tool_name(word)) is not None


def operands(words: Sequence[str]) -> list[str]:
    """Return the operands of a command line: neither options, nor their values, nor assignments."""
    return [
        word
        for place, word in enumerate(words)
        if not word.startswith(("-", "+")) and "=" not in word and not takes_next(words, place - 1)
    ]


def takes_next(words: Sequence[str], place: int) -> bool:
    """Return whether the word at a place of a command line is an option that takes the next one for its own."""
    return place >= 0 and words[place] in _WITH_VALUE


def past_options(words: Sequence[str]) -> list[str]:
    """Return the words of a command line behind leading options and assignments."""
    left = list(words)
    while left and (left[0].startswith("-") or _ASSIGNED.fullmatch(left[0])):
        if left[0] in ("--", "-m"):  # `uv run -m pytest`
            return left[1:]
        left = left[2:] if left[0] in _WITH_VALUE else left[1:]
    return left


def _started(words: list[str]) -> list[str] | None:
    """Return what the first word starts; None where it starts nothing that is known."""
    name, rest = tool_name(words[0]), words[1:]
    if PurePosixPath(words[0]).name in _CONTAINERS:
        return _in_container(["compose", *rest] if words[0].endswith("-compose") else rest)
    if _VERSIONED.fullmatch(name):
        return _script(name, rest)
    for begin in _BEHIND.get((name, rest[0] if rest else ""), ()):
        if begin in rest:
            return rest[rest.index(begin) + 1 :]
    if rest and rest[0] in _RUNS.get(name, ()):
        rest = rest[1:]
    elif name not in _PREFIXES:
        return None
    return past_options(past_options(rest)[_OPERANDS.get(name, 0) :])


def _script(name: str, rest: list[str]) -> list[str] | None:
    """Return the module or script that an interpreter is told to run as the command that it is."""
    place = 0
    while place < len(rest) and rest[place].startswith("-"):
        if rest[place] == "-m" or (rest[place] == "--test" and name == "node"):
            break
        if rest[place] in ("-c", "-e", "-", "-l", "-r"):
            return None
        place += 2 if rest[place] in ("-W", "-X") or takes_next(rest, place) else 1
    left = rest[place:]
    if left[:1] == ["-m"]:
        return ["uv", *left[1:]] if left[1:2] == ["build"] else left[1:] or None
    if not left or left[0].startswith("-") or (name == "node" and "node_modules" not in left[0]):
        return None
    return left


def _in_container(rest: list[str]) -> list[str] | None:
    """Return what is run in a container; None of what is left running there, whose end is not waited for."""
    words, _ = _past_container_options(rest)
    composed = words[:1] == ["compose"]
    if composed:
        words, _ = _past_container_options(words[1:])
    if words[:1] == ["build"] and composed:
        return ["docker", *words]
    if words[:1] not in (["exec"], ["run"]):
        return None
    left, said = _past_container_options(words[1:])
    return None if {"d", "--detach", "--detach=true"} & said else left[1:] or None  # less the container's name


def _past_container_options(words: list[str]) -> tuple[list[str], set[str]]:
    """Return the words behind options as getopt reads them, and which flags those were."""
    place, said = 0, set[str]()
    while place < len(words) and words[place].startswith("-"):
        option = words[place]
        place += 1
        if option.startswith("--"):
            said.add(option)
            place += option not in _LONG_FLAGS and "=" not in option and option != "--"
            continue
        valued = next((at for at, letter in enumerate(option) if at and letter not in _SHORT_FLAGS), len(option))
        said.update(option[1:valued])
        place += valued == len(option) - 1  # what follows the letter would be its value
    return words[place:], said
