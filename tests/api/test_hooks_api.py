"""Hooks over HTTP: who may tell what happened, and that the answer is always one that a client can read."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from api_server import BEARER, TOKEN, Answer, Served, serving

from helix import settings as configuration
from helix.agents.hook_events import dispatcher
from helix.agents.hook_events.deferred_queue import PendingAnswer
from helix.agents.hook_events.hook_context import HookContext, Reaction
from helix.agents.hook_events.hook_events import ActionBegins, HookReply
from helix.agents.tasks.board import injections, tasks_of
from helix.api import hooks
from helix.api.access import Access
from helix.api.hooks import RECEIPT, RECEIPTS, _patience, _under_way
from helix.identity import folder_identity
from helix.memory.remember.request import StoreRequest
from helix.operations import memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from tests.waiting import MOST_SECONDS, UNHURRIED, until

HOOK_TOKEN = "a-token-of-the-hooks"
HOOK = {"authorization": f"Bearer {HOOK_TOKEN}", "content-type": "application/json"}
PRE = {
    "hook_event_name": "PreToolUse",
    "session_id": "s",
    "cwd": "/home/ada/shop",
    "tool_name": "Bash",
    "tool_input": {"command": "make"},
}


@pytest.fixture
def hooked(helix: Helix) -> Iterator[Served]:
    """A served Helix with a token for hooks."""
    with serving(helix, hook_token=HOOK_TOKEN) as served:
        yield served


def tell(served: Served, payload: object = PRE, client: str = "claude-code", **headers: str) -> Answer:
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return served.request("POST", f"/hooks/{client}", body, {**HOOK, **headers})


def test_both_tokens_are_good_for_hooks_and_one_for_nothing_else(hooked: Served) -> None:
    assert tell(hooked).status == 200
    assert tell(hooked, **BEARER).status == 200
    assert tell(hooked, authorization="Bearer wrong").status == 401
    query = json.dumps({"query": "{ health { status } }"}).encode()
    assert hooked.request("POST", "/graphql", query, HOOK).status == 401
    for path in ("/metrics", "/graphql", "/hooks", "/hooksx/claude-code", "/static/graphiql/index.html"):
        assert hooked.request("GET", path, headers=HOOK).status == 401


@pytest.mark.parametrize(
    "path", ["/hooks/../graphql", "/hooks/%2e%2e/graphql", "/hooks/..%2fgraphql", "//hooks/../metrics"]
)
def test_no_path_leads_the_hook_token_anywhere_else(hooked: Served, path: str) -> None:
    query = json.dumps({"query": "{ health { status } }"}).encode()
    answer = hooked.request("POST", path, query, HOOK)
    assert b"health" not in answer.body or answer.status in (401, 404)
    assert answer.status in (200, 401, 404)
    assert answer.status != 200 or answer.json == {}


def test_a_page_of_another_origin_cannot_tell_anything(hooked: Served) -> None:
    assert tell(hooked, origin="http://evil.example").status == 403
    assert tell(hooked, host="evil.example").status == 421


def test_without_a_token_of_their_own_the_bearer_token_is_the_hooks_token(shared: Served) -> None:
    assert Access(TOKEN).hook_token_matches(f"Bearer {TOKEN}")
    assert tell(shared, **BEARER).status == 200


BODIES = {
    "nothing": b"",
    "half": b'{"hook_event_name"',
    "a list": b"[]",
    "not UTF-8": b'{"a": "\xff"}',
    "deep": b"[" * 100_000,
    "an unknown event": b'{"hook_event_name": "MessageDisplay", "session_id": "s"}',
    "no session": b'{"hook_event_name": "SessionStart"}',
    "types of all kinds": b'{"hook_event_name": "PreToolUse", "session_id": {}, "tool_name": 3, "tool_input": "x"}',
    "a command that is none": b'{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":[]}',
    "a number too long": b'{"hook_event_name": "Stop", "session_id": "s", "n": ' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_whatever_is_told_the_answer_is_to_go_on(hooked: Served, body: bytes) -> None:
    answer = tell(hooked, body)
    assert (answer.status, answer.json) == (200, {})


def test_an_unknown_client_is_answered_too(hooked: Served) -> None:
    answer = tell(hooked, client="another-agent")
    assert (answer.status, answer.json) == (200, {})


def test_a_reaction_that_fails_is_logged_and_answered_with_nothing(
    hooked: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(context: object, event: object) -> Reaction:
        raise RuntimeError("a defect")

    monkeypatch.setitem(dispatcher._REACTIONS, ActionBegins, fail)  # type: ignore[index]
    assert (tell(hooked).status, tell(hooked).json) == (200, {})
    assert "a hook failed" in caplog.text


def test_what_is_too_late_is_not_answered_and_does_not_count_as_shown(
    helix: Helix, hooked: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    answered = threading.Event()

    def dawdle(context: object, event: object) -> Reaction:
        assert answered.wait(MOST_SECONDS)
        return Reaction(
            reply=HookReply(context="late"),
            then=(lambda: done.append("shown"),),
            always=(lambda: done.append("happened"),),
        )

    monkeypatch.setitem(dispatcher._REACTIONS, ActionBegins, dawdle)  # type: ignore[index]
    assert tell(hooked, **{"x-helix-wait": "100"}).json == {}
    monkeypatch.setattr(hooked.app.state.hooks, "_seconds", 0.1)
    assert tell(hooked).json == {}
    answered.set()
    until(lambda: helix.hooks.settle(MOST_SECONDS) and len(done) >= 2)
    assert done == ["happened", "happened"]


def test_a_client_says_how_long_it_waits_within_limits() -> None:
    assert {_patience(header, 0.25) for header in ("", "soon", "-5", "999999999", "100000")} == {0.25}
    assert 0 < _patience("150", 0.25) < 0.15
    assert _patience("3", 0.25) == 0


@pytest.mark.parametrize("sent", ["", "soon", "nan", "inf", "-1e9", "1e18"])
def test_a_clock_that_is_not_ours_takes_no_time_from_an_answer(sent: str) -> None:
    assert _under_way(sent) == 0.0


def test_what_was_long_under_way_is_too_late(hooked: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    late = Reaction(reply=HookReply(context="x"))
    monkeypatch.setitem(dispatcher._REACTIONS, ActionBegins, lambda context, event: late)  # type: ignore[index]
    with monkeypatch.context() as short:
        short.setattr(hooked.app.state.hooks, "_seconds", 1.0)
        assert tell(hooked, **{"x-helix-sent": f"{time.monotonic() - 2:.4f}"}).json == {}
    assert tell(hooked, **{"x-helix-sent": f"{time.monotonic():.4f}"}).json != {}


def test_one_connection_serves_many_hooks(hooked: Served) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", hooked.port, timeout=MOST_SECONDS)
    try:
        for _ in range(3):
            connection.request("POST", "/hooks/claude-code", json.dumps(PRE), HOOK)
            answer = connection.getresponse()
            assert (answer.status, json.loads(answer.read())) == (200, {})
    finally:
        connection.close()


def test_what_a_hook_left_to_be_written_is_written_before_the_store_is_closed(tmp_path: Path) -> None:
    settings = configuration.load({"home": tmp_path / "home"}, environ=UNHURRIED, cwd=tmp_path)
    done: list[str] = []
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        helix.hooks._after.do(lambda: time.sleep(0.2))
        helix.hooks._after.do(lambda: done.append(str(helix.store.journal.last_seq)))
    assert done


def test_the_scope_pinned_for_a_sessions_commands_is_the_setting_where_there_is_one(tmp_path: Path) -> None:
    given = {"home": tmp_path / "home", "scope": "till"}
    begins = {"hook_event_name": "SessionStart", "session_id": "s", "source": "startup", "cwd": str(tmp_path)}
    with (
        Helix.open(configuration.load(given, environ=UNHURRIED, cwd=tmp_path), embedder=HashEmbedder()) as helix,
        serving(helix, hook_token=HOOK_TOKEN) as served,
    ):
        assert tell(served, begins).headers["x-helix-scope"] == "till"


SHOWN = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "make"}}


@dataclass
class Shop:
    """A project whose daemon remembers one thing about `make`, and what came of showing it."""

    helix: Helix
    served: Served
    folder: str
    memory: str

    def payload(self) -> bytes:
        call = {"cwd": self.folder, "tool_use_id": f"toolu_{time.monotonic_ns()}"}
        return json.dumps({**SHOWN, **call}).encode()

    def request(self, *more: str) -> bytes:
        body = self.payload()
        lines = (
            "POST /hooks/claude-code HTTP/1.1",
            f"Host: 127.0.0.1:{self.served.port}",
            *(f"{name}: {value}" for name, value in HOOK.items()),
            f"content-length: {len(body)}",
            *more,
        )
        return "\r\n".join((*lines, "", "")).encode() + body

    def ask(self, **headers: str) -> Answer:
        return self.served.request("POST", "/hooks/claude-code", self.payload(), {**HOOK, **headers})

    def shown(self) -> list[str]:
        """Return what was shown by now, by the store; what follows an answer is done before the next request."""
        assert self.served.request("GET", "/healthz").status == 200
        assert self.helix.hooks.settle(20)
        store = self.helix.store
        return [one.memory_id for task in tasks_of(store.index) for one in injections(store.index, task.id)]

    def fails(self) -> None:
        """Have the agent do as the memory says, and the command fail: whoever had the memory used it in vain."""
        call = {"session_id": "s", "cwd": self.folder, "tool_name": "Bash"}
        for command, status in (("make colours", 0), ("make", 2)):
            told = {**call, "tool_input": {"command": command}, "tool_use_id": f"toolu_{command}"}
            after: dict[str, object] = {"hook_event_name": "PostToolUse", "tool_response": {"stdout": "ok"}}
            if status:
                after = {"hook_event_name": "PostToolUseFailure", "error": f"Exit code {status}\nError 1"}
            tell(self.served, {**told, **after})
        tell(self.served, {**call, "hook_event_name": "Stop"})
        assert self.helix.hooks.settle(20)

    def worth(self) -> tuple[float, float]:
        held = memories.get(self.helix, self.memory)
        return held.helped, held.failed


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    given = {"home": tmp_path / "home", "holdback": 0.0, "hook_ms": 60_000}  # nothing here is about time
    settings = configuration.load(given, environ=UNHURRIED, cwd=tmp_path)
    folder = tmp_path / "shop"
    folder.mkdir()
    with (
        Helix.open(settings, embedder=HashEmbedder()) as helix,
        serving(helix, hook_token=HOOK_TOKEN) as served,
    ):
        scope = folder_identity(folder).scope
        told = {"trigger": "`make` fails: Error 1", "resolution": "run `make colours`", "kind": "failure"}
        memory = memories.store(helix, StoreRequest(**told, scope=scope)).id
        begins = {"hook_event_name": "SessionStart", "session_id": "s", "source": "resume", "cwd": str(folder)}
        tell(served, begins)
        helix.hooks.settle(20)
        helix.hooks._sessions._known["", "s"].was_briefed()
        yield Shop(helix, served, str(folder), memory)


def test_a_client_that_reads_its_answer_was_shown_it_and_is_judged_by_it(shop: Shop) -> None:
    assert "additionalContext" in str(shop.ask().json)
    assert shop.shown() == [shop.memory]
    shop.fails()
    assert shop.worth() == (0, 0.3)


def test_a_client_that_hangs_up_before_its_answer_was_shown_nothing_and_judges_nothing(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, gone = threading.Event(), threading.Event()
    react = dispatcher._REACTIONS[ActionBegins]

    def waits(context: HookContext, event: ActionBegins) -> Reaction:
        found = react(context, event)
        began.set()
        assert gone.wait(MOST_SECONDS)
        return found

    monkeypatch.setattr(shop.served.app.state.hooks, "_seconds", MOST_SECONDS)
    monkeypatch.setitem(dispatcher._REACTIONS, ActionBegins, waits)  # type: ignore[index]
    with socket.create_connection(("127.0.0.1", shop.served.port)) as client:
        client.sendall(shop.request())
        assert began.wait(MOST_SECONDS)
    until(lambda: not shop.served.connections)
    gone.set()
    monkeypatch.setitem(dispatcher._REACTIONS, ActionBegins, react)  # type: ignore[index]
    until(lambda: shop.served.app.state.activity.idle_seconds)
    assert shop.shown() == []
    shop.fails()
    assert shop.worth() == (0, 0)
    assert "additionalContext" in str(shop.ask().json), "it is shown the next time"


def test_a_client_with_receipts_was_shown_what_it_says_that_it_printed(shop: Shop) -> None:
    silent = shop.ask(**{RECEIPTS: "1"})
    assert silent.headers[RECEIPT]
    assert shop.shown() == []
    assert shop.served.request("GET", f"/hooks/receipts/{silent.headers[RECEIPT]}", headers=HOOK).json == {}
    assert shop.served.request("GET", "/hooks/receipts/nobody-knows", headers=HOOK).json == {}
    assert shop.shown() == [shop.memory]


def test_an_answer_without_its_receipt_is_lost_and_comes_again(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "_RECEIPT_SECONDS", 0.0)
    first = shop.ask(**{RECEIPTS: "1"})
    assert first.json
    late = shop.served.request("GET", f"/hooks/receipts/{first.headers[RECEIPT]}", headers=HOOK)
    assert (late.json, shop.shown()) == ({}, [])
    assert shop.ask().json == first.json
    assert shop.shown() == [shop.memory]


def test_what_is_answered_twice_is_shown_where_one_answer_arrives() -> None:
    done: list[str] = []
    steps = {name: (partial(done.append, name),) for name in ("at_once", "then", "undone")}
    showing = PendingAnswer(**steps)
    showing.lost()
    showing.lost()
    showing.arrived()
    showing.arrived()
    showing.lost()
    assert done == ["undone", "at_once", "then"]
