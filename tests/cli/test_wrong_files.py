"""What stands in the place of one of Helix's files stops a start with words that name it, or is made anew."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from helix import settings as configuration
from helix.memory.remember.request import StoreRequest
from helix.operations import memories
from helix.service import Helix
from tests.sampling import some
from tests.waiting import UNHURRIED

FORKING = Path(__file__).with_name("forking.py")
ROOT = Path(__file__).resolve().parents[2]
FACTS = 5
WITHOUT_PRIVILEGE = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
"""Before a command of root's: files with mode 0000 are then closed to it, as they are to anybody."""

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="starts daemons by forking")
Run = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a store that was closed well, and with every file that a daemon leaves."""
    home = tmp_path_factory.mktemp("made") / "home"
    settings = configuration.load({"home": home, "embedding_model": "none"}, environ=UNHURRIED, cwd=home.parent)
    with Helix.open(settings) as helix:
        for number in range(FACTS):
            memories.store(
                helix, StoreRequest(trigger=f"unique{number} is known", resolution=f"answer {number}", kind="fact")
            )
        assert helix.store.graph.settle()
    return home


@pytest.fixture(scope="module")
def command(made: Path) -> Iterator[Run]:
    """Run command lines, as somebody whom permissions hold back."""
    before = WITHOUT_PRIVILEGE if os.geteuid() == 0 and shutil.which("setpriv") else ()
    environ = {name: value for name, value in os.environ.items() if not name.startswith("HELIX_")}
    with subprocess.Popen(
        [*before, sys.executable, FORKING],
        cwd=made.parent,
        env={**environ, "HELIX_EMBEDDING_MODEL": "none", "PYTHONPATH": str(ROOT), "HOME": str(made.parent)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as forking:
        assert forking.stdin is not None and forking.stdout is not None

        def run(*arguments: str) -> tuple[int, str]:
            assert forking.stdin is not None and forking.stdout is not None
            forking.stdin.write(json.dumps({"arguments": arguments}) + "\n")
            forking.stdin.flush()
            answer = json.loads(forking.stdout.readline())
            return answer["code"], answer["said"]

        run("--home", str(made), "serve", "--idle-exit", "0.00001")
        yield run
        forking.stdin.close()


@pytest.fixture
def home(made: Path, command: Run, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "home")
    return tmp_path / "home"


def clear(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


def a_folder(path: Path) -> None:
    clear(path)
    path.mkdir()
    (path / "something").write_text("of somebody's", "utf-8")


def a_pipe(path: Path) -> None:
    clear(path)
    os.mkfifo(path)


def noise(path: Path) -> None:
    clear(path)
    path.write_bytes(random.Random(7).randbytes(9_000))
    path.chmod(0o600)


def words_of_elsewhere(path: Path) -> None:
    clear(path)
    path.write_text("пароль" * 8, "utf-8")
    path.chmod(0o600)


def closed(path: Path) -> None:
    if not path.exists():
        path.write_text("", "utf-8")
    path.chmod(0)


def serving(command: Run, home: Path) -> tuple[int, str]:
    code, said = command("--home", str(home), "serve", "--idle-exit", "0.00001")
    assert "Traceback" not in said and "INTERNAL" not in said, said
    return code, said


REFUSED = [
    *[
        (f"store/{name}", way)
        for name in ("journal.db", "journal.db-wal", "lock")
        for way in (a_folder, a_pipe, closed)
    ],
    *[("store/journal.db-shm", way) for way in (a_folder, a_pipe)],
    ("store/journal.db", noise),
    *[("store/token", way) for way in (a_folder, a_pipe, closed, noise, words_of_elsewhere)],
    *[("store/hook-token", way) for way in (a_folder, words_of_elsewhere)],
    *[(f"store/{name}", a_folder) for name in ("daemon.json", "port", "socket")],
    *[("store/logs", way) for way in (a_pipe, closed, noise)],
    *[("config.toml", way) for way in (a_folder, a_pipe, closed, noise)],
    *[("store", way) for way in (a_pipe, closed, noise)],
]
MADE_ANEW = [
    *[("store/memory.image", way) for way in (a_folder, a_pipe, noise, closed)],
    *[("store/journal.mark", way) for way in (a_folder, a_pipe, noise, closed)],
    *[("store/graph.kuzu", way) for way in (a_folder, a_pipe)],
    *[("store/graph.lock", way) for way in (a_folder, closed)],
    *[("store/daemon.json", way) for way in (a_pipe, noise, closed)],
    *[("store/port", way) for way in (noise, words_of_elsewhere)],
    *[("store/lock", way) for way in (noise,)],
    *[(f"store/{name}", a_folder) for name in ("open.html", "starting", "graph.kuzu.wal")],
    *[("confirmed.json", way) for way in (a_folder, noise)],
]


def skip_what_cannot_be_closed(way: Callable[[Path], None]) -> None:
    if way is closed and os.geteuid() == 0 and not shutil.which("setpriv"):
        pytest.skip("nothing is closed to root")


def named(case: object) -> str:
    return case.__name__ if callable(case) else str(case)


@pytest.mark.parametrize(("name", "way"), some(REFUSED, 3), ids=named)
def test_a_file_that_is_none_stops_the_start_with_its_name_and_what_to_do(
    name: str, way: Callable[[Path], None], home: Path, command: Run
) -> None:
    skip_what_cannot_be_closed(way)
    way(home / name)
    code, said = serving(command, home)
    assert code in (2, 5, 9) and str(home / name) in said.splitlines()[0], said
    assert "DISK_FULL" not in said and "hint: " in said, said


@pytest.mark.parametrize(("name", "way"), some(MADE_ANEW, 3), ids=named)
def test_a_file_that_can_be_made_anew_stops_no_start(
    name: str, way: Callable[[Path], None], home: Path, command: Run
) -> None:
    skip_what_cannot_be_closed(way)
    way(home / name)
    code, said = serving(command, home)
    assert code == 0 and "serving" in said, said
    if name == "store/journal.mark":
        assert f"warning: {home / name}" in said, said
    with closing(sqlite3.connect(home / "store" / "journal.db")) as journal:
        (memories,) = journal.execute("SELECT count(*) FROM node WHERE label = 'Memory'").fetchone()
    assert memories == FACTS


@pytest.mark.parametrize("port", ["65536", "-1", "eighty", "1e3", "99999999999999999999"])
def test_an_impossible_port_is_told_of_by_its_setting(port: str, home: Path, command: Run) -> None:
    (home / "config.toml").write_text(f'port = "{port}"\n', "utf-8")
    code, said = serving(command, home)
    assert code == 2 and "port" in said.splitlines()[0], said


@pytest.mark.soak
def test_recover_works_from_a_journal_that_cannot_be_opened(home: Path, command: Run) -> None:
    noise(home / "store" / "journal.db")
    at = ("--home", str(home))
    try:
        code, said = command(*at, "recover")
        assert code == 0 and "is damaged" in said and "taken back" in said, said
        code, said = command(*at, "review", "list")
        assert said.count("is known") == FACTS, said
    finally:
        command(*at, "stop")
