"""Shell: a line is read as bash reads it, and what is no line of bash is read as far as it goes, in bounded time."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helix.text.command_line.parser import (
    LONGEST_LINE,
    MOST_COMMANDS,
    AndOr,
    Command,
    Compound,
    Group,
    Line,
    List,
    Pipeline,
    Simple,
    commands,
    joined_command,
    read,
    simple_commands,
)
from tests.sampling import some

BASH = shutil.which("bash")
ACCEPTS = r"""
while IFS= read -r -d '' line; do
    if (eval "f() { if x; then
$line
fi
}") </dev/null 2>/dev/null; then echo yes; else echo no; fi
done
"""
"""Has bash read each line, and run none: it stands where nothing calls it."""
_PIECES = """
    a b true false ! && || ; | & ( ) { } if then else elif fi while until do done for select in case esac X=1 > >> 2>&1
    < <<< &> |& ;; f() function time # $(x) `y` 'q' "s" $(( $( ` " ' ${ a=( >( <( 3> {q}>
"""
PIECES = (*_PIECES.split(), "\n")
"""What lines are put together from; `[[` and `((` have grammars of their own, which are not followed."""

_HOSTILE = """
    ( $( { ` ' " <<a~ a_ \\ if_ (( [[_ ${ a| a&& case_x_in_ $(( a=( <( !_ function_f_ ;; \0 a;b&&c||d|e;~ "$( <<'a'~$(
    for_
    x()_{ ((a x()_ "${ ${x:-" "` X=1_ ~ # "$(a)"_ $((1))_ coproc_ $((a)(b) ((a)(b) $(<<a~ esac_)
"""
HOSTILE = tuple(piece.replace("_", " ").replace("~", "\n") for piece in _HOSTILE.split())


def bash_accepts(lines: Sequence[str]) -> list[bool]:
    assert BASH is not None
    lines_in = "".join(f"{line}\0" for line in lines).encode()
    told = subprocess.run([BASH, "-c", ACCEPTS], input=lines_in, capture_output=True, check=True)
    return [word == b"yes" for word in told.stdout.split()]


def soup(draw: random.Random) -> str:
    joint = " " if draw.random() < 0.8 else ""
    return "a " + joint.join(draw.choice(PIECES) for _ in range(draw.randint(1, 8)))


def grown(draw: random.Random, depth: int) -> str:
    """Return a list of commands that bash accepts."""
    joints = [draw.choice([" && ", " ||\n", "; ", " | ", " & ", "\n"]) for _ in range(draw.randint(0, 2))]
    first = draw.choice(["", "", "! "]) + _command(draw, depth)
    return first + "".join(joint + _command(draw, depth) for joint in joints)


def _command(draw: random.Random, depth: int) -> str:
    if depth == 0 or draw.random() < 0.3:
        simple = ["a 'b c'", 'X=1 a "$(b)"', "a >x 2>&1 b", "2>x a", "X=1", "a $((1 + (2)))", "a <(b) <<< c"]
        return draw.choice(simple)
    inner, other = grown(draw, depth - 1), grown(draw, depth - 1)
    shapes = [
        *(f"( {inner}\n)", f"{{ {inner}\n}} 2>x", f"if {inner}\nthen {other}\nelse {inner}\nfi"),
        f'a "$({inner}\n)" `b`',
        *(f"for x in a $b; do {inner}\ndone", f"while {inner}\ndo {other}\ndone >x", f"f() {{ {inner}\n}}"),
        *(f"case $x in a | b) {inner}\n;; *) ;; esac", f"[[ -f x ]] && {inner}", f"(( 1 )) || {inner}"),
    ]
    return draw.choice(shapes)


@pytest.mark.impure
@pytest.mark.skipif(BASH is None, reason="no bash here to compare with")
@settings(max_examples=8)
@given(st.integers(0, 2**32))
def test_what_is_read_for_certain_bash_accepts(seed: int) -> None:
    draw = random.Random(seed)
    lines = [soup(draw) for _ in range(100)]
    assert [
        line for line, accepted in zip(lines, bash_accepts(lines), strict=True) if read(line).certain > accepted
    ] == []


@pytest.mark.impure
@pytest.mark.skipif(BASH is None, reason="no bash here to compare with")
@settings(max_examples=8)
@given(st.integers(0, 2**32))
def test_what_bash_accepts_is_read_for_certain(seed: int) -> None:
    draw = random.Random(seed)
    lines = [grown(draw, 2) for _ in range(40)]
    accepted = [line for line, well in zip(lines, bash_accepts(lines), strict=True) if well]
    assert len(accepted) == len(lines)
    assert [line for line in accepted if not read(line).certain] == []


def one(*words: str) -> Simple:
    return Simple(words)


@pytest.mark.parametrize(
    ("line", "node"),
    [
        ("a && b 2>&1 | c", AndOr((("", one("a")), ("&&", Pipeline((one("b"), one("c")), False))))),
        ("a || b && c", AndOr((("", one("a")), ("||", one("b")), ("&&", one("c"))))),
        ("! a | b", Pipeline((one("a"), one("b")), True)),
        ("time ! a", Pipeline((one("a"),), True)),
        ("a >x b 2>/dev/null c", one("a", "b", "c")),
        ("( a )", Group(List(((one("a"), False),)), own_shell=True)),
        ("{ a; } > x", Group(List(((one("a"), False),)), own_shell=False)),
        ("X=1 Y=(a b) c", Simple(("c",), ("X=1", "Y=(a b)"))),
        ("[[ -f x && $y =~ ^(a|b)$ ]]", Compound("[[")),
        ("(( a < b ))", Compound("((")),
        ("cat <<A <<'B C'\n(\nA\n'\nB C\n", Simple(("cat",), (), True)),
        ("a 'b '\\''c' \"d \\\" $(e \"f g\")\" $'h'", one("a", "b 'c", 'd " $(e "f g")', "h")),
        ("a $(cat <<'E'\ndon't (\nE\n) b", one("a", "$(cat <<'E'\ndon't (\nE\n)", "b")),
        ("a # b && 'c", one("a")),
        ("a \\\n b", one("a", "b")),
        ("a ${b:-'}'} c#d", one("a", "${b:-'}'}", "c#d")),
        ("echo if then }", one("echo", "if", "then", "}")),
        ("'if' a", one("if", "a")),
    ],
)
def test_a_line_is_a_tree_by_the_grammar_of_the_shell(line: str, node: object) -> None:
    assert read(line) == Line(List(((node, False),)), True)  # type: ignore[arg-type]


def test_what_runs_behind_and_what_a_document_holds_is_told() -> None:
    line = "a && b & cat <<E | c; d\nif (\nE\ne"
    body = (
        (AndOr((("", one("a")), ("&&", one("b")))), True),
        (Pipeline((Simple(("cat",), (), True), one("c")), False), False),
        *((one(name), False) for name in "de"),
    )
    assert read(line) == Line(List(body), True)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("cd a && (cd b; x); y", [("x", "a/b", False), ("y", "a", False)]),
        ("cd a & x; cd b | y; z", [("x", "", False), ("y", "", True), ("z", "", False)]),
        ("x | { y; z; }", [("x", "", False), ("y", "", True), ("z", "", True)]),
        ("for i in a; do x; done; if y; then z; fi", [("x", "", False), ("y", "", False), ("z", "", False)]),
        ("echo it's done && x", [("echo it's done", "", False), ("x", "", False)]),
        ("x $(y && z", [("x $", "", False), ("y", "", False), ("z", "", False)]),
        ("fi; x) && y }", [("x", "", False), ("y }", "", False)]),
        (
            "Get-Item C:/x | Where-Object { $_.A -gt 1 }",
            [("Get-Item C:/x", "", False), ("Where-Object { $_.A -gt 1 }", "", True)],
        ),
        ("if exist x (del y) else (z)", [("exist x", "", False), ("del y", "", False), ("z", "", False)]),
        ("& 'C:/x y.exe' -a; dir", [("C:/x y.exe -a", "", False), ("dir", "", False)]),
    ],
)
def test_the_commands_of_a_line_stand_in_order_with_their_folders(
    line: str, found: list[tuple[str, str, bool]]
) -> None:
    assert [(" ".join(part.words), part.folder, part.piped) for part in simple_commands(line)] == found


ODD = st.text(max_size=200) | st.lists(
    st.sampled_from([*PIECES, "\0", "<<E", "E\n", "\\", "[[", "((", "))"]), max_size=60
).map("".join)


@given(ODD)
@example("\0")
@example('if ($a -eq \'b\') { Write-Host "c: $($d.e)" } else { & "f" }')
@example('for %%f in (*.txt) do @echo "%%f" >> out.txt & if errorlevel 1 goto :end')
def test_odd_text_is_read_as_far_as_it_goes(text: str) -> None:
    found = read(text)
    assert all(len(simple.words) <= len(text) for simple, _ in commands(found.body))
    simple_commands(text)


@given(st.lists(st.text(max_size=12).filter(lambda word: word == " ".join(word.split())), max_size=6))
def test_joined_words_are_taken_apart_into_the_same_words(words: list[str]) -> None:
    assert simple_commands(joined_command(["x", *words])) == (Command(words=("x", *words)),)


@pytest.mark.parametrize("piece", some(HOSTILE, 15))
def test_hostile_lines_are_read_in_steps_that_grow_as_they_do(piece: str) -> None:
    for size in (1_000, 30_000):
        line = piece * (size // len(piece))
        assert calls_of(line) < 200 * min(len(line), LONGEST_LINE)
    assert not read(piece * 30_000).certain


@pytest.mark.parametrize("line", ["a; ", "a && ", "a | ", "{ a; }; ", "$(a) ; ", "$(a; "])
def test_of_a_line_of_very_many_commands_the_first_are_read(line: str) -> None:
    found = read(line * 3_000)
    assert not found.certain
    assert len(list(commands(found.body))) <= MOST_COMMANDS
    assert calls_of(line * 3_000) < calls_of(line * MOST_COMMANDS) + 1_000


def test_a_line_of_as_many_commands_as_are_read_is_certain() -> None:
    assert read("; ".join(["a"] * MOST_COMMANDS)).certain
    assert not read("; ".join(["a"] * (MOST_COMMANDS + 1))).certain


def calls_of(line: str) -> int:
    """Return how many calls it takes to read a line: what a clock would tell, were nothing else running."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        read(line)
    finally:
        sys.setprofile(None)
    return calls
