"""Runners: which commands test, build or lint, in the common tools of many languages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from types import MappingProxyType

from helix.model.evidence import EvidenceKind

TEST, BUILD, LINT = EvidenceKind.TEST, EvidenceKind.BUILD, EvidenceKind.LINT

_TESTERS = """
    pytest py.test pytest-3 unittest nose2 nosetests tox nox stestr trial behave jest vitest mocha ava jasmine tap wtr
    ctest rspec cucumber phpunit pest codecept paratest bats busted prove gotestsum ginkgo cargo-nextest elm-test
    runtests runtests.py
"""
_COMPILERS = "gcc g++ cc c++ clang clang++ javac rustc ghc kotlinc scalac valac"
_LINTERS = """
    flake8 pylint mypy dmypy pyright basedpyright bandit eslint eslint_d tsc vue-tsc stylelint oxlint standard xo
    golangci-lint staticcheck revive rubocop standardrb phpstan psalm phpcs shellcheck hadolint yamllint markdownlint
    markdownlint-cli2 ktlint detekt swiftlint dialyzer hlint luacheck selene clang-tidy cppcheck tflint codespell
    actionlint vale vulture pydocstyle pycodestyle pyflakes ty pyrefly credo djlint
"""
_WHOLE: Mapping[str, EvidenceKind] = MappingProxyType(
    {name: kind for names, kind in ((_TESTERS, TEST), (_COMPILERS, BUILD), (_LINTERS, LINT)) for name in names.split()}
)
"""Tools that do one thing, whatever follows their name."""

_BY_ARGUMENT: Mapping[str, Mapping[str, EvidenceKind]] = MappingProxyType(
    {
        "go": {"test": TEST, "build": BUILD, "install": BUILD, "vet": LINT},
        "cargo": {"test": TEST, "nextest": TEST, "t": TEST, "build": BUILD, "b": BUILD, "check": BUILD, "clippy": LINT},
        "dotnet": {"test": TEST, "build": BUILD, "publish": BUILD, "msbuild": BUILD},
        "mvn": {"test": TEST, "verify": TEST, "integration-test": TEST, "package": BUILD, "install": BUILD}
        | {"compile": BUILD, "test-compile": BUILD, "checkstyle:check": LINT, "spotbugs:check": LINT},
        "gradle": {
            "test": TEST,
            "check": TEST,
            "build": TEST,
            "assemble": BUILD,
            "classes": BUILD,
            "compileJava": BUILD,
        }
        | {"lint": LINT, "ktlintCheck": LINT, "connectedAndroidTest": TEST, "testDebugUnitTest": TEST},
        "sbt": {"test": TEST, "testOnly": TEST, "testQuick": TEST, "compile": BUILD, "package": BUILD},
        "ant": {"test": TEST, "junit": TEST, "compile": BUILD, "build": BUILD, "jar": BUILD},
        "lein": {"test": TEST, "midje": TEST, "compile": BUILD, "uberjar": BUILD},
        "mix": {"test": TEST, "compile": BUILD, "credo": LINT, "dialyzer": LINT},
        "rebar3": {"eunit": TEST, "ct": TEST, "compile": BUILD, "dialyzer": LINT},
        "stack": {"test": TEST, "build": BUILD},
        "cabal": {"test": TEST, "build": BUILD},
        "swift": {"test": TEST, "build": BUILD},
        "xcodebuild": {"test": TEST, "build": BUILD},
        "flutter": {"test": TEST, "build": BUILD, "analyze": LINT},
        "dart": {"test": TEST, "compile": BUILD, "analyze": LINT},
        "bazel": {"test": TEST, "build": BUILD},
        "buck2": {"test": TEST, "build": BUILD},
        "meson": {"test": TEST, "compile": BUILD},
        "zig": {"test": TEST, "build": BUILD},
        "dune": {"test": TEST, "runtest": TEST, "build": BUILD},
        "crystal": {"spec": TEST, "build": BUILD},
        "nimble": {"test": TEST, "build": BUILD},
        "deno": {"test": TEST, "check": LINT, "lint": LINT, "compile": BUILD},
        "bun": {"test": TEST, "build": BUILD},
        "node": {"--test": TEST},
        "playwright": {"test": TEST},
        "cypress": {"run": TEST},
        "karma": {"start": TEST},
        "ng": {"test": TEST, "e2e": TEST, "build": BUILD, "lint": LINT},
        "nx": {"test": TEST, "e2e": TEST, "build": BUILD, "lint": LINT},
        "turbo": {"test": TEST, "build": BUILD, "lint": LINT},
        "react-scripts": {"test": TEST, "build": BUILD},
        "next": {"build": BUILD, "lint": LINT},
        "vite": {"build": BUILD},
        "webpack": {"build": BUILD},
        "biome": {"check": LINT, "lint": LINT, "ci": LINT},
        "forge": {"test": TEST, "build": BUILD},
        "hardhat": {"test": TEST, "compile": BUILD},
        "rails": {"test": TEST, "test:system": TEST, "spec": TEST},
        "artisan": {"test": TEST},
        "manage.py": {"test": TEST, "check": LINT},
        "django-admin": {"test": TEST, "check": LINT},
        "terraform": {"validate": LINT, "test": TEST},
        "helm": {"lint": LINT},
        "docker": {"build": BUILD},
        "ruff": {"check": LINT},
        "pre-commit": {"run": LINT},
        "cmake": {"--build": BUILD},
        "luarocks": {"test": TEST},
        "hatch": {"test": TEST, "build": BUILD},
        "maturin": {"build": BUILD, "develop": BUILD},
        "uv": {"build": BUILD},
        "poetry": {"build": BUILD},
        "sqlfluff": {"lint": LINT},
    }
)
"""Tools that do many things, by the argument that says which."""

_MANY_GOALS = frozenset({"mvn", "gradle", "sbt", "ant", "nx", "turbo", "xcodebuild"})
"""Tools that take several goals in one run, each perhaps behind the name of a module."""

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

_TARGETED = frozenset({"make", "gmake", "just", "task", "rake", "ninja", "composer", "npm", "yarn", "pnpm", "invoke"})
"""Tools that run targets which a project names itself."""
_PACKAGE_SCRIPTS = frozenset({"npm", "yarn", "pnpm", "bun", "composer"})
_TARGETS = (
    (TEST, re.compile(r"(?:.*[:_.-])?(?:tests?|check|specs?|e2e|unit|integration|pytest|jest|ci|t)(?:[:_.-].*)?")),
    (
        LINT,
        re.compile(
            r"(?:.*[:_.-])?(?:lint|typecheck|type-check|types|tsc|vet|eslint|ruff|mypy|clippy|style)(?:[:_.-].*)?"
        ),
    ),
    (BUILD, re.compile(r"(?:.*[:_.-])?(?:build|compile|all|dist|bundle)(?:[:_.-].*)?")),
)

_ASIDE = frozenset(
    {"--version", "--help", "-h", "-V", "--collect-only", "--co", "--listTests", "--list", "-list", "-N", "--show-only"}
    | {"--fixtures", "--markers", "--init", "--showConfig", "--print-config", "--dry-run", "--watch", "--watchAll"}
    | {"-DskipTests", "-Dmaven.test.skip=true", "--no-run", "--passWithNoTests=true", "--setup-plan"}
)
"""Options with which a tool says something, waits or leaves the work out, and its end says nothing of the work."""

_WITH_VALUE = frozenset(
    {"-n", "-k", "-u", "-g", "-s", "-e", "-p", "-C", "-w", "-F", "--signal", "--kill-after", "--with", "--python"}
    | {"--group", "--extra", "--package", "--project", "--directory", "--filter", "--prefix", "--workspace", "--cwd"}
    | {"-v", "--volume", "--name", "--network", "--entrypoint", "--env-file", "--platform", "--profile"}
)
"""Options before a command that take the next word for their own."""
_PREFIXES = frozenset(
    {"sudo", "nice", "time", "nohup", "command", "exec", "stdbuf", "ionice", "xvfb-run", "env", "setsid"}
)
_RUNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "uv": ("run",),
        "poetry": ("run",),
        "pipenv": ("run",),
        "pdm": ("run",),
        "rye": ("run",),
        "hatch": ("run",),
        "pixi": ("run",),
        "bundle": ("exec",),
        "pnpm": ("exec", "dlx"),
        "yarn": ("exec", "dlx"),
        "npm": ("exec", "x"),
        "mise": ("exec", "x"),
        "direnv": ("exec",),
        "coverage": ("run",),
    }
)
"""Tools that run what follows the word."""
_VERSIONED = re.compile(r"(?:python|pypy)[\d.]*|ruby[\d.]*|node|php[\d.]*")
_OPTION = re.compile(r"-.*", re.DOTALL)
_GIT_VALUE = frozenset({"-C", "-c", "--git-dir", "--work-tree"})


def recognised(words: Sequence[str]) -> EvidenceKind | None:
    """Return what a command does for the work, by its words; None where it is none of the known, or only talks."""
    plain = bare(words)
    if not plain or _ASIDE & set(plain):
        return None
    name, rest = plain[0], plain[1:]
    if name in ("tox", "nox") and "-l" in rest:
        return None
    if name in _WHOLE:
        return _WHOLE[name]
    if name in _CHECKING:
        return LINT if _CHECKING[name] & set(rest) else None
    if name == "cargo" and rest[:1] == ["fmt"]:
        return LINT if "--check" in rest else None
    if name == "dotnet" and rest[:1] == ["format"]:
        return LINT if "--verify-no-changes" in rest else None
    if name == "ruff" and rest[:1] == ["format"]:
        return LINT if {"--check", "--diff"} & set(rest) else None
    known = _BY_ARGUMENT.get(name)
    if known is not None and (found := _by_argument(name, known, rest)) is not None:
        return found
    return _of_target(name, rest) if name in _TARGETED or name in _PACKAGE_SCRIPTS else _of_script(words)


def git_verb(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return git's subcommand and what follows it; an empty one where the command is not git's."""
    plain = bare(words)
    if not plain or plain[0] != "git":
        return "", []
    rest = plain[1:]
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in _GIT_VALUE else rest[1:]
    return (rest[0], rest[1:]) if rest else ("", [])


def bare(words: Sequence[str]) -> list[str]:
    """Return a command without what only starts it (`uv run`, `npx`, `timeout 60`, `python -m`) and without path."""
    left = list(words)
    for _ in range(8):
        if not left:
            return []
        shorter = _step(left)
        if shorter == left:
            return [_name(left[0]), *left[1:]]
        left = shorter
    return left


def _step(words: list[str]) -> list[str]:
    name, rest = _name(words[0]), words[1:]
    if name in _PREFIXES:
        return _past_options(rest)
    if name == "timeout":
        return _past_options(rest)[1:]
    if name in ("npx", "bunx", "uvx", "pipx"):
        return _past_options(rest[1:] if name == "pipx" and rest[:1] == ["run"] else rest)
    if name == "bun" and rest[:1] in (["x"], ["run"]) and len(rest) > 1:
        return rest[1:] if rest[0] == "x" else words
    if name in _RUNS and rest and rest[0] in _RUNS[name]:
        return _past_options(rest[1:], module=name == "coverage")
    if name == "docker-compose":
        return _in_container(["compose", *rest]) or words
    if name == "docker" and rest[:1] in (["compose"], ["exec"], ["run"]):
        return _in_container(rest) or words
    if _VERSIONED.fullmatch(name) and rest:
        return _script(name, rest) or words
    return words


def _script(name: str, rest: list[str]) -> list[str] | None:
    """Return the module or script that an interpreter is told to run as the command that it is."""
    place = 0
    while place < len(rest) and _OPTION.fullmatch(rest[place]):
        if rest[place] in ("-m", "-mpytest") or (rest[place] == "--test" and name == "node"):
            break
        if rest[place] in ("-c", "-e", "-", "-l", "-r"):
            return None
        place += 2 if rest[place] in ("-W", "-X") else 1
    left = rest[place:]
    if left[:1] == ["-m"]:
        module = left[1:2]
        return ["uv", *left[1:]] if module == ["build"] else left[1:] or None
    if left and name.startswith(("python", "pypy", "php", "ruby")) and not left[0].startswith("-"):
        return left
    return None


def _in_container(rest: list[str]) -> list[str] | None:
    words = rest[1:] if rest[0] == "compose" else rest
    if rest[0] == "compose":
        words = _past_options(words)
    if words[:1] == ["build"]:
        return None
    if words[:1] not in (["exec"], ["run"]):
        return None
    return _past_options(words[1:])[1:] or None  # less the container's name


def _past_options(words: Sequence[str], module: bool = False) -> list[str]:
    """Return the words behind leading options and assignments."""
    left = list(words)
    while left and (left[0].startswith("-") or re.fullmatch(r"[A-Za-z_]\w*=.*", left[0], re.DOTALL)):
        if left[0] == "--":
            return left[1:]
        if module and left[0] == "-m":
            return left[1:]
        left = left[2:] if left[0] in _WITH_VALUE else left[1:]
    return left


def _name(word: str) -> str:
    name = PurePosixPath(word.replace("\\", "/")).name
    name = re.sub(r"\.(?:exe|cmd|bat|js|phar)$", "", name)
    return {"gradlew": "gradle", "mvnw": "mvn", "mvnd": "mvn"}.get(name, name)


def _by_argument(tool: str, known: Mapping[str, EvidenceKind], rest: Sequence[str]) -> EvidenceKind | None:
    """Return what the argument says that names the work; of several goals of a build tool, the strongest."""
    if tool in _MANY_GOALS:
        if "-x" in rest:  # a task of Gradle's that is left out, the tests as a rule
            rest = [word for word in rest if word not in ("-x", *_after(rest, "-x"))]
            known = {**known, "build": BUILD, "check": LINT}
        goals = [word if word in known else word.rpartition(":")[2] for word in rest]
        return min((known[goal] for goal in goals if goal in known), key=(TEST, BUILD, LINT).index, default=None)
    for place, word in enumerate(rest):
        if word in known:
            return known[word]
        if not word.startswith(("-", "+")) and (place == 0 or rest[place - 1] not in _WITH_VALUE):
            return None
    return None


def _after(words: Sequence[str], option: str) -> list[str]:
    return [word for before, word in pairwise(words) if before == option]


def _of_script(words: Sequence[str]) -> EvidenceKind | None:
    """Return what a project's own script does, by its name: `./test.sh`, `scripts/lint`."""
    script = words[1] if len(words) > 1 and _name(words[0]) in ("bash", "sh") else words[0]
    if "/" not in script or script.startswith("/"):
        return None
    stem = PurePosixPath(script).stem.replace("run_", "run-")
    return next((kind for kind, pattern in _TARGETS if pattern.fullmatch(stem)), None)


def _of_target(name: str, rest: Sequence[str]) -> EvidenceKind | None:
    words = rest[2:] if name == "yarn" and rest[:1] == ["workspace"] else rest
    left = [
        word
        for place, word in enumerate(words)
        if not word.startswith("-") and "=" not in word and (place == 0 or words[place - 1] not in _WITH_VALUE)
    ]
    if {"-n", "--just-print", "--question"} & set(rest) and name in ("make", "gmake", "ninja"):
        return None
    if name in _PACKAGE_SCRIPTS:
        if left[:1] in (["run"], ["run-script"]):
            left = left[1:]
        elif left[:1] and left[0] in (
            "install",
            "i",
            "ci",
            "add",
            "publish",
            "pack",
            "link",
            "init",
            "update",
            "audit",
        ):
            return None
    elif not left:
        return BUILD if name in ("make", "gmake", "ninja") else None
    for kind, pattern in _TARGETS:
        if left and any(pattern.fullmatch(word) for word in (left[:1] if name in _PACKAGE_SCRIPTS else left)):
            return kind
    return None
