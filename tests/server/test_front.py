"""Front: who is let in and how, what is handed on, and what ends when a key does."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from helix.api.subscriptions import MOST
from helix.journal.postgres.tenant_database import TenantDatabase
from helix.journal.read_only import JournalReader
from helix.model.principal import Role
from helix.server.accounts import LINK
from helix.server.crowd import MOST_AT_ONCE
from tests.sampling import some
from tests.server.team import RECALL, STORE, Process, Team
from tests.waiting import MOST_SECONDS, until

STATUS = "{ status { edges } }"
EVENTS = "subscription { events { type id } }"


def test_both_processes_answer_for_a_tenant(team: Team) -> None:
    key = team.key(team.tenant())
    one, other = team.processes[:2]
    one.data(key, STORE, t="the till jams", r="off and on", s="shop")
    assert other.data(key, RECALL, q="till jams", s="shop")["recall"]["items"][0]["node"]["resolution"] == "off and on"
    other.data(key, STORE, t="the lamp flickers", r="screw it in", s="shop")
    assert (
        one.data(key, RECALL, q="lamp flickers", s="shop")["recall"]["items"][0]["node"]["resolution"] == "screw it in"
    )


def test_without_a_key_that_holds_nobody_gets_in(team: Team) -> None:
    tenant = team.tenant()
    key = team.key(tenant)
    short = team.key(tenant, seconds=0.01)
    time.sleep(0.1)
    here = team.processes[0]
    wrong = key[:-1] + ("A" if key[-1] != "A" else "B")
    for shown in ("", "hx_", wrong, key.upper(), short, "x" * 5_000, "hx_000000000000_" + "a" * 43):
        assert here.code(shown, STATUS) == "UNAUTHORIZED", shown
    assert here.code(key, STATUS) == "OK"


def test_a_revoked_key_is_good_for_nothing_within_5_seconds(team: Team) -> None:
    tenant = team.tenant()
    key = team.key(tenant)
    for process in team.processes[:2]:
        assert process.code(key, STATUS) == "OK"
    team.accounts.revoke(team.server.tenant(tenant), key.split("_")[1], by="the test")
    begun = time.monotonic()
    while any(process.code(key, STATUS) == "OK" for process in team.processes[:2]):
        assert time.monotonic() - begun < 30  # 5 s on a machine that does nothing else
    assert {process.code(key, STATUS) for process in team.processes[:2]} == {"UNAUTHORIZED"}


def test_a_suspended_tenant_is_not_served(team: Team) -> None:
    tenant = team.tenant()
    key = team.key(tenant)
    here = team.processes[0]
    assert here.code(key, STATUS) == "OK"
    team.server.set_state(team.server.tenant(tenant).id, "suspended")
    until(lambda: here.code(key, STATUS) == "FORBIDDEN")
    refused = here.send("POST", "/graphql", key, json={"query": STATUS})
    assert refused.status_code == 403
    told = refused.json()["errors"][0]
    assert f"the tenant {tenant} is suspended" in told["message"]
    assert f"helix tenant resume {tenant}" in told["extensions"]["hint"]
    wrong = key[:-1] + ("A" if key[-1] != "A" else "B")
    assert here.code(wrong, STATUS) == "UNAUTHORIZED"  # who has no key is told nothing of the tenant
    team.server.set_state(team.server.tenant(tenant).id, "active")
    until(lambda: here.code(key, STATUS) == "OK")


@pytest.mark.parametrize(
    ("headers", "status", "said"),
    [
        ({"host": "evil.example"}, 421, "does not answer for the host"),
        ({"origin": "https://evil.example"}, 403, "may not ask this server"),
        ({"service-worker": "script"}, 403, "service worker"),
        ({"x-helix-cluster": "guessed", "x-helix-principal": "{}"}, 401, "not a process of the server"),
        ({"x-helix-cluster": "1:1:guessed", "x-helix-principal": "{}"}, 503, "another release"),
    ],
)
def test_what_was_meant_for_somebody_else_is_refused(
    team: Team, headers: dict[str, str], status: int, said: str
) -> None:
    here, key = team.processes[0], team.key(team.tenant())
    told = here.send("POST", "/graphql", key, json={"query": STATUS}, headers=headers)
    assert told.status_code == status
    assert said in told.json()["errors"][0]["message"]


def test_what_is_open_ends_where_another_process_may_serve_the_tenant(team: Team) -> None:
    """What is erased there is told here no more."""
    here, slug = team.processes[0], team.tenant()
    key, number = team.key(slug), team.server.tenant(slug).id
    here.data(key, STATUS)

    async def watched() -> None:
        socket = await _hello(here, key)
        team.sql("UPDATE head SET commits = commits + 1 WHERE tenant = $1", number)  # as another process does
        assert here.code(key, STORE, t="the till jams", r="off and on", s="shop") != "OK"
        with pytest.raises(ConnectionClosed):
            await asyncio.wait_for(socket.recv(), MOST_SECONDS)

    asyncio.run(watched())


@pytest.mark.soak
def test_a_request_s_target_is_a_path(team: Team) -> None:
    """One without a slash would have what a process shows the others sent to whatever host it names."""
    tenant = team.tenant()
    key = team.key(tenant, Role.READER)
    team.processes[0].data(key, STATUS)  # which is its home: the other one hands on
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(2)
        for process in team.processes[:2]:
            for target in (f"@127.0.0.1:{listener.getsockname()[1]}/graphql", "graphql", "*"):
                host, _, port = process.url.removeprefix("http://").partition(":")
                with socket.create_connection((host, int(port)), timeout=MOST_SECONDS) as connection:
                    head = f"GET {target} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {key}\r\n"
                    connection.sendall(f"{head}Connection: close\r\n\r\n".encode())
                    assert connection.recv(4_096).split()[1] == b"400", target
        with pytest.raises(TimeoutError):
            listener.accept()


@pytest.mark.soak
def test_what_a_link_opened_ends_with_it(team: Team) -> None:
    tenant, here = team.tenant(), team.processes[0]
    link = _link(team, tenant)
    prefix, secret = link.split("_", 2)[1:]
    assert here.send("POST", f"/open/hx_{prefix}_{'A' * len(secret)}").status_code == 403
    assert here.send("POST", f"/open/{link}", headers={"origin": "https://evil.example"}).status_code == 403
    for method in ("GET", "HEAD", "GET"):  # as a program does that shows a preview
        shown = here.send(method, f"/open/{link}")
        assert shown.status_code == 200
        assert "set-cookie" not in shown.headers
    assert "form-action 'self'" in shown.headers["content-security-policy"]
    entered = here.send("POST", f"/open/{link}", headers={"origin": here.url})
    session = entered.headers["set-cookie"].partition(";")[0]

    def answers() -> bool:
        with httpx.Client(trust_env=False) as client:
            told = client.post(
                f"{here.url}/graphql", json={"query": STATUS}, headers={"cookie": session, "origin": here.url}
            )
            return told.status_code == 200

    assert answers()
    team.accounts.revoke(team.server.tenant(tenant), prefix, by="the test")
    until(lambda: not answers())


@pytest.mark.soak
def test_a_browser_that_leaves_ends_its_session_everywhere(team: Team) -> None:
    here, elsewhere = team.processes[:2]
    entered = here.send("POST", f"/open/{_link(team, team.tenant())}")
    session = entered.headers["set-cookie"].partition(";")[0]

    def sent(process: Process, method: str, path: str, site: str = "same-origin") -> httpx.Response:
        with httpx.Client(trust_env=False) as client:
            return client.request(method, f"{process.url}{path}", headers={"cookie": session, "sec-fetch-site": site})

    assert sent(here, "POST", "/leave", "cross-site").status_code == 401
    asked = sent(here, "GET", "/leave")
    assert "form-action 'self'" in asked.headers["content-security-policy"]
    assert sent(elsewhere, "GET", "/leave").status_code == 200
    left = sent(here, "POST", "/leave")
    assert 'helix_session="";' in left.headers["set-cookie"]
    until(lambda: sent(here, "GET", "/leave").status_code == sent(elsewhere, "GET", "/leave").status_code == 401)


def test_who_asks_is_never_taken_from_a_client(team: Team) -> None:
    ours, theirs = team.tenant(), team.tenant()
    key = team.key(ours, Role.READER)
    forged = json.dumps({"tenant": theirs, "name": "root", "role": "owner", "scopes": [], "key": ""})
    for process in team.processes[:2]:
        told = process.ask(key, "{ status { edges } }", headers={"x-helix-principal": forged, "x-helix-tenant": theirs})
        assert told["errors"][0]["extensions"]["code"] == "FORBIDDEN"
        code = process.send(
            "POST",
            "/graphql",
            key,
            json={"query": "mutation { rebuild { result { id } } }"},
            headers={"x-helix-principal": forged},
        ).json()["errors"][0]["extensions"]["code"]
        assert code == "FORBIDDEN"


def _link(team: Team, tenant: str) -> str:
    return team.key(tenant, Role.EDITOR, name="ada", kind=LINK, seconds=60)


def test_a_link_lets_one_browser_in_once(team: Team) -> None:
    tenant, here = team.tenant(), team.processes[0]
    link = _link(team, tenant)
    assert here.code(link, STATUS) == "UNAUTHORIZED"  # it is no key
    entered = here.send("POST", f"/open/{link}")
    assert entered.status_code == 303
    cookie = entered.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict"} <= set(cookie.split("; "))
    session = cookie.partition(";")[0]
    assert here.send("POST", f"/open/{link}").status_code == 403
    elsewhere = team.processes[1]

    def asks(process: Process, **headers: str) -> httpx.Response:
        with httpx.Client(trust_env=False) as client:
            return client.post(f"{process.url}/graphql", json={"query": STATUS}, headers={"cookie": session, **headers})

    assert "data" in asks(here, origin=here.url).json()
    assert "data" in asks(elsewhere, **{"sec-fetch-site": "same-origin"}).json()
    assert asks(here).status_code == 401
    assert asks(here, **{"sec-fetch-site": "cross-site"}).status_code == 401
    assert asks(here, origin=elsewhere.url).status_code == 403
    page = here.client.get(f"{here.url}/", headers={"cookie": session, "sec-fetch-site": "none", "accept": "text/html"})
    assert page.status_code in (200, 404)
    assert "content-security-policy" in page.headers


def test_health_and_readiness_are_apart_and_metrics_take_a_token(team: Team) -> None:
    one, other = team.processes[:2]
    key = team.key(team.tenant("counted"))
    one.data(key, STATUS)
    assert one.send("GET", "/healthz").json()["status"] == "ok"
    assert one.send("GET", "/readyz").json() == {"ready": True}
    assert one.send("GET", "/metrics", "wrong").status_code == 401
    own = one.send("GET", "/metrics", key).text  # what its own tenant counts, as the explorer shows it
    assert "helix_edges" in own
    assert "tenant=" not in own
    assert one.send("GET", "/metrics", team.key("counted", Role.READER, "shop")).status_code == 403
    assert other.send("GET", "/metrics", "").status_code == 401
    homes = [
        process
        for process in team.processes[:2]
        if 'tenant="counted"' in process.send("GET", "/metrics", "counted").text
    ]
    assert homes == [one]
    lines = one.send("GET", "/metrics", "counted").text
    assert 'helix_operations_total{code="OK",operation="status",tenant="counted",type="query"} ' in lines
    assert "helix_tenants_open" in lines


async def _hello(process: Process, key: str) -> ClientConnection:
    socket = await connect(
        f"{process.url.replace('http', 'ws', 1)}/graphql",
        additional_headers={"authorization": f"Bearer {key}"},
        subprotocols=[Subprotocol("graphql-transport-ws")],
        proxy=None,
    )
    await socket.send(json.dumps({"type": "connection_init"}))
    assert json.loads(await socket.recv())["type"] == "connection_ack"
    return socket


async def _next(socket: ClientConnection) -> dict[str, Any]:
    while True:
        told = json.loads(await asyncio.wait_for(socket.recv(), MOST_SECONDS))
        if told["type"] == "next":
            return dict(told["payload"]["data"]["events"])


@pytest.mark.parametrize("number", some([0, 1], 1))
def test_a_subscription_is_handed_on_and_ends_with_its_key(team: Team, number: int) -> None:
    tenant = team.tenant()
    key, watcher = team.key(tenant), team.key(tenant, Role.READER, name="watcher")
    team.processes[0].data(key, STATUS)  # which is its home from now on

    async def watched() -> None:
        socket = await _hello(team.processes[number], watcher)
        await socket.send(json.dumps({"id": "1", "type": "subscribe", "payload": {"query": EVENTS}}))
        seen: dict[str, Any] = {}
        for attempt in range(50):
            await asyncio.to_thread(team.processes[0].data, key, STORE, t=f"event {attempt}", r="seen", s="shop")
            try:
                seen = await asyncio.wait_for(_next(socket), 2)
                break
            except TimeoutError:
                continue
        assert seen["type"]
        team.accounts.revoke(team.server.tenant(tenant), watcher.split("_")[1], by="the test")
        with pytest.raises(ConnectionClosed):
            while True:
                await asyncio.wait_for(socket.recv(), MOST_SECONDS)

    asyncio.run(watched())


@pytest.mark.soak
@pytest.mark.parametrize("accept", some(["text/event-stream", "Text/Event-Stream"], 1))
def test_a_stream_of_events_ends_with_its_key_however_it_was_asked_for(team: Team, accept: str) -> None:
    tenant, here = team.tenant(), team.processes[0]
    watcher = team.key(tenant, Role.READER, name="watcher")
    headers = {"authorization": f"Bearer {watcher}", "accept": accept}
    with here.client.stream("POST", f"{here.url}/graphql", headers=headers, json={"query": EVENTS}) as told:
        assert told.headers["content-type"].startswith("text/event-stream")
        team.accounts.revoke(team.server.tenant(tenant), watcher.split("_")[1], by="the test")
        begun = time.monotonic()
        with suppress(httpx.RemoteProtocolError):  # it ends without a last word
            for _ in told.iter_raw():
                assert time.monotonic() - begun < MOST_SECONDS


@pytest.mark.soak
def test_a_key_has_so_many_answers_under_way(team: Team) -> None:
    tenant, here = team.tenant(), team.start("--idle", "0.034", HELIX_METRICS_TOKEN="counted").announced()
    key = team.key(tenant, Role.READER, name="watcher")
    here.data(key, STATUS)

    async def crowded() -> None:
        sockets = [await _hello(here, key) for _ in range(MOST_AT_ONCE)]
        with pytest.raises(InvalidStatus):
            await _hello(here, key)
        assert here.code(key, STATUS) == "TOO_MANY_REQUESTS"
        assert here.code(team.key(tenant, Role.READER), STATUS) == "OK"
        for one in sockets:
            await one.close()

    asyncio.run(crowded())
    until(lambda: here.code(key, STATUS) == "OK")
    until(lambda: f'tenant="{tenant}"' not in here.send("GET", "/metrics", "counted").text)  # it is closed again
    here.stop()


@pytest.mark.soak
def test_no_tenant_takes_the_websockets_of_the_others(team: Team) -> None:
    greedy, other, here = team.tenant(), team.key(team.tenant()), team.start().announced()

    async def crowded() -> None:
        sockets: list[ClientConnection] = []
        refused: InvalidStatus | None = None
        while refused is None:
            key = team.key(greedy, Role.READER)
            for _ in range(MOST_AT_ONCE - 1):
                try:
                    sockets.append(await _hello(here, key))
                except InvalidStatus as error:
                    refused = error
                    break
        assert refused.response.status_code == 429
        sockets.append(await _hello(here, other))
        assert here.code(other, STATUS) == "OK"
        for one in sockets:
            await one.close()

    asyncio.run(crowded())
    here.stop()


def test_what_a_client_says_in_its_headers_is_handed_on_as_it_came(team: Team) -> None:
    key = team.key(team.tenant())
    for process in team.processes[:2]:  # one of which is no home
        told = process.send("POST", "/graphql", key, json={"query": STATUS}, headers={b"x-note": "Größe".encode()})
        assert told.json()["data"]


@pytest.mark.soak
def test_nobody_holds_a_connection_by_half_a_request(team: Team) -> None:
    url = httpx.URL(team.processes[0].url)
    with socket.create_connection((url.host, url.port), timeout=MOST_SECONDS) as half:
        half.sendall(b"POST /graphql HTTP/1.1\r\nHost: ")
        assert half.recv(1) == b""


def test_a_websocket_without_a_key_is_refused(team: Team) -> None:
    async def refused() -> None:
        with pytest.raises(InvalidStatus):
            await connect(f"{team.processes[0].url.replace('http', 'ws', 1)}/graphql", proxy=None)

    asyncio.run(refused())


def test_hooks_take_the_scope_that_a_header_names_and_read_no_file(team: Team, tmp_path: Any) -> None:
    tenant, here = team.tenant(), team.processes[0]
    hook, reader = team.key(tenant, Role.HOOK, name="hooks"), team.key(tenant)
    here.data(reader, STORE, t="the till jams", r="turn the till off and on", s="shop/web")
    secret = tmp_path / "transcript.jsonl"
    secret.write_text(
        json.dumps({"type": "user", "message": {"role": "user", "content": "hunter2 of the server"}}) + "\n"
    )
    payload = {
        "hook_event_name": "SessionStart",
        "session_id": "monday",
        "cwd": str(tmp_path),
        "transcript_path": str(secret),
        "source": "startup",
    }
    told = here.send("POST", "/hooks/claude-code", hook, json=payload, headers={"x-helix-scope": "shop/web"})
    assert told.headers["x-helix-scope"] == "shop/web"
    assert "till" in told.text
    ended = {**payload, "hook_event_name": "SessionEnd", "reason": "exit"}
    assert here.send("POST", "/hooks/claude-code", hook, json=ended, headers={"x-helix-scope": "shop/web"}).json() == {}
    assert here.code(hook, STATUS) == "FORBIDDEN"
    assert here.send("POST", "/hooks/claude-code", team.key(tenant, Role.READER), json=payload).status_code == 403
    number = team.server.tenant(tenant).id
    assert not team.sql("SELECT id FROM node WHERE tenant = $1 AND props LIKE '%hunter2%'", number)


def test_what_a_hook_tells_is_kept_as_of_its_key(team: Team, tmp_path: Path) -> None:
    tenant, here = team.tenant(), team.processes[0]
    hook = team.key(tenant, Role.HOOK, name="hooks of ada")
    told = {"session_id": "monday", "cwd": "/", "source": "startup", "reason": "exit", "prompt": "mend the till"}
    for event in ("SessionStart", "UserPromptSubmit", "SessionEnd"):
        payload = {**told, "hook_event_name": event}
        sent = here.send("POST", "/hooks/claude-code", hook, json=payload, headers={"x-helix-scope": "shop"})
        assert sent.status_code == 200
    reader = JournalReader(TenantDatabase(team.server, team.server.tenant(tenant).id, None, tmp_path).snapshot)

    def actors() -> list[object]:
        with reader.look() as journal:
            return [row.change.note.get("actor", "") for row in journal.rows(0, 100)]

    until(lambda: len(actors()) >= 2)  # the session, begun and ended
    assert set(actors()) == {"hooks of ada"}


def test_a_bound_key_s_hooks_stay_in_its_scope(team: Team) -> None:
    tenant, here = team.tenant(), team.processes[0]
    hook = team.key(tenant, Role.HOOK, "shop", name="hooks")
    payload = {"hook_event_name": "SessionStart", "session_id": "tuesday", "cwd": "/", "source": "startup"}
    told = here.send("POST", "/hooks/claude-code", hook, json=payload, headers={"x-helix-scope": "other"})
    assert told.json() == {}
    assert "x-helix-scope" not in told.headers
    assert here.send("POST", "/hooks/claude-code", hook, json=payload).headers["x-helix-scope"] == "shop"


@pytest.mark.soak
def test_a_tenant_has_room_for_so_many_subscriptions(team: Team) -> None:
    """Each event is handed to all of them, so that their number is what others wait for."""
    key = team.key(team.tenant())
    here = team.processes[0]
    here.data(key, STATUS)

    async def refused() -> str:
        begin = {"type": "subscribe", "payload": {"query": EVENTS}}
        sockets = [await _hello(here, key) for _ in range(MOST // 20 + 1)]
        told = ""
        for one in sockets:  # the last of them finds no room
            for number in range(20):
                await one.send(json.dumps({"id": str(number), **begin}))
            await one.send(json.dumps({"type": "ping"}))
            told = str(await asyncio.wait_for(one.recv(), MOST_SECONDS))
        for one in sockets:
            await one.close()
        return told

    assert f"{MOST} subscriptions are open already" in asyncio.run(refused())
    assert here.code(key, STATUS) == "OK"


def test_an_id_that_the_server_cannot_keep_is_invalid(team: Team) -> None:
    here = team.processes[0]
    key = team.key(team.tenant(), Role.ADMIN)
    undo = "mutation($id: ID!) { undo(input: {job: $id}) { result { restored } } }"
    assert here.code(key, undo, id="ab") == "NOT_FOUND"
    assert here.code(key, undo, id="a\x00b") == "INVALID_INPUT"
