"""Command words: what is known of tools, so that two ways of typing the same command can be told to be one."""

from __future__ import annotations

import re
from collections.abc import Mapping

from helix.text.command_line.tools import BY_ARGUMENT, DO_ONE_THING, DONE_BY_OPTION, FORMATTERS, WORDS_TOO
from helix.text.spotting.typed_commands import SUBCOMMANDS
from helix.text.word_lists import words

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
NO_SUBJECT = words(
    ". : alias break cd continue echo eval exit export false popd printf read return set shift sleep "
    "source test true type ulimit umask unset wait [ [[ local declare pwd pushd clear history trap"
)
WRAPPERS: Mapping[str, frozenset[str]] = {
    "sudo": words("-u -g -h -p -C"),
    "env": words("-u -C -S"),
    "time": words("-f -o"),
    "nice": words("-n"),
    "ionice": words("-c -n"),
    "nohup": frozenset(),
    "command": frozenset(),
    "exec": words("-a"),
    "builtin": frozenset(),
    "stdbuf": words("-i -o -e"),
    "setsid": frozenset(),
    "xvfb-run": words("-s -n"),
    "chronic": frozenset(),
    "timeout": words("-s -k"),
    "npx": words("-p --package"),
    "pnpx": frozenset(),
    "bunx": frozenset(),
    "uvx": words("--from --with"),
    "doas": words("-u"),
    "strace": words("-e -o -p"),
    "watch": words("-n"),
    "xargs": words("-n -P -I -L -d"),
    "unbuffer": frozenset(),
    "caffeinate": words("-t"),
}
"""Words before a command that do not change what it is, with those of their options that take a value."""
RUNNERS = {
    ("uv", "run"),
    ("poetry", "run"),
    ("pdm", "run"),
    ("pipenv", "run"),
    ("rye", "run"),
    ("hatch", "run"),
    ("bundle", "exec"),
    ("pnpm", "exec"),
    ("yarn", "exec"),
    ("npm", "exec"),
    ("pnpm", "dlx"),
    ("yarn", "dlx"),
    ("conda", "run"),
    ("mamba", "run"),
    ("pixi", "run"),
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
VALUES: Mapping[str, frozenset[str]] = {
    "pytest": words(
        "-k -m -n -p -c -o -W -r --tb --maxfail --cov --rootdir --ignore --deselect --durations --timeout "
        "--junitxml --confcutdir --numprocesses --import-mode --log-level"
    ),
    "git": words("-C -c -m --message -b -B --git-dir --work-tree --author -F"),
    "make": words("-C -f -j --jobs"),
    "docker": words("-f --file -p -v -e -t --tag --name -w -u --platform --target --network"),
    "npm": words("--prefix -w --workspace"),
    "pnpm": words("-C --dir --filter -F"),
    "yarn": words("--cwd"),
    "cargo": words("-p --package --manifest-path --features --bin --test --example -j --jobs --target"),
    "go": words("-run -count -timeout -o -tags -bench"),
    "kubectl": words("-n -f -l -o --namespace --context"),
    "python": words("-W -X"),
    "mvn": words("-pl -f -P"),
    "gradle": words("-p -P -x --tests"),
    "ctest": words("-R -j"),
    "curl": words("-X -H -d -o -u -b -c -A"),
    "ssh": words("-p -i -l"),
    "ninja": words("-C -j -f"),
    "pip": words("-r -c -i --index-url --extra-index-url -t --target"),
    "node": words("-r --require"),
    "mypy": words("--config-file -p -m"),
    "ruff": words("--config --select --ignore"),
    "tox": words("-e -c"),
    "nox": words("-s -e -f"),
    "jest": words("-t -c --config"),
    "vitest": words("-t -c --config"),
    "unittest": words("-s -p -t -k --start-directory --pattern --top-level-directory"),
    "flake8": words("--config --select --ignore --extend-ignore --exclude --max-line-length --format -j"),
    "pylint": words("--rcfile --disable --enable -j -f"),
    "pyright": words("-p --project --pythonpath --pythonversion --level"),
    "black": words("-l --line-length -t --target-version --config --exclude --include"),
    "isort": words("--profile -l --line-length --settings-path"),
    "eslint": words("-c --config --ext --rule -f --format --max-warnings"),
    "prettier": words("--config --parser --ignore-path"),
    "golangci-lint": words("-c --config -E --enable -D --disable --timeout"),
    "terraform": words("-var -var-file -target -backend-config -out -chdir"),
    "dotnet": words("-c --configuration -f --framework -r --runtime -o --output -p --project --filter --logger -v"),
    "cmake": words("-S -B -G -C -j --target -t --config --preset --parallel"),
    "phpunit": words("--filter --testsuite -c --configuration"),
    "rspec": words("-e --example -t --tag -f --format"),
    "mocha": words("-g --grep -r --require -c --config"),
}
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
