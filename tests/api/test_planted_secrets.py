"""One planted secret goes through every text of every mutation, hook and import, and is then looked for in every file.

Mutations are taken from the schema, so that a new one is tried without a word here.
"""

from __future__ import annotations

import json
import logging
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from api_server import BEARER, Served, serving
from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    is_leaf_type,
    is_object_type,
)

from helix import settings as configuration
from helix.api.described import arguments_of, result_of
from helix.api.schema import build_schema
from helix.cli.logs import start_daemon_log
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.text.secrets.redact import redact
from tests.waiting import UNHURRIED, until

TOKEN = "ghp_" + "s9GqT2vLx7RmWc4KbZ1nYd8HfPj3AeUo5iVw"  # made up; known by its shape wherever it stands
PASSWORD = "Kr4ken-Bay-2216-Muldoon"  # known by the name beside it alone
NEEDLES = ("s9gqt2vlx7rm", "wc4kbz1nyd8h", "fpj3aeuo5ivw", "kr4ken", "muldoon")
CANARY = "canary-that-is-kept"
PAYLOADS = Path(__file__).parents[1] / "client" / "payloads"

NOT_TRIED = frozenset({"shutdown", "restoreBackup", "pause", "pauseWorker"})
"""They take no text that is kept, and end or pause what the others need."""
TREE: Mapping[str, Any] = {
    "password": PASSWORD,
    TOKEN: CANARY,
    "plain": f"{CANARY} {TOKEN}",
    "listed": [{"name": "DB_PASSWORD", "value": PASSWORD}, {"deep": {"client_secret": PASSWORD}}],
}
TASK: Mapping[str, Any] = {
    "id": "1",
    "subject": f"001: {CANARY} {TOKEN}",
    "description": f"password: {PASSWORD}",
    "status": "completed",
    "metadata": {
        **TREE,
        "seq": "001",
        "objective": f"use {TOKEN}",
        "delta": [TOKEN],
        "verify": f"curl -u a:{PASSWORD}",
    },
}
EXPLORATION = {
    "objective": f"{CANARY} {TOKEN}",
    "status": "success",
    "findings": [{"file": f"src/{TOKEN}.py", "content": f"password = '{PASSWORD}'", "relevance": TOKEN, **TREE}],
    "framework": {"name": TOKEN, "version": "1", "confidence": "HIGH"},
    "patterns_observed": [f"the password is {PASSWORD}", TOKEN],
    "memories": [{"name": TOKEN}],
}
WHOLE = {"structure": dict(TREE), "patterns": {"framework": TOKEN, **TREE}, "targets": [dict(TREE)], "objective": TOKEN}
PLAN = {
    "decision": "PROCEED",
    "objective": f"{CANARY} {TOKEN}",
    "tasks": [
        {"seq": "001", "slug": TOKEN, "objective": f"set the password to {PASSWORD}", "delta": [f"src/{TOKEN}"]},
        {"seq": "002", "slug": "b", "objective": TOKEN, "verify": f"docker login -p {PASSWORD}", "depends": ["001"]},
    ],
    "framework": TOKEN,
}
LINES = [
    {"text": f"{CANARY} {TOKEN}", "id": TOKEN, "session": TOKEN, "speaker": TOKEN, "scope": TOKEN, "files": [TOKEN]},
    {"trigger": "The password of the database", "resolution": PASSWORD, "attributes": dict(TREE), "name": TOKEN},
    {"trigger": f"kept {TOKEN}", "resolution": "x", "role": TOKEN, "agent": TOKEN, "id": "2", "attributes": dict(TREE)},
]
ANSWERS = (json.dumps(EXPLORATION), json.dumps(WHOLE), json.dumps(PLAN), f"LEARNED:\n- the password is {PASSWORD}\n")


@pytest.fixture
def logged(tmp_path: Path) -> Iterator[None]:
    """Have what is logged written as the daemon writes it."""
    before, level = list(logging.root.handlers), logging.root.level
    start_daemon_log(tmp_path / "home", "debug", lambda text: redact(text).text)
    yield
    for handler in logging.root.handlers:
        handler.close()
    logging.root.handlers[:] = before
    logging.root.setLevel(level)


@pytest.fixture
def planted(tmp_path: Path, logged: None) -> Iterator[Callable[[Callable[[Served, Helix], None]], None]]:
    """Return a function that has a served Helix told of the secret, closes it, and looks for it in every file."""

    def plant(told: Callable[[Served, Helix], None]) -> None:
        settings = configuration.load({"home": tmp_path / "home"}, environ=UNHURRIED, cwd=tmp_path)
        with Helix.open(settings, embedder=HashEmbedder()) as helix, serving(helix) as served:
            told(served, helix)
            work = served.ask("mutation { flush { result { id } } }")["flush"]["id"]
            wait(served, f'{{ work(id: "{work}") {{ state }} }}', "work")
            backup = served.ask(
                "mutation($p: String!) { backup(input: {path: $p}) { result { id } } }",
                p=str(tmp_path / "home" / "copy"),
            )
            wait(served, f'{{ job(id: "{backup["backup"]["id"]}") {{ state }} }}', "job")
        files = [file for file in (tmp_path / "home").rglob("*") if file.is_file()]
        assert [line for file in files for line in leaks(file)] == []
        assert any(CANARY.encode() in file.read_bytes() for file in (tmp_path / "home").rglob("journal.db*"))

    yield plant


def leaks(file: Path) -> Iterator[str]:
    """Yield where a part of the secret stands in a file, with what stands around it."""
    data = file.read_bytes().lower()
    for needle in map(str.encode, NEEDLES):
        if (at := data.find(needle)) >= 0:
            yield f"{file.name}: {data[max(0, at - 120) : at + 40]!r}"


def wait(served: Served, query: str, name: str) -> None:
    def over() -> bool:
        state = served.ask(query)[name]
        return state is None or state["state"].lower() not in ("waiting", "running", "queued")

    until(over)


def values_for(name: str, kind: GraphQLInputType, sound: Mapping[str, Any]) -> list[Any]:
    """Return what an argument is given, one after another: first what is sound, then the secret in its forms."""
    if isinstance(kind, GraphQLNonNull):
        kind = kind.of_type
    if isinstance(kind, GraphQLList):
        if name == "lines":
            return [[json.dumps(line) for line in LINES]]
        return [[one] for one in values_for(name, kind.of_type, sound) if one is not None]
    if isinstance(kind, GraphQLEnumType):
        return [next(iter(kind.values))]
    assert isinstance(kind, GraphQLScalarType)
    match kind.name:
        case "String" | "ID":
            here = sound.get(name, f"{CANARY} of {name}")
            whole = ANSWERS if name in ("answer", "output", "result", "approach") else ()
            told = (TOKEN, f"see {TOKEN} there", f"the password is {PASSWORD}", f"password={PASSWORD}", *whole)
            return [here, *told]
        case "JSON":
            return [TREE, TASK, EXPLORATION, {"001": "delivered", TOKEN: TOKEN}, {"scope": f"a {TOKEN}"}]
        case "Boolean":
            return [False]
        case "Int" | "Float" | "Long":
            return [sound.get(name, 1)]
        case _:
            return [None]


def selection(field: GraphQLField) -> str:
    """Return the smallest selection that a field can be asked with."""
    kind: Any = field.type
    while isinstance(kind, GraphQLNonNull | GraphQLList):
        kind = kind.of_type
    if is_leaf_type(kind):
        return ""
    return (
        "{ " + next((name for name, one in kind.fields.items() if _is_leaf(one)), "__typename") + " }"
        if is_object_type(kind)
        else "{ __typename }"
    )


def _is_leaf(field: GraphQLField) -> bool:
    kind: Any = field.type
    return is_leaf_type(kind.of_type if isinstance(kind, GraphQLNonNull) else kind) and not field.args


def calls(field: GraphQLField, sound: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield arguments of a mutation: each text of it once planted in every form, the others sound."""
    given = {name: values_for(name, argument.type, sound) for name, argument in arguments_of(field).items()}
    first = {name: values[0] for name, values in given.items() if values[0] is not None}
    yield first
    for name, values in given.items():
        for value in values[1:]:
            yield {**first, name: value}
    yield {**first, **{name: values[1] for name, values in given.items() if len(values) > 1 and name != "nameOrId"}}


def declared(name: str, arguments: Mapping[str, GraphQLArgument | GraphQLInputField], given: Mapping[str, Any]) -> str:
    head = ", ".join(f"${one}: {arguments[one].type}" for one in given)
    return (
        f"mutation({head}) {{ {name}(input: {{{', '.join(f'{one}: ${one}' for one in given)}}})"
        if given
        else f"mutation {{ {name}"
    )


def test_no_mutation_lets_a_secret_into_any_file(planted: Any, tmp_path: Path) -> None:
    done: set[str] = set()

    def told(served: Served, helix: Helix) -> None:
        schema = build_schema()._schema
        assert schema.mutation_type is not None
        fields = {name: field for name, field in schema.mutation_type.fields.items() if name not in NOT_TRIED}
        (tmp_path / "notes.md").write_text(f"# {CANARY} {TOKEN}\n\nThe password is {PASSWORD}.\n")
        for name, text in (("one", "first"), ("two", "second")):
            said = f'trigger: "{name}", resolution: "{text}", kind: FACT, name: "{name}"'
            served.ask(f"mutation {{ store(input: {{{said}}}) {{ result {{ id }} }} }}")
        served.ask('mutation { newKey(input: {name: "laptop"}) { result { name } } }')
        sound = {
            "nameOrId": "one",
            "source": "one",
            "target": "two",
            "role": "user",
            "a": "one",
            "b": "two",
            "winner": "both",
            "relation": "causes",
            "names": "one",
            "scope": "global",
            "project": str(tmp_path),
            "kind": "consolidate",
            "session": "s",
            "name": "",
            "path": str(tmp_path / "notes.md"),
            "paths": str(tmp_path / "notes.md"),
            "task": "1",
            "outcome": "delivered",
            "files": "src/a.py",
            "limit": 5,
            "exploration": "",
            "plan": "",
            "vectors": None,
            "answer": json.dumps(PLAN),
            "confidence": 0.5,
            "importance": 5,
            "delta": 1.0,
            "quality": 5,
            "taskId": "",
            "key": "laptop",
            "recipients": "laptop",
            "history": "none",
            "since": None,
        }
        for name, field in fields.items():
            asked = f"{{ result {selection(result_of(field))} }}"
            own = {**sound, "source": "", "name": ""} if name not in ("edge",) else sound
            for given in calls(field, own):
                answer = served.post(f"{declared(name, arguments_of(field), given)} {asked} }}", given).json
                if answer.get("data") and answer["data"].get(name) is not None:
                    done.add(name)

    planted(told)
    # What keeps words was not refused each time, or nothing would be shown by this.
    assert done >= {"store", "recordEpisode", "edit", "openSession", "saveExploration", "savePlan", "ingestJsonl"}
    assert done >= {"ingestNotes", "observeExplorer", "observeBuilder", "observePlanner", "chunk", "beginWork", "edge"}
    assert "exportStrand" in done


def test_no_hook_lets_a_secret_into_any_file(planted: Any) -> None:
    def told(served: Served, helix: Helix) -> None:
        served.ask("mutation($c: String!) { recordEpisode(input: {content: $c}) { result { reason } } }", c=CANARY)
        for payload in sorted(PAYLOADS.glob("*.json"), key=lambda path: (path.stem != "session_start", path.stem)):
            whole = json.loads(payload.read_text())
            for said in (whole, *planted_in(whole)):
                body = json.dumps(said).encode()
                headers = {**BEARER, "content-type": "application/json", "x-helix-wait": "5000"}
                assert served.request("POST", "/hooks/claude-code", body, headers).status == 200

    planted(told)


def planted_in(payload: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the payload with the secret in each of its texts in turn, but for the words that steer."""

    def walk(value: Any, at: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        if isinstance(value, str):
            yield at
        for key, item in (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        ):
            yield from walk(item, (*at, key))

    for at in walk(dict(payload), ()):
        if at[-1] in ("hook_event_name", "tool_name", "cwd", "transcript_path"):
            continue
        for told in (f"{CANARY} {TOKEN} x", f"the password is {PASSWORD}\nAPI_PASSWORD={PASSWORD}"):
            copy = json.loads(json.dumps(payload))
            place = copy
            for key in at[:-1]:
                place = place[key]
            place[at[-1]] = told
            yield copy
    if isinstance(payload.get("tool_input"), dict):
        yield {**payload, "tool_input": {**payload["tool_input"], "metadata": dict(TREE)}}


def test_no_import_lets_a_secret_into_any_file(planted: Any, tmp_path: Path) -> None:
    def told(served: Served, helix: Helix) -> None:
        project = tmp_path / "project"
        project.mkdir()
        write_repository(project)
        (project / f"{TOKEN}.md").write_text(
            f"# Setting up {TOKEN}\n\n## The database password\n\n{PASSWORD}\n\n"
            f"## Rules\n\n- Always use the password {PASSWORD}\n- password: {PASSWORD}\n"
        )
        (tmp_path / "history.jsonl").write_text("\n".join(map(json.dumps, transcript(project))))
        (tmp_path / "lines.jsonl").write_text("\n".join(map(json.dumps, LINES)))
        for name, path in (
            ("ingestGit", project),
            ("ingestNotes", project),
            ("ingestTranscript", tmp_path / "history.jsonl"),
            ("ingestBulk", tmp_path / "lines.jsonl"),
        ):
            argument = "paths: [$p]" if name == "ingestNotes" else "path: $p"
            job = served.ask(
                f"mutation($p: String!) {{ {name}(input: {{{argument}}}) {{ result {{ id }} }} }}", p=str(path)
            )[name]["id"]
            wait(served, f'{{ job(id: "{job}") {{ state }} }}', "job")

    planted(told)


def write_repository(folder: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)

    git("init", "-q")
    git("config", "user.email", "a@b.test")
    git("config", "user.name", f"Ann {TOKEN}")
    for number, message in enumerate(
        (
            f"Fix {CANARY} {TOKEN}\n\nThe login failed because of a race. The password is {PASSWORD}\n\nRefs: {TOKEN}",
            f"Fix the database password\n\npassword={PASSWORD} was wrong, since the cache was stale.",
            f"Decide on {'x' * 280} {TOKEN}",
        )
    ):
        (folder / f"{number}-{TOKEN}.py").write_text("1")
        git("add", ".")
        git("commit", "-q", "-m", message)


def transcript(project: Path) -> Iterator[Mapping[str, Any]]:
    base = {"sessionId": TOKEN, "cwd": str(project), "timestamp": "2025-01-01T00:00:00Z"}

    def said(kind: str, uuid: str, *content: Mapping[str, Any], **more: Any) -> Mapping[str, Any]:
        return {**base, "type": kind, "uuid": uuid, "message": {"role": kind, "content": list(content)}, **more}

    long = "word " * 1_590 + f"password={PASSWORD} {TOKEN} and on " + "word " * 4_000
    yield said("user", TOKEN, {"type": "text", "text": f"{CANARY}: the password is {PASSWORD}"})
    yield said("user", "u1", {"type": "text", "text": long})
    yield said("assistant", "a1", {"type": "text", "text": f"I use {TOKEN}"})
    for number, (status, output) in enumerate(((1, f"Error: bad token {TOKEN} for 'x'"), (1, "x" * 390 + TOKEN))):
        call = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Bash",
            "input": {"command": f"curl -u ann:{PASSWORD} x"},
        }
        yield said("assistant", f"c{number}", call)
        result = {
            "type": "tool_result",
            "tool_use_id": f"t{number}",
            "content": f"Exit code {status}\n{output}",
            "is_error": True,
        }
        yield said("user", f"r{number}", result, toolUseResult=f"Error: Exit code {status}\n{output}")
