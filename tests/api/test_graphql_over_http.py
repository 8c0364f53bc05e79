"""How requests become operations: media types, status codes, and bodies that are no GraphQL."""

from __future__ import annotations

import json
import socket
from contextlib import suppress

import h11
import pytest
from api_server import BEARER, Answer, Served
from hypothesis import given
from hypothesis import strategies as st

from helix.api.endpoint import LEGACY_TYPE, RESPONSE_TYPE, preferred_type
from helix.api.limits import BODY_BYTES, STRANGERS_BYTES

JSON = {"content-type": "application/json"}


def send(shared: Served, body: bytes, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return shared.request("POST", "/graphql", body, {**JSON, **BEARER, **named})


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("", LEGACY_TYPE),
        ("*/*", LEGACY_TYPE),
        ("application/json", LEGACY_TYPE),
        (RESPONSE_TYPE, RESPONSE_TYPE),
        (f"{RESPONSE_TYPE}, application/json;q=0.9", RESPONSE_TYPE),
        (f"application/json, {RESPONSE_TYPE};q=0.5", LEGACY_TYPE),
        (f"{RESPONSE_TYPE};charset=utf-8", RESPONSE_TYPE),
        (f"{RESPONSE_TYPE};q=nonsense", LEGACY_TYPE),
    ],
)
def test_the_media_type_is_the_one_preferred(shared: Served, accept: str, media: str) -> None:
    answer = shared.post("{ __typename }", headers={"accept": accept} if accept else {})
    assert answer.status == 200
    assert answer.headers["content-type"].partition(";")[0] == media
    assert answer.json == {"data": {"__typename": "Query"}}


@given(st.text(max_size=60))
def test_any_accept_header_leads_to_one_of_the_two_media_types(accept: str) -> None:
    assert preferred_type(accept) in {LEGACY_TYPE, RESPONSE_TYPE}


@pytest.mark.parametrize(
    "query",
    [
        "{",
        "{ nothing }",
        "query A { __typename } query B { __typename }",
        "query($x: Nothing) { __typename }",
        "{ ...x }",
    ],
)
def test_a_request_error_has_no_data_and_is_a_400_for_the_newer_media_type(shared: Served, query: str) -> None:
    answer = shared.post(query, headers={"accept": RESPONSE_TYPE})
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")
    assert "data" not in answer.json


def test_a_validation_error_is_a_200_for_the_older_media_type(shared: Served) -> None:
    answer = shared.post("{ nothing }", headers={"accept": LEGACY_TYPE})
    assert (answer.status, answer.code) == (200, "INVALID_INPUT")
    assert "data" not in answer.json


def test_a_field_error_keeps_what_else_was_answered(shared: Served) -> None:
    answer = shared.post(
        '{ health { status } gone: get(nameOrId: "nothing") { id } }', headers={"accept": RESPONSE_TYPE}
    )
    assert (answer.status, answer.code) == (200, "NOT_FOUND")
    assert answer.json["errors"][0]["path"] == ["gone"]
    assert answer.json["data"] == {"health": {"status": "ok"}, "gone": None}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"7",
        b"{}",
        b'{"query": 7}',
        b'{"query": "{ __typename }", "variables": []}',
        b'{"query": "{ __typename }", "variables": {"x": NaN}}',
        b'{"query": "{ __typename }", "operationName": 7}',
        b'{"query": "{ __typename }", "operationName": "Other"}',
        b'[{"query": "{ __typename }"}]',
        b'\xff\xfe{"query": "{ __typename }"}',
        b'{"query": "{ __typename }", "variables": {"x": "\\ud800"}}',
        b'{"query": "{ __typename }", "variables": {"x": "\\uDC00 half"}}',
        b"[" * 100_000,
        b'{"query": "{ __typename }", "variables": {"x": ' + b"9" * 5_000 + b"}}",
    ],
    ids=lambda body: repr(body[:60]),
)
def test_a_body_that_is_no_request_is_refused_with_a_code(shared: Served, body: bytes) -> None:
    answer = send(shared, body)
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")


def test_both_halves_of_a_surrogate_pair_are_one_character(shared: Served) -> None:
    answer = send(
        shared,
        json.dumps({"query": "query($n: String!) { get(nameOrId: $n) { id } }", "variables": {"n": "😀"}}).encode(),
    )
    assert answer.code == "NOT_FOUND"
    assert "😀" in answer.message


@pytest.mark.parametrize(
    "media", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
def test_other_content_types_are_refused(shared: Served, media: str) -> None:
    """Pages of other origins can send these without asking first."""
    answer = send(shared, b'{"query": "{ __typename }"}', content_type=media)
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_operations_come_by_post_only(shared: Served, method: str) -> None:
    answer = shared.request(method, "/graphql?query=%7B__typename%7D", headers=BEARER)
    assert answer.status == 405
    assert "POST" in answer.headers["allow"]


def test_a_body_over_the_limit_is_refused(shared: Served) -> None:
    body = json.dumps({"query": "{ __typename }", "variables": {"x": "a" * BODY_BYTES}}).encode()
    answer = send(shared, body)
    assert (answer.status, answer.code) == (413, "INVALID_INPUT")


def test_a_body_without_a_length_is_counted_as_it_comes(shared: Served) -> None:
    chunk = b"a" * 65_536
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for _ in range(BODY_BYTES // len(chunk) + 1)) + b"0\r\n\r\n"
    answer = send(shared, chunks, transfer_encoding="chunked")
    assert (answer.status, answer.code) == (413, "INVALID_INPUT")


def test_of_chunks_that_strangers_send_only_the_first_are_read(shared: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """To read a megabyte of one-byte chunks takes the one thread that answers everybody two seconds."""
    read: list[int] = []
    whole = h11.Connection.next_event
    monkeypatch.setattr(h11.Connection, "next_event", lambda self: read.append(1) or whole(self))
    with socket.create_connection(("127.0.0.1", shared.port)) as stranger:
        head = f"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1:{shared.port}\r\nTransfer-Encoding: chunked\r\n\r\n"
        with suppress(ConnectionError):
            stranger.sendall(head.encode("ascii") + b"1\r\na\r\n" * 200_000)
        assert shared.request("GET", "/healthz").status == 200
    assert len(read) < 10_000


@pytest.mark.parametrize("path", ["/open/x", "/healthz", "/moved"])
def test_of_what_strangers_send_only_the_beginning_is_read(shared: Served, path: str) -> None:
    answer = shared.request("POST", path, b"a" * (STRANGERS_BYTES + 1))
    assert (answer.status, answer.code) == (413, "INVALID_INPUT")
    assert shared.request("POST", path, b"a" * STRANGERS_BYTES).status == 405


def test_a_megabyte_of_text_gets_through_to_the_service(shared: Served) -> None:
    query = 'mutation($t: String!) { store(input: {trigger: $t, resolution: "r", kind: FACT}) { result { id } } }'
    answer = shared.post(query, {"t": "word " * 200_000})
    assert (answer.status, answer.code) == (200, "INVALID_INPUT")
    assert "trigger" in answer.message
