"""The graph's process: it may be killed, hang, fill its memory or meet a bad file, and nothing is lost or noticed."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from helix.errors import EngineError, GraphUnavailableError, HelixError, InvalidInputError, QueryTimeoutError
from helix.graph import cypher_gate, graph_follower
from helix.graph.build import build
from helix.graph.graph_files import Place
from helix.graph.graph_follower import GraphFollower
from helix.graph.graph_server import BUILT_AT_ONCE, GraphServer
from helix.graph.kuzu_engine import KuzuEngine, KuzuOptions
from helix.graph.on_disk import files_of
from helix.graph.process import GraphProcess, ProcessEndedError
from helix.journal.database import Database
from helix.journal.log import Journal
from helix.memory.remember.request import StoreRequest
from helix.model.clock import system_clock
from helix.model.edge import Label, Ref, Relation
from helix.model.loss import losses
from helix.model.operations import Change, DropNode, Operation, PutEdge, PutNode, PutPassage, Row
from helix.model.recall import RecallQuery
from helix.model.reports import JobState
from helix.operations import graph as graph_operations
from helix.operations import memories, upkeep
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings, load
from helix.store import graph_rebuilds
from helix.text.tokens import lexical_tokens
from tests.sampling import some
from tests.waiting import all_ended, finished, until

DIMENSION = 8
ALL = "MATCH (m:Memory) RETURN m.id"
DOUBLED = (
    "WITH range(1, 10000) AS a0 "
    + " ".join(f"WITH list_concat(a{n}, a{n}) AS a{n + 1}" for n in range(16))
    + " RETURN size(a16)"
)
CRASHES = (
    "WITH NULL AS x RETURN 1 IN x",
    "RETURN label({a: 1})",
    "MATCH (m:Memory) RETURN label(collect(m)[1])",
    "MATCH (m:Memory) WITH collect(m) AS l UNWIND l AS x MATCH (n:Memory) WHERE x = n RETURN count(*)",
    "RETURN sqrt(x -> x)",
    "CALL QUERY_VECTOR_INDEX('Passage', 'passage_embedding', NULL, 3) RETURN node.id",
)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened = Journal(Database(tmp_path / "journal.db"), tokenise=lexical_tokens)
    space = opened.spaces.prepare(model="m", dimension=DIMENSION, digest="d")
    opened.spaces.activate(space)
    yield opened
    opened.close()


def place(folder: Path, **fields: int) -> Place:
    given = {"buffer_pool_bytes": 64 << 20, "max_db_bytes": 1 << 30, "reopen_after": 200, "heap_bytes": 256 << 20}
    files = {name: str(folder / file) for name, file in FILES.items()}
    return Place(**files, vectors=True, threads=1, **{**given, **fields})  # type: ignore[arg-type]


FILES = {"graph": "graph.kuzu", "journal": "journal.db", "lock": "graph.lock"}


@pytest.fixture
def follower(journal: Journal, tmp_path: Path) -> Iterator[GraphFollower]:
    follower = GraphFollower(journal, place(tmp_path), clock=system_clock)
    yield follower
    follower.close()


def node(node_id: str) -> PutNode:
    return PutNode(label=Label.MEMORY, id=node_id, props={"name": node_id, "kind": "fact"})


def passage(owner: str, number: int) -> PutPassage:
    vector = b"\0\0\x80?" * DIMENSION
    ref = Ref.memory(owner)
    return PutPassage(id=f"{owner}#0", number=number, owner=ref, text=owner, vector=vector)


def written(journal: Journal, *operations: Operation) -> list[Row]:
    return journal.append([Change(kind="test", operations=operations)], 1)


def held(follower: GraphFollower) -> list[str]:
    _, rows, _ = follower.ask("cypher", 30, text=ALL, params={}, limit=10_000)
    return sorted(row[0] for row in rows)


def test_a_graph_that_nobody_asks_sleeps_and_holds_everything_when_it_is_asked(
    journal: Journal, follower: GraphFollower
) -> None:
    for name in "ab":
        follower.follow(written(journal, node(name)))
    assert follower.pid is None
    assert held(follower) == ["a", "b"]
    assert follower.pid is not None
    written(journal, node("c"))  # never handed over
    assert held(follower) == ["a", "b", "c"]
    assert (follower.trouble, follower.applied_seq) == ("", 3)


def test_a_process_that_was_killed_is_replaced_before_the_next_question(
    journal: Journal, follower: GraphFollower
) -> None:
    for number in range(8):
        follower.follow(written(journal, node(f"m{number:02}"), passage(f"m{number:02}", number + 1)))
        if number % 4 == 1:
            assert follower.settle()
            assert follower.pid is not None
            os.kill(follower.pid, signal.SIGKILL)
    assert len(held(follower)) == 8
    assert follower.differences() == []
    assert not list(follower.path.parent.glob("*.aside-*"))


def test_the_process_that_runs_statements_has_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "HELIX_KEY", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "tell-nobody")
    monkeypatch.setattr("helix.graph.process.Popen", subprocess.Popen)  # not one that is forked
    process = GraphProcess(["sh", "-c", f"env > {tmp_path}/part; mv {tmp_path}/part {tmp_path}/whole"])
    until((tmp_path / "whole").exists)
    process.kill()
    told = (tmp_path / "whole").read_text()
    assert "ORT_DISABLE_TELEMETRY=1" in told and "tell-nobody" not in told


def test_who_waits_for_a_process_that_another_thread_ends_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it takes a moment to end, and other files are opened meanwhile: they are not taken for its pipe."""
    monkeypatch.setattr("helix.graph.process.Popen", subprocess.Popen)  # not one that is forked
    process = GraphProcess(["sleep", "600"])
    ends = subprocess.Popen.kill
    monkeypatch.setattr(subprocess.Popen, "kill", lambda one: threading.Timer(0.5, ends, (one,)).start())
    told: list[HelixError] = []

    def ask() -> None:
        try:
            process.ask("follow", 600)
        except HelixError as error:
            told.append(error)

    asking, ending = threading.Thread(target=ask, daemon=True), threading.Thread(target=process.kill)
    asking.start()
    asking.join(0.5)
    ending.start()
    ending.join(0.2)
    opened = [os.pipe() for _ in range(8)]
    ending.join()
    asking.join(10)
    for number in (one for pair in opened for one in pair):
        os.close(number)
    assert [type(error) for error in told] == [ProcessEndedError]


@pytest.mark.parametrize("statement", some(CRASHES, 2))
def test_a_statement_that_ends_kuzu_ends_the_graphs_process_alone(
    journal: Journal, follower: GraphFollower, statement: str
) -> None:
    written(journal, node("a"))
    assert held(follower) == ["a"]
    with pytest.raises(ProcessEndedError, match="ended"):
        follower.ask("cypher", 30, text=cypher_gate.check(statement), params={}, limit=10)
    assert held(follower) == ["a"]


@pytest.mark.soak
def test_a_statement_that_ends_kuzu_has_little_applied_again(
    journal: Journal, follower: GraphFollower, tmp_path: Path
) -> None:
    """What was not folded in is folded in before a person's statement runs, but for a few rows."""
    assert held(follower) == []
    for number in range(80):
        follower.follow(written(journal, node(f"m{number}"), passage(f"m{number}", number + 1)))
    assert held(follower)
    written(journal, node("last"))
    with pytest.raises(ProcessEndedError):
        follower.ask("cypher", 30, text=CRASHES[0], params={}, limit=10)
    follower.close()
    with closing(KuzuEngine(follower.path, dimension=DIMENSION)) as left:
        assert left.applied_seq() == journal.last_seq - 1


def test_a_statement_that_fills_the_memory_is_answered_with_an_error(journal: Journal, follower: GraphFollower) -> None:
    with pytest.raises(InvalidInputError, match="more memory"):
        follower.ask("cypher", 60, text=DOUBLED, params={}, limit=10)
    assert held(follower) == []


@pytest.mark.soak
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits the memory of another process")
def test_a_question_that_a_filled_process_has_no_room_for_is_asked_of_a_new_one(
    journal: Journal, tmp_path: Path
) -> None:
    follower = GraphFollower(journal, place(tmp_path, heap_bytes=1 << 30), clock=system_clock)
    try:
        written(journal, node("a"), node("b"))
        assert held(follower) == ["a", "b"]
        full = follower.pid
        assert full is not None
        taken = int(Path(f"/proc/{full}/status").read_text("ascii").partition("VmData:")[2].split()[0]) << 10
        resource.prlimit(full, resource.RLIMIT_DATA, (taken + (64 << 20), resource.RLIM_INFINITY))
        assert follower.ask("communities", 60, scope="", least=2, limit=5, most=5) == []
        assert follower.pid != full
    finally:
        follower.close()


def test_an_answer_has_a_largest_size(journal: Journal, follower: GraphFollower) -> None:
    long = "WITH repeat('x', 1000000) AS s UNWIND range(1, 200) AS n RETURN s"
    with pytest.raises(InvalidInputError, match=r"MiB|memory"):
        follower.ask("cypher", 60, text=long, params={}, limit=1_000)
    assert held(follower) == []


@pytest.mark.soak
def test_a_process_that_hangs_is_ended_at_the_time_limit(journal: Journal, follower: GraphFollower) -> None:
    written(journal, node("a"))
    assert held(follower) == ["a"]
    assert follower.pid is not None
    os.kill(follower.pid, signal.SIGSTOP)
    with pytest.raises(QueryTimeoutError):
        follower.ask("cypher", 0.1, text=ALL, params={}, limit=1)
    assert held(follower) == ["a"]


@pytest.mark.soak
def test_large_tails_with_passages_lose_no_node(journal: Journal, follower: GraphFollower) -> None:
    """Kuzu 0.11.3 lost every node insert of one transaction with 158 of them and passages."""
    assert held(follower) == []
    many = [f"n{number:03}" for number in range(160)]
    written(journal, *[node(name) for name in many], *[passage(name, at + 1) for at, name in enumerate(many)])
    assert held(follower) == many
    assert follower.differences() == []


@pytest.mark.soak
def test_a_graph_that_lacks_a_large_part_is_built_rather_than_replayed(journal: Journal, tmp_path: Path) -> None:
    """As after the first import of a history: replaying its edges one by one takes longer than a question waits."""
    written(journal, node("a"))
    first = GraphFollower(journal, place(tmp_path), clock=system_clock)
    assert first.settle()
    first.close()
    small = built_bytes(first.path)
    written(journal, *[node(f"n{number:03}") for number in range(520)])
    follower = GraphFollower(journal, place(tmp_path), clock=system_clock)
    assert len(held(follower)) == 521
    follower.close()
    assert built_bytes(follower.path) > small


@pytest.mark.soak
def test_a_graph_that_a_job_has_built_is_kept_however_much_was_written_meanwhile(
    journal: Journal, tmp_path: Path
) -> None:
    """As by an undo of what was just imported: without it there would be no graph until the next start."""
    written(journal, *[node(f"n{number:04}") for number in range(BUILT_AT_ONCE + 1_000)])
    follower = GraphFollower(journal, place(tmp_path), clock=system_clock)
    built = follower.build(lambda *_: None)
    written(journal, *[DropNode(label=Label.MEMORY, id=f"n{number:04}") for number in range(900)])
    written(journal, node("told-since"))
    assert follower.swap(built) == 2
    assert len(held(follower)) == BUILT_AT_ONCE + 101
    assert (follower.trouble, follower.needs_rebuild) == ("", False)
    follower.close()


def built_bytes(path: Path) -> int:
    engine = KuzuEngine(path, dimension=DIMENSION)
    try:
        return engine.number("built_bytes")
    finally:
        engine.close()


@pytest.mark.soak
def test_a_graph_that_lacks_rows_it_says_it_has_is_built_anew(journal: Journal, tmp_path: Path) -> None:
    for name in "abc":
        written(journal, node(name))
    first = GraphFollower(journal, place(tmp_path), clock=system_clock)
    assert first.settle()
    first.close()
    engine = KuzuEngine(first.path, dimension=DIMENSION)
    engine.fill(lambda connection: connection.execute("MATCH (m:Memory {id: 'b'}) DETACH DELETE m"))
    engine.close()
    follower = GraphFollower(journal, place(tmp_path), clock=system_clock)
    assert held(follower) == ["a", "b", "c"]
    assert (follower.trouble, follower.warning) == ("", "")
    follower.close()


def test_the_graph_of_a_real_loss_is_made_whole(tmp_path: Path, evaluation_data: Path) -> None:
    """A store as SIGKILL left it: its journal holds 112 memories, its graph 77, and Kuzu reads its log in two ways."""
    archive = evaluation_data.parent / "evidence" / "graph-loss.tar.xz"
    if not archive.exists():
        pytest.skip(f"no evidence at {archive}")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    check_whole(tmp_path / "evidence-graph-loss")


@pytest.mark.soak
def test_a_graph_whose_log_says_more_than_it_holds_is_made_whole(lost_store: Path) -> None:
    check_whole(lost_store)


def check_whole(lost_store: Path) -> None:
    journal = Journal(Database(lost_store / "journal.db"), tokenise=lexical_tokens)
    follower = GraphFollower(journal, place(lost_store), clock=system_clock)
    assert len(held(follower)) == 112
    assert follower.differences() == []
    follower.close()
    journal.close()


@pytest.fixture
def lost_store(tmp_path: Path) -> Path:
    """Make what such a kill leaves: a folded graph, a log behind it that holds part of the rest, a longer journal."""
    folder = tmp_path / "lost"
    folder.mkdir()
    journal = Journal(Database(folder / "journal.db"), tokenise=lexical_tokens)
    space = journal.spaces.prepare(model="m", dimension=DIMENSION, digest="d")
    journal.spaces.activate(space)
    options = KuzuOptions(buffer_pool_bytes=64 << 20, max_db_bytes=1 << 30)
    path = folder / "graph.kuzu"
    made = {"seq": 0, "store_id": journal.store_id, "dimension": DIMENSION, "total": 0, "options": options}
    build(path, (), **made, progress=lambda *_: None)  # type: ignore[arg-type]
    for number in range(112):
        written(journal, node(f"m{number:03}"), passage(f"m{number:03}", number + 1))
    engine = KuzuEngine(path, dimension=DIMENSION, options=options)
    for row in journal.rows(0, 57):
        engine.apply(row.change.operations, row.seq)
    engine.fold_in()
    for row in journal.rows(57, 20):
        engine.apply([], row.seq)  # what the lost transactions left: the number, without the nodes
    for file in files_of(path):
        if file.exists():
            shutil.copy(file, folder / f"kept-{file.name}")
    engine.close()
    for file in folder.glob("kept-*"):
        file.rename(folder / file.name.removeprefix("kept-"))
    assert files_of(path)[1].exists()
    journal.close()
    return folder


@pytest.mark.parametrize("at", some([0.9, 0.0, 0.1, 0.5], 1))
def test_a_damaged_page_costs_no_more_than_building_anew(journal: Journal, tmp_path: Path, at: float) -> None:
    names = [f"m{number}" for number in range(8)]
    written(journal, *map(node, names))
    first = GraphFollower(journal, place(tmp_path), clock=system_clock)
    assert first.settle()
    first.close()
    with first.path.open("r+b") as file:
        pages = first.path.stat().st_size // 4096
        file.seek(4096 * int(at * pages))
        file.write(random.Random(at).randbytes(4096))
    follower = GraphFollower(journal, place(tmp_path), clock=system_clock)
    try:
        assert held(follower) == names
        assert follower.differences() == []
    finally:
        follower.close()


@pytest.mark.soak
def test_whatever_page_is_damaged_the_graph_is_not_used(
    journal: Journal, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """Of each sixteenth page in an ordinary run, of all in a soak."""
    where = place(tmp_path)
    written(journal, *map(node, "abc"))
    follower = GraphFollower(journal, where, clock=system_clock)
    assert follower.settle()
    follower.close()
    path, noted = files_of(follower.path)[0], files_of(follower.path)[-1]
    kept, seal = path.read_bytes(), noted.read_text()
    for page in range(0, len(kept) // 4096, 1 if pytestconfig.getoption("--soak") else 16):
        with path.open("r+b") as file:
            file.seek(4096 * page + page % 4096)
            file.write(bytes([kept[4096 * page + page % 4096] ^ 1]))
        noted.write_text(seal)
        server = GraphServer(where)
        assert server.open()["verdict"] == "aside", page
        assert server.end()
        with path.open("r+b") as file:
            file.seek(4096 * page)
            file.write(kept[4096 * page : 4096 * (page + 1)])
    noted.write_text(seal)
    follower = GraphFollower(journal, where, clock=system_clock)
    assert held(follower) == ["a", "b", "c"]
    follower.close()
    assert not list(tmp_path.glob("graph.kuzu.aside-*"))


@pytest.mark.soak
def test_a_graph_that_was_open_when_the_machine_went_down_is_built_anew(journal: Journal, tmp_path: Path) -> None:
    written(journal, *map(node, "abc"))
    follower = GraphFollower(journal, place(tmp_path), clock=system_clock)
    assert follower.settle()
    assert follower.pid is not None
    os.kill(follower.pid, signal.SIGKILL)
    follower.close()
    noted = files_of(follower.path)[-1]
    assert noted.read_text().startswith("open ")
    noted.write_text("open another-run-of-the-machine\n")
    follower = GraphFollower(journal, place(tmp_path), clock=system_clock)
    assert held(follower) == ["a", "b", "c"]
    follower.close()
    assert list(tmp_path.glob("graph.kuzu.aside-*"))


OPENED = """
import json, resource, sys
from helix.graph.graph_files import Place
from helix.graph.process import GraphProcess
from helix.graph.graph_server import GraphServer
said = GraphServer(Place(**json.loads(sys.argv[1]))).open()
megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(json.dumps({"verdict": said["verdict"], "megabytes": megabytes}))
"""


@pytest.mark.soak
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux keeps to the limit")
def test_a_page_of_zeros_has_the_graph_take_no_more_memory_than_it_may(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """Kuzu asks for more and more while it opens such a file."""
    home = load({"home": tmp_path / "home"}, environ={}, cwd=tmp_path)
    with Helix.open(home, embedder=HashEmbedder()) as helix:
        for number in range(20):
            memories.store(helix, StoreRequest(trigger=f"case {number}", resolution="word " * 20, kind="fact"))
        assert helix.store.graph.settle()
    where = place(home.store_path)
    path = Path(where.graph)
    kept, refused = path.read_bytes(), 0
    for page in random.Random(1).sample(range(16, len(kept) // 4096), 40):
        path.write_bytes(kept[: 4096 * page] + bytes(4096) + kept[4096 * (page + 1) :])
        files_of(path)[-1].unlink(missing_ok=True)  # as an older Helix left it
        refused += _opened(where) == "aside"
        if refused == (2 if pytestconfig.getoption("--soak") else 1):
            break
    else:
        pytest.fail("few pages mattered")


def _opened(where: Place) -> str:
    """Have a process open a graph; return what is to become of it once it is sure that it took no more than it may."""
    most = (4 << 30, 4 << 30)  # the machine of whoever runs the tests is not to pay for it
    done = subprocess.run(
        (sys.executable, "-c", OPENED, json.dumps(asdict(where))),
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, most),
    )
    if done.returncode < 0:  # it ended, and took nothing with it
        return "ended"
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["megabytes"] < 2_000
    return str(said["verdict"])


@pytest.mark.parametrize(
    "found", some(["a pipe", "a folder", "another's graph", "nothing", "one ahead", "text", "a link"], 1)
)
def test_a_file_that_is_no_graph_of_this_journal_is_moved_aside_and_built_anew(
    journal: Journal, tmp_path: Path, found: str
) -> None:
    written(journal, node("a"))
    path = tmp_path / "graph.kuzu"
    options = KuzuOptions(buffer_pool_bytes=64 << 20, max_db_bytes=1 << 30)
    made: Callable[[str, int], None] = lambda store_id, seq: build(  # noqa: E731
        path, (), seq=seq, store_id=store_id, dimension=DIMENSION, total=0, options=options, progress=lambda *_: None
    )
    match found:
        case "a folder":
            path.mkdir()
        case "another's graph":
            made("another", 0)
        case "one ahead":
            made(journal.store_id, 9)
        case "text":
            path.write_text("no graph at all")
        case "a link":
            (tmp_path / "mine").write_text("somebody's own file")
            path.with_name("graph.kuzu.wal").symlink_to(tmp_path / "mine")
        case "a pipe":
            os.mkfifo(path)
    follower = GraphFollower(journal, place(tmp_path), clock=system_clock)
    assert held(follower) == ["a"]
    follower.close()
    kept = [*tmp_path.glob("graph.kuzu.aside-*"), *tmp_path.glob("graph.kuzu.knows-more-*")]
    assert bool(kept) == (found != "nothing")
    if found == "a link":
        assert (tmp_path / "mine").read_text() == "somebody's own file"


@pytest.mark.parametrize("others", some([2, 0, 3], 1))
def test_a_graph_that_knows_other_rows_than_the_journal_is_kept_and_built_anew(tmp_path: Path, others: int) -> None:
    """As a standby that lagged took over, or an older copy was put in the place: as many rows are there, or more."""
    made = tmp_path / "journal.db"

    def told(*names: str) -> tuple[list[str], str]:
        with closing(Journal(Database(made), tokenise=lexical_tokens)) as journal:
            for name in names:
                written(journal, node(name))
            with closing(GraphFollower(journal, place(tmp_path), clock=system_clock)) as follower:
                return held(follower), follower.trouble

    told("a")
    shutil.copyfile(made, tmp_path / "older.db")
    assert told("b", "c")[0] == ["a", "b", "c"]
    (tmp_path / "older.db").rename(made)
    others_names = [f"d{number}" for number in range(others)]
    assert told(*others_names) == (["a", *others_names], "")
    (loss,) = losses(tmp_path)
    assert "told by the graph" in loss.sentence
    assert [name for name in loss.kept if (tmp_path / name).exists()] == list(loss.kept) != []


def test_a_graph_that_an_older_helix_left_goes_on(journal: Journal, tmp_path: Path) -> None:
    """It noted no digest of the journal."""
    written(journal, node("a"))
    with closing(GraphFollower(journal, place(tmp_path), clock=system_clock)) as first:
        assert held(first) == ["a"]
    engine = KuzuEngine(tmp_path / "graph.kuzu", dimension=DIMENSION)
    engine.remember("applied_seq", number=1)
    engine.remember("mine", number=7)
    engine.close()
    written(journal, node("b"))
    with closing(GraphFollower(journal, place(tmp_path), clock=system_clock)) as second:
        assert held(second) == ["a", "b"]
    engine = KuzuEngine(tmp_path / "graph.kuzu", dimension=DIMENSION)
    assert engine.number("mine") == 7
    assert engine.applied_chain() == journal.chain_at(2)
    engine.close()
    assert not losses(tmp_path)


def test_a_row_that_the_graph_refuses_is_set_aside_and_the_rest_applied(
    journal: Journal, follower: GraphFollower
) -> None:
    written(journal, node("a"))
    here = Ref.memory("a")
    written(journal, PutEdge(type=Relation.BLOCKED_BY, source=here, target=here, props={"weight": 1.0}))
    written(journal, node("b"))
    assert held(follower) == ["a", "b"]


@pytest.mark.soak
def test_nobody_waits_for_rows_that_the_journal_lost_while_it_was_open(
    journal: Journal, follower: GraphFollower, tmp_path: Path
) -> None:
    """A standby that took over may lack the newest rows."""
    written(journal, node("a"))
    assert held(follower) == ["a"]
    assert follower.pid is not None
    os.kill(follower.pid, signal.SIGSTOP)
    written(journal, node("b"))
    with closing(sqlite3.connect(tmp_path / "journal.db", isolation_level=None)) as beside:
        beside.execute("DELETE FROM log WHERE seq = (SELECT max(seq) FROM log)")
    os.kill(follower.pid, signal.SIGCONT)
    with pytest.raises(GraphUnavailableError, match="lost rows"):
        held(follower)


@pytest.mark.soak
def test_a_graph_that_follows_again_is_told_of_no_more(
    journal: Journal, follower: GraphFollower, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that keeps the journal was away for a moment; the graph's process runs on."""
    written(journal, node("a"))
    assert held(follower) == ["a"]
    ask, away = GraphProcess.ask, ["the server is away"]

    def asked(process: GraphProcess, question: str, seconds: float, **named: Any) -> Any:
        if question == "follow" and away:
            raise EngineError(away[0])
        return ask(process, question, seconds, **named)

    monkeypatch.setattr(GraphProcess, "ask", asked)
    follower.follow(written(journal, node("b")))
    until(lambda: "the server is away" in follower.trouble)
    away.clear()
    assert held(follower) == ["a", "b"]
    assert follower.trouble == ""


@pytest.mark.soak
def test_a_graph_that_other_programs_have_open_is_not_taken_for_damaged(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(journal, node("a"))
    first = GraphFollower(journal, place(tmp_path), clock=system_clock)
    assert held(first) == ["a"]
    second = GraphFollower(journal, place(tmp_path, lock_seconds=0), clock=system_clock)
    with pytest.raises(HelixError, match="another process"):
        held(second)
    second.close()
    assert held(first) == ["a"]
    first.close()
    assert not list(tmp_path.glob("*.aside-*"))


@pytest.mark.soak
def test_a_file_that_grew_far_beyond_its_content_is_built_anew(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Helix.open(replace(settings, reopen_after=1), embedder=HashEmbedder()) as helix:
        graph = helix.store.graph
        memories.store(helix, StoreRequest(trigger="a", resolution="b", kind="fact"))
        assert graph.settle()
        graph._end(folded=True)
        with graph.path.open("r+b") as file:
            file.truncate(graph.path.stat().st_size + (80 << 20))
        grown = graph.path.stat().st_size
        assert graph.settle()
        until(lambda: not (graph.needs_rebuild or helix.jobs.are_running()))
        assert graph.path.stat().st_size < grown // 2
        assert len(graph_operations.cypher(helix, ALL).rows) == 1


def test_recall_and_store_go_on_while_the_graph_hangs(settings: Settings) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        memories.store(helix, StoreRequest(trigger="the tide comes in", resolution="wait", kind="fact"))
        assert len(graph_operations.cypher(helix, ALL).rows) == 1
        pid = helix.store.graph.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        for number in range(5):
            memories.store(helix, StoreRequest(trigger=f"something else number {number}", resolution="x", kind="fact"))
        assert helix.recall(RecallQuery(query="tide", limit=1)).items[0].text.startswith("the tide")
        os.kill(pid, signal.SIGKILL)
        assert len(graph_operations.cypher(helix, ALL).rows) == 6
        assert upkeep.doctor(helix).healthy


@pytest.mark.parametrize("statement", some(reversed(CRASHES), 1))
def test_a_persons_statement_that_ends_kuzu_costs_an_error_and_nothing_else(settings: Settings, statement: str) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        memories.store(helix, StoreRequest(trigger="the tide comes in", resolution="wait", kind="fact"))
        with pytest.raises(GraphUnavailableError, match="ended") as told:
            graph_operations.cypher(helix, statement)
        assert "write it in another way" in str(told.value.hint)
        assert helix.recall(RecallQuery(query="tide", limit=1)).items[0].text.startswith("the tide")
        assert len(graph_operations.cypher(helix, ALL).rows) == 1


@pytest.mark.soak
def test_nobody_waits_to_write_while_a_rebuild_compares_the_state_with_the_log(settings: Settings) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        memories.store(helix, StoreRequest(trigger="a", resolution="b", kind="fact"))
        assert len(graph_operations.cypher(helix, ALL).rows) == 1
        with helix.store.journal.database.transaction():  # nobody else may write
            job = upkeep.rebuild(helix)
            until(lambda: upkeep.job(helix, job.id).message.startswith("graph"))
        assert finished(helix, job).state is JobState.DONE


@pytest.mark.soak
def test_a_build_that_is_stopped_leaves_the_graph_as_it_was(settings: Settings) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        memories.store(helix, StoreRequest(trigger="a", resolution="b", kind="fact"))
        assert len(graph_operations.cypher(helix, ALL).rows) == 1
        job = upkeep.rebuild(helix)
        upkeep.cancel_job(helix, job.id)
        all_ended(helix)
        assert len(graph_operations.cypher(helix, ALL).rows) == 1


@pytest.mark.soak
def test_a_graph_that_cannot_be_built_says_so(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        memories.store(helix, StoreRequest(trigger="a", resolution="b", kind="fact"))
        graph = helix.store.graph
        graph.drop("the graph is being rebuilt")
        monkeypatch.setattr(graph_follower, "python_command", lambda *_: ["/nowhere/at/all"])
        job = upkeep.rebuild(helix)
        all_ended(helix)
        assert upkeep.job(helix, job.id).state is JobState.FAILED
        with pytest.raises(GraphUnavailableError, match="could not be rebuilt"):
            graph_operations.cypher(helix, ALL)
        assert upkeep.health(helix).status == "failing"
        monkeypatch.undo()
        upkeep.rebuild(helix)
        all_ended(helix)
        assert len(graph_operations.cypher(helix, ALL).rows) == 1
        assert upkeep.health(helix).status != "failing"


@pytest.mark.soak
def test_a_graph_whose_building_was_ended_is_built_when_somebody_asks(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ended it, such as want of memory, may be over; nothing need be written for another try."""
    monkeypatch.setattr(graph_rebuilds, "_BETWEEN_SECONDS", 0.0)
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        memories.store(helix, StoreRequest(trigger="a", resolution="b", kind="fact"))
        helix.store.graph.drop("the graph is being rebuilt")
        with monkeypatch.context() as broken:
            broken.setattr(graph_follower, "python_command", lambda *_: ["/nowhere/at/all"])
            upkeep.rebuild(helix)
            all_ended(helix)
        with pytest.raises(GraphUnavailableError):
            graph_operations.cypher(helix, ALL)
        all_ended(helix)
        assert len(graph_operations.cypher(helix, ALL).rows) == 1


def test_the_graphs_process_leaves_when_its_parent_does(settings: Settings) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        graph_operations.cypher(helix, ALL)
        pid = helix.store.graph.pid
        assert pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_journal_is_not_written_by_the_graphs_process(journal: Journal, follower: GraphFollower) -> None:
    written(journal, node("a"))
    before = journal.verify_chain().rows
    assert held(follower) == ["a"]
    assert journal.verify_chain().rows == before
    assert sqlite3.connect(journal.database.path).execute("PRAGMA quick_check").fetchone() == ("ok",)


@pytest.mark.soak
def test_closing_ends_the_question_that_is_being_answered_and_says_so(journal: Journal, tmp_path: Path) -> None:
    follower = GraphFollower(journal, place(tmp_path), clock=system_clock)
    assert held(follower) == []
    pid = follower.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    asked: list[Exception] = []

    def ask() -> None:
        try:
            follower.ask("cypher", 600, text=ALL, params={}, limit=1)
        except HelixError as error:
            asked.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    until(lambda: follower._asking)
    follower.leave()
    asking.join()
    follower.close()
    assert [type(error) for error in asked] == [GraphUnavailableError]
    assert "the store is closing" in str(asked[0])
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(GraphUnavailableError, match="the store is closing"):
        follower.ask("cypher", 600, text=ALL, params={}, limit=1)


@pytest.mark.soak
def test_only_the_newest_graph_that_was_moved_aside_is_kept(journal: Journal, tmp_path: Path) -> None:
    for _ in range(3):
        follower = GraphFollower(journal, place(tmp_path), clock=system_clock)
        written(journal, node(f"n{journal.last_seq}"))
        assert follower.settle()
        assert follower.differences() == []
        follower.close()
        (tmp_path / "graph.kuzu").write_bytes(random.Random(1).randbytes(40_000))
    assert len(list(tmp_path.glob("graph.kuzu.aside-*"))) == 1


@pytest.mark.soak
def test_a_good_graph_whose_opening_was_killed_twice_is_built_anew(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = GraphFollower(journal, place(tmp_path), clock=system_clock)
    written(journal, node("a"), node("b"))
    assert first.settle()
    first.close()
    killed = [1, 2]
    command = GraphFollower._command

    def killing(follower: GraphFollower, lock: Path) -> list[str]:
        if not killed:
            return command(follower, lock)
        killed.pop()
        return [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]

    monkeypatch.setattr(GraphFollower, "_command", killing)
    follower = GraphFollower(journal, place(tmp_path), clock=system_clock)
    try:
        assert follower.settle()
        assert not killed
        assert follower.differences() == []
        assert len(list(tmp_path.glob("graph.kuzu.aside-*"))) == 1
    finally:
        follower.close()
