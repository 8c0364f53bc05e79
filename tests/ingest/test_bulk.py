"""Bulk import: what an ordinary import makes of the same lines, resumable, with recall answering all the while."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from helix import settings as configuration
from helix.errors import EmbeddingSpaceError, HelixError, InvalidInputError, NotFoundError
from helix.ingest import bulk
from helix.model.edge import Label
from helix.model.recall import RecallQuery
from helix.model.reports import Job, JobState
from helix.operations import graph, ingest, upkeep
from helix.providers.fakes import HashEmbedder
from helix.providers.given_vectors import GivenVectors
from helix.service import Helix
from helix.settings import Settings
from helix.store.change_events import Event
from tests.waiting import UNHURRIED, all_ended, ended, until

ROOT = Path(__file__).resolve().parents[2]
MANY = 1_100
SECRET = "ghp_" + "9fK2mQ7xW4bT8vN1cR5yL3pD6hJ0sA2gZxWq"
VICTIM = """
import os, sys, time
from pathlib import Path
from helix import settings as configuration
from helix.operations import ingest, upkeep
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
home = Path(sys.argv[1])
helix = Helix.open(configuration.load({"home": home}, environ={}, cwd=home), embedder=HashEmbedder())
job = ingest.ingest_bulk(helix, sys.argv[2], vectors=sys.argv[3], source="s")
while (now := upkeep.job(helix, job.id)).state == "running" and now.done < 500:
    time.sleep(0.001)
print(now.done, flush=True)
time.sleep(60)
"""


def line(number: int, **more: object) -> str:
    record = {
        "id": f"l{number}",
        "trigger": f"step {number} of the release of omega{number % 7}",
        "resolution": f"run scripts/step{number % 11}.sh number{number} and look at the result",
        "files": [f"src/part{number % 5}.c"],
        "ts": 1_700_000_000 + number,
    }
    return json.dumps(record | more)


def brief(number: int) -> str:
    """Return a line that names nothing: links to what is named are most of what the graph takes its time for."""
    return line(number, trigger=f"rule {number} of the release", resolution=f"look at number{number} first", files=[])


def mixed_lines() -> list[str]:
    """Return lines of every sort: repeated, secret, long, broken, of a conversation, in other scopes."""
    lines = [line(number) for number in range(70)]
    lines[4] = line(3)  # the same id, in the same batch and in a later one
    lines[60] = line(3)
    words = json.loads(lines[2])
    lines[5] = line(5, trigger=words["trigger"], resolution=words["resolution"])
    lines[61] = line(61, trigger=words["trigger"], resolution=words["resolution"])
    lines[7] = line(7, resolution=f"the token is {SECRET}, keep it")
    lines[8] = "{broken"
    lines[9] = ""
    lines[10] = line(10, resolution="a long story. " * 400)
    lines[11] = line(11, scope="elsewhere", kind="decision")
    return [*lines, *(turn(number) for number in range(6))]


def turn(number: int) -> str:
    record = {"content": f"turn {number} about the parser", "session": "s1", "speaker": "Ada"}
    return json.dumps({"id": f"t{number}", "ts": 1_700_001_000 + number} | record)


def vectors_of(lines: Sequence[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    rows = np.random.default_rng(7).normal(size=(len(lines), HashEmbedder().space.dimension)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def write(folder: Path, lines: Sequence[str]) -> tuple[str, str]:
    file, vectors = folder / "lines.jsonl", folder / "lines.npy"
    file.write_text("\n".join(lines), "utf-8")
    np.save(vectors, vectors_of(lines))
    return str(file), str(vectors)


def opened(home: Path) -> Helix:
    home.mkdir(exist_ok=True)
    return Helix.open(configuration.load({"home": home}, environ=UNHURRIED, cwd=home), embedder=HashEmbedder())


def settled(helix: Helix) -> None:
    helix.store.graph.settle()
    all_ended(helix)


def run_in_bulk(helix: Helix, file: str, vectors: str | None) -> Job:
    """Import with the graph set aside, however few lines there are."""
    work = bulk.json_lines(helix.store, file, vectors=vectors, scope="global", source="s", few_lines=1)
    return ended(helix, helix.jobs.start("ingest", work))


def content(helix: Helix) -> tuple[Counter[str], Counter[str]]:
    """Return what the store holds by words alone: neither ids nor the moment of the import."""
    said: dict[str, str] = {}
    with helix.store.journal.snapshot() as (_, state):
        for op in state.nodes():
            plain = {name: value for name, value in op.props.items() if name != "recorded_at"}
            said[op.id] = f"{op.label} {sorted(plain.items(), key=str)}"
        edges = Counter(
            f"{op.type} {said[op.source.id]} {said[op.target.id]} {op.props.get('weight')}" for op in state.edges()
        )
    return Counter(said.values()), edges


def graph_counts(helix: Helix) -> Mapping[str, int]:
    return {
        word: int(str(graph.cypher(helix, f"MATCH {pattern} RETURN count(*)").rows[0][0]))
        for word, pattern in {"memories": "(n:Memory)", "episodes": "(n:Episode)", "edges": "()-[e]->()"}.items()
    }


@pytest.fixture
def many(tmp_path: Path) -> tuple[str, str]:
    """A file large enough that the graph is set aside, and its vectors."""
    return write(tmp_path, [brief(number) for number in range(MANY)])


def test_a_bulk_import_comes_to_what_an_ordinary_one_does(tmp_path: Path) -> None:
    lines = mixed_lines()
    file, _ = write(tmp_path, lines)
    with opened(tmp_path / "one") as ordinary, opened(tmp_path / "two") as quick:
        said = ingest.ingest_jsonl(ordinary, lines, source="s")
        job = run_in_bulk(quick, file, None)
        assert job.state is JobState.DONE, job
        report = {name: job.result[name] for name in ("episodes", "memories", "edges", "skipped", "redacted")}
        assert report == {name: getattr(said, name) for name in report}
        assert [problem["where"] for problem in job.result["problems"]] == [one.where for one in said.problems]
        assert content(quick) == content(ordinary)
        assert graph_counts(quick) == graph_counts(ordinary)
        assert upkeep.doctor(quick).healthy
        for question in ("omega3 step", "turn about the parser", "number14"):
            one, two = (helix.recall(RecallQuery(query=question)) for helix in (ordinary, quick))
            assert {item.text for item in two.items} == {item.text for item in one.items}


@pytest.mark.soak
def test_a_vector_is_taken_for_a_line_of_one_passage_without_a_secret(tmp_path: Path) -> None:
    lines = mixed_lines()
    file, vectors = write(tmp_path, lines)
    given = vectors_of(lines)
    with opened(tmp_path / "home") as helix:
        assert run_in_bulk(helix, file, vectors).state is JobState.DONE
        with helix.store.journal.snapshot() as (_, state):
            sources = {
                op.id: str(op.props["source"])
                for op in state.nodes()
                if op.label is not Label.ENTITY and "source" in op.props
            }
            passages = [(sources[op.owner.id], op.text, op.vector) for op in state.passages()]
    numbers = {f"jsonl:s:{json.loads(lines[n])['id']}": n for n in reversed(range(len(lines))) if lines[n][:2] == '{"'}
    taken = {source for source, _, vector in passages if vector == given[numbers[source]].tobytes()}
    made = {source for source, text, vector in passages if vector == HashEmbedder().embed([text])[0].tobytes()}
    assert {"jsonl:s:l0", "jsonl:s:t5", "jsonl:s:l11"} <= taken
    assert made == {"jsonl:s:l7", "jsonl:s:l10"}
    assert len(taken | made) == len({source for source, _, _ in passages})


@pytest.mark.soak
def test_recall_answers_while_the_graph_is_aside_and_built(tmp_path: Path, many: tuple[str, str]) -> None:
    answered: dict[str, bool] = {}
    with opened(tmp_path / "home") as helix:

        def ask(event: Event) -> None:
            if event["type"] == "job.progress" and event["state"] == "running" and event["done"]:
                stage = re.split(r" vectors|, \d+ s", upkeep.job(helix, str(event["id"])).message)[0]
                if stage not in answered:
                    found = helix.recall(RecallQuery(query="number17 of the release")).items
                    there = any("number17 " in item.text for item in found)
                    answered[stage] = there and bool(helix.store.graph.trouble)
                    assert any("graph" in warning for warning in upkeep.status(helix).warnings)

        helix.events.subscribe(ask)
        job = ended(helix, ingest.ingest_bulk(helix, many[0], vectors=many[1]))
        assert job.state is JobState.DONE, job
        assert answered == {
            stage: True for stage in ("", "graph: copying", f"graph: indexing {MANY:,}", "graph: closing")
        }
        assert graph_counts(helix)["memories"] == MANY
        assert upkeep.doctor(helix).healthy
        again = ended(helix, ingest.ingest_bulk(helix, many[0], vectors=many[1]))
        assert (again.result["episodes"], again.result["skipped"]) == (0, MANY)


@pytest.mark.soak
def test_a_killed_import_keeps_what_was_acknowledged_and_goes_on(tmp_path: Path, many: tuple[str, str]) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", VICTIM, str(home), *many],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        assert process.stdout is not None
        done = int(process.stdout.readline())
        process.kill()
    assert 500 <= done < MANY
    with opened(home) as helix:
        assert upkeep.stats(helix).total >= done
        found = helix.recall(RecallQuery(query=f"number{done - 1} of the release")).items
        assert any(f"number{done - 1} " in item.text for item in found), "recall answers before the graph is there"
        job = ended(helix, ingest.ingest_bulk(helix, many[0], vectors=many[1], source="s"))
        assert job.state is JobState.DONE, job
        assert job.result["skipped"] >= done
        assert upkeep.stats(helix).total == MANY
        settled(helix)
        assert graph_counts(helix)["memories"] == MANY
        assert upkeep.doctor(helix).healthy


@pytest.mark.soak
def test_an_import_that_is_stopped_leaves_a_graph_of_what_is_in(tmp_path: Path, many: tuple[str, str]) -> None:
    with opened(tmp_path / "home") as helix:

        def cancel(event: Event) -> None:
            if event["type"] == "job.progress":
                upkeep.cancel_job(helix, str(event["id"]))

        stop = helix.events.subscribe(cancel)
        job = ended(helix, ingest.ingest_bulk(helix, many[0], vectors=many[1]))
        assert job.state is JobState.CANCELLED
        stop()
        settled(helix)
        assert 0 < upkeep.stats(helix).total < MANY
        assert graph_counts(helix)["memories"] == upkeep.stats(helix).total
        assert not upkeep.status(helix).warnings


@pytest.mark.soak
def test_a_service_that_closes_does_not_wait_for_the_graph(tmp_path: Path, many: tuple[str, str]) -> None:
    home = tmp_path / "home"
    with opened(home) as helix:
        job = ingest.ingest_bulk(helix, many[0], vectors=many[1])
        until(lambda: upkeep.job(helix, job.id).message.startswith("graph: copying"))
    assert upkeep.job(helix, job.id).state is JobState.CANCELLED
    with opened(home) as helix:
        settled(helix)
        assert graph_counts(helix)["memories"] == MANY
        assert upkeep.doctor(helix).healthy


@pytest.fixture
def small(tmp_path: Path) -> Iterator[tuple[Helix, str, Path]]:
    """A service, a file of three lines, and a place for its vectors."""
    file, vectors = write(tmp_path, [line(number) for number in range(3)])
    with opened(tmp_path / "home") as helix:
        yield helix, file, Path(vectors)


RIGHT = vectors_of(["", "", ""])


@pytest.mark.parametrize(
    ("rows", "wrong", "words"),
    [
        (RIGHT[:2], InvalidInputError, "3 lines"),
        (RIGHT[:, :32], EmbeddingSpaceError, "64 dimensions"),
        (RIGHT.astype(np.float64), InvalidInputError, "float32"),
        (RIGHT[0], InvalidInputError, "float32"),
        (RIGHT * 2, InvalidInputError, "row 0 .* length 2, not 1"),
        (np.where(np.arange(3)[:, None] == 2, np.nan, RIGHT).astype(np.float32), InvalidInputError, "row 2"),
        (np.array([{}], object), InvalidInputError, "npy"),
    ],
)
def test_vectors_that_cannot_be_the_lines_are_refused(
    small: tuple[Helix, str, Path],
    rows: np.ndarray[tuple[int, ...], np.dtype[np.generic]],
    wrong: type[HelixError],
    words: str,
) -> None:
    helix, file, vectors = small
    np.save(vectors, rows)
    with pytest.raises(wrong, match=words):
        ingest.ingest_bulk(helix, file, vectors=str(vectors))
    assert not helix.jobs.all()


def test_files_that_are_not_there_are_named(small: tuple[Helix, str, Path], tmp_path: Path) -> None:
    helix, file, vectors = small
    vectors.unlink()
    with pytest.raises(NotFoundError, match=r"lines\.npy"):
        ingest.ingest_bulk(helix, file, vectors=str(vectors))
    np.save(vectors, RIGHT)
    headers = (b"(" * 9_000, b"-" * 9_000 + b"1")
    odd = (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(one) + 1) + one + b"\n" for one in headers)
    for content in (b"no array", vectors.read_bytes().replace(b"(3, 64)", b"(3,-64)"), *odd):
        vectors.write_bytes(content)
        with pytest.raises(InvalidInputError, match="npy"):
            ingest.ingest_bulk(helix, file, vectors=str(vectors))
    with pytest.raises(NotFoundError, match=r"none\.jsonl"):
        ingest.ingest_bulk(helix, str(tmp_path / "none.jsonl"))
    with pytest.raises(InvalidInputError):
        ingest.ingest_bulk(helix, str(tmp_path))


def test_a_store_without_a_model_takes_lines_but_no_vectors(settings: Settings, tmp_path: Path) -> None:
    file, vectors = write(tmp_path, [line(0)])
    with pytest.raises(EmbeddingSpaceError, match="no embedding model"):
        GivenVectors(Path(vectors), lines=1, dimension=None)
    plain = configuration.load({"home": settings.home, "embedding_model": "none"}, environ=UNHURRIED, cwd=tmp_path)
    with Helix.open(plain) as helix:
        assert ended(helix, ingest.ingest_bulk(helix, file)).result["memories"] == 1


def test_few_lines_go_in_without_the_graph_leaving(small: tuple[Helix, str, Path]) -> None:
    helix, file, _ = small
    helix.events.subscribe(lambda _: pytest.fail("the graph was set aside") if helix.store.graph.trouble else None)
    assert ended(helix, ingest.ingest_bulk(helix, file)).result["memories"] == 3


@pytest.mark.soak
def test_an_import_stops_where_a_backup_takes_the_place_of_the_store(tmp_path: Path) -> None:
    turns = [json.dumps({"id": f"u{n}", "content": f"turn {n} about omega{n}", "session": "s"}) for n in range(1_200)]
    file, vectors = write(tmp_path, turns)
    with opened(tmp_path / "home") as helix:
        store = helix.store
        backup = tmp_path / "copy.db"
        assert ended(helix, upkeep.backup(helix, str(backup))).state is JobState.DONE
        restored: list[int] = []

        def restore(rows: Sequence[object]) -> None:  # on the writer's thread, as `restore_backup` does it
            if not restored:
                restored.append(len(rows))
                store.take_over(backup)

        end = store.writer.listen(restore)
        job = run_in_bulk(helix, file, vectors)
        end()
        assert job.state is JobState.FAILED
        assert job.error_code == "CONFLICT"
        assert "was replaced" in (job.error or "")
        settled(helix)
        assert upkeep.status(helix).nodes["Episode"] == 0
        assert run_in_bulk(helix, file, vectors).state is JobState.DONE
        settled(helix)
        assert upkeep.status(helix).nodes["Episode"] == 1_200
        assert upkeep.doctor(helix).healthy
