"""Tools: which of them test, build or lint, in the common tools of many languages; what is typed alone and does work.

One table for who reads evidence from a command's end and for who looks up what is remembered of a command.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from helix.model.evidence import EvidenceKind
from helix.text.word_lists import words

TEST, BUILD, LINT = EvidenceKind.TEST, EvidenceKind.BUILD, EvidenceKind.LINT

_TESTERS = """
    pytest py.test pytest-3 unittest nose2 nosetests tox nox stestr trial behave jest vitest mocha ava jasmine tap wtr
    ctest rspec cucumber phpunit pest codecept paratest bats busted prove gotestsum ginkgo cargo-nextest elm-test
    runtests runtests.py
"""
_COMPILERS = "gcc g++ cc c++ clang clang++ javac rustc ghc kotlinc scalac valac msbuild"
_LINTERS = """
    flake8 pylint mypy dmypy pyright basedpyright bandit eslint eslint_d tsc vue-tsc stylelint oxlint standard xo
    golangci-lint staticcheck revive rubocop standardrb phpstan psalm phpcs shellcheck hadolint yamllint markdownlint
    markdownlint-cli2 ktlint detekt swiftlint dialyzer hlint luacheck selene clang-tidy cppcheck tflint codespell
    actionlint vale vulture pydocstyle pycodestyle pyflakes ty pyrefly credo djlint
"""
DO_ONE_THING: Mapping[str, EvidenceKind] = MappingProxyType(
    {name: kind for names, kind in ((_TESTERS, TEST), (_COMPILERS, BUILD), (_LINTERS, LINT)) for name in names.split()}
)
"""Tools that do one thing, unless an option or the first word says that they only talk."""

BY_ARGUMENT: Mapping[str, Mapping[str, EvidenceKind]] = MappingProxyType(
    {
        "go": {"test": TEST, "build": BUILD, "install": BUILD, "vet": LINT},
        "cargo": {"test": TEST, "nextest": TEST, "t": TEST, "llvm-cov": TEST, "tarpaulin": TEST}
        | {"build": BUILD, "b": BUILD, "check": BUILD, "c": BUILD, "clippy": LINT},
        "dotnet": {"test": TEST, "build": BUILD, "publish": BUILD, "msbuild": BUILD},
        "mvn": {"test": TEST, "verify": TEST, "integration-test": TEST, "package": BUILD, "install": BUILD}
        | {"compile": BUILD, "test-compile": BUILD, "checkstyle:check": LINT, "spotbugs:check": LINT},
        "sbt": {"test": TEST, "testOnly": TEST, "testQuick": TEST, "compile": BUILD, "package": BUILD},
        "ant": {"test": TEST, "junit": TEST, "compile": BUILD, "build": BUILD, "jar": BUILD},
        "lein": {"test": TEST, "midje": TEST, "compile": BUILD, "uberjar": BUILD},
        "mix": {"test": TEST, "compile": BUILD, "credo": LINT, "dialyzer": LINT},
        "rebar3": {"eunit": TEST, "ct": TEST, "compile": BUILD, "dialyzer": LINT},
        "stack": {"test": TEST, "build": BUILD},
        "cabal": {"test": TEST, "build": BUILD},
        "swift": {"test": TEST, "build": BUILD},
        "xcodebuild": {"test": TEST, "test-without-building": TEST, "build": BUILD, "build-for-testing": BUILD},
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
        "tsx": {"--test": TEST},
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
        "setup.py": {"test": TEST, "build": BUILD, "build_ext": BUILD},
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

FORMATTERS = words("black clang-format gofmt isort prettier rustfmt yapf")
"""Tools that do one thing, which is to change files unless an option has them only look."""

WORDS_TOO = words("ava behave credo pest prove selene standard tap trial ty vale")
"""Tools of the first table whose names are words of any sentence: alone they are not taken for a command."""

MODULES = frozenset({"unittest"})
"""Tools of the first table that are no command of their own: `python -m` runs them."""

DONE_ALONE: Mapping[str, str] = MappingProxyType({"yarn": "install", "bundle": "install"})
"""What tools that do many things do where nothing says which."""

DONE_BY_OPTION: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        name: frozenset(option for option in does if option.startswith("-"))
        for name, does in BY_ARGUMENT.items()
        if any(option.startswith("-") for option in does)
    }
)
"""Tools that are told by an option what to do: `cmake --build`, `node --test`."""

_LOOKING = words(
    "alias awk basename cat cd cut date df diff dirname du echo env false fd file find grep head history "
    "hostname id jq less ls man more nl printenv printf ps pwd readlink realpath rg sed sleep sort stat tail "
    "test tr tree true type uname uniq wc whereis which whoami yes"
)
_LOOKING_BY_ARGUMENT: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "git": words("status diff log show blame grep rev-parse ls-files describe shortlog reflog check-ignore"),
        "gh": words("view list checks diff status"),
        "docker": words("ps images logs inspect info version top stats"),
        "kubectl": words("get describe logs explain top version"),
        "helm": words("list ls status get history show"),
        "terraform": words("show output version providers"),
        "npm": words("view info ls list outdated why search explain"),
        "pnpm": words("view info ls list outdated why"),
        "yarn": words("info list outdated why"),
        "pip": words("list show freeze"),
        "cargo": words("tree metadata search"),
        "make": words("-n --dry-run --just-print"),
    }
)
_LOOKING_OPTIONS = words("--help -h --version -V --list --dry-run --show --collect-only --list-tests")


def only_looks(tool: str, said: Iterable[str]) -> bool:
    """Return whether a command line, by its tool and its other words, only shows what is there."""
    looking = _LOOKING_OPTIONS | _LOOKING_BY_ARGUMENT.get(tool, frozenset())
    return tool in _LOOKING or not looking.isdisjoint(said)
