"""Typed commands: what is typed at a prompt, told from the same words in a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from helix.model.entity import EntityKind
from helix.text.spotting.found import FoundEntity
from helix.text.spotting.known_words import FUNCTION_WORDS, words
from helix.text.spotting.packages import packages_after

SUBCOMMANDS = {
    head: words(names)
    for heads, names in (
        (
            "git",
            "add am apply bisect blame branch checkout cherry-pick clean clone commit config describe diff fetch "
            "format-patch gc grep init log ls-files merge mv notes pull push rebase reflog remote reset restore revert "
            "rev-list rev-parse rm shortlog show sparse-checkout stash status submodule switch tag worktree",
        ),
        (
            "npm pnpm yarn",
            "add audit ci dlx exec i init install link outdated pack publish remove run start test update upgrade",
        ),
        ("pip pip3 pipx", "check download freeze install list show uninstall wheel"),
        ("uv", "add build export init lock pip publish python remove run sync tool tree venv"),
        ("poetry pdm pipenv", "add build install lock publish remove run shell update"),
        ("conda mamba", "activate create env install list remove update"),
        ("cargo", "add bench build check clean clippy doc fmt install publish run test tree update"),
        ("go", "fmt generate mod vet"),
        (
            "docker podman",
            "build compose exec images inspect login logs ps pull push rm rmi run start stop system tag volume",
        ),
        ("docker-compose", "build down exec logs ps pull restart run stop up"),
        ("kubectl", "apply config create delete describe exec get logs port-forward rollout scale"),
        ("helm", "install repo rollback template uninstall upgrade"),
        ("terraform tofu", "apply destroy fmt import init output plan state validate"),
        ("apt apt-get", "install purge remove update upgrade"),
        ("brew dnf yum apk pacman", "install uninstall update upgrade"),
        ("gem", "build install uninstall"),
        ("bundle", "exec install"),
        ("systemctl", "daemon-reload disable enable restart start status stop"),
        ("gh", "api auth issue pr release repo run workflow"),
        ("make", "distclean install uninstall"),
        ("dotnet", "add build ef new publish restore run test"),
        ("mvn", "clean compile install package test verify"),
        ("rustup", "component default show target toolchain update"),
        ("helix", "ingest serve"),
        ("manage.py django-admin", "makemigrations migrate runserver shell startapp test"),
    )
    for head in heads.split()
}
"""What makes a command of its head even inside a sentence."""
_ALONE = words(
    "autoreconf awk bash bazel black chmod chown clang clang-tidy cmake coverage cppcheck ctest curl df dig du eslint "
    "flake8 gcc gdb golangci-lint grep hatch isort jest jq kill ln ls meson mkdir mypy mysql nc ninja node nox npx "
    "nslookup openssl perl ping pre-commit psql pylint pyright pytest python python3 redis-cli rsync ruby ruff scp sed "
    "sphinx-build sqlite3 ssh strace tar tox tsc uvicorn valgrind vitest webpack wget xargs"
)
HEADS = frozenset(SUBCOMMANDS) | _ALONE
"""Words at which `command_at` is worth a look."""
_ENGLISH = frozenset({"go", "make"})
_ALIASES = {"pip3": "pip", "python3": "python", "i": "install"}
_INSTALLS = frozenset({"add", "i", "install", "get"})
_PACKAGE_HEADS = words(
    "npm pnpm yarn pip pip3 pipx uv poetry pdm pipenv conda mamba cargo go apt apt-get brew dnf yum apk pacman gem"
)

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
        if word in SUBCOMMANDS[head] or (prompted and word not in FUNCTION_WORDS):
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
