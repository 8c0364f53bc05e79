"""Holds the forms of commands: what is the same command has one form, what is another has another."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix.text.command_line.command_forms import Level, forms, redacted_line
from helix.text.command_line.parser import simple_commands
from helix.text.error_lines import signature_of

ROOT = "/home/me/house"


def normal_forms(line: str, folder: str = "") -> tuple[str, ...]:
    return tuple(form.text for form in forms(redacted_line(line), folder=folder))


@pytest.mark.parametrize(
    ("line", "form"),
    [
        ("pytest tests/a.py -q", "pytest tests/a.py"),
        ("PYTHONPATH=. python3.11 -m pytest -x tests/a.py 2>&1 | tail -20", "pytest tests/a.py"),
        ("cd backend && ../.venv/bin/pytest ../tests/a.py > out.txt", "pytest tests/a.py"),
        (f"{ROOT}/.venv/bin/python -m pytest {ROOT}/tests/a.py --tb=short", "pytest tests/a.py"),
        ("timeout 60 uv run --with x pytest ./tests/a.py", "pytest tests/a.py"),
        ("bash -lc 'source .venv/bin/activate && pytest \"tests/a.py\"'", "pytest tests/a.py"),
        ("sudo env A=b nice -n 5 make -j8 all", "make all"),
        ("npm run test -- --watch", "npm test --watch"),
        ("yarn run build", "yarn build"),
        ("docker-compose -f a.yml up -d", "docker compose up -d -f a.yml"),
        ("git -C backend commit -m 'one && two; three'", "git commit"),
        ("python manage.py migrate app", "manage.py migrate app"),
        ("./scripts/check fast", "scripts/check fast"),
        ("bash scripts/check fast", "scripts/check fast"),
        ("python train.py --bs 2 --lr 0.1", "python train.py --bs 2 --lr 0.1"),
        ("python train.py --lr 0.1 --bs 2", "python train.py --bs 2 --lr 0.1"),
        ("cat <<EOF > x\nrm -rf /\nEOF\nmake all # and then\n", "make all"),
        ("if make all; then echo done; fi", "make all"),
        ("npm ci && npm run build", "npm run build"),
        ("find . | xargs -n 1 ruff check", "find ."),
        ("python3 -c 'import yaml; print(1)' | head", "python -c 'import yaml; print(1)'"),
        ("python -W ignore -c 'import yaml'", "python -c 'import yaml' -W ignore"),
        ("python train.py -c fast.yml", "python train.py fast.yml -c"),
        ("node -e 'require(\"zod\")'", "node -e 'require(\"zod\")'"),
    ],
)
def test_what_is_the_same_command_has_one_form(line: str, form: str) -> None:
    assert normal_forms(line, folder=ROOT)[0] == form


@pytest.mark.parametrize(
    "line",
    [
        "git",
        "python",
        "npm",
        "ls",
        "ls -la",
        "cat",
        "cd x",
        "export A=b",
        "A=b",
        "echo pytest tests/a.py",
        "npm run",
        "python /tmp/x.py",
        "pytest /private/var/folders/x/test_a.py",
        "bash /tmp/go.sh fast",
        "$TMPDIR/go",
        "",
    ],
)
def test_a_tool_alone_and_a_script_among_temporary_files_say_nothing(line: str) -> None:
    assert normal_forms(line) == ()


@pytest.mark.parametrize(
    ("line", "form"),
    [
        ("python3 -m unittest", "python -m unittest"),
        ("python -m unittest -v discover -s tests", "python -m unittest discover -s tests"),
        ("yarn", "yarn install"),
        ("yarn --frozen-lockfile", "yarn install --frozen-lockfile"),
        ("bundle", "bundle install"),
        ("npx pyright", "pyright"),
        ("flake8", "flake8"),
        ("golangci-lint run ./pkg/api", "golangci-lint run pkg/api"),
        ("poetry run black --check .", "black . --check"),
        ("npx prettier --check .", "prettier . --check"),
        ("terraform -chdir=infra plan", "terraform plan -chdir=infra"),
        ("dotnet test -c Release src/Api.Tests", "dotnet test src/Api.Tests -c Release"),
        ("cmake --build build -j4", "cmake --build build -j4"),
        ("cmake -S . -B build", "cmake -B build -S ."),
        ("node --test", "node --test"),
        ("pre-commit run --all-files", "pre-commit run --all-files"),
    ],
)
def test_a_bare_tool_is_known_with_what_it_does(line: str, form: str) -> None:
    assert forms(line)[0].text == form
    assert forms(form)[0].text == form


@pytest.mark.parametrize("line", ["yarn --version", "npm run", "pnpm", "cargo", "dotnet", "terraform"])
def test_a_tool_that_is_told_nothing_to_do_has_no_form(line: str) -> None:
    assert forms(line) == ()


def test_a_project_may_lie_among_temporary_files() -> None:
    assert normal_forms("python /tmp/house/x.py", folder="/tmp/house") == ("python x.py",)


def test_shorter_forms_follow_by_how_much_they_say() -> None:
    found = forms("git push --force origin main")
    assert [(form.level, form.text) for form in found] == [
        (Level.WHOLE, "git push origin main --force"),
        (Level.TARGET, "git push origin main"),
        (Level.GENERAL, "git push"),
    ]
    assert "pytest tests/a.py" in normal_forms("pytest tests/a.py::test_one[x] tests/b.py")
    assert "pytest" not in normal_forms("pytest tests/a.py")
    assert "npm run" not in normal_forms("npm run build")


WORDS = st.sampled_from(
    [
        *(
            "pytest",
            "git",
            "npm",
            "run",
            "build",
            "push",
            "python",
            "-m",
            "make",
            "docker",
            "compose",
            "up",
            "uv",
            "cd",
        ),
        *(
            "tests/a.py",
            "./x.sh",
            "a::b",
            "--lr",
            "0.1",
            "-q",
            "-k",
            "--flag",
            "'a b'",
            '"c;d"',
            "&&",
            "|",
            ";",
            "2>&1",
        ),
        *(
            ">",
            "out",
            "$(x)",
            "`y`",
            "(",
            ")",
            "#",
            "\\",
            "'",
            '"',
            "<<EOF",
            "\n",
            "FOO=1",
            "sudo",
            "bash",
            "-c",
            "--",
            "-",
        ),
    ]
)
LINES = st.lists(WORDS | st.text(max_size=6), max_size=14).map(" ".join) | st.text(max_size=60)


@settings(deadline=None)
@given(LINES)
def test_no_line_raises_and_every_form_is_bounded(line: str) -> None:
    assert all(0 < len(form.text) <= 240 for form in forms(line))


BEFORE = st.sampled_from(["", "sudo ", "FOO=1 ", "cd src && ", "timeout 5 ", "uv run ", "time ", "npx ", "make all; "])
TYPED = st.sampled_from(
    ["pytest", "python -m pytest", "git push", "npm run build", "make", "docker compose up", "ruff check", "./go.sh"]
)
WITH = st.lists(
    st.sampled_from(
        [
            *("tests/a.py", "tests/b.py::test_x", "'a b'", "main", "./src", "x.txt"),
            *("-q", "--flag", "--lr 0.1", "-n 4"),
        ]
    ),
    max_size=4,
).map(" ".join)
AFTER = st.sampled_from(["", " 2>&1 | tail -5", " > out.txt", " # a note", "\n", " || true"])


@settings(deadline=None)
@given(BEFORE, TYPED, WITH, AFTER)
def test_a_form_is_its_own_form_whatever_stands_around_it(before: str, typed: str, more: str, after: str) -> None:
    folder = ROOT + "/src" if before.startswith("cd") else ROOT
    around = normal_forms(f"{before}{typed} {more}{after}", folder=ROOT)
    plain = forms(f"{typed} {more}", folder=folder, root=ROOT)
    meant = plain[:1] if before.startswith("cd") else plain  # what is run elsewhere is not what is run here
    assert [form.text for form in meant if form.text not in around] == []
    for form in plain:
        if form.level is Level.WHOLE:
            assert form.text in normal_forms(form.text)


@pytest.mark.parametrize(
    "line", ["cd /elsewhere && make all", "cd ../other; pytest tests/a.py", "git -C /x push origin main"]
)
def test_what_is_run_in_another_project_has_no_form(line: str) -> None:
    assert normal_forms(line, folder=ROOT) == ()


def test_a_path_is_of_the_folder_that_the_line_goes_to() -> None:
    assert "pytest tests/unit -k slow" not in normal_forms("cd sub && pytest tests/unit -k slow", folder=ROOT)
    assert normal_forms("cd sub && pytest tests/unit -k slow", folder=ROOT)[0] == "pytest sub/tests/unit -k slow"


@settings(deadline=None)
@given(
    st.text(max_size=400) | st.lists(st.sampled_from(["Error: x", "E  ", "\n", "File", "fatal: no", "1"])).map("".join)
)
def test_an_error_is_its_own_form_and_nothing_raises(output: str) -> None:
    found = signature_of(output)
    assert "\n" not in found
    assert len(found) <= 260


@pytest.mark.parametrize(
    "line", ["'" * 8000, "$(" * 4000, "<<a\n" * 2000, "a " * 4000, "\\" * 8000, "(" * 8000, "error " * 1500, "1" * 9000]
)
def test_hostile_lines_take_no_time(line: str) -> None:
    begun = time.process_time()
    simple_commands(line)
    forms(line)
    signature_of(line)
    assert time.process_time() - begun < 1.0


@pytest.mark.parametrize(
    ("output", "error"),
    [
        (
            'Traceback (most recent call last):\n  File "/a/b.py", line 3\n'
            "ModuleNotFoundError: No module named 'yaml'\n",
            "ModuleNotFoundError: No module named 'yaml'",
        ),
        ("E   AssertionError: assert 1 == 2\n", "AssertionError: assert 1 == 2"),
        ("error[E0382]: borrow of moved value: `x`\n --> src/main.rs:3:1", "error[E0382]: borrow of moved value: `x`"),
        ("src/a.ts(3,5): error TS2304: Cannot find name 'foo'.", "error TS2304: Cannot find name 'foo'"),
        ("main.c:12:5: error: expected ';' before 'return'", "error: expected ';' before 'return'"),
        ("bash: line 3: foo: command not found", "foo: command not found"),
        ("\x1b[31mfatal: not a git repository\x1b[0m", "fatal: not a git repository"),
        ("ValueError: bad 0x7fff1234 in /home/me/a/b/c.py:33", "ValueError: bad 0x… in c.py"),
        ("npm ERR! code ELIFECYCLE\nnpm ERR! missing script: build", "missing script: build"),
        ("make: *** [Makefile:3: all] Error 1", ""),
        ("error: command failed with exit code 1", ""),
        ('$ biome check .\nerror: script "lint" exited with code 1', ""),
        ("error: recipe `test` failed on line 5 with exit code 1", ""),
        ('error: script "lint" not found', 'error: script "lint" not found'),
        ("3 passed in 0.1s", ""),
        ("", ""),
    ],
)
def test_an_error_is_the_line_that_says_what_went_wrong(output: str, error: str) -> None:
    assert signature_of(output) == error
