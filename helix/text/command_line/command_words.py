"""Command words: what is known of tools, so that two ways of typing the same command can be told to be one.

Of 5,533 commands of recorded runs 2,764 have a form that an earlier run had, 2,388 without these words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from helix.text.command_line.tools import BY_ARGUMENT, DO_ONE_THING, DONE_BY_OPTION, FORMATTERS, WORDS_TOO
from helix.text.spotting.typed_commands import SUBCOMMANDS
from helix.text.word_lists import word_list, word_lists, words

ALONE_ENOUGH = (
    (frozenset(DO_ONE_THING) - WORDS_TOO)
    | FORMATTERS
    | words("bazel cmake gradle just make meson ninja playwright pre-commit rake sphinx-build webpack")
)
"""Tools that do one definite thing when nothing but options is said; of all others a bare name says nothing."""
WITH_ACTIONS = (
    frozenset(SUBCOMMANDS)
    | (frozenset(BY_ARGUMENT) - frozenset(DONE_BY_OPTION))
    | words("alembic dvc flask pixi prisma rye vercel wrangler")
)
"""Tools whose first word says what they are to do."""
NESTED = words("build-tools compose exec run pip tool pr issue repo release workflow") | {"run-script"}
"""Subcommands that say what is done only with the word behind them."""
NO_SUBJECT = word_list("text/command_line/command_words", "no_subject")
WRAPPERS = word_lists("text/command_line/command_words", "wrappers")
RUNNERS = {
    (tool, verb) for verb, tools in word_lists("text/command_line/command_words", "runners").items() for tool in tools
}
RUNNER_VALUES = words("--with --extra --group --python -p --project --directory -n --name --env-file --package")
GIVEN_CODE = {"python": "-c", "node": "-e", "perl": "-e", "ruby": "-e", "php": "-r", "bun": "-e", "tsx": "-e"}
"""Options by which an interpreter is given what to run."""
SHELLS = words("bash sh zsh dash ksh")
ALIASES = {
    "pip3": "pip",
    "mvnw": "mvn",
    "gradlew": "gradle",
    "docker-compose": "docker",
    "gmake": "make",
    "nodejs": "node",
    "py.test": "pytest",
    "python": "python",
}
VALUES = word_lists("text/command_line/command_words", "values")
NOISE = re.compile(
    r"--(?:quiet|verbose|silent|colou?r(?:=.*)?|no-colou?r|progress|no-progress|tb=.*|no-header|no-summary|durations=.*"
    r"|showlocals|exitfirst|maxfail=.*|numprocesses=.*|jobs=.*|log-level=.*|loglevel=.*)"
)
NOISE_OF: Mapping[str, re.Pattern[str]] = {
    "pytest": re.compile(r"-(?:q+|v+|s|x|l|r\w*|n\S*|[qvsxl]{2,})(?: .*)?|--(?:tb|maxfail|durations|numprocesses) .*"),
    **dict.fromkeys(("make", "ninja", "ctest", "cargo"), re.compile(r"-(?:j\d*|s|k|v|q)(?: .*)?|--jobs .*")),
    **dict.fromkeys(
        ("npm", "pnpm", "yarn", "pip", "ruff", "mypy", "go", "jest", "gradle", "mvn", "terraform", "unittest"),
        re.compile(r"-[qvs]+"),
    ),
    "git": re.compile(r"-(?:m|F) .*|--message(?: .*|=.*)|--no-pager|-C .*"),
}
"""Options, with their values, that change how a command talks and how fast it is, not what it does."""
