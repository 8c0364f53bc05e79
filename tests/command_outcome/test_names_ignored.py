"""Names ignored: the rules of `.helixignore` and the folder say which words name a file, and not how they look."""

from __future__ import annotations

from pathlib import Path

import pytest

from helix.command_outcome.command_run import CommandRun
from helix.command_outcome.ignored import names_ignored, tells_of_ignored
from helix.helixignore import rules_of
from tests.counting import calls_of

RULES = "secret/\n.env\n*.pem\nLICENSE-KEYS\nprivate notes/\n/infra/prod.tfvars\nid_rsa\ncredentials\nbuild\n*.log\n"


@pytest.fixture
def root(tmp_path: Path) -> str:
    for name in ("secret/plan.md", "private notes/prices.md", ".env", "credentials", "infra/prod.tfvars", "src/a.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x", "utf-8")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".helixignore").write_text(RULES, "utf-8")
    return str(tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "ssh-keygen -y -f id_rsa",
        "ssh -i id_rsa host",
        "cat credentials",
        "python3 check.py LICENSE-KEYS",
        "python3 check.py 'private notes/prices.md'",
        r"cat private\ notes/prices.md",
        "ENV_FILE=.env npm run check",
        "KEYS=id_rsa ./deploy",
        "dotenv -f.env run",
        "gcc -Isecret/include a.c",
        "terraform plan -var-file=infra/prod.tfvars",
        "cd infra && terraform plan -var-file prod.tfvars",
        "cd src && cat ../secret/plan.md",
        "grep -c x < secret/plan.md",
        "make -C secret",
    ],
)
def test_a_command_names_a_file_whatever_its_name_looks_like(root: str, line: str) -> None:
    run = CommandRun(command=line, folder=root, root=root, output="error: it failed", exit_status=1)
    assert names_ignored(run)


@pytest.mark.parametrize(
    "line",
    [
        "npm run build",
        "make build",
        "docker build -t shop src",
        'node -e "console.log(1)"',
        "pytest src/a.py -k credentials_expire",
        "git commit -m 'no keys in the notes'",
        "echo the private part",
    ],
)
def test_a_command_that_names_no_excluded_file_is_kept(root: str, line: str) -> None:
    assert not names_ignored(CommandRun(command=line, folder=root, root=root, output="", exit_status=0))


@pytest.mark.parametrize(
    "words",
    [
        "id_rsa",
        "LICENSE-KEYS",
        "`credentials`",
        "credentials",
        "private notes/prices.md",
        "the folder secret/",
        "_secret/plan.md_",
        "„secret/plan.md“",
        "~~secret/plan.md~~",
        "secret/plan.md:12",
        "server.pem",
        "infra/prod.tfvars",
    ],
)
def test_a_text_names_a_file_that_a_rule_says_or_that_is_there(root: str, words: str) -> None:
    assert tells_of_ignored(f"Look: {words} tells the price", root)


@pytest.mark.parametrize(
    "words", ["Run the build first", "It is a secret plan", "Log in with the notes of the meeting", "See src/a.py"]
)
def test_plain_words_name_no_file_in_a_text(root: str, words: str) -> None:
    assert not tells_of_ignored(words, root)


def test_the_rules_of_a_folder_are_read_once_for_all_words_of_a_command(root: str) -> None:
    line = " && ".join(f"cat file{number} src/other{number}" for number in range(80))
    run = CommandRun(command=line, folder=root, root=root, output="error: x", exit_status=1)
    assert calls_of(rules_of, lambda: names_ignored(run)) <= 4
