"""Holds which commands a rule names, and at which commands it is worth reading."""

from __future__ import annotations

import pytest

from helix.text.command_line.parser import simple_commands
from helix.text.command_line.rule_commands import (
    CommandRole,
    is_about,
    keys_of_file,
    keys_of_line,
    keys_of_rule,
    named_commands,
    named_files,
)


@pytest.mark.parametrize(
    ("rule", "at", "not_at"),
    [
        (
            "never run plain pytest, use `uv run pytest -n 4`",
            [
                "pytest",
                "pytest -x tests | tail",
                "python -m pytest tests/a.py",
                "cd src && pytest",
                "coverage run -m pytest -x",
            ],
            ["uv run pytest -n 4", "uv run pytest tests -n 4 -x", "grep pytest setup.cfg", "pytest --help"],
        ),
        ("Don't `helm upgrade` by hand.", ["helm upgrade web ./chart"], ["helm list", "helm upgrade --help"]),
        (
            "Run everything a second time with `just test --slow`. CI does.",
            ["just test tests/a.py"],
            ["just test --slow", "just --list", "just lint"],
        ),
        ("Black alone is not enough, CI runs mypy too.", ["black . --check && git push"], ["mypy src"]),
        ("The tests run with `make test`, which sets the ports.", ["pytest tests"], ["make test", "make lint"]),
        (
            "Build with `./configure --enable-debug && make -j8`; a release build hides what the tests need.",
            ["make"],
            ["make test", "make -j8", "./configure --enable-debug"],
        ),
        ("Releases never move the `live` branch.", ["git push origin live"], ["git push origin main", "git log live"]),
        ("`docs/cli.md` is generated: never edit it.", ["sed -i s/a/b/ docs/cli.md"], ["cat docs/cli.md"]),
        (
            "Files `tests/*_live.py` never run without a server.",
            ["pytest tests/db/test_a_live.py"],
            ["pytest tests/b.py"],
        ),
    ],
)
def test_a_rule_stands_at_the_commands_it_is_against_and_not_at_those_it_asks_for(
    rule: str, at: list[str], not_at: list[str]
) -> None:
    assert [line for line in at if not is_about(rule, simple_commands(line))] == []
    assert [line for line in not_at if is_about(rule, simple_commands(line))] == []
    assert all(set(keys_of_rule(rule)) & set(keys_of_line(simple_commands(line))) for line in at), (
        "found without reading every rule"
    )


def test_prose_and_code_of_a_language_name_no_command_that_is_run() -> None:
    assert named_commands("We write `with db.atomic():` and `from a import b`; go through the list and make sure") == ()
    assert named_commands("Use `npm ci`, never `npm install`.")[1].role is CommandRole.AGAINST


@pytest.mark.parametrize(
    ("rule", "files"),
    [
        ("starlette/routing.py must not import from starlette/applications.py.", 2),
        ("Edit docs/conf.py and `setup.cfg`, then look at src/app.module.ts", 3),
        ("See https://example.org/docs/x.html for Node.js, either/or, and 1/2.5", 0),
        ("Nothing is freed twice in src/man.c: the cache of src/ult.c keeps it, see src/x.c:12", 2),
        ("Never edit po/*.po or lib/gnulib_*.m4 by hand", 2),
        ("a/*b*c*d/*.py and **/*.py", 0),
        ("setup.py is generated", 0),
        ("a/" * 3_000, 0),
    ],
)
def test_a_file_below_a_folder_is_named_in_prose_and_a_name_alone_in_code(rule: str, files: int) -> None:
    assert len(named_files(rule)) == files


def test_a_name_of_signs_alone_ends_in_few_ways() -> None:
    assert len(keys_of_file("docs/" + "_" * 4_000 + "live.py")) < 40
    assert "*_live.py" in keys_of_file("docs/" + "-" * 4_000 + "_live.py")
    assert len(keys_of_line(simple_commands("pytest docs/" + "." * 7_000 + "x.py"))) < 40
