"""Imports through the service: a real repository, notes and JSON lines; resumable, and never twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from helix import settings as configuration
from helix.errors import NotARepositoryError, NotFoundError, PausedError
from helix.ingest.jsonl import read_lines
from helix.ingest.writing import Importer
from helix.model.edge import Label, Relation
from helix.model.memory import Kind, Memory
from helix.model.recall import RecallQuery
from helix.model.reports import JobState
from helix.operations import capture, graph, ingest, memories, upkeep
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.store.listing import MemoryFilter
from tests.waiting import UNHURRIED, ended, finished

ROOT = Path(__file__).resolve().parent.parent
COMMITS = 200
IMPORT = """
import sys
from pathlib import Path
from helix import settings as configuration
from helix.operations import ingest, upkeep
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
settings = configuration.load({"home": Path(sys.argv[1])}, environ={}, cwd=Path(sys.argv[1]))
helix = Helix.open(settings, embedder=HashEmbedder())
tell = lambda event: print(event.get("done", 0), flush=True) if event["type"] == "job.progress" else None
helix.events.subscribe(tell)
job = ingest.ingest_git(helix, sys.argv[2])
while upkeep.job(helix, job.id).state == "running":
    import time
    time.sleep(0.01)
print("done", flush=True)
"""


def git(folder: Path, *arguments: str, when: int = 0) -> str:
    stamp = f"{1_700_000_000 + when} +0000"
    environment = {
        **os.environ,
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
        "GIT_AUTHOR_DATE": stamp,
        "GIT_COMMITTER_DATE": stamp,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    result = subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True, env=environment
    )
    return result.stdout.strip()


def commit(folder: Path, message: str, *files: str, when: int) -> str:
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{message} {when}")
        git(folder, "add", name)
    git(folder, "commit", "--allow-empty", "-q", "-m", message, when=when)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    guilty = commit(folder, "uploader: stream bodies instead of buffering them", "src/upload.c", when=1)
    commit(folder, "style: always use the arena allocator for headers", "docs/STYLE.md", when=2)
    commit(
        folder,
        f"uploader: fix crash on an empty body\n\nThe stream was closed twice. Regression from {guilty[:12]}",
        "src/upload.c",
        "tests/upload_test.c",
        when=3,
    )
    return folder


def test_a_history_becomes_episodes_memories_and_links(helix: Helix, repository: Path) -> None:
    job = finished(helix, ingest.ingest_git(helix, str(repository)))
    assert (job.done, job.total) == (3, 3)
    assert (job.result["episodes"], job.result["memories"]) == (3, 3)
    (fix,) = memories.memories(helix, MemoryFilter(kinds=[Kind.FAILURE])).items
    assert "closed twice" in fix.resolution
    assert {edge.type for edge in memories.edges(helix, fix.id)} >= {
        Relation.SOLVES,
        Relation.CAUSES,
        Relation.GROUNDED_IN,
        Relation.TOUCHES,
    }
    asked = "MATCH (f:Memory {kind: 'failure'})-[:SOLVES]->(m:Memory)-[:TOUCHES]->(e:Entity) RETURN m.trigger, e.name"
    assert graph.cypher(helix, asked).rows == (("uploader: stream bodies instead of buffering them", "src/upload.c"),)
    asked = "MATCH (f:Memory {kind: 'failure'})-[:GROUNDED_IN {relation: 'fixes'}]->(e:Episode) RETURN e.role"
    assert graph.cypher(helix, asked).rows == (("author",),)
    answer = helix.recall(RecallQuery(query="why did an empty body crash", files=("src/upload.c",)))
    assert answer.items[0].node.id == fix.id
    assert "files" in {hit.arm for hit in answer.items[0].arms}
    assert upkeep.doctor(helix).healthy


@pytest.mark.soak
def test_a_memory_of_a_commit_is_found_by_all_that_the_commit_says_and_shown_once(
    helix: Helix, repository: Path
) -> None:
    message = "parser: fix a crash\n\nIt crashed because of tabs.\n\n* marmots are parsed\n* so are hedgehogs"
    commit(repository, message, "src/parse.c", when=20)
    finished(helix, ingest.ingest_git(helix, str(repository)))
    first, *others = helix.recall(RecallQuery(query="marmots and hedgehogs")).items
    assert isinstance(first.node, Memory)
    assert (first.node.trigger, first.node.resolution) == ("parser: fix a crash", "It crashed because of tabs.")
    assert first.node.source not in [getattr(item.node, "source", "") for item in others]


def test_what_is_reverted_later_ends_and_what_is_reverted_back_holds_again(helix: Helix, repository: Path) -> None:
    commit(repository, "parser: cache every date\n\nReading dates anew is not needed.", "src/parse.c", when=20)
    commit(repository, "parser: read week days", "src/parse.c", when=30)
    finished(helix, ingest.ingest_git(helix, str(repository)))
    (bold,) = memories.memories(helix, MemoryFilter(kinds=[Kind.DECISION])).items
    assert bold.valid_to is None
    commit(repository, 'Revert "parser: cache every date"', "src/parse.c", when=40)
    finished(helix, ingest.ingest_git(helix, str(repository)))
    assert memories.get(helix, bold.id).valid_to == datetime.fromtimestamp(1_700_000_040, UTC)
    commit(repository, 'Reapply "parser: cache every date"', "src/parse.c", when=50)
    rows = finished(helix, ingest.ingest_git(helix, str(repository)))
    assert rows.result["episodes"] == 1
    assert memories.get(helix, bold.id).valid_to is None
    (taken,) = [
        one
        for one in memories.memories(helix, MemoryFilter(kinds=[Kind.DECISION])).items
        if "was reverted" in one.trigger
    ]
    assert taken.valid_to == datetime.fromtimestamp(1_700_000_050, UTC)


def test_no_commit_ends_what_a_person_has_confirmed(helix: Helix, repository: Path) -> None:
    commit(repository, "parser: cache every date\n\nReading dates anew is not needed.", "src/parse.c", when=20)
    finished(helix, ingest.ingest_git(helix, str(repository)))
    (bold,) = memories.memories(helix, MemoryFilter(kinds=[Kind.DECISION])).items
    memories.confirm(helix, bold.id)
    commit(repository, 'Revert "parser: cache every date"', "src/parse.c", when=30)
    finished(helix, ingest.ingest_git(helix, str(repository)))
    assert memories.get(helix, bold.id).valid_to is None
    assert bold.id in [item.node.id for item in helix.recall(RecallQuery(query="cache every date")).items]


def test_nothing_is_made_of_commits_in_the_background(helix: Helix, repository: Path) -> None:
    for number in range(12):
        commit(repository, f"parser: teach rule {number} of dates", "src/parse.c", when=20 + number)
    finished(helix, ingest.ingest_git(helix, str(repository)))
    rows = upkeep.status(helix).journal_rows
    for _ in range(2):
        helix.worker.flush()
        assert helix.worker.settle(60)
        assert upkeep.status(helix).journal_rows == rows


def test_a_second_import_takes_only_what_is_new(helix: Helix, repository: Path) -> None:
    finished(helix, ingest.ingest_git(helix, str(repository)))
    rows = upkeep.status(helix).journal_rows
    again = finished(helix, ingest.ingest_git(helix, str(repository)))
    assert (again.result["episodes"], again.result["skipped"]) == (0, 3)
    assert upkeep.status(helix).journal_rows == rows
    commit(repository, "parser: accept tabs", "src/parse.c", when=9)
    assert finished(helix, ingest.ingest_git(helix, str(repository))).result["episodes"] == 1


def test_an_import_killed_in_the_middle_goes_on_where_it_stopped(tmp_path: Path) -> None:
    repository, home = tmp_path / "project", tmp_path / "home"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    stream = "".join(
        f"commit refs/heads/main\ncommitter A <a@b> {1_700_000_000 + n} +0000\n"
        f"data <<E\nmodule{n}: change number {n}\nE\n"
        f"M 644 inline src/f{n % 9}.c\ndata <<E\n{n}\nE\n"
        for n in range(COMMITS)
    )
    subprocess.run(["git", "-C", str(repository), "fast-import", "--quiet"], input=stream, text=True, check=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT) + os.pathsep + os.environ.get("PYTHONPATH", "")}
    home.mkdir()
    command = [sys.executable, "-c", IMPORT, str(home), str(repository)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() != "done" and int(line) >= 90:
                process.send_signal(signal.SIGKILL)
                break
        process.wait(30)
    assert process.returncode == -signal.SIGKILL
    settings = configuration.load({"home": home}, environ=UNHURRIED, cwd=home)
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        before = upkeep.status(helix).nodes[Label.EPISODE]
        assert 90 <= before < COMMITS
        job = finished(helix, ingest.ingest_git(helix, str(repository)))
        assert (job.result["skipped"], job.result["episodes"]) == (before, COMMITS - before)
        assert upkeep.status(helix).nodes[Label.EPISODE] == COMMITS
        twice = graph.cypher(helix, "MATCH (e:Episode) WITH e.source AS s, count(*) AS n WHERE n > 1 RETURN s").rows
        assert twice == ()
        assert upkeep.doctor(helix).healthy


def test_a_cancelled_import_keeps_what_it_has(helix: Helix, repository: Path) -> None:
    job = ingest.ingest_git(helix, str(repository))
    upkeep.cancel_job(helix, job.id)
    assert ended(helix, job).state in (JobState.CANCELLED, JobState.DONE)
    finished(helix, ingest.ingest_git(helix, str(repository)))
    assert upkeep.status(helix).nodes[Label.EPISODE] == 3


def test_a_pause_stops_an_import_that_is_running(helix: Helix) -> None:
    def lines() -> Iterator[str]:
        for number in range(500):
            if number == 200:
                capture.pause(helix, True)
            yield json.dumps({"id": str(number), "text": f"turn {number} about item{number}"})

    with pytest.raises(PausedError, match="paused after"):
        Importer(helix.store, source="jsonl", scope="global").run(read_lines(lines()), lambda done: None, lambda: False)
    assert 0 < upkeep.status(helix).nodes[Label.EPISODE] <= 200
    capture.pause(helix, False)


def test_what_is_no_repository_is_refused_at_once(helix: Helix, tmp_path: Path) -> None:
    with pytest.raises(NotARepositoryError) as caught:
        ingest.ingest_git(helix, str(tmp_path))
    assert caught.value.hint
    with pytest.raises(NotFoundError):
        ingest.ingest_notes(helix, [str(tmp_path / "nowhere.md")])


@pytest.mark.soak
def test_notes_come_in_once_and_a_changed_section_replaces_the_old_one(helix: Helix, tmp_path: Path) -> None:
    notes = tmp_path / "CLAUDE.md"
    notes.write_text("# Build\n\nAlways build with `make -j4`.\n\n# Database\n\nThe database is Postgres 14.\n")
    first = finished(helix, ingest.ingest_notes(helix, [str(notes)]))
    assert first.result["memories"] >= 1
    assert finished(helix, ingest.ingest_notes(helix, [str(notes)])).result["episodes"] == 0
    notes.write_text("# Build\n\nAlways build with `make -j4`.\n\n# Database\n\nThe database is Postgres 17.\n")
    finished(helix, ingest.ingest_notes(helix, [str(notes)]))
    answered = [item.text for item in helix.recall(RecallQuery(query="which postgres database")).items]
    assert any("Postgres 17" in text for text in answered)
    assert not any("Postgres 14" in text for text in answered)
    assert sum("make -j4" in memory.resolution for memory in memories.memories(helix).items) == 1
    assert upkeep.doctor(helix).healthy


def test_a_broken_json_line_is_named_and_the_rest_goes_in(helix: Helix) -> None:
    lines = [
        json.dumps(
            {
                "id": "1",
                "text": "Caroline adopted a puppy",
                "ts": "2023-05-08T13:56:00",
                "session": "s",
                "speaker": "Ann",
            }
        ),
        '{"id": "2", "text": ',
        json.dumps({"kind": "convention", "trigger": "commit messages", "resolution": "in the imperative"}),
        json.dumps({"id": "3", "text": "x" * 100_000}),
        json.dumps({"id": "4", "text": "nul \0 and \ud800 surrogate about marmots"}),
    ]
    report = ingest.ingest_jsonl(helix, lines, first_line=10)
    assert [problem.where for problem in report.problems] == ["line 11", "line 13"]
    assert (report.episodes, report.memories) == (3, 1)
    assert ingest.ingest_jsonl(helix, lines, first_line=10).episodes == 0
    for query in ("who adopted a puppy", "marmots", "commit messages"):
        assert helix.recall(RecallQuery(query=query)).items, query


def test_secrets_in_a_history_stay_out(helix: Helix, repository: Path) -> None:
    secret = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    commit(repository, f"deploy: rotate the token\n\nIt was {secret} before.", "deploy.sh", when=20)
    job = finished(helix, ingest.ingest_git(helix, str(repository)))
    assert job.result["redacted"] == 1
    store = helix.settings.store_path
    helix.close()
    assert not [file for file in store.rglob("*") if file.is_file() and secret.encode() in file.read_bytes()]
