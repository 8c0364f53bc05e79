"""Status: what is said of the commands of a line for certain is what they did when bash ran it."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix.command_outcome.exit_status import can_fail, parse, told_by_status, words_of
from tests.sampling import draws

BASH = shutil.which("bash")
RUN = r"""
m() { echo "ran $N $1 $2" >&3; return $2; }
export -f m
exec 3>&1
export N=0
while IFS= read -r -d '' line; do
    (eval "$line") >/dev/null 2>&1 </dev/null
    echo "end $N $?"
    N=$((N + 1))
done
"""
"""Runs each line in a shell of its own; `m NAME STATUS` leaves a mark that it was run, and ends with that status."""


class Lines:
    """Draws lines of commands that leave marks."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._marks = 0
        self._keeps = False

    def line(self) -> str:
        self._marks = 0
        self._keeps = False
        return self._list(2)

    def _list(self, depth: int) -> str:
        return self._joined(self._and_or, depth, ["; ", "\n", " & "])

    def _and_or(self, depth: int) -> str:
        return self._joined(self._pipeline, depth, [" && ", " || "])

    def _pipeline(self, depth: int) -> str:
        return self._draw.choice(["", "", "", "! "]) + self._joined(self._command, depth, [" | "])

    def _joined(self, part: object, depth: int, joints: Sequence[str]) -> str:
        assert callable(part)
        found = str(part(depth))
        for _ in range(self._draw.choice([0, 0, 0, 1, 2])):
            found += self._draw.choice(joints) + str(part(depth))
        return found

    def _command(self, depth: int) -> str:
        chance = self._draw.random()
        if depth and chance < 0.08:
            return f"( {self._list(depth - 1)} )"
        if depth and chance < 0.16:
            return f"{{ {self._list(depth - 1)}; }}"
        if depth and chance < 0.18:
            inner = self._list(0).replace("exit ${PIPESTATUS[0]}", "exit").replace("exit $rc", "exit")
            return f"bash {self._draw.choice(['', '-e ', '-o pipefail ', '-eo pipefail '])}-c '{inner}'"
        if self._marks >= 4 or chance < 0.5:
            plain = ["true", "false", "true", "false", "set -e", "set -o pipefail", "set -euo pipefail", "set +e"]
            plain += ["exit 3", "exit 0", "exit", "exit $?", "cat <<< x", "exit ${PIPESTATUS[0]}"]
            kept = ["rc=$?", "rc=${PIPESTATUS[0]}", "rc=1", "mkdir -p /"]
            said = self._draw.choice([*plain, *kept, *(["exit $rc"] * 6 if self._keeps else [])])
            self._keeps |= said.startswith("rc=")
            return said
        self._marks += 1
        return f"m {self._marks} {self._draw.choice([0, 0, 1])}{self._draw.choice(['', '', ' >/dev/null', ' 2>&1'])}"


def really(lines: Sequence[str]) -> tuple[list[int], list[dict[str, bool]]]:
    """Run lines, and return the status of each, and how the commands that it ran ended."""
    assert BASH is not None
    lines_in = "".join(f"{line}\0" for line in lines).encode()
    output = subprocess.run([BASH, "-c", RUN], input=lines_in, capture_output=True, check=True).stdout.decode()
    ended, ran = dict[int, int](), defaultdict[int, dict[str, bool]](dict)
    for kind, number, *said in map(str.split, output.splitlines()):
        if kind == "end":
            ended[int(number)] = int(said[0])
        else:
            ran[int(number)][said[0]] = said[1] == "0"
    return [ended[place] for place in range(len(lines))], [ran[place] for place in range(len(lines))]


@pytest.mark.skipif(BASH is None, reason="no bash here to compare with")
@settings(max_examples=draws(2))
@given(st.integers(0, 2**32))
def test_what_is_certain_of_a_line_is_what_its_commands_did(seed: int) -> None:
    source = Lines(random.Random(seed))
    lines = [source.line() for _ in range(120)]
    certain = 0
    for line, status, ran in zip(lines, *really(lines), strict=True):
        whole = parse(line)
        assert whole is not None, line
        said = words_of(whole)
        marks = [words for words in said if words[:1] == ("m",)]
        for mark in marks:
            for place, end in told_by_status(whole, status == 0, mark.__eq__).items():
                assert ran.get(said[place][1]) is (end == "passed"), (line, status, mark)
                certain += 1
        if {"failed", "suspect"} & set(told_by_status(whole, status == 0, marks.__contains__).values()):
            assert not all(ran.values()), (line, status)
    assert certain > 20


@pytest.mark.parametrize(
    ("line", "status", "told_of"),
    [
        ("set -e; pytest && echo fine; ls", 0, {}),
        ("set -e; pytest; ls", 0, {0: "passed"}),
        ("set -e; (pytest; ls) || true", 0, {}),
        ("pytest && ./deploy &", 0, {}),
        ("x=$(./ask) && pytest", 1, {}),
        ("pytest || exit 1", 0, {0: "passed"}),
        ("pytest || exit 1; ls", 1, {}),
        ("pytest || exit 1; echo fine", 1, {0: "failed"}),
        ("pytest; exit $?", 1, {0: "failed"}),
        ("exec ./serve; pytest", 1, {}),
        ("cat > a.ini <<'EOF'\n[pytest]\nEOF\npytest", 0, {0: "passed"}),
        ("cd a && pytest 2>&1 | tail -3", 0, {}),
        ("(set -o pipefail; pytest | tail) && echo fine", 0, {0: "passed"}),
        ("set -o pipefail | true; pytest | tail", 0, {}),
        ("bash -eo pipefail -c 'pytest | tail; echo fine'", 0, {0: "passed"}),
        ("set -e; bash -c 'pytest; echo fine'", 0, {}),
        ("time pytest", 1, {0: "failed"}),
        ("time (cd a; ! pytest)", 1, {0: "passed"}),
    ],
)
def test_a_status_says_what_the_rules_of_the_shell_let_it_say(line: str, status: int, told_of: dict[int, str]) -> None:
    whole = parse(line)
    assert whole is not None
    places = [place for place, words in enumerate(words_of(whole)) if words == ("pytest",)]
    found = told_by_status(whole, status == 0, lambda words: words == ("pytest",))
    assert {places.index(place): end for place, end in found.items()} == told_of


@pytest.mark.parametrize(
    "line",
    [
        *("if pytest; then ls; fi", "for x in a; do pytest; done", "f() { pytest; }; f", "[[ -f x ]] && pytest"),
        *("python - <<EOF\nEOF", "pytest )", "pytest 'x", "eval pytest", "trap ls EXIT; pytest", "", "exit $status"),
        *('bash -c \'bash -c "bash -c \\"bash -c pytest\\""\'', "pytest " * 4_000),
    ],
)
def test_what_decides_by_itself_what_runs_is_not_followed(line: str) -> None:
    assert parse(line) is None


def test_a_command_whose_end_is_hidden_cannot_make_its_line_fail() -> None:
    hidden = {line: parse(line) for line in ("pytest | tail", "pytest || true", "pytest; ls", "pytest & ls")}
    assert [line for line, whole in hidden.items() if whole is None or can_fail(whole, ("pytest",).__eq__)] == []
    for line in ("pytest", "! pytest", "set -e; pytest; ls", "pytest || exit 1", "cd a && pytest"):
        whole = parse(line)
        assert whole is not None and can_fail(whole, ("pytest",).__eq__), line
