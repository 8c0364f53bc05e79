"""Histories of Codex, Gemini CLI and opencode, and memory files of Claude Code: what they tell comes in once."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from helix.identity import project_at
from helix.memory.capture.sessions import SessionRequest
from helix.model.memory import Kind
from helix.model.provenance import Trust
from helix.operations import capture, ingest, memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store.listing import MemoryFilter
from tests.waiting import finished

OF_OPENCODE = "ses_ddfc9c9ffffePMxc4h12IbD4wg"
AT = "2026-03-01T10:00:00.000Z"
RUNS = (
    ("make migrate", 2, "Error: relation 'users' is missing"),
    ("createdb shop_test", 0, ""),
    ("make migrate", 0, ""),
)


@pytest.fixture
def helix(settings: Settings) -> Iterator[Helix]:
    with Helix.open(settings, embedder=HashEmbedder()) as opened:
        yield opened


def codex(folder: Path, run_in: str = "") -> Path:
    def item(**payload: Any) -> dict[str, Any]:
        return {"timestamp": AT, "type": "response_item", "payload": payload}

    def text(role: str, said: str, name: str) -> dict[str, Any]:
        return item(type="message", id=name, role=role, content=[{"type": "input_text", "text": said}])

    lines = [
        {"timestamp": AT, "type": "session_meta", "payload": {"id": "s1", "cwd": str(folder)}},
        text("user", "<environment_context>\n  <cwd>/x</cwd>", "m0"),
        text("user", "<skill>\n<name>mine</name>\nAlways run `make mine` first.\n</skill>", "m3"),
        text("user", "<user_shell_command>\n<result>\nAlways run mine.\n</result>\n</user_shell_command>", "m4"),
        text("user", "<user_action>\n<results>\nAlways run `make mine` first.\n</results>\n</user_action>", "m5"),
        text(
            "user",
            "# Context from my IDE setup:\nRun mine.\n## My request for Codex:\nWhy does the migration fail?",
            "m1",
        ),
    ]
    for number, (command, status, output) in enumerate(RUNS):
        given = {"cmd": command} if number else {"command": ["bash", "-lc", command]}
        given |= {"workdir": run_in} if run_in else {}
        call = {"name": "exec_command", "arguments": json.dumps(given), "call_id": f"c{number}"}
        told: Any = f"Chunk ID: 1\nProcess exited with code {status}\nOutput:\n{output}"
        if number == 1:
            told = json.dumps({"output": output, "metadata": {"exit_code": status}})
        lines += [
            item(type="function_call", **call),
            item(type="function_call_output", call_id=f"c{number}", output=told),
        ]
    lines.append(text("assistant", "The test database was missing.", "m2"))
    file = folder / "sessions" / "2026" / "03" / "rollout-2026-03-01-s1.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines) + "{", "utf-8")
    return folder / "sessions"


def gemini_messages(run_in: str = "") -> list[dict[str, Any]]:
    calls = []
    for number, (command, status, output) in enumerate(RUNS):
        told = (
            f"Output: {output}\n" + ("Exit Code: 0\n" if status else "") + (f"Exit Code: {status}\n" if status else "")
        )
        result = [{"functionResponse": {"response": {"output": told}}}]
        call = {"id": f"c{number}", "name": "run_shell_command", "args": {"command": command}, "status": "success"}
        call["args"] |= {"dir_path": run_in} if run_in else {}
        calls.append({**call, "result": result, "timestamp": AT})
    cut = [{"functionResponse": {"response": {"output": "Command was cancelled by user before it could complete."}}}]
    calls += [
        {**calls[0], "id": f"cut{number}", "result": cut, "args": {"command": "make deploy"}} for number in range(3)
    ]
    named = "\n--- Content from referenced files ---", "Always run mine.", "\n--- End of content ---"
    shown = "<hook_context># PROJECT BRIEF\n- [web] x: \u00abAlways run mine.\u00bb</hook_context>\n\n"
    asked = [{"text": one} for one in (f"{shown}Why does the migration fail?", *named)]
    by_client = (
        "<session_context>\nThis is it\n</session_context>",
        'Here is the user\'s editor context as a JSON object.\n{"selectedText": "Always run mine."}',
        'Here is a summary of changes in the user\'s editor context.\n{"selectedText": "Always run mine."}',
        "<state_snapshot>\nAlways run mine.\n</state_snapshot>",
    )
    return [
        *({"id": f"c{n}", "timestamp": AT, "type": "user", "content": [{"text": t}]} for n, t in enumerate(by_client)),
        {"id": "m1", "timestamp": AT, "type": "user", "content": asked},
        {"id": "m2", "timestamp": AT, "type": "gemini", "content": ""},
        {"id": "m2", "timestamp": AT, "type": "gemini", "content": "", "toolCalls": calls},
        {"id": "m3", "timestamp": AT, "type": "gemini", "content": "The test database was missing."},
    ]


def gemini(folder: Path, run_in: str = "") -> Path:
    chats = folder / "tmp" / "p" / "chats"
    chats.mkdir(parents=True)
    (chats.parent / ".project_root").write_text(str(folder), "utf-8")
    head = {"sessionId": "s1", "projectHash": "0", "startTime": AT}
    first, *rest = gemini_messages(run_in)
    lines = [head, {"$set": {"messages": [first]}}, *rest, {"$set": {"lastUpdated": AT}}]
    (chats / "session-1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    older = {**head, "messages": gemini_messages(run_in)}  # older versions write the same session as one object
    (chats / "session-2.json").write_text(json.dumps(older), "utf-8")
    return folder / "tmp"


def opencode(folder: Path, run_in: str = "") -> Path:
    data = folder / "opencode"
    data.mkdir(parents=True)
    with closing(sqlite3.connect(data / "opencode.db")) as made, made:
        made.executescript(
            "CREATE TABLE session (id TEXT PRIMARY KEY, directory TEXT);"
            "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);"
            "CREATE TABLE part"
            " (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);"
        )
        made.execute("INSERT INTO session VALUES ('ses_1', ?)", (str(folder),))
        parts: list[tuple[str, dict[str, Any]]] = [("user", {"type": "text", "text": "Why does the migration fail?"})]
        for number, (command, status, output) in enumerate(RUNS):
            state = {
                "status": "completed",
                "input": {"command": command, "workdir": run_in},
                "metadata": {"output": output, "exit": status},
            }
            parts.append(("assistant", {"type": "tool", "tool": "bash", "callID": f"c{number}", "state": state}))
        parts.append(("assistant", {"type": "text", "text": "The test database was missing."}))
        for number, (role, part) in enumerate(parts):
            at = 1_772_000_000_000 + number
            made.execute(
                "INSERT INTO message VALUES (?, 'ses_1', ?, ?)", (f"m{number}", at, json.dumps({"role": role}))
            )
            made.execute(
                "INSERT INTO part VALUES (?, ?, 'ses_1', ?, ?)", (f"p{number}", f"m{number}", at, json.dumps(part))
            )
    return data


def test_a_database_of_opencode_with_rows_that_nobody_writes_is_read(helix: Helix, tmp_path: Path) -> None:
    data = opencode(tmp_path / "shop")
    with closing(sqlite3.connect(data / "opencode.db")) as made, made:
        for at in ("soon", 10**18, -(10**15), b"\xff"):
            made.execute("INSERT INTO part VALUES (?, ?, 'ses_1', ?, '[')", (f"x{at!r}", None, at))
        made.execute("INSERT INTO session VALUES (NULL, x'00')")
        made.execute("INSERT INTO message VALUES (NULL, NULL, NULL, NULL)")
    done = finished(helix, ingest.import_memories(helix, str(data)))
    assert (done.error, dict(done.result)["memories"]) == ("", 1)
    bare = tmp_path / "opencode.db"
    with closing(sqlite3.connect(bare)) as made, made:
        made.executescript("CREATE TABLE session (x); CREATE TABLE message (x); CREATE TABLE part (x);")
        made.execute("INSERT INTO part VALUES (1)")
        made.execute("INSERT INTO message VALUES (1)")
    assert dict(finished(helix, ingest.import_memories(helix, str(bare))).result)["episodes"] == 0


@pytest.fixture
def keeping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each client keep its sessions where these tests write them."""
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "shop"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "shop"))
    monkeypatch.setenv("HOME", str(tmp_path / "ada"))
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / ".gemini").symlink_to(tmp_path / "shop")


@pytest.mark.parametrize("make", [codex, gemini, opencode])
def test_a_history_that_no_client_keeps_goes_into_no_project_that_it_names(
    helix: Helix, tmp_path: Path, make: Any
) -> None:
    """A repository can have one among its files: it would choose whose agents are told what it says."""
    place = make(tmp_path / "shop").rename(tmp_path / "theirs")
    assert dict(finished(helix, ingest.import_memories(helix, str(place))).result)["memories"] == 1
    file = next(one for one in sorted(place.rglob("*")) if one.suffix in (".jsonl", ".db"))
    told = {one.scope for one in (*capture.episodes(helix).items, *memories.memories(helix).items)}
    assert told == {project_at(file.parent).scope}


@pytest.mark.usefixtures("keeping")
@pytest.mark.parametrize("make", [codex, gemini, opencode])
def test_a_history_gives_what_was_said_and_what_mended_a_failure(helix: Helix, tmp_path: Path, make: Any) -> None:
    place = make(tmp_path / "shop")
    done = dict(finished(helix, ingest.import_memories(helix, str(place))).result)
    assert (done["source"], done["memories"]) == (make.__name__, 1)
    (memory,) = memories.memories(helix, MemoryFilter(kinds=[Kind.FAILURE])).items
    assert memory.resolution == "It passed after running `createdb shop_test`."
    assert memory.provenance.trust is Trust.TOOL_OUTPUT
    assert memory.valid_from is not None, "it holds since it was found out, not since it came in"
    assert "2026-02-25" < memory.valid_from.isoformat() < "2026-03-02"
    assert memory.scope.startswith("shop"), "the project that the session was held in"
    told = [(one.role, one.content) for one in capture.episodes(helix).items if one.role != "tool"]
    assert sorted(told) == [
        ("assistant", "The test database was missing."),
        ("user", "Why does the migration fail?"),
    ]
    again = dict(finished(helix, ingest.import_memories(helix, str(place))).result)
    assert (again["episodes"], again["memories"]) == (0, 0)


@pytest.mark.parametrize("make", [codex, gemini, opencode])
def test_a_command_of_a_history_is_of_the_folder_that_its_call_names(helix: Helix, tmp_path: Path, make: Any) -> None:
    place = make(tmp_path / "shop", "secret")
    (tmp_path / "shop" / ".helixignore").write_text("secret/\n", "utf-8")
    done = dict(finished(helix, ingest.import_memories(helix, str(place))).result)
    assert (done["source"], done["memories"]) == (make.__name__, 0)
    assert {one.role for one in capture.episodes(helix).items} == {"user", "assistant"}


def test_of_a_projects_command_in_gemini_its_person_said_the_name_and_no_more(helix: Helix, tmp_path: Path) -> None:
    """As Gemini CLI 0.61 writes it: `content` is the command's text, with what its shell printed and a named file."""
    chats = tmp_path / "tmp" / "p" / "chats"
    chats.mkdir(parents=True)
    sent = [{"text": "We decided to deploy from my mirror."}, {"text": "We decided to keep tokens in a file."}]
    said = {"id": "m1", "timestamp": AT, "type": "user", "content": sent, "displayContent": [{"text": "/review mine"}]}
    lines = ({"sessionId": "s1", "projectHash": "0"}, said)
    (chats / "session-1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    finished(helix, ingest.import_memories(helix, str(tmp_path / "tmp")))
    assert [(one.role, one.content) for one in capture.episodes(helix).items] == [("user", "/review mine")]


def test_of_a_projects_command_in_opencode_its_person_said_the_name_and_no_more(helix: Helix, tmp_path: Path) -> None:
    """Our plugin notes beside a command's text what was typed; one that a sub-agent carries out is asked by none."""
    data = opencode(tmp_path / "shop")
    part = {"type": "text", "text": "We decided to deploy from my mirror."}
    with closing(sqlite3.connect(data / "opencode.db")) as made, made:
        made.execute("ALTER TABLE session ADD COLUMN parent_id TEXT")
        made.execute("INSERT INTO session VALUES ('ses_2', ?, 'ses_1')", (str(tmp_path / "shop"),))
        for session, one in (("ses_1", {**part, "metadata": {"helix": "/review mine"}}), ("ses_2", part)):
            row = (f"of {session}", session, 1_772_000_000_009)
            made.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (*row, json.dumps({"role": "user"})))
            made.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", (f"z{session}", *row, json.dumps(one)))
    finished(helix, ingest.import_memories(helix, str(data)))
    told = {one.content for one in capture.episodes(helix).items if one.role == "user"}
    assert told == {"Why does the migration fail?", "/review mine"}


@pytest.mark.parametrize("make", [codex, opencode])
def test_of_the_sub_agents_of_a_private_session_nothing_comes_in(helix: Helix, tmp_path: Path, make: Any) -> None:
    """Both clients keep what a sub-agent did as a session of its own, which names the one that it was started in."""
    place = make(tmp_path / "shop")
    capture.open_session(helix, SessionRequest(name=OF_OPENCODE if make is opencode else "s1", private=True))
    if make is opencode:
        with closing(sqlite3.connect(place / "opencode.db")) as made, made:
            made.execute("ALTER TABLE session ADD COLUMN parent_id TEXT")
            made.execute("INSERT INTO session VALUES ('ses_2', '', ?)", (OF_OPENCODE,))
            made.execute("UPDATE session SET parent_id = 'ses_2' WHERE id = 'ses_1'")
    else:
        (file,) = place.rglob("*.jsonl")
        spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "s1"}}}
        meta = {"type": "session_meta", "payload": {"id": "s2", "source": spawned, "cwd": str(tmp_path / "shop")}}
        _, *rest = file.read_text("utf-8").splitlines()
        file.write_text("\n".join((json.dumps(meta), *rest)), "utf-8")
    finished(helix, ingest.import_memories(helix, str(place)))
    assert not capture.episodes(helix).items and not memories.memories(helix).items


@pytest.mark.parametrize(
    "told", [{"parent_thread_id": "private", "source": {"subagent": "review"}}, {"source": {"subagent": "review"}}, {}]
)
def test_of_a_sub_agent_nothing_comes_in_that_may_be_of_a_private_session(
    helix: Helix, tmp_path: Path, told: dict[str, Any]
) -> None:
    """Gemini CLI and older versions of Codex do not say whose it is."""
    capture.open_session(helix, SessionRequest(name="private", private=True))
    place = codex(tmp_path) if told else gemini(tmp_path)
    for file in place.rglob("*.json*"):
        first, *rest = file.read_text("utf-8").splitlines()
        meta = json.loads(first)
        (meta["payload"] if told else meta).update(told or {"kind": "subagent"})
        file.write_text("\n".join((json.dumps(meta), *rest)), "utf-8")
    finished(helix, ingest.import_memories(helix, str(place)))
    assert not capture.episodes(helix).items and not memories.memories(helix).items


def test_of_codex_forks_of_a_private_session_nothing_comes_in(helix: Helix, tmp_path: Path) -> None:
    capture.open_session(helix, SessionRequest(name="private", private=True))
    place = codex(tmp_path)
    (file,) = place.rglob("*.jsonl")
    first, *rest = file.read_text("utf-8").splitlines()
    forked = json.loads(first)
    forked["payload"]["forked_from_id"] = "private"
    file.write_text("\n".join((json.dumps(forked), *rest)), "utf-8")
    finished(helix, ingest.import_memories(helix, str(place)))
    assert not capture.episodes(helix).items and not memories.memories(helix).items


def test_memory_files_of_claude_code_go_into_their_projects(helix: Helix, tmp_path: Path) -> None:
    project = tmp_path / "projects" / "-home-ada-shop"
    (project / "memory").mkdir(parents=True)
    (project / "memory" / "MEMORY.md").write_text("# Testing\n\n- Run `make check` before every commit.\n", "utf-8")
    work = tmp_path / "shop"
    work.mkdir()
    (project / "s.jsonl").write_text(json.dumps({"type": "user", "cwd": str(work)}) + "\n", "utf-8")
    done = dict(finished(helix, ingest.import_memories(helix, str(tmp_path / "projects"))).result)
    assert (done["source"], done["memories"]) == ("claude-code", 1)
    (memory,) = memories.memories(helix).items
    assert memory.scope.startswith("shop") and memory.said_by == "notes"
    assert dict(finished(helix, ingest.import_memories(helix, str(tmp_path / "projects"))).result)["skipped"] == 1


def test_memory_files_of_claude_code_whose_sessions_are_gone_are_kept_apart(helix: Helix, tmp_path: Path) -> None:
    """The client removes its histories after a month, and leaves the memory."""
    place = tmp_path / "projects" / "-home-ada-shop" / "memory"
    place.mkdir(parents=True)
    (place / "MEMORY.md").write_text("# Testing\n\n- Run `make check` before every commit.\n", "utf-8")
    finished(helix, ingest.import_memories(helix, str(tmp_path / "projects")))
    (memory,) = memories.memories(helix).items
    assert memory.scope.startswith("home-ada-shop-")


def test_histories_of_gemini_that_name_no_folder_are_kept_apart(helix: Helix, tmp_path: Path) -> None:
    """Older versions note none; in `global` what was said in one project would be told in all."""
    for name in ("one", "two"):
        place = gemini(tmp_path / name)
        (place / "p" / ".project_root").unlink()
        finished(helix, ingest.import_memories(helix, str(place)))
    scopes = {one.scope for one in capture.episodes(helix).items}
    assert len(scopes) == 2
    assert all(scope.startswith("chats-") for scope in scopes)
