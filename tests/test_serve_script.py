"""Holds what scripts/serve promises: an empty store gets the history of where it was started; Ctrl-C ends it all."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SUBJECTS = (
    "Add the invoice parser for supplier files",
    "Fix rounding of totals in foreign currency invoices",
    "Move the retry policy of the mail gateway into settings",
)

pytestmark = pytest.mark.skipif(
    Path(sys.prefix) != ROOT / ".venv", reason="scripts/serve would set up another environment: run scripts/test"
)


@pytest.fixture
def environment(tmp_path: Path, models_path: Path) -> dict[str, str]:
    """The environment of a person who has the model, and nothing else of Helix yet."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "models").symlink_to(models_path)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HELIX_", "GIT_"))}
    author = {f"GIT_{who}_{what}": "ada@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return kept | author | {"HELIX_HOME": str(home)}


@pytest.fixture
def repository(tmp_path: Path, environment: dict[str, str]) -> Path:
    folder = tmp_path / "a project"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=folder, env=environment, check=True)
    for subject in SUBJECTS:
        (folder / "notes.txt").write_text(subject, "utf-8")
        subprocess.run(["git", "add", "--all"], cwd=folder, env=environment, check=True)
        subprocess.run(["git", "commit", "--quiet", "--message", subject], cwd=folder, env=environment, check=True)
    return folder


@pytest.fixture
def serving(repository: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    script = subprocess.Popen(
        [ROOT / "scripts/serve"], cwd=repository, env=environment, stderr=subprocess.PIPE, text=True
    )
    late = threading.Timer(240, script.kill)  # what never says that it is ready is not waited for without end
    late.start()
    yield script
    late.cancel()
    script.terminate()
    script.communicate(timeout=60)


def test_serve_takes_in_the_history_of_the_folder_it_was_started_in_and_leaves_nothing_running(
    serving: subprocess.Popen[str], repository: Path, environment: dict[str, str]
) -> None:
    said = ""
    assert serving.stderr is not None
    for line in serving.stderr:
        said += line
        if "Ctrl-C" in line:
            break
    assert re.search(r"Helix answers at http://127\.0\.0\.1:\d+", said), said
    suggested = re.search(r'a recall to try: .+ recall "(.+)"', said)
    assert suggested and suggested[1] == "Move the retry policy of the mail"

    helix = [ROOT / ".venv/bin/helix"]
    recall = subprocess.run(
        [*helix, "recall", suggested[1]], cwd=repository, env=environment, capture_output=True, text=True, check=True
    )
    assert SUBJECTS[2] in recall.stdout.splitlines()[1]

    serving.send_signal(signal.SIGINT)
    assert serving.wait(timeout=60) == 0
    status = subprocess.run(
        [*helix, "status"], cwd=repository, env=environment, capture_output=True, text=True, check=False
    )
    assert "no daemon runs" in status.stdout + status.stderr
