"""Runners: which commands test, build or lint, in the common tools of many languages.

It also reads the names that a project gives to a piece of work: `test:unit`, `build-api`, `run_tests`.

Of 78 commands of recorded runs whose output counts tests 70 are told to be tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from types import MappingProxyType

from helix.model.evidence import EvidenceKind
from helix.text.command_line.launchers import is_interpreter, operands, takes_next, tool_name, without_launchers
from helix.text.command_line.tools import BUILD, BY_ARGUMENT, DO_ONE_THING, LINT, TEST
from helix.text.word_lists import list_of_word, word_list, word_lists, words

_GRADLE: Sequence[tuple[EvidenceKind | None, re.Pattern[str]]] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (None, r"clean\w*|list\w*|init\w*"),
        (BUILD, r"compile\w*|assemble\w*|bundle\w*|\w*[cC]lasses|jar|\w+Jar"),
        (TEST, r"build|check|test|\w+Test|test\w+UnitTest|connected\w*Check"),
        (LINT, r"lint\w*|detekt\w*|\w+Check"),
    )
)
"""Gradle's tasks by their names, which are put together of what is done and to what; the first that fits counts."""

_MANY_GOALS = frozenset({"mvn", "gradle", "sbt", "ant", "nx", "turbo", "xcodebuild"})
"""Tools that take several goals in one run, each perhaps behind the name of a module."""
_GOALS_BEHIND: Mapping[str, frozenset[str]] = MappingProxyType(
    {"nx": frozenset({"run", "run-many", "affected"}), "turbo": frozenset({"run"})}
)
"""Words behind which these have their goals, where the first word is none."""
_ENVIRONMENTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"tox": ("-e", "--env"), "nox": ("-s", "--session", "--sessions", "-e")}
)
"""Tools that run tests in environments, and the options that name those: one of them may lint instead."""
_INTERPRETERS = re.compile(r"(?:py|pypy|python)[\d.]*")

_CHECKING: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "black": frozenset({"--check"}),
        "isort": frozenset({"--check", "--check-only", "-c"}),
        "prettier": frozenset({"--check", "-c", "-l", "--list-different"}),
        "rustfmt": frozenset({"--check"}),
        "php": frozenset({"-l"}),
        "clang-format": frozenset({"--Werror"}),
    }
)
"""Tools that only tell by their status with one of these options; without, they change files."""

_FORMATS: Mapping[str, tuple[str, frozenset[str]]] = MappingProxyType(
    {"cargo": ("fmt", frozenset({"--check"})), "dotnet": ("format", frozenset({"--verify-no-changes"}))}
    | {"ruff": ("format", frozenset({"--check", "--diff"}))}
)
"""Commands of tools that do many things, of the same sort."""

_MANY_TARGETS = frozenset({"make", "gmake", "ninja", "rake", "task"})
"""Tools that run several targets which a project names itself; make and ninja build where none is named."""
_ONE_TARGET = word_lists("text/command_line/runners", "one_target")
_PACKAGES = frozenset({"npm", "yarn", "pnpm", "bun", "composer", "just", "invoke", "rushx", "rush"})
"""Those that take a target without such a word, if it is none of their own commands."""
_MANAGERS = frozenset({"npm", "yarn", "pnpm", "bun", "composer"})
"""Those that have commands of their own beside the targets."""
_BINARIES = frozenset({"yarn", "pnpm", "bun"})
"""Those that take the name of an installed tool as well."""
_COMMANDS = frozenset({"install", "i", "ci", "add", "publish", "pack", "link", "init", "update", "audit"})
"""Commands of the managers of packages that have nothing to do with the work."""

_ASIDE = word_list("text/command_line/runners", "aside")
_ASIDE_OF = word_lists("text/command_line/runners", "aside_of")
_TALKS = word_list("text/command_line/runners", "talks")


def work_of_line(words: Sequence[str]) -> EvidenceKind | None:
    """Return whether a command line tests, builds or lints, by its words; None for none of these, or mere talk."""
    started = without_launchers(words)
    for plain in reversed(started):
        if plain and _is_known(name := tool_name(plain[0])):
            rest = plain[1:]
            return None if (_ASIDE | _ASIDE_OF.get(name, frozenset())) & set(rest) else _does(name, rest)
    return None if any(form and is_interpreter(form[0]) for form in started) else _of_script(started[-1])


def _is_known(name: str) -> bool:
    tables = (DO_ONE_THING, BY_ARGUMENT, _CHECKING, _MANY_TARGETS, _ONE_TARGET)
    return name == "gradle" or any(name in table for table in tables)


def _does(name: str, rest: Sequence[str]) -> EvidenceKind | None:
    if name in _ENVIRONMENTS and (named := _values(rest, _ENVIRONMENTS[name])):
        return _strongest(map(_of_environment, named))
    if name in DO_ONE_THING:
        return None if rest and rest[0] in _TALKS else DO_ONE_THING[name]
    if name in _CHECKING:
        return LINT if _CHECKING[name] & set(rest) else None
    formats = _FORMATS.get(name)
    if formats is not None and rest[:1] == [formats[0]]:
        return LINT if formats[1] & set(rest) else None
    if name in _MANY_GOALS:
        return _of_goals(name, rest)
    found = _by_argument(BY_ARGUMENT.get(name, {}), rest)
    if name == "zig" and found is BUILD and "test" in rest:
        return TEST
    return found or _of_target(name, rest)


def _strongest(kinds: Iterable[EvidenceKind | None]) -> EvidenceKind | None:
    return min((kind for kind in kinds if kind is not None), key=(TEST, BUILD, LINT).index, default=None)


def _by_argument(known: Mapping[str, EvidenceKind], rest: Sequence[str]) -> EvidenceKind | None:
    """Return what the argument says that names the work."""
    for place, word in enumerate(rest):
        if word in known:
            return None if rest[place + 1 : place + 2] and rest[place + 1] in _TALKS else known[word]
        if not word.startswith(("-", "+")) and not takes_next(rest, place - 1):
            return None
    return None


def _of_goals(name: str, rest: Sequence[str]) -> EvidenceKind | None:
    """Return the strongest of what several goals of a build tool say."""
    left_out = {word for before, word in pairwise(rest) if before == "-x"}
    options = [word.partition("=")[2] for word in rest if re.match(r"--targets?=", word)]
    said = re.split(r"[\s;,]+", " ".join([*operands(rest), *options]))
    goals = [goal for goal in said if goal and goal not in left_out]
    kinds = [_of_goal(name, goal, bool(left_out)) for goal in goals]
    if name in _GOALS_BEHIND and goals and kinds[0] is None and goals[0] not in _GOALS_BEHIND[name]:
        return None
    return _strongest(kinds)


def _of_goal(name: str, goal: str, some_left_out: bool) -> EvidenceKind | None:
    last = goal.rpartition(":")[2]
    if name != "gradle":
        known = BY_ARGUMENT[name]
        return known.get(goal, known.get(last))
    if some_left_out and last in ("build", "check"):  # it is the tests that are left out, as a rule
        return BUILD if last == "build" else LINT
    return next((kind for kind, pattern in _GRADLE if pattern.fullmatch(last)), None)


def _values(words: Sequence[str], options: Sequence[str]) -> list[str]:
    """Return the values of options, of which each may be several behind commas."""
    found = [word for before, word in pairwise(words) if before in options]
    found += [word[2:] for word in words if len(word) > 2 and word[:2] in options]
    found += [word.partition("=")[2] for word in words if word.partition("=")[0] in options[1:]]
    return [value for several in found for value in several.split(",") if value]


def _of_environment(name: str) -> EvidenceKind | None:
    versions = any(_INTERPRETERS.fullmatch(part) for part in re.split(r"[^a-z0-9.]+", name.lower()))
    return work_of_target(name) or (TEST if versions or name == "ALL" else None)


def _of_script(words: Sequence[str]) -> EvidenceKind | None:
    """Return what a project's own script does, by its name: `./test.sh`, `scripts/lint`."""
    if not words:
        return None
    script = words[1] if len(words) > 1 and tool_name(words[0]) in ("bash", "sh") else words[0]
    return None if "/" not in script or script.startswith("/") else work_of_target(PurePosixPath(script).stem)


def _of_target(name: str, rest: Sequence[str]) -> EvidenceKind | None:
    left = operands(rest)
    if name in _MANY_TARGETS:
        return _strongest(map(work_of_target, left)) if left else BUILD if name in ("make", "gmake", "ninja") else None
    if name not in _ONE_TARGET:
        return None
    if name == "yarn" and left[:1] == ["workspace"]:
        left = left[2:]
    elif name == "yarn" and left[:2] == ["workspaces", "foreach"]:
        left = left[left.index("run") :] if "run" in left else []
    if left[:1] and left[0] in _ONE_TARGET[name]:
        left = left[1:]
    elif name not in _PACKAGES or not left or (name in _MANAGERS and left[0] in _COMMANDS):
        return None
    if name in _BINARIES and left and _is_known(left[0]) and left[0] not in _ONE_TARGET:
        return work_of_line(rest[rest.index(left[0]) :])
    return work_of_target(left[0]) if left else None


_WORDS = {word: EvidenceKind(kind) for word, kind in list_of_word("text/command_line/runners", "words").items()}
_ALONE = {**dict.fromkeys(words("check ci t"), TEST), **dict.fromkeys(words("all dist"), BUILD)}
"""Words that say it only where they are the whole name: `check-env` and `install-all` are something else."""
_CHECKED = words("type format formatting fmt prettier")
"""What is only looked at where `check` stands beside it."""
_HOW = words("run all ci full quick fast local")
"""Words that say nothing of what is done."""
_BESIDE = word_list("text/command_line/runners", "beside")


def work_of_target(name: str) -> EvidenceKind | None:
    """Return which work (test, build, lint) a command line's target names by its first or last part, or None."""
    parts = [part for part in re.split(r"[^a-z0-9]+", name.lower()) if part]
    if len(parts) == 1 and parts[0] in _ALONE:
        return _ALONE[parts[0]]
    parts = [part for part in parts if part not in _HOW]
    if not parts or set(parts) & _BESIDE:
        return None
    if parts == ["check"]:
        return TEST
    if "check" in parts and set(parts) & _CHECKED:
        return LINT
    kinds = [_WORDS[part] for part in (parts[0], parts[-1]) if part in _WORDS]
    if kinds[:1] == [TEST] and kinds[-1] is not TEST:
        return LINT if kinds[-1] is LINT else None  # `test:build` may build the tests, or test what was built
    return kinds[0] if kinds else None
