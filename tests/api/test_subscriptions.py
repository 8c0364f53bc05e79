"""Subscriptions: events over WebSocket and server-sent events, and who may listen."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from api_server import BEARER, TOKEN, Served
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from helix.api.resolver_context import GAP_SECONDS, StreamTurns
from helix.api.subscriptions import MOST, QUEUE, Feed
from tests.waiting import MOST_SECONDS, until

STORE = (
    'mutation($t: String!) { store(input: {trigger: $t, resolution: "make a venv", kind: PATTERN}) { result { id } } }'
)
EVENTS = 'subscription { events(types: ["memory.added"]) { type id detail missed } }'


@contextmanager
def socket(served: Served, headers: Mapping[str, str] | None = None) -> Iterator[ClientConnection]:
    """Open a WebSocket of the protocol, without having said hello."""
    with connect(
        f"ws://127.0.0.1:{served.port}/graphql",
        subprotocols=[Subprotocol("graphql-transport-ws")],
        additional_headers=headers,
        open_timeout=MOST_SECONDS,
    ) as opened:
        yield opened


def send(opened: ClientConnection, **message: Any) -> None:
    opened.send(json.dumps(message))


def receive(opened: ClientConnection) -> Any:
    return json.loads(opened.recv(timeout=MOST_SECONDS))


@contextmanager
def greeted(served: Served) -> Iterator[ClientConnection]:
    with socket(served, BEARER) as opened:
        send(opened, type="connection_init")
        assert receive(opened)["type"] == "connection_ack"
        yield opened


def subscribe(opened: ClientConnection, query: str, **variables: Any) -> None:
    """Subscribe, and return when the subscription is sure to be listening."""
    send(opened, id="1", type="subscribe", payload={"query": query, "variables": variables})
    # A second operation that is answered was begun after the first one.
    send(opened, id="2", type="subscribe", payload={"query": "{ health { status } }"})
    assert receive(opened)["type"] == "next"
    assert receive(opened) == {"id": "2", "type": "complete"}


def test_a_stored_memory_is_told_over_websocket(shared: Served) -> None:
    with greeted(shared) as opened:
        subscribe(opened, EVENTS)
        stored = shared.ask(STORE, t="when pip fails")["store"]["id"]
        message = receive(opened)
        assert message["type"] == "next"
        event = message["payload"]["data"]["events"]
        assert (event["type"], event["id"], event["missed"]) == ("memory.added", stored, 0)


def test_events_are_told_as_server_sent_events(shared: Served) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", shared.port, timeout=MOST_SECONDS)
    headers = {"content-type": "application/json", "accept": "text/event-stream", **BEARER}
    connection.request("POST", "/graphql", json.dumps({"query": EVENTS}).encode(), headers)
    response = connection.getresponse()
    assert response.getheader("content-type", "").startswith("text/event-stream")

    def first() -> str:
        return next(line.decode() for line in response if line.startswith(b"data: {"))

    stored: list[str] = []
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(first)
        # The head of the answer comes before the stream listens: store until it has heard of one.
        while not reading.done():
            stored.append(shared.ask(STORE, t=f"when attempt {len(stored) * 7919} fails")["store"]["id"])
        event = json.loads(reading.result().removeprefix("data: "))
    connection.close()
    assert event["data"]["events"]["id"] in stored


@pytest.mark.parametrize("params", [None, {}, {"authorization": "Bearer wrong"}, {"authorization": 7}])
def test_a_websocket_without_the_token_is_closed(shared: Served, params: object) -> None:
    with socket(shared) as opened:
        send(opened, type="connection_init", **({} if params is None else {"payload": params}))
        with pytest.raises(ConnectionClosed) as closed:
            receive(opened)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4403


def test_a_websocket_may_show_the_token_when_it_says_hello(shared: Served) -> None:
    with socket(shared) as opened:
        send(opened, type="connection_init", payload={"authorization": f"Bearer {TOKEN}"})
        assert receive(opened)["type"] == "connection_ack"


@pytest.mark.parametrize(
    "messages",
    [('{"type":"ping"}', '{"type":"ping"}'), ('{"type":"connection_init","payload":{"a":[' + "[]," * 2_000 + "[]]}}",)],
    ids=["many", "large"],
)
def test_who_has_not_proved_itself_is_heard_once_and_briefly(shared: Served, messages: tuple[str, ...]) -> None:
    with socket(shared) as opened:
        with pytest.raises(ConnectionClosed) as closed:
            for message in messages:
                opened.send(message)
            for _ in range(len(messages)):
                opened.recv(timeout=MOST_SECONDS)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4401


def test_nothing_is_answered_before_the_hello(shared: Served) -> None:
    with socket(shared, BEARER) as opened:
        send(opened, id="1", type="subscribe", payload={"query": "{ health { status } }"})
        with pytest.raises(ConnectionClosed):
            receive(opened)


@pytest.mark.parametrize("headers", [{"origin": "http://evil.example"}, {"origin": "null"}])
def test_pages_of_other_origins_get_no_websocket(shared: Served, headers: dict[str, str]) -> None:
    with pytest.raises(InvalidStatus) as refused, socket(shared, {**BEARER, **headers}):
        pass
    assert refused.value.response.status_code == 403


def test_limits_and_codes_hold_over_websocket(shared: Served) -> None:
    with greeted(shared) as opened:
        aliases = " ".join(f"a{n}: health {{ status }}" for n in range(31))
        send(opened, id="1", type="subscribe", payload={"query": f"{{ {aliases} }}"})
        message = receive(opened)
        assert message["type"] == "error"
        assert message["payload"][0]["extensions"]["code"] == "INVALID_INPUT"
        send(opened, id="2", type="subscribe", payload={"query": '{ get(nameOrId: "nothing") { id } }'})
        assert receive(opened)["payload"]["errors"][0]["extensions"]["code"] == "NOT_FOUND"


def test_an_unknown_event_type_is_refused(shared: Served) -> None:
    with greeted(shared) as opened:
        send(opened, id="1", type="subscribe", payload={"query": 'subscription { events(types: ["rumour"]) { id } }'})
        message = receive(opened)
        assert "rumour" in json.dumps(message)
        assert "INVALID_INPUT" in json.dumps(message)


def test_messages_that_are_no_messages_end_only_their_own_socket(shared: Served) -> None:
    book = json.dumps({"type": "subscribe", "id": "1", "payload": {"query": "\n" * 300_000 + "{ __typename }"}})
    for text in ("{", "[]", "7", '{"type": "subscribe", "id": "1", "payload": 7}', '{"type": 7}', book):
        with greeted(shared) as opened:
            opened.send(text)
            with pytest.raises(ConnectionClosed):
                while True:
                    receive(opened)
    assert shared.ask("{ health { status } }")


def test_a_job_is_shown_until_it_ends(served: Served) -> None:
    job = served.ask("mutation { rebuild { result { id state } } }")["rebuild"]
    states = []
    with greeted(served) as opened:
        query = "subscription($id: ID!) { jobProgress(id: $id) { state done total } }"
        send(opened, id="1", type="subscribe", payload={"query": query, "variables": {"id": job["id"]}})
        while (message := receive(opened))["type"] == "next":
            states.append(message["payload"]["data"]["jobProgress"]["state"])
    assert message == {"id": "1", "type": "complete"}
    assert states[-1] == "DONE"


def test_the_progress_of_an_unknown_job_is_not_found(shared: Served) -> None:
    with greeted(shared) as opened:
        send(opened, id="1", type="subscribe", payload={"query": 'subscription { jobProgress(id: "none") { state } }'})
        assert "NOT_FOUND" in json.dumps(receive(opened))


def test_a_slow_subscriber_is_told_how_much_it_missed() -> None:
    async def scenario() -> None:
        feed, closing = Feed(lambda event: True, StreamTurns()), asyncio.Event()
        for number in range(QUEUE + 5):
            feed.publish({"type": "memory.added", "id": str(number)})
        await asyncio.sleep(0)
        assert await feed.take(closing) == ({"type": "memory.added", "id": "5"}, 5)
        assert await feed.take(closing) == ({"type": "memory.added", "id": "6"}, 0)

    asyncio.run(scenario())


def test_many_subscribers_of_a_store_leave_the_loop_to_others() -> None:
    async def scenario() -> float:
        turns, closing, told = StreamTurns(), asyncio.Event(), 0
        feeds = [Feed(lambda event: True, turns) for _ in range(MOST)]

        async def read(feed: Feed) -> None:
            nonlocal told
            while await feed.take(closing) is not None:
                told += 1

        readers = [asyncio.ensure_future(read(feed)) for feed in feeds]
        for number in range(100):
            for feed in feeds:
                feed.publish({"type": "memory.added", "id": str(number)})
        loop = asyncio.get_running_loop()
        begun = loop.time()
        await asyncio.sleep(0.5)
        closing.set()
        await asyncio.gather(*readers)
        return told * GAP_SECONDS / (loop.time() - begun)

    assert 0 < asyncio.run(scenario()) <= 1


def test_a_subscription_ends_when_the_daemon_is_asked_to_stop(served: Served) -> None:
    with greeted(served) as opened:
        subscribe(opened, EVENTS)
        assert served.ask("mutation { shutdown { result } }") == {"shutdown": True}
        assert served.stopped == ["asked"]
        assert receive(opened) == {"id": "1", "type": "complete"}


def test_an_open_subscription_counts_as_use(served: Served) -> None:
    activity = served.app.state.activity
    with greeted(served) as opened:
        subscribe(opened, EVENTS)
        assert activity.idle_seconds == 0
    until(lambda: activity.idle_seconds)
