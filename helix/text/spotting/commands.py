"""Commands and packages: what is typed at a prompt, and what is installed, imported or pinned."""

from __future__ import annotations

import re
from collections.abc import Iterator

from helix.model.entity import EntityKind
from helix.text.spotting.found import Found
from helix.text.spotting.vocabulary import COMMON, FUNCTION_WORDS

_GIT = (
    "add am apply bisect blame branch checkout cherry-pick clean clone commit config describe diff fetch format-patch gc grep init "
    "log ls-files merge mv notes pull push rebase reflog remote reset restore revert rev-list rev-parse rm shortlog show sparse-checkout "
    "stash status submodule switch tag worktree"
)
_NPM = "add audit ci dlx exec i init install link outdated pack publish remove run start test uninstall update upgrade"
_SUBCOMMANDS = {
    head: frozenset(names.split())
    for heads, names in {
        "git": _GIT,
        "npm pnpm yarn bun": _NPM,
        "pip pip3 pipx": "check download freeze install list show uninstall wheel",
        "uv": "add build export init lock pip publish python remove run sync tool tree venv",
        "poetry pdm pipenv": "add build install lock publish remove run shell update",
        "conda mamba": "activate create env install list remove update",
        "cargo": "add bench build check clean clippy doc fmt install publish run test tree update",
        "go": "build env fmt generate get install list mod run test tool vet work",
        "docker podman": "build compose exec images inspect login logs ps pull push rm rmi run start stop system tag volume",
        "docker-compose": "build down exec logs ps pull restart run stop up",
        "kubectl": "apply config create delete describe exec get logs port-forward rollout scale",
        "helm": "install list repo rollback template uninstall upgrade",
        "terraform tofu": "apply destroy fmt import init output plan state validate",
        "apt apt-get": "install purge remove update upgrade",
        "brew dnf yum apk pacman": "install list remove uninstall update upgrade",
        "gem": "build install list update",
        "bundle": "exec install update",
        "systemctl": "daemon-reload disable enable restart start status stop",
        "gh": "api auth issue pr release repo run workflow",
        "make": "all check clean distclean install test uninstall",
        "dotnet": "add build ef new publish restore run test",
        "mvn": "clean compile install package test verify",
        "rustup": "component default show target toolchain update",
        "helix": "backup config cypher decay doctor edge edges feedback forget get health ingest init list open prune recall rebuild "
        "reembed restore serve stats status stop store",
        "manage.py django-admin": "makemigrations migrate runserver shell startapp test",
    }.items()
    for head in heads.split()
}
_ALONE = frozenset(
    "autoreconf awk bash bazel black chmod chown clang clang-tidy cmake coverage cppcheck ctest curl df dig du flake8 gcc gdb grep hatch "
    "isort jest jq kill ln ls meson mkdir mypy mysql nc ninja node nox npx nslookup openssl perl ping pre-commit psql pylint pyright pytest "
    "python python3 redis-cli rsync ruby ruff scp sed sphinx-build sqlite3 ssh strace tar tox tsc uvicorn valgrind vitest webpack wget "
    "xargs".split()
)
HEADS = frozenset(_SUBCOMMANDS) | _ALONE
_AMBIGUOUS = frozenset({"go", "make"})
"""Heads that are English words too: they need a subcommand unless a prompt or a backtick stands before them."""

_WORD_AFTER = re.compile(r"[ \t]+([a-z][a-z0-9_-]*(?::[a-z][a-z0-9_-]*)*)(?![\w./\\=(@])")
_ARGUMENT_AFTER = re.compile(r"[ \t]+(?:--?[A-Za-z]|[./~]\S|https?:)")
_PROMPT = re.compile(r"(?:^|\n)[ \t]*(?:[$%][ \t]+|[\w@~:/-]{0,40}\$[ \t]+)(?:sudo[ \t]+)?$")
_MODULE = re.compile(r"[ \t]+-m[ \t]+([\w.-]+)")
_INSTALLS = frozenset({"add", "i", "install", "get"})
_NO_PACKAGES = frozenset(
    {"git", "gh", "make", "helm", "kubectl", "docker", "podman", "mvn", "dotnet", "helix", "terraform"}
)
_ARGUMENTS = re.compile(r"(?:[ \t]+[^\s`;|&<>]{1,120}){1,32}")
_SPACED_OPTIONS = frozenset(
    {"-r", "-e", "-c", "-f", "-i", "-t", "--requirement", "--editable", "--index-url", "--target", "--group", "-D"}
    - {"-D"}
)
_PACKAGE = re.compile(
    r"[\"']?(@[a-z0-9][\w.-]*/[a-z0-9][\w.-]*|[A-Za-z0-9][\w.-]*[A-Za-z0-9]|(?:[\w-]+\.)+[a-z]+/[\w./-]+)(?:\[[\w,-]+\])?(?:[=<>~!@^][^\s]*)?[\"']?",
    re.ASCII,
)
_PINNED = re.compile(
    r"(?<![\w.-])([A-Za-z][\w.-]{0,80}[A-Za-z0-9])(?:\[[\w,-]{1,60}\])?(?:==|>=|~=|<=)v?\d+(?:\.\d+)", re.ASCII
)
_VERSIONED = re.compile(r"(@[a-z0-9][\w.-]*/[a-z0-9][\w.-]*|[a-z][a-z0-9._-]*)@[~^]?v?\d+(?:\.[\dx]+)+\S*", re.ASCII)
_IMPORT = re.compile(
    r"^[ \t]*(?:>>>[ \t]+|In \[\d+\]:[ \t]*)?(?:import[ \t]+([A-Za-z_][\w.]*(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*[A-Za-z_][\w.]*(?:[ \t]+as[ \t]+\w+)?)*)[ \t]*;?[ \t]*(?:#.*)?$"
    r"|from[ \t]+([A-Za-z_][\w.]*)[ \t]+import[ \t]+[(\w*])",
    re.ASCII | re.MULTILINE,
)
_MARKED_IMPORT = re.compile(
    r"`(?:import[ \t]+([A-Za-z_][\w.]*)|from[ \t]+([A-Za-z_][\w.]*)[ \t]+import\b)[^`\n]{0,200}`", re.ASCII
)
_JS_IMPORT = re.compile(
    r"(?:\bfrom[ \t]+|\brequire\([ \t]*|\bimport\([ \t]*|^import[ \t]+)['\"]((?:@[\w.-]+/)?[a-z][\w.-]*)(?:/[\w./-]*)?['\"]",
    re.M,
)
_EVERYDAY = frozenset(
    "__future__ abc argparse collections contextlib copy dataclasses datetime enum functools glob hashlib io itertools json logging math "
    "operator os pathlib random re shutil string struct subprocess sys tempfile time traceback types typing unittest warnings fs path util".split()
)
"""Parts of standard libraries that say nothing about the text that imports them."""


def command_at(text: str, start: int, end: int) -> Iterator[Found]:
    """Yield the command, and the packages it installs, whose head is text[start:end]; nothing where it is only a word.

    The name is the head and its subcommand: "git rebase"; "pytest" for `python -m pytest -k x`.
    """
    head = text[start:end]
    typed = _is_typed(text, start)
    if head in ("python", "python3") and (module := _MODULE.match(text, end)):
        inner = module.group(1)
        if inner in HEADS:
            yield from _command(text, start, module.end(), inner, True)
        elif typed:
            yield Found(start, module.end(), EntityKind.COMMAND, f"python -m {inner}")
        return
    yield from _command(text, start, end, head, typed)


def _command(text: str, start: int, end: int, head: str, typed: bool) -> Iterator[Found]:
    after = _WORD_AFTER.match(text, end)
    word = after.group(1) if after else ""
    known = _SUBCOMMANDS.get(head)
    if known is None:
        if typed and (
            text[end : end + 1] in ("`", "\n", "")
            or _ARGUMENT_AFTER.match(text, end)
            or (word and not _at_line_start(text, start))
        ):
            yield Found(start, end, EntityKind.COMMAND, _plain_head(head))
        return
    if after and (word in known or (typed and not _at_line_start(text, start) and word not in FUNCTION_WORDS)):
        name = _plain_head(head)
        yield Found(start, after.end(), EntityKind.COMMAND, f"{name} {'install' if word == 'i' else word}")
        if word in _INSTALLS and head not in _NO_PACKAGES:
            yield from _packages_after(text, after.end(), typed)
    elif typed and head not in _AMBIGUOUS and (_ARGUMENT_AFTER.match(text, end) or text[end : end + 1] == "`"):
        yield Found(start, end, EntityKind.COMMAND, _plain_head(head))


def _plain_head(head: str) -> str:
    return {"pip3": "pip", "python3": "python"}.get(head, head)


def _is_typed(text: str, start: int) -> bool:
    """Tell whether a backtick, a prompt or the start of a line stands before `start`."""
    before = text[start - 1 : start]
    return before in ("", "`") or _at_line_start(text, start) or bool(_PROMPT.search(text, max(0, start - 60), start))


def _at_line_start(text: str, start: int) -> bool:
    line = text.rfind("\n", max(0, start - 9), start) + 1
    return (line > 0 or start < 9) and not text[line:start].strip()


def _packages_after(text: str, end: int, typed: bool) -> Iterator[Found]:
    arguments = _ARGUMENTS.match(text, end)
    skip = False
    for word in re.finditer(r"\S+", arguments.group()) if arguments else ():
        token = word.group().rstrip(".,:)")
        if skip or token.startswith("-"):
            skip = token in _SPACED_OPTIONS
            continue
        match = _PACKAGE.fullmatch(token)
        if match is None or match.group(1).lower() in FUNCTION_WORDS | COMMON:
            return
        yield Found(end + word.start(), end + word.end(), EntityKind.PACKAGE, match.group(1).lower())
        if not typed or token != word.group():
            return


def packages_in(text: str) -> Iterator[Found]:
    """Yield the packages that are imported or pinned to a version; a Python import counts by its first name."""
    if "import" in text:
        for match in _IMPORT.finditer(text):
            for part in (match.group(1) or match.group(2)).split(","):
                yield from _imported(match.start(), match.end(), part.split()[0].partition(".")[0])
        for match in _MARKED_IMPORT.finditer(text):
            yield from _imported(match.start(), match.end(), (match.group(1) or match.group(2)).partition(".")[0])
    if "require(" in text or "import" in text:
        for match in _JS_IMPORT.finditer(text):
            yield from _imported(match.start(1), match.end(1), match.group(1))
    if "=" in text:
        for match in _PINNED.finditer(text):
            yield Found(match.start(), match.end(), EntityKind.PACKAGE, match.group(1).lower())


def package_in(word: str) -> str | None:
    """Return the package of a word such as `lodash@4.17.21`."""
    match = _VERSIONED.fullmatch(word)
    return match.group(1) if match else None


def _imported(start: int, end: int, name: str) -> Iterator[Found]:
    if name and name not in _EVERYDAY:
        yield Found(start, end, EntityKind.PACKAGE, name.lower())
