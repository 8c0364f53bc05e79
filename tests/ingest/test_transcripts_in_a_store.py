"""Transcripts in a store: ingested once, gone on with, redacted, and shown where what they tell of matters."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from helix.agents.context.exact_lookup import look_up
from helix.command_outcome.command_run import CommandRun
from helix.identity import NO_PROJECT, project_at
from helix.ingest import plain
from helix.memory.capture.sessions import SessionRequest
from helix.model.memory import Kind, Status
from helix.model.provenance import Trust
from helix.operations import capture, erasure, ingest, memories
from helix.service import Helix
from helix.store.listing import MemoryFilter
from tests.sampling import some
from tests.waiting import finished

TOKEN = "ghp_" + "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW2xY4"
"""In the form of a secret, and none."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    subprocess.run(
        ["git", "-C", str(folder), "remote", "add", "origin", "https://example.org/acme/shop.git"], check=True
    )
    return folder


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which Claude Code keeps the sessions of a project."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    (folder := tmp_path / "claude" / "projects" / "shop").mkdir(parents=True)
    return folder


def records(project: Path) -> list[dict[str, Any]]:
    def of(kind: str, content: Any, number: int, **more: Any) -> dict[str, Any]:
        return {
            "type": kind,
            "uuid": f"u{number}",
            "sessionId": "s1",
            "cwd": str(project / "src"),
            "timestamp": f"2026-03-01T10:00:{number:02}Z",
            "message": {"role": kind, "content": content},
            **more,
        }

    def run(number: int, command: str, text: str, *, failed: bool = False) -> list[dict[str, Any]]:
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
        end = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text, "is_error": failed}
        answer = text if failed else {"stdout": text, "stderr": "", "interrupted": False}
        return [of("assistant", [call], number), of("user", [end], number + 1, toolUseResult=answer)]

    return [
        of("user", f"Why does the migration fail? My token is {TOKEN}", 0),
        *run(1, "make migrate", "Exit code 2\nError: relation 'users' is missing", failed=True),
        *run(3, "createdb shop_test", ""),
        *run(5, "make migrate", "done"),
        of("assistant", [{"type": "text", "text": "The test database was missing."}], 7),
    ]


def take_in(helix: Helix, path: Path) -> dict[str, Any]:
    return dict(finished(helix, ingest.ingest_transcript(helix, str(path))).result)


def test_a_history_is_taken_in_once_and_gone_on_with(helix: Helix, project: Path, kept: Path) -> None:
    lines = [json.dumps(record) + "\n" for record in records(project)]
    path = kept / "history.jsonl"
    path.write_text("".join(lines[:3]), "utf-8")
    first = take_in(helix, path)
    assert (first["episodes"], first["memories"], first["redacted"]) == (2, 0, 1)
    path.write_text("".join(lines) + lines[-1][:20], "utf-8")
    second = take_in(helix, path)
    assert (second["episodes"], second["memories"], second["skipped"]) == (1, 1, 2)
    assert "1 of 9 lines" in second["problems"][0]["why"], "the line that is being written"
    path.write_text("".join(lines), "utf-8")
    assert take_in(helix, path)["episodes"] == 1, "what was said last is an answer once nothing follows"
    assert (take_in(helix, path)["episodes"], take_in(helix, path)["memories"]) == (0, 0)
    episodes = capture.episodes(helix, session="s1").items
    assert {episode.scope for episode in episodes} == {"example.org/acme/shop"}
    assert TOKEN not in repr(episodes)


def test_what_a_history_teaches_is_shown_at_its_command(helix: Helix, project: Path, tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records(project)), "utf-8")
    take_in(helix, path)
    (memory,) = memories.memories(helix, MemoryFilter(kinds=[Kind.FAILURE])).items
    assert memory.status is Status.ACTIVE and memory.provenance.trust is Trust.TOOL_OUTPUT
    assert memory.resolution == "It passed after running `createdb shop_test`."
    again = CommandRun(command="cd src && make migrate", folder=str(project), root=str(project))
    (site,) = look_up(helix.store, again, memory.scope)
    assert site.memory.id == memory.id
    assert look_up(helix.store, CommandRun(command="make build", folder=str(project)), memory.scope) == ()


def test_a_file_of_several_sessions_tells_nothing_of_the_private_one(
    helix: Helix, project: Path, tmp_path: Path
) -> None:
    capture.open_session(helix, SessionRequest(name="s1", private=True))
    told = records(project)
    first, last = ({**told[-1], "uuid": uuid, "sessionId": "s2"} for uuid in ("u20", "u21"))
    fixed = [{**record, "sessionId": "s2"} for record in told[5:7]]
    path = tmp_path / "history.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in (first, *told[:5], *fixed, *told, last)), "utf-8")

    taken = take_in(helix, path)
    assert (taken["episodes"], taken["memories"]) == (2, 0)
    assert {episode.source for episode in capture.episodes(helix).items} == {"claude-code:s2:u20", "claude-code:s2:u21"}


def test_calls_under_ids_that_clients_make_are_kept_apart(helix: Helix, project: Path, tmp_path: Path) -> None:
    """Such ids look as random as keys; told as keys, all calls of a session would be one."""
    ids = {"t1": "toolu_01RDwkS4SzPNGtaYmsMZt80Jg7", "t3": "toolu_01kQx9ZbV3nLcT5yHe2WmD8uRp"}
    ids["t5"] = "toolu_01Jf6GsXv1AqYo4KtB7NzEw3Ci"
    text = "".join(json.dumps(record) + "\n" for record in records(project)).replace('"s1"', '"5d0e7c0a-8f7b-4a1e"')
    for short, long in ids.items():
        text = text.replace(f'"{short}"', f'"{long}"')
    (tmp_path / "history.jsonl").write_text(text, "utf-8")
    take_in(helix, tmp_path / "history.jsonl")
    sources = {one.source for one in capture.episodes(helix).items}
    assert f"claude-code:5d0e7c0a-8f7b-4a1e:{ids['t1']}" in sources
    assert len(sources) == len(capture.episodes(helix).items) == 4


def test_a_strange_record_stops_neither_its_file_nor_the_next(helix: Helix, project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "histories"
    folder.mkdir()
    said = records(project)[0]
    strange = [
        {**said, "timestamp": "0001-01-01T00:00:00+10:00"},
        {**said, "timestamp": "9999-12-31T23:59:59-10:00", "uuid": "u1"},
        {**said, "sessionId": "s\ud800", "uuid": "u\ud800"},
        {**said, "sessionId": "s3", "cwd": "/tmp/\ud800"},
    ]
    for number, one in enumerate(strange):
        lines = [json.dumps(record) + "\n" for record in (one, {**one, "uuid": f"next{number}"})]
        (folder / f"{number}.jsonl").write_text("".join(lines), "utf-8")
    report = take_in(helix, folder)
    assert (report["episodes"], report["problems"]) == (2 * len(strange), ())


def test_of_a_fork_of_a_private_session_nothing_comes_in(helix: Helix, project: Path, tmp_path: Path) -> None:
    """It begins with all that was said in the private one, under a name of its own."""
    capture.open_session(helix, SessionRequest(name="private", private=True))
    first, *rest = records(project)
    first["forkedFrom"] = {"sessionId": "private", "messageUuid": "m1"}
    (tmp_path / "fork.jsonl").write_text("\n".join(map(json.dumps, (first, *rest))), "utf-8")
    report = take_in(helix, tmp_path / "fork.jsonl")
    assert (report["episodes"], report["memories"]) == (0, 0)


@pytest.mark.parametrize("place", ["theirs/src", "plain/src", "ada"])
def test_a_transcript_that_no_client_keeps_is_of_the_folder_that_it_lies_in(
    helix: Helix, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """A repository can have one among its files: it would choose whose agents are told what it says."""
    monkeypatch.setenv("HOME", str(tmp_path / "ada"))
    file = tmp_path / place / "history.jsonl"
    file.parent.mkdir(parents=True)
    if place == "theirs/src":
        subprocess.run(["git", "init", "-q", str(file.parents[1])], check=True)
    file.write_text("".join(json.dumps(record) + "\n" for record in records(project)), "utf-8")
    assert take_in(helix, file)["memories"] == 1
    own = project_at(file.parent).scope
    wanted = project_at(file).scope if own == NO_PROJECT else own
    told = {one.scope for one in (*capture.episodes(helix).items, *memories.memories(helix).items)}
    assert told == {wanted}
    assert wanted != NO_PROJECT


def test_no_history_goes_into_every_project(helix: Helix, project: Path, kept: Path) -> None:
    """Neither a sub-agent's, whose shell stood in `/`, nor that of a folder of another system, or of none."""
    said = records(project)[:3]
    places = {
        "shop/s1": str(project),
        "shop/s1/subagents/agent-1": "/",
        "other/s2": "C:\\Users\\ada\\web",
        "none/s3": "",
    }
    for name, folder in places.items():
        session = "s1" if "s1" in name else name[-2:]
        lines = [
            json.dumps({**one, "sessionId": session, "cwd": folder, "uuid": f"{name}{one['uuid']}"}) for one in said
        ]
        file = kept.parent / f"{name}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n", "utf-8")
    take_in(helix, kept.parent)
    scopes = {one.session: one.scope for one in capture.episodes(helix).items}
    assert {one.scope for one in capture.episodes(helix, session="s1").items} == {"example.org/acme/shop"}
    assert scopes["s2"].startswith("C:-Users-ada-web-") and scopes["s3"].startswith("none-")


def test_a_file_without_an_end_is_read_to_its_first_endless_line(
    helix: Helix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain, "_ENDLESS", 1 << 25)
    file = tmp_path / "hole.jsonl"
    with file.open("wb") as opened:
        opened.truncate(1 << 42)  # takes no room on the disk
    (problem, *_) = take_in(helix, file)["problems"]
    assert "longer than" in problem["why"]


@pytest.mark.parametrize(
    "calls", some(["toolu_01RDwkS4SzPNGtaYmsMZt8", "toolu_bdrk_01RDwkS4SzPNGtaYm", "run_shell_command-1772400-9f"], 1)
)
def test_what_was_erased_of_a_history_comes_back_by_no_reading_of_it(
    helix: Helix, project: Path, tmp_path: Path, calls: str
) -> None:
    path = tmp_path / "history.jsonl"
    session, fork = "5d0e7c0a-8f7b-4a1e-9c3d-2b6f1a7e8d90", "0498a1b2-7c3d-4e4f-8a9b-0c1d2e3f4a5b"
    told = records(project)
    text = "".join(json.dumps(record) + "\n" for record in told).replace('"s1"', f'"{session}"')
    for short in ("u0", "u7"):
        text = text.replace(f'"{short}"', f'"7c1b0e5a-3f2d-4e6b-8a9c-0d1e2f3a4b5{short[1]}"')
    for number in (1, 3, 5):
        text = text.replace(f'"t{number}"', f'"{calls}{number}"')
    path.write_text(text, "utf-8")
    assert take_in(helix, path)["episodes"] == 4
    for one in capture.episodes(helix).items:
        finished(helix, erasure.hard_forget(helix, one.id, one.id))
    assert take_in(helix, path)["episodes"] == 0
    forked = [json.loads(line) for line in text.replace(session, fork).splitlines()]
    for record in forked:
        record["forkedFrom"] = {"sessionId": session, "messageUuid": record.get("uuid", "")}
    (tmp_path / "fork.jsonl").write_text("".join(json.dumps(record) + "\n" for record in forked), "utf-8")
    assert take_in(helix, tmp_path / "fork.jsonl")["episodes"] == 0
    assert {one.content for one in capture.episodes(helix).items} == {""}
    assert memories.memories(helix, MemoryFilter()).items == ()
