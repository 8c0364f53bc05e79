"""Fixtures shared by all tests: real stores in temporary folders, with the shipped hash embedder or the real model."""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from helix import settings as configuration
from helix.graph import process
from helix.journal.postgres.postgres_server import Server
from helix.model.speaker import MARKS, SAYS_SO
from helix.providers import install
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store.store import Store
from helix.store.writer import Writer
from helix.strands import sealed
from tests.deciding import twice_decided
from tests.forks import Fork, forks_of
from tests.postgres_cluster import running
from tests.sampling import DRAWN, DRAWN_IN_A_SOAK
from tests.victims import Victims
from tests.waiting import UNHURRIED

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
PURE = tuple(
    TESTS / place
    for place in (
        *("agents/answers", "model", "plugin", "recall", "text"),
        *(f"agents/{name}.py" for name in ("experiment/test_intervals", "hook_events/test_bounds")),
        "agents/hook_events/test_claude_code.py",
        *(f"agents/outcomes/{name}.py" for name in ("test_uses", "test_verdicts")),
        *(f"agents/{name}.py" for name in ("tasks/test_dag", "tasks/test_task_state", "test_afterwards")),
        *(f"api/{name}.py" for name in ("test_api_scalars", "test_schema_snapshot")),
        *(f"client_settings/test_{name}.py" for name in ("json_text", "client_formats")),
        "cli/test_columns.py",
        *(f"command_outcome/test_{name}.py" for name in ("evidence", "fixes", "taking_back")),
        *(f"ingest/test_{name}.py" for name in ("commit_messages", "note_sections", "read_jsonl", "read_notes")),
        *(f"memory/test_{name}.py" for name in ("by_model", "consolidate", "contradict", "derive")),
        *(f"memory/test_{name}.py" for name in ("extract", "foreground", "gate", "model_extract")),
        *(f"memory/test_{name}.py" for name in ("reinforce", "salience")),
        *(f"providers/test_{name}.py" for name in ("packing", "vector_cache", "worker_pool")),
        *(f"store/test_{name}.py" for name in ("catalogue", "snapshot_file", "matrix", "projection")),
    )
)
"""Where no test opens a store, starts a process, listens or loads a model: `--fast` runs these."""
assert not [place for place in PURE if not place.exists()], "a place of PURE is gone"
IMPURE = ("subprocess.Popen", "os.fork", "os.posix_spawn", "socket.bind", "sqlite3.connect")
"""What no pure test may do, by Python's names for it; the graph is a process, too."""
MOST_PROCESSES = 4
"""Each loads the models for itself and holds some 800 MB by the end of a run."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="run the long tests too, and draw new examples")
    parser.addoption("--twice", action="store_true", help="have every decision taken twice, and the second one count")
    parser.addoption("--postgres", action="store_true", help="keep the journals of all stores on PostgreSQL")
    parser.addoption("--fast", action="store_true", help="run the pure tests alone: no store, process, port or model")


_pure_now = False


def _forbid(event: str, _: tuple[object, ...]) -> None:
    # A store that a whole session shares has threads of its own, which go on meanwhile.
    if _pure_now and event in IMPURE and threading.current_thread() is threading.main_thread():
        raise RuntimeError(f"{event} in a test that tests/conftest.py calls pure")


def is_pure(path: Path) -> bool:
    """Return whether all tests of a file are pure."""
    return any(path.is_relative_to(place) for place in PURE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out with `--fast` whatever is not pure before it is even imported."""
    if config.getoption("--fast") and collection_path.suffix == ".py" and not is_pure(collection_path):
        return True
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    # Not at its end: a worker's last test may be a pure one, and what a whole session shares is stopped behind it.
    global _pure_now
    _pure_now = is_pure(item.path) and not item.get_closest_marker("impure")
    try:
        return (yield)
    finally:
        _pure_now = False


def _graph_fork(command: Sequence[str], **streams: Any) -> Fork:
    """Start the graph's process of a store that a test has open: each serves a moment, and Kuzu takes long to load."""
    return forks_of("helix.graph.graph_server")(command, **streams)


def pytest_configure(config: pytest.Config) -> None:
    """Have tests behave alike in a shell's foreground and background, on a quiet machine and on a busy one.

    Examples are the same in each run, so that a failure tells of the change and not of the draw; a soak draws new ones,
    and more of them.
    """
    # Tests are a person's, also where an agent runs them.
    for mark in (*MARKS, SAYS_SO):
        os.environ.pop(mark, None)
    # A shell lets what it runs in its background ignore the signal, and what tests start would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.addaudithook(_forbid)
    process.Popen = _graph_fork  # type: ignore[assignment, misc]
    sealed.COST = sealed.Argon2(ops=1, memory=8_192)  # a passphrase takes a second and 256 MB each time it is tried
    if config.getoption("--twice"):
        Writer.decided = twice_decided  # type: ignore[method-assign]
    slow = [hypothesis.HealthCheck.too_slow]
    same = not config.getoption("--soak")
    hypothesis.settings.register_profile(
        "unhurried",
        deadline=None,
        suppress_health_check=slow,
        derandomize=same,
        max_examples=DRAWN if same else DRAWN_IN_A_SOAK,
    )
    hypothesis.settings.load_profile("unhurried")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return what `-n auto` means: three for two cores, but none beside this one where only files are named.

    A third of the time of a test is waiting for other processes.
    """
    if all(Path(argument.partition("::")[0]).is_file() for argument in config.args):
        return 0
    return min((os.cpu_count() or 1) * 3 // 2, MOST_PROCESSES)


def pytest_collection_finish() -> None:
    """Have the garbage collector pass over what loading the tests made: all of it stays, and looking took longest."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # The long files come first. A process without work takes tests from the end of another's list: those are short, so
    # that both end at once and no file whose preparation takes long is prepared twice.
    items.sort(key=lambda item: item.path.parent not in (TESTS, TESTS / "client", TESTS / "window"))
    if config.getoption("--fast"):
        items[:] = [item for item in items if not item.get_closest_marker("impure")]
    if config.getoption("--postgres"):
        items[:] = [item for item in items if not item.get_closest_marker("file")]
    if not config.getoption("--soak"):
        long = pytest.mark.skip(reason="a long run: pass --soak")
        for item in items:
            if item.get_closest_marker("soak"):
                item.add_marker(long)


@pytest.fixture(scope="module", autouse=True)
def memory_given_back() -> Iterator[None]:
    """Give the memory that the tests of a file took and let go of back to the system, where its C library can."""
    yield
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server of PostgreSQL that has Helix's tables."""
    with running() as cluster, closing(Server(cluster.address)) as serving:
        serving.migrate()
        yield serving


@pytest.fixture
def settings(tmp_path: Path, request: pytest.FixtureRequest) -> Settings:
    """Settings of an empty home in a temporary folder, untouched by this machine's environment."""
    kept = {}
    if request.config.getoption("--postgres"):
        serving: Server = request.getfixturevalue("server")
        kept = {"engine": serving.url, "tenant": serving.create(f"s{len(serving.tenants())}").slug}
    return configuration.load({"home": tmp_path / "home", **kept}, environ=UNHURRIED, cwd=tmp_path)


@pytest.fixture(scope="session")
def put_empty_store(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Settings, HashEmbedder], None]:
    """Return a function that puts an empty store with its graph where settings want theirs: making one takes long."""
    made: dict[str, Path] = {}

    def put(settings: Settings, embedder: HashEmbedder) -> None:
        if settings.engine:
            return
        digest = embedder.space.digest
        if digest not in made:
            folder = tmp_path_factory.mktemp("empty")
            original = configuration.load({"home": folder}, environ=UNHURRIED, cwd=folder)
            with closing(Store(original, embedder=embedder)) as store:
                assert store.graph.settle()
            made[digest] = original.store_path
        shutil.copytree(made[digest], settings.store_path)

    return put


@pytest.fixture
def lone_store(settings: Settings, put_empty_store: Callable[[Settings, HashEmbedder], None]) -> Iterator[Store]:
    """An open store with the deterministic hash embedder, and no service around it."""
    embedder = HashEmbedder()
    put_empty_store(settings, embedder)
    with closing(Store(settings, embedder=embedder)) as store:
        yield store


@pytest.fixture
def helix(settings: Settings, put_empty_store: Callable[[Settings, HashEmbedder], None]) -> Iterator[Helix]:
    """An open service with the deterministic hash embedder."""
    embedder = HashEmbedder()
    put_empty_store(settings, embedder)
    with Helix.open(settings, embedder=embedder) as service:
        yield service


@pytest.fixture(scope="session")
def victims() -> Iterator[Victims]:
    """The process that forks programs which are killed on the way."""
    with Victims() as forking:
        yield forking


@pytest.fixture(scope="session")
def models_path() -> Path:
    """The folder with the real default model, installed once and shared by all runs of a checkout."""
    path = Path(os.environ.get("HELIX_TEST_MODELS", ROOT / "build" / "models"))
    install.install("bge-small-en-v1.5-int8", path)
    return path


@pytest.fixture(scope="session")
def evaluation_data() -> Path:
    """The folder of public evaluation data; tests that need it are skipped where it is not."""
    path = Path(os.environ.get("HELIX_EVAL_DATA", ROOT.parent / "shared" / "data"))
    if not path.is_dir():
        pytest.skip(f"no evaluation data at {path}: set HELIX_EVAL_DATA")
    return path
