"""A failure with its fix, found in what an agent did."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.command_outcome.command_run import CommandRun
from helix.command_outcome.fixes import Fix, FixTracker, failure_words
from helix.model.action import Action

ROOT = "/p"
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
ERROR = "E   ModuleNotFoundError: No module named 'yaml'\n1 failed"


def ran(command: str, status: int | None = 0, output: str = "", number: int = 0) -> CommandRun:
    at = BEGIN + timedelta(minutes=number)
    return CommandRun(id=f"a{number}", command=command, folder=ROOT, exit_status=status, output=output, at=at)


def edited(*files: str) -> Action:
    return Action(files=files, folder=ROOT, failed=False)


def found(*actions: Action) -> tuple[Fix, ...]:
    tracker = FixTracker()
    return tuple(fix for action in actions if (fix := tracker.take(action)) is not None)


def test_a_failure_is_remembered_with_what_was_done_before_it_passed() -> None:
    (fix,) = found(
        ran("pytest tests/test_a.py", 1, ERROR, 1),
        edited("/p/src/a.py"),
        ran("pip install pyyaml", number=2),
        ran("pytest tests/test_a.py -q", number=3),
    )
    assert fix.command == "pytest tests/test_a.py"
    assert "No module named 'yaml'" in fix.error
    assert (fix.files, fix.commands) == (("src/a.py",), ("pip install pyyaml",))
    assert (fix.failed_id, fix.passed_id, fix.times) == ("a1", "a3", 1)
    assert (fix.failed_at, fix.passed_at) == (BEGIN + timedelta(minutes=1), BEGIN + timedelta(minutes=3))
    assert "`pytest tests/test_a.py` fails: " in fix.trigger
    assert fix.resolution == "It passed after changing src/a.py and running `pip install pyyaml`."
    assert fix.attributes == {"command": fix.command, "error": fix.error}


def test_what_passes_by_itself_was_chance() -> None:
    assert not found(ran("pytest", 1, ERROR), ran("pytest"))
    assert not found(ran("pytest tests", 1, ERROR), ran("ls -la"), ran("git diff"), ran("pytest tests"))


def test_a_command_that_never_passes_has_no_fix() -> None:
    assert not found(ran("make all", 2, "error: no rule"), edited("/p/Makefile"), ran("make all", 2, "error: no rule"))


def test_only_what_passed_is_part_of_a_fix() -> None:
    (fix,) = found(
        ran("make all", 2, "error: a"), ran("apt-get install gcc", 100), ran("pip install x"), ran("make all")
    )
    assert fix.commands == ("pip install x",)


@pytest.mark.parametrize(
    ("command", "mends"),
    [
        ("pytest -q", False),
        ("npm run lint", False),
        ("pytest -q | tail -5", False),
        ("ruff check --fix .", True),
        ("jest -u", True),
        ("sed -i s/a/b/ a.py", True),
        ("sed -i s/a/b/ a.py && pytest -q", True),
        ("cat > a.py", True),
    ],
)
def test_tests_and_linters_mend_nothing_but_where_files_are_changed(command: str, mends: bool) -> None:
    told = found(ran("make all", 2, "error: a"), ran(command), ran("make all"))
    assert [fix.commands for fix in told] == ([(command,)] if mends else [])


def test_each_error_of_one_command_has_what_mended_it() -> None:
    first, fix = found(
        ran("make all", 2, "error: first thing missing"),
        edited("/p/a.c"),
        ran("make all", 2, "error: another one broke"),
        edited("/p/b.c"),
        ran("make all"),
    )
    assert (first.files, first.passed, "first thing" in first.error) == (("a.c",), False, True)
    assert first.resolution == "That was mended after changing a.c."
    assert (fix.files, fix.passed, "another one" in fix.error) == (("b.c",), True, True)


@pytest.mark.parametrize(
    "output",
    [
        "/opt/conda/bin/python: No module named pytest",
        "Traceback (most recent call last):\n  ...\nKeyError: 'H'",
        "zsh:1: no matches found: a?b",
        "    raise KeyError(key)\n  File \"/p/a.py\", line 3, in find\n    one()\nKeyError: 'H'",
    ],
)
def test_a_failure_that_a_pipe_hides_is_told_by_the_shells_or_interpreters_own_words(output: str) -> None:
    (fix,) = found(
        ran("pytest tests/a.py | tail -5", 0, output),
        ran("pip install pytest"),
        ran("pytest tests/a.py"),
    )
    assert fix.commands == ("pip install pytest",)
    assert not found(
        ran("pytest tests/a.py | tail -5", 0, "all is well"), ran("pip install x"), ran("pytest tests/a.py")
    )


def test_an_error_is_mended_where_a_hidden_status_comes_without_it() -> None:
    failed = ran("pytest tests/a.py | head -5", 0, "/usr/bin/python: No module named pytest", 1)
    install = ran("pip install pytest 2>&1 | tail -1", 0, "Successfully installed pytest", 2)
    (fix,) = found(failed, install, ran("pytest tests/a.py | tail -5", 0, "4 passed in 0.1s", 3))
    assert fix.resolution == "That was mended after running `pip install pytest 2>&1 | tail -1`."
    assert (fix.error, fix.passed_id) == ("ModuleNotFoundError: No module named 'pytest'", "a3")
    for unsure in (
        ran("pytest tests/a.py | tail -5", 0, failed.output, 3),
        ran("pytest tests/a.py | tail -5", 0, "", 3),
        ran("pytest tests/a.py | grep passed", 0, "4 passed", 3),
        ran("pytest tests/a.py | tail -5", None, "4 passed", 3),
    ):
        assert not found(failed, install, unsure)
    tried = ran("pip install pytest | tail -1", 0, "ERROR: No matching distribution found for pytest", 2)
    assert not found(failed, tried, ran("pytest tests/a.py | tail -5", 0, "4 passed in 0.1s", 3))


def test_an_error_that_comes_again_is_counted_and_all_that_was_tried_is_told() -> None:
    (fix,) = found(
        ran("make all", 2, "error: a"),
        edited("/p/a.c"),
        ran("make all", 2, "error: a"),
        edited("/p/b.c"),
        ran("make all"),
    )
    assert (fix.times, fix.files) == (2, ("a.c", "b.c"))


@pytest.mark.parametrize("action", [ran("pytest", None), CommandRun(command="pytest", failed=True, interrupted=True)])
def test_what_has_not_ended_or_was_interrupted_says_nothing(action: Action) -> None:
    assert not found(ran("pytest tests", 1, ERROR), edited("/p/a.py"), action)
    assert not found(action, edited("/p/a.py"), ran("pytest"))


def test_a_failed_edit_changed_nothing() -> None:
    failed = Action(files=("/p/a.py",), folder=ROOT, failed=True)
    assert not found(ran("make all", 2, "error: a"), failed, ran("make all"))


@pytest.mark.parametrize(
    ("command", "looks"),
    [
        ("ls -la", True),
        ("cd src && grep -rn x . | head -5", True),
        ("git status", True),
        ("git log --oneline | cat", True),
        ("/bin/cat a", True),
        ("cat a 2>/dev/null", True),
        ("git commit -m x", False),
        ("sed -i s/a/b/ f", False),
        ("sed -n 1,5p f", True),
        ("echo x > f", False),
        ("cat a >> b", False),
        ("pytest", False),
        ("ls; rm -rf build", False),
        ("", False),
    ],
)
def test_commands_that_only_look(command: str, looks: bool) -> None:
    assert CommandRun(command=command).only_looks is looks


def test_what_is_recorded_of_a_failure_tells_command_status_and_error() -> None:
    words = failure_words(ran("cd /p && pytest tests -q", 1, ERROR))
    assert words.startswith("`pytest tests` failed with exit status 1: ")
    assert "No module named 'yaml'" in words


def test_no_secret_gets_into_what_is_remembered() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (fix,) = found(
        ran(f"deploy --token {token} prod", 1, f"error: bad token {token}"),
        ran(f"export GITHUB_TOKEN={token}; pip install x"),
        ran(f"deploy --token {token} prod"),
    )
    assert token not in f"{fix.trigger} {fix.resolution} {fix.attributes}"


_ACTIONS = st.lists(
    st.one_of(
        st.builds(
            ran, st.sampled_from(["make all", "pytest tests", "ls", "pip install x"]), st.sampled_from([0, 1, None])
        ),
        st.builds(edited, st.sampled_from(["/p/a.py", "/p/b.py", "/elsewhere/c.py"])),
    ),
    max_size=25,
)


@given(_ACTIONS)
def test_a_fix_always_stands_between_a_failure_and_the_same_command_passing(actions: list[Action]) -> None:
    numbered = [
        ran(one.command, one.exit_status, f"error: {one.command}", at) if one.command else one
        for at, one in enumerate(actions)
    ]
    for fix in found(*numbered):
        first = next(at for at, one in enumerate(numbered) if one.id == fix.failed_id)
        last = next(at for at, one in enumerate(numbered) if one.id == fix.passed_id)
        between = numbered[first:last]
        assert first < last
        assert numbered[first].command == numbered[last].command == fix.command
        assert numbered[first].exit_status == 1 and numbered[last].exit_status == 0
        assert not [one for one in between if one.command == fix.command and one.exit_status == 0]
        assert fix.times == sum(one.command == fix.command and one.exit_status == 1 for one in between)
        assert fix.files or fix.commands
