"""Who may ask: token, Host, Origin, one-time links and sessions, over real HTTP."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, suppress
from http.cookies import SimpleCookie
from pathlib import Path

import pytest
from api_server import BEARER, TOKEN, Answer, Served

from helix import local_socket
from helix.api.access import LINK_SECONDS, SESSION_SECONDS, Access
from tests.waiting import MOST_SECONDS

HEALTH = json.dumps({"query": "{ health { status } }"}).encode()
JSON = {"content-type": "application/json"}


def ask(shared: Served, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return shared.request("POST", "/graphql", HEALTH, {**JSON, **named})


def session_of(shared: Served) -> dict[str, str]:
    """Open a one-time link as a browser does and return the Cookie header it leaves with."""
    link = shared.ask("mutation { openLink { result { url } } }")["openLink"]["url"]
    answer = shared.request("GET", link.removeprefix(shared.origin))
    assert answer.status == 303
    assert answer.headers["location"] == "/"
    cookie = SimpleCookie(answer.headers["set-cookie"])
    ((name, morsel),) = cookie.items()
    assert morsel["httponly"]
    assert morsel["samesite"].lower() == "strict"
    return {"cookie": f"{name}={morsel.value}"}


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer ", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer \xe9"],
)
def test_nothing_is_answered_without_the_token(shared: Served, authorization: str | None) -> None:
    answer = ask(shared) if authorization is None else ask(shared, authorization=authorization)
    assert (answer.status, answer.code) == (401, "UNAUTHORIZED")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_the_token_opens_the_door(shared: Served) -> None:
    assert ask(shared, **BEARER).json["data"]["health"]["status"] in {"ok", "degraded"}


@pytest.mark.parametrize("path", ["/metrics", "/graphql", "/static/graphiql/index.html", "/nothing"])
def test_every_other_path_wants_the_token_too(shared: Served, path: str) -> None:
    assert shared.request("GET", path).status == 401


def test_health_is_open_and_shows_no_secret(shared: Served) -> None:
    answer = shared.request("GET", "/healthz")
    assert answer.status == 200
    assert set(answer.json) == {"status", "version"}


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost", "[::1]:1"]
)
def test_a_request_for_another_host_is_misdirected(shared: Served, host: str) -> None:
    """A page that rebinds its own name to 127.0.0.1 sends its own name as Host."""
    for path in ("/graphql", "/healthz"):
        answer = shared.request("GET", path, headers={"host": host.format(port=shared.port), **BEARER})
        assert (answer.status, answer.code) == (421, "UNAUTHORIZED")


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}"])
def test_every_name_of_the_loopback_is_answered(shared: Served, host: str) -> None:
    assert ask(shared, host=host.format(port=shared.port), **BEARER).status == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1", ""]
)
def test_pages_of_other_origins_are_refused_even_with_the_token(shared: Served, origin: str) -> None:
    answer = ask(shared, origin=origin.format(port=shared.port), **BEARER)
    assert (answer.status, answer.code) == (403, "UNAUTHORIZED")


@pytest.mark.parametrize("path", ["/healthz", "/graphql", "/static/graphiql/assets/any.js", "/open/nonce"])
def test_nothing_of_this_server_becomes_a_service_worker(shared: Served, path: str) -> None:
    answer = shared.request("GET", path, headers={**BEARER, "service-worker": "script"})
    assert (answer.status, answer.code) == (403, "UNAUTHORIZED")


def test_no_answer_lets_other_origins_read_it(shared: Served) -> None:
    answers = [ask(shared, origin=shared.origin, **BEARER), shared.request("OPTIONS", "/graphql", headers=BEARER)]
    assert not [name for answer in answers for name in answer.headers if name.startswith("access-control")]


def test_browsers_are_told_to_load_nothing_from_elsewhere(shared: Served) -> None:
    headers = ask(shared, **BEARER).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_a_one_time_link_becomes_a_session_for_pages_of_this_server(shared: Served) -> None:
    cookie = session_of(shared)
    assert ask(shared, origin=shared.origin, **cookie).status == 200
    assert ask(shared, sec_fetch_site="same-origin", **cookie).status == 200
    assert (
        shared.request("GET", "/graphql", headers={"accept": "text/html", "sec-fetch-site": "none", **cookie}).status
        == 200
    )


@pytest.mark.parametrize("site", ["cross-site", "same-site", None])
def test_a_session_is_worth_nothing_to_other_pages(shared: Served, site: str | None) -> None:
    cookie = session_of(shared)
    assert ask(shared, **cookie, **({"sec_fetch_site": site} if site else {})).status == 401


def test_a_cookie_of_escapes_keeps_nobody_waiting(shared: Served) -> None:
    """Anybody who reaches the port can send one: each took the one thread that answers everybody half a minute."""
    flood = f'GET /graphql HTTP/1.1\r\nHost: 127.0.0.1:{shared.port}\r\nCookie: a="{chr(92) * 60_000}"\r\n\r\n'
    with ExitStack() as stack:
        others = [stack.enter_context(socket.create_connection(("127.0.0.1", shared.port))) for _ in range(24)]
        for other in others:
            other.sendall(flood.encode("ascii"))
            other.settimeout(MOST_SECONDS)
        assert all(other.recv(100).startswith(b"HTTP/1.1 401") for other in others)
        assert shared.request("GET", "/healthz").status == 200


def test_a_session_is_found_among_other_cookies(shared: Served) -> None:
    session = session_of(shared)["cookie"]
    cookies = f'a="b; c\\""; =; d; {session}; e=f=g'
    assert ask(shared, cookie=cookies, sec_fetch_site="same-origin").status == 200


def test_a_link_works_once(shared: Served) -> None:
    path = shared.ask("mutation { openLink { result { url } } }")["openLink"]["url"].removeprefix(shared.origin)
    assert shared.request("GET", path).status == 303
    again = shared.request("GET", path)
    assert again.status == 403
    assert b"helix open" in again.body


def test_a_made_up_link_opens_nothing(shared: Served) -> None:
    assert shared.request("GET", "/open/" + "A" * 43).status == 403
    assert shared.request("GET", "/open/").status in {403, 404}


def test_a_browser_without_a_session_is_told_how_to_get_one(shared: Served) -> None:
    answer = shared.request("GET", "/graphql", headers={"accept": "text/html,*/*"})
    assert answer.status == 401
    assert b"helix open" in answer.body


def test_links_and_sessions_run_out() -> None:
    now = [0.0]
    access = Access("token", clock=lambda: now[0])
    late, early = access.new_link(), access.new_link()
    session = access.redeem(early)
    assert session is not None
    assert access.session_holds(session)
    now[0] = LINK_SECONDS + 1.0
    assert access.redeem(late) is None
    now[0] = SESSION_SECONDS + 1.0
    assert not access.session_holds(session)


def test_an_unknown_path_says_where_graphql_is(shared: Served) -> None:
    answer = shared.request("GET", "/nothing", headers=BEARER)
    assert (answer.status, answer.code) == (404, "NOT_FOUND")
    assert "/graphql" in answer.json["errors"][0]["extensions"]["hint"]


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.geteuid() != 0, reason="only root can ask as another user, on Linux"
)
def test_a_session_counts_from_a_process_of_its_user_alone(shared: Served) -> None:
    """A browser sends its cookies to each port of a host, so that other users' servers see this one.

    Where this user's browser is connected everybody can read, and say that they were it: no header is believed.
    """
    cookie = session_of(shared)["cookie"]
    ask_it = (
        "import os, socket, sys\n"
        "os.setuid(int(sys.argv[1]))\n"
        "asking = socket.socket()\n"
        "asking.connect(('127.0.0.1', int(sys.argv[2])))\n"
        "asking.sendall(sys.argv[3].replace('PORT', sys.argv[4]).encode())\n"
        "print(asking.recv(12).decode()[-3:])\n"
    )
    lines = [
        "POST /graphql HTTP/1.1",
        *(f"Host: 127.0.0.1:{shared.port}", f"Origin: {shared.origin}", f"Cookie: {cookie}"),
        *("Content-Type: application/json", f"Content-Length: {len(HEALTH)}", "Connection: close"),
        "X-Forwarded-For: 127.0.0.1:PORT",
    ]
    command = [sys.executable, "-I", "-c", ask_it]
    words = [str(shared.port), "\r\n".join(lines) + "\r\n\r\n" + HEALTH.decode()]
    with socket.create_connection(("127.0.0.1", shared.port)) as browser:
        claimed = str(browser.getsockname()[1])
        said = [
            subprocess.run([*command, user, *words, claimed], capture_output=True, text=True, check=True).stdout.strip()
            for user in ("0", "65534")
        ]
    assert said == ["200", "401"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lists connections and their users")
def test_nobody_waits_while_the_system_lists_its_connections(
    shared: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user can hold so many that the list takes a second; it was read where hooks and commands are answered."""
    cookie, listed, answers = session_of(shared), Path("/proc/net/tcp").read_text("ascii"), list[Answer]()
    os.mkfifo(tmp_path / "tcp")
    monkeypatch.setattr(local_socket, "_CONNECTIONS", tmp_path)
    page = threading.Thread(target=lambda: answers.append(ask(shared, **cookie, sec_fetch_site="same-origin")))
    page.start()
    try:
        with (tmp_path / "tcp").open("w", encoding="ascii") as late:  # the list is being read from now on
            assert ask(shared, **BEARER).status == 200
            late.write(listed)
    finally:
        page.join()
    assert answers[0].status == 401  # listed before that page's connection was made


@pytest.mark.parametrize("path", ["/graphql", "/open/x", "/alive?page=1&nonce=2", "/healthz", "/nothing"])
def test_who_proves_nothing_asks_once_by_each_connection(served: Served, path: str) -> None:
    """Sixty connections that ask on and on kept every hook waiting for longer than it may."""
    asked = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{served.port}\r\n"
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
        connection.sendall(f"{asked}\r\n".encode() * 20)
        answer = b""
        with suppress(ConnectionResetError):
            while part := connection.recv(65_536):
                answer += part
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"connection: close" in answer.lower()
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
        connection.sendall(f"{asked}authorization: Bearer {TOKEN}\r\n\r\n".encode() * 2)
        answer = b""
        while answer.count(b"HTTP/1.1 ") < 2:
            answer += connection.recv(65_536)
