"""Histories: sessions of Codex, Gemini CLI and opencode, told as the reader of Claude Code's histories takes them.

A grammar of the records that these clients write.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

from helix import files
from helix.agents.hook_events.claude_code import is_by_client
from helix.agents.hook_events.client_shapes import gemini_status
from helix.agents.hook_events.client_transcripts import Record, blocks_of, forked_from
from helix.errors import InvalidInputError
from helix.ingest.jsonl import time_of
from helix.ingest.other_memories.adapter import Adapter, Asked, Told
from helix.ingest.other_memories.json_files import MOST_VALUES, check_values, objects_in, objects_of, read_json
from helix.ingest.other_memories.peek import Peek
from helix.ingest.transcript import read_records, staying_inside
from helix.journal.foreign_database import foreign_database
from helix.model.reports import IngestProblem
from helix.text.client_ids import digested_session, short_digest
from helix.text.own_words import own_words

_CODEX, _GEMINI, _OPENCODE = "codex", "gemini", "opencode"
_BY_CLIENT = (
    *("# AGENTS.md instructions", "<skill>", "I ran the following shell command:", "This is the Gemini CLI."),
    *("Here is the user's editor context as", "Here is a summary of changes in the user's editor context"),
)
"""How what a client says in a person's place begins, where that is no tag of several words (`is_by_client`): files of
the folder, what is selected in its editor, and what commands printed."""
_ENDED = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,9})$", re.MULTILINE)
_ROLLOUT, _CHAT = re.compile(r".*rollout-[^/]*\.jsonl"), re.compile(r".*(?:chats/[^/]*\.jsonl?|logs\.json)")
_ROOT = ".project_root"
_RUN_IN = ("workdir", "dir_path", "directory")
"""What Codex and opencode, and Gemini CLI now and before, call the folder that a command is run in."""
_LARGEST_CHAT = 1 << 26


def _session_files(path: Path, name: re.Pattern[str]) -> list[Path]:
    if path.is_file():
        return [path]
    inside = (one for one in sorted(path.rglob("*")) if name.fullmatch(one.as_posix()) and one.is_file())
    return list(staying_inside(path, inside))


def _of_files(client: str, name: re.Pattern[str], told: Callable[[Path, list[IngestProblem]], Iterable[Record]]) -> Any:
    """Return what reads each session file below a path; what cannot be read is named when its file is done."""

    def read(asked: Asked) -> Iterator[Told]:
        for before, file in enumerate(_session_files(asked.path, name)):
            problems: list[IngestProblem] = []
            yield from read_records(client, told(file, problems), asked.place_of, file, before)
            yield from problems

    return read


def _record(session: str, folder: str, at: object, key: str, role: str, block: Mapping[str, Any]) -> Record:
    message = {"role": role, "content": [block]}
    return {"type": role, "sessionId": session, "cwd": folder, "timestamp": at, "uuid": key, "message": message}


def _text_record(session: str, folder: str, at: object, key: str, role: str, texts: Iterable[str]) -> Iterator[Record]:
    text = "\n".join(one for one in texts if role != "user" or not _is_put_in(one))
    if text.strip():
        yield _record(session, folder, at, key, role, {"type": "text", "text": text})


def _is_put_in(text: str) -> bool:
    """Return whether a text of a person's prompt in a history is their client's."""
    return text.lstrip().startswith(_BY_CLIENT) or is_by_client(own_words(text))


def _ran(
    session: str, folder: str, at: object, call: str, command: _Command, status: int | None, output: str
) -> Iterator[Record]:
    """Yield the call and the end of a command; without a status it was not run, or nobody knows how it ended."""
    if call and command.line and status is not None:
        block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command.line}}
        yield _record(session, folder, at, call, "assistant", block)
        text = f"Exit code {status}\n{output}" if status else output
        end = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": bool(status)}
        yield _record(session, posixpath.join(folder, command.run_in), at, call, "user", end)


class _Command(NamedTuple):
    """A command of a history, and the folder that its call names to run it in, if it names one."""

    line: str = ""
    run_in: str = ""


def _command(given: Mapping[str, Any], line: object) -> _Command:
    folder = next((one for name in _RUN_IN if isinstance(one := given.get(name), str)), "")
    return _Command(str(line or ""), folder)


def _codex(file: Path, problems: list[IngestProblem]) -> Iterator[Record]:
    session = folder = ""
    of_agent = False
    commands: dict[str, _Command] = {}
    for where, line in objects_in(file):
        if isinstance(line, IngestProblem):
            problems.append(IngestProblem(where=f"{file}, {where}", why=line.why))
            continue
        payload, at = line.get("payload"), line.get("timestamp")
        if not isinstance(payload, Mapping):
            continue
        kind, call = payload.get("type"), str(payload.get("call_id") or "")
        if line.get("type") == "session_meta":
            session, folder = _codex_session(payload) or session, str(payload.get("cwd") or folder)
            of_agent = of_agent or "subagent" in _parsed(payload.get("source"))
            if origin := forked_from(line):
                yield {**_record(session, folder, at, "", "user", {}), "forkedFrom": {"sessionId": origin}}
        elif line.get("type") != "response_item":
            continue
        elif kind == "message" and payload.get("role") in (("assistant",) if of_agent else ("user", "assistant")):
            texts = [str(block.get("text") or "") for block in blocks_of(payload.get("content"))]
            whole = "\n".join(texts)
            key = str(payload.get("id") or f"{at}#{short_digest(whole)}")
            yield from _text_record(session, folder, at, key, str(payload["role"]), texts)
        elif kind == "function_call" and call:
            commands[call] = _codex_command(payload.get("arguments"))
        elif kind == "function_call_output":
            status, output = _codex_end(payload.get("output"))
            yield from _ran(session, folder, at, call, commands.pop(call, _Command()), status, output)


def _codex_session(told: Mapping[str, Any]) -> str:
    """Return the session that a rollout is of: a sub-agent's is that of the person, which may be private.

    Older versions do not say whose it is: "" then, and nothing comes in.
    """
    source = _parsed(told.get("source"))
    spawned = _parsed(_parsed(source.get("subagent")).get("thread_spawn"))
    parent = told.get("session_id") or spawned.get("parent_thread_id") or told.get("parent_thread_id")
    return str(parent or ("" if "subagent" in source else told.get("id")) or "")


def _codex_command(arguments: object) -> _Command:
    given = _parsed(arguments)
    command = given.get("cmd") or given.get("command")
    if isinstance(command, list):  # ["bash", "-lc", "make"]
        command = command[-1] if len(command) == 3 and str(command[1]).startswith("-") else " ".join(map(str, command))
    return _command(given, command)


def _codex_end(output: object) -> tuple[int | None, str]:
    older = _parsed(output)
    if isinstance(older.get("metadata"), Mapping):
        status = older["metadata"].get("exit_code")
        return (status if type(status) is int else None), str(older.get("output") or "")
    head, _, printed = str(output or "").partition("\nOutput:\n")
    ended = _ENDED.search(head)
    return (int(ended[1]) if ended else None), printed


def _gemini(file: Path, problems: list[IngestProblem]) -> Iterator[Record]:
    session, folder, seen = "", _gemini_folder(file), set[str]()
    for line in _gemini_lines(file, problems):
        changed = line.get("$set")
        if line.get("kind") == "subagent":  # nothing says whose it is, which may be private, and an agent asks there
            return
        session = str(line.get("sessionId") or session)
        more = changed.get("messages") if isinstance(changed, Mapping) else line.get("messages")
        for message in chain([line], more if isinstance(more, list) else []):
            if not isinstance(message, Mapping) or message.get("type") not in ("user", "gemini"):
                continue
            role, at = "user" if message["type"] == "user" else "assistant", message.get("timestamp")
            # What a person typed is told apart where it is not what the model was sent: a command's own text, files.
            said = message.get("displayContent", message.get("content", message.get("message")))
            texts = [str(block.get("text") or "") for block in blocks_of(said)]
            yield from _text_record(
                session, folder, at, str(message.get("id", message.get("messageId", ""))), role, texts
            )
            calls = message.get("toolCalls")
            for call in calls if isinstance(calls, list) else []:
                if isinstance(call, Mapping) and str(call.get("id")) not in seen:
                    seen.add(str(call.get("id")))
                    yield from _gemini_call(session, folder, call)


def _gemini_lines(file: Path, problems: list[IngestProblem]) -> Iterator[Mapping[str, Any]]:
    if file.suffix == ".jsonl":
        found: Iterable[Any] = (line for _, line in objects_in(file))
    elif file.name == "logs.json":
        found = objects_of(file)
    else:
        try:
            text = files.read_text(file, _LARGEST_CHAT)
            check_values(text)
            found = [json.loads(text)]
        except (OSError, ValueError, RecursionError) as error:
            found = [IngestProblem(where=str(file), why=f"cannot be read: {error}"[:200])]
    for one in found:
        if isinstance(one, IngestProblem):
            problems.append(IngestProblem(where=f"{file}, {one.where}", why=one.why))
        elif isinstance(one, Mapping):
            yield one


def _gemini_folder(file: Path) -> str:
    """Return the folder that a session was held in, which a file above its chats names.

    Older versions have no such file: the folder of the project's chats stands for it, as in no project they would be in
    all.
    """
    own = file.absolute().parent
    own = own.parent if own.name == "chats" else own
    try:
        return files.read_text(own / _ROOT).strip() or str(own)
    except (OSError, ValueError):
        return str(own)


def _gemini_call(session: str, folder: str, call: Mapping[str, Any]) -> Iterator[Record]:
    given, result = call.get("args"), call.get("result")
    if call.get("name") != "run_shell_command" or call.get("status") != "success" or not isinstance(given, Mapping):
        return
    try:
        output = str(result[0]["functionResponse"]["response"]["output"])  # type: ignore[index]
    except (TypeError, KeyError, IndexError):
        return
    yield from _ran(
        *(session, folder, call.get("timestamp"), str(call.get("id") or ""), _command(given, given.get("command"))),
        gemini_status(output),
        output,
    )


def _opencode(asked: Asked) -> Iterator[Told]:
    """Yield each session's history out of the database, sessions one after another."""
    path = asked.path / f"{_OPENCODE}.db" if asked.path.is_dir() else asked.path
    try:
        with foreign_database(path) as database:
            folders, parents = dict[str, str](), dict[str, str]()
            for row in database.rows("session", ("id", "directory", "parent_id")):
                name = str(row.get("id"))
                folders[name] = str(row.get("directory") or "")
                if parent := row.get("parent_id"):
                    parents[name] = str(parent)
            roots = _roots(parents)
            roles = {
                str(row.get("id")): role
                for row in database.rows("message", ("id", "session_id", "data"))
                for role in (str(_parsed(row.get("data")).get("role")),)
                if role != "user" or str(row.get("session_id")) not in parents  # there an agent asks
            }
            columns = ("id", "message_id", "session_id", "time_created", "data")
            parts = database.rows("part", columns, ("session_id", "id"))
            sessions = groupby(parts, lambda row: str(row.get("session_id")))
            for before, (name, own) in enumerate(sessions):
                session = digested_session(roots.get(name, name))  # as its hooks are told it
                told = (one for row in own for one in _part(session, folders.get(name, ""), roles, row))
                yield from read_records(_OPENCODE, told, asked.place_of, path, before)
    except InvalidInputError as error:
        yield IngestProblem(where=str(path), why=error.message)


def _roots(parents: Mapping[str, str]) -> dict[str, str]:
    """Return for each session of a sub-agent the person's, in which it is done: that may be private."""
    roots: dict[str, str] = {}
    for at in parents:
        way = []
        while at in parents and at not in roots:
            roots[at] = at  # nobody writes rings, but they would have no end
            way.append(at)
            at = parents[at]
        roots.update(dict.fromkeys(way, roots.get(at, at)))
    return roots


def _part(session: str, folder: str, roles: Mapping[str, str], row: Mapping[str, Any]) -> Iterator[Record]:
    part, role = _parsed(row.get("data")), roles.get(str(row.get("message_id")), "")
    moment = time_of(row.get("time_created"))
    at = None if moment is None else moment.isoformat()
    if part.get("type") == "text" and role in ("user", "assistant") and part.get("synthetic") is not True:
        typed = _parsed(part.get("metadata")).get("helix")  # our plugin's note of the command that gave the text
        yield from _text_record(session, folder, at, str(row.get("id")), role, [str(typed or part.get("text") or "")])
    state = part.get("state")
    if part.get("type") == "tool" and part.get("tool") == "bash" and isinstance(state, Mapping):
        given, told = state.get("input"), state.get("metadata")
        if isinstance(given, Mapping) and isinstance(told, Mapping):
            status = told.get("exit")
            command, output = _command(given, given.get("command")), str(told.get("output") or "")
            known = status if type(status) is int else None
            yield from _ran(session, folder, at, str(part.get("callID") or ""), command, known, output)


def _parsed(value: object) -> Mapping[str, Any]:
    found = read_json(value, MOST_VALUES) if isinstance(value, str) else value
    return found if isinstance(found, Mapping) else {}


def _is_codex(peek: Peek) -> bool:
    return peek.has(_ROLLOUT.pattern) or (peek.first.get("type") == "session_meta" and "payload" in peek.first)


def _is_gemini(peek: Peek) -> bool:
    inside = any(_CHAT.fullmatch(name) for name in peek.names)
    return inside or peek.holds("sessionId", "projectHash") or peek.holds("sessionId", "messageId", "message")


def _is_opencode(peek: Peek) -> bool:
    if peek.is_folder:
        return f"{_OPENCODE}.db" in peek.names
    if not peek.is_sqlite:
        return False
    with foreign_database(peek.path) as database:
        return database.tables >= {"session", "message", "part"}


CODEX = Adapter(
    name=_CODEX,
    looks_for="sessions of Codex: rollout-*.jsonl, or a folder of them (~/.codex/sessions)",
    fits=_is_codex,
    read=_of_files(_CODEX, _ROLLOUT, _codex),
    extractor=_CODEX,
)
GEMINI = Adapter(
    name=_GEMINI,
    looks_for="sessions of Gemini CLI: chats/*.json, *.jsonl or logs.json, or a folder of them (~/.gemini/tmp)",
    fits=_is_gemini,
    read=_of_files(_GEMINI, _CHAT, _gemini),
    extractor=_GEMINI,
)
OPENCODE = Adapter(
    name=_OPENCODE,
    looks_for="the database of opencode: opencode.db, or the folder it lies in (~/.local/share/opencode)",
    fits=_is_opencode,
    read=_opencode,
    extractor=_OPENCODE,
)
