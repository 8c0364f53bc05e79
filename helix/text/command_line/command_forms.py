"""Command forms: the one way in which a command is written for comparing, and the shorter ways that still are exact.

A form names what is run and on what: `pytest tests/a.py`. What differs between two runs of the same thing is left out:
wrappers (`uv run`, `sudo`, `python -m`), the path of a tool, how much it says, the order of options.

Of 5,533 commands of recorded runs 2,764 have a form that an earlier run had; as typed 1,022 would.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from posixpath import basename, join, normpath

from helix.text.command_line.command_words import (
    ALIASES,
    ALONE_ENOUGH,
    GIVEN_CODE,
    NESTED,
    NO_SUBJECT,
    NOISE,
    NOISE_OF,
    RUNNER_VALUES,
    RUNNERS,
    SHELLS,
    VALUES,
    WITH_ACTIONS,
    WRAPPERS,
)
from helix.text.command_line.parser import Command, joined_command, simple_commands
from helix.text.command_line.tools import BY_ARGUMENT, DONE_ALONE, DONE_BY_OPTION, MODULES
from helix.text.excerpts import head
from helix.text.path_patterns import canonical_path
from helix.text.spotting.paths import is_file_name

LONGEST_FORM = 240
_LONGEST_LINE = 8_192
_MOST_TARGETS = 8
_MOST_UNWRAPPED = 6

_TOOL_FOLDERS = re.compile(
    r"(?:/usr(?:/local)?|/opt/.+|~/.+|/home/.+|/root/.+|[A-Za-z]:/.+|(?:.*/)?\.?(?:venv|env|virtualenv)|(?:.*/)?\.[nt]ox/[^/]+)?"
    r"/s?bin/[^/]+|(?:.*/)?(?:Scripts|node_modules/\.bin|vendor/bin)/[^/]+"
)
"""Where tools are installed, other than a project's own scripts."""
_TEMPORARY = re.compile(r"(?:/private)?(?:/var)?/tmp/|(?:/private)?/var/folders/|[A-Za-z]:/(?:.+/)?Temp/|\$\{?TMPDIR\b")
_PYTHON = re.compile(r"python(?:\d(?:\.\d+)?)?|pypy3?|py")
_NPM_SHORT = {"run test": "test", "run start": "start", "t": "test", "tst": "test", "i": "install", "add": "install"}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?[a-z%]?")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_TALKS = frozenset({"--help", "--version", "-h", "-v"})
_PLAIN = re.compile(r"[A-Za-z][\w:.@-]*")


class Level(IntEnum):
    """How much of a command a form says; the more, the more exact."""

    WHOLE = 0
    """All of it that steers what is done."""
    TARGET = 1
    """What is run on which files, tests or names, whatever the options."""
    GENERAL = 2
    """A tool and what it is to do: `git push`, `npm run build`; never a tool alone."""


@dataclass(frozen=True, slots=True, order=True)
class CommandForm:
    """A normal form and how much of the command it says."""

    level: Level
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandParts:
    """A simple command taken apart: its tool, its subcommand, what it is run on, and its options with their values."""

    tool: str
    action: tuple[str, ...]
    targets: tuple[str, ...]
    options: tuple[str, ...]


def forms(line: str, *, folder: str = "", root: str = "") -> tuple[CommandForm, ...]:
    """Return the normal forms of the commands in a command line, as `forms_of` does."""
    return forms_of(simple_commands(line), folder=folder, root=root)


def forms_of(parts: Sequence[Command], *, folder: str = "", root: str = "") -> tuple[CommandForm, ...]:
    """Return the normal forms of a line's simple commands, the most exact first, each once.

    The first is the one to remember: the last command of the line as a whole, without wrappers, `cd`, redirections and
    options that change only how much it says. Of forms of one level those of the last command come first: a line is
    written for what it does at its end. Paths are taken from `root`, the top of the project, where `folder`, in which
    the line is run, lies in it. What is run outside of it, as `cd` or `git -C` says, is another project's and has none.
    """
    found: dict[str, Level] = {}
    for simple in sorted(reversed(parts), key=lambda part: part.piped):
        for form in _forms(simple, folder, root or folder):
            found[form.text] = min(form.level, found.get(form.text, form.level))
    return tuple(sorted((CommandForm(level, text) for text, level in found.items()), key=lambda form: form.level))


def redacted_line(line: str) -> str:
    """Return a command line without the secrets that it may hold, as far as its forms are taken from it."""
    return head(line, _LONGEST_LINE)


def invocation(words: Sequence[str]) -> CommandParts | None:
    """Return a simple command line taken apart, without what wraps it; None where it has no subject of its own."""
    return _parts_of(list(words), 0)


def whole_forms(line: str) -> tuple[str, ...]:
    """Return a command line's normal forms, one for each of its commands but bare filters."""
    return tuple(form.text for form in forms(line) if form.level is Level.WHOLE)


def unwrapped(words: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """Return a command's words without wrappers, its tool by its plain name, and whether a runner ran it.

    A runner (`uv run`, `poetry run`) takes the tool from the project's environment. Empty words for what runs nothing.
    """
    said, ran = list(words), False
    for _ in range(_MOST_UNWRAPPED):
        inner = _unwrapped(_tool(said[0]), said) if said else None
        if inner is None:
            break
        ran = ran or tuple(said[:2]) in RUNNERS
        said = inner
    for runs in (["python", "-m"], ["coverage", "run", "-m"]):
        if len(said) > len(runs) and [_tool(said[0]), *said[1 : len(runs)]] == runs:
            said = said[len(runs) :]
    return ((_tool(said[0]), *said[1:]) if said else ()), ran


def _forms(simple: Command, folder: str, root: str) -> Iterator[CommandForm]:
    plain = _parts_of(list(simple.words), 0)
    if plain is None:
        return
    moved = _moved(simple)
    here = normpath(join(folder, moved)) if folder or moved else ""
    if moved and root and _is_below(folder, root) and not _is_below(here, root):
        return
    seen = set[CommandParts]()
    for command in (_placed(plain, here, root), *(() if moved and folder else (_placed(plain, "", root),))):
        if command not in seen:
            seen.add(command)
            yield from _levels(command)


def _moved(simple: Command) -> str:
    """Return the folder that a command is run in by its line, as `cd` or its own option says; empty for none."""
    said = simple.words
    if basename(said[0]) == "git" and len(said) > 2 and said[1] == "-C":
        return join(simple.folder, said[2])
    return simple.folder


def _is_below(folder: str, root: str) -> bool:
    place, top = normpath(canonical_path(folder)), normpath(canonical_path(root))
    return place == top or place.startswith(f"{top.rstrip('/')}/")


def _is_scratch(command: CommandParts) -> bool:
    """Return whether a command runs a script in a folder for temporary files: another one each time, by one name."""
    first = next((target for target in command.targets if is_path(target)), "")
    return command.tool not in WITH_ACTIONS and any(map(_TEMPORARY.match, (command.tool, first)))


def _levels(command: CommandParts) -> Iterator[CommandForm]:
    if _is_scratch(command):
        return
    head = (command.tool, *command.action)
    general = bool(command.action) and command.tool in WITH_ACTIONS
    is_script = "/" in command.tool or command.tool.endswith(".sh")
    definite = bool(command.action) or is_script or command.tool in ALONE_ENOUGH
    if command.targets or definite:
        yield from _form(Level.WHOLE, (*head, *command.targets), command.options)
    if command.targets and command.options:
        yield from _form(Level.TARGET, (*head, *command.targets))
    paths = [target for target in command.targets if is_path(target)][:_MOST_TARGETS]
    for path in paths:
        if len(command.targets) > 1:
            yield from _form(Level.TARGET, (*head, path))
        if "::" in path:
            yield from _form(Level.TARGET, (*head, path.partition("::")[0]))
    if general and (command.targets or command.options):
        yield from _form(Level.GENERAL, head)


def _form(level: Level, said: tuple[str, ...], options: tuple[str, ...] = ()) -> Iterator[CommandForm]:
    text = " ".join((joined_command(said), *options))
    if len(text) <= LONGEST_FORM:
        yield CommandForm(level, text)


def is_path(word: str) -> bool:
    """Return whether a word of a command line names a file, a folder or a test in a file."""
    name = word.partition("::")[0]
    return "://" not in name and ("/" in name or is_file_name(name))


def _parts_of(said: list[str], depth: int) -> CommandParts | None:
    """Return a simple command taken apart; None where it has no subject of its own."""
    if not said or depth > _MOST_UNWRAPPED:
        return None
    tool = _tool(said[0])
    if tool in NO_SUBJECT or "=" in tool or tool.startswith("$"):
        return None
    inner = _unwrapped(tool, said)
    if inner is not None:
        return _parts_of(inner, depth + 1)
    rest = said[1:]
    if tool in SHELLS:
        return _of_shell(rest, depth)
    if tool == "python":
        if rest[:1] == ["-m"] and len(rest) > 1:
            module = ALIASES.get(rest[1], rest[1])
            if module not in MODULES and (module in WITH_ACTIONS or module in ALONE_ENOUGH or module in VALUES):
                return _parts_of([module, *rest[2:]], depth + 1)
            return _apart("python", ("-m", module), rest[2:])
        if rest and basename(rest[0]) == "manage.py":
            return _parts_of(["manage.py", *rest[1:]], depth + 1)
    code = _past_options(rest, 0, VALUES.get(tool, frozenset()))
    if 0 < code < len(rest) and rest[code - 1] == GIVEN_CODE.get(tool):
        return _apart(tool, (rest[code - 1], rest[code]), [*rest[: code - 1], *rest[code + 1 :]])
    if said[0].endswith("docker-compose"):
        rest = ["compose", *rest]
    found = _action(tool, rest)
    return None if found is None else _apart(tool, *found)


def _of_shell(rest: list[str], depth: int) -> CommandParts | None:
    at = next((place for place, word in enumerate(rest) if re.fullmatch(r"-[a-z]*c[a-z]*", word)), None)
    if at is not None and at + 1 < len(rest):
        inner = [command for command in simple_commands(rest[at + 1]) if not command.piped]
        return _parts_of(list(inner[-1].words), depth + 1) if inner else None
    script = next((place for place, word in enumerate(rest) if not word.startswith("-")), None)
    return None if script is None else _parts_of(rest[script:], depth + 1)


def _tool(word: str) -> str:
    word = word.replace("\\", "/")
    name = basename(word).removesuffix(".exe").removesuffix(".cmd")
    if _PYTHON.fullmatch(name):
        return "python"
    if name in ALIASES and ("/" not in word or name in ("mvnw", "gradlew") or _TOOL_FOLDERS.fullmatch(word)):
        return ALIASES[name]
    return name if "/" not in word or name == "manage.py" or _TOOL_FOLDERS.fullmatch(word) else canonical_path(word)


def _unwrapped(tool: str, said: list[str]) -> list[str] | None:
    """Return what a wrapper runs, nothing where it runs nothing; None where this is none."""
    if tool in WRAPPERS:
        rest, values = said[1:], WRAPPERS[tool]
    elif len(said) > 1 and (tool, said[1]) in RUNNERS:
        rest, values = said[2:], RUNNER_VALUES
    else:
        return None
    while rest and (rest[0].startswith("-") or _ASSIGNED.match(rest[0])):
        rest = rest[2:] if rest[0] in values else rest[1:]
    if tool == "timeout" and rest and _NUMBER.fullmatch(rest[0]):
        rest = rest[1:]
    return rest


def _action(tool: str, rest: list[str]) -> tuple[tuple[str, ...], list[str]] | None:
    """Return the subcommand of a tool that has some, and the rest of its words; options before it stay in the rest.

    None where a subcommand says nothing yet, as `npm run`.
    """
    if rest and rest[0] in DONE_BY_OPTION.get(tool, frozenset()):
        return (rest[0],), rest[1:]
    if tool not in WITH_ACTIONS:
        return (), rest
    values = VALUES.get(tool, frozenset())
    place = _past_options(rest, 0, values)
    if place >= len(rest) and tool in DONE_ALONE and not _TALKS & set(rest):
        return (DONE_ALONE[tool],), rest
    if place >= len(rest) or not _PLAIN.fullmatch(rest[place]):
        return (), rest
    action, left = [rest[place]], rest[:place]
    end = place + 1
    if action[0] in NESTED:
        after = _past_options(rest, end, values)
        if after < len(rest) and _PLAIN.fullmatch(rest[after]) and not is_path(rest[after]):
            action.append(rest[after])
            left += rest[end:after]
            end = after + 1
    name = " ".join(action).replace("run-script", "run")
    if tool == "npm":
        name = _NPM_SHORT.get(name, name)
    elif tool in ("yarn", "pnpm", "bun"):
        name = name.removeprefix("run ")
    if name in NESTED - {"exec"} - BY_ARGUMENT.get(tool, {}).keys() and len(action) == 1:
        return None
    return tuple(name.split()), left + rest[end:]


def _past_options(rest: list[str], place: int, values: frozenset[str]) -> int:
    """Return the place of the first word from `place` on that is neither option, its value nor an assignment."""
    while place < len(rest) and (rest[place].startswith("-") or _ASSIGNED.match(rest[place])):
        place += 2 if rest[place] in values else 1
    return place


def _apart(tool: str, action: tuple[str, ...], rest: list[str]) -> CommandParts:
    module = action[1] if action[:1] == ("-m",) else tool
    values, noise = VALUES.get(module, frozenset()), NOISE_OF.get(module)
    targets: list[str] = []
    options: list[str] = []
    place = 0
    while place < len(rest):
        word, place = rest[place], place + 1
        if word in ("--", "-"):
            continue
        if not word.startswith("-") and not (tool == "make" and _ASSIGNED.match(word)):
            targets.append(word)
            continue
        option = joined_command([word])
        if place < len(rest) and "=" not in word and _is_value(module, word, rest[place], values):
            option, place = joined_command([word, rest[place]]), place + 1
        if not NOISE.fullmatch(option) and not (noise is not None and noise.fullmatch(option)):
            options.append(option)
    return CommandParts(tool=tool, action=action, targets=tuple(targets), options=tuple(sorted(dict.fromkeys(options))))


def _is_value(tool: str, option: str, word: str, values: frozenset[str]) -> bool:
    """Return whether a word is likely the value of the option before it; `values` are those known to take one."""
    if _NUMBER.fullmatch(word):
        return True
    if word.startswith("-"):
        return False
    known = tool in WITH_ACTIONS or tool in ALONE_ENOUGH or tool in DONE_BY_OPTION
    return option in values or (option.startswith("--") and not known and not is_path(word))


def _placed(command: CommandParts, here: str, root: str) -> CommandParts:
    """Return the command with its paths as they are seen from the root, where they lie below it."""
    return CommandParts(
        tool=_path(command.tool, here, root) if "/" in command.tool else command.tool,
        action=command.action,
        targets=tuple(_path(target, here, root) if is_path(target) else target for target in command.targets),
        options=command.options,
    )


def _path(word: str, here: str, root: str) -> str:
    name, colons, test = word.partition("::")
    path = canonical_path(name)
    if here and not path.startswith(("~", "$")) and "://" not in path:
        path = normpath(join(here, path))
    top = canonical_path(root) if root else ""
    if top and path.startswith(f"{top}/"):
        path = path[len(top) + 1 :]
    return f"{path}{colons}{test}"
