"""Quotas: what a tenant may keep and ask, and that others notice nothing of it."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from helix.errors import InvalidInputError, TooManyRequestsError
from helix.ingest.writing import BATCH
from helix.journal.postgres.postgres_server import Whereabouts
from helix.model.principal import Role
from helix.server.quotas import NAMES, Quotas, parsed
from tests.server.team import RECALL, STORE, Team
from tests.waiting import MOST_SECONDS, until


def _limited(team: Team, **quota: int) -> str:
    tenant = team.tenant()
    team.server.set_quota(team.server.tenant(tenant).id, json.dumps(quota))
    return team.key(tenant)


def test_a_tenant_that_keeps_as_much_as_it_may_still_recalls_and_forgets(team: Team) -> None:
    here, key = team.processes[0], _limited(team, memories=2)
    first = here.data(key, STORE, t="one", r="so it is", s="shop")["store"]["result"]["id"]
    here.data(key, STORE, t="another", r="or else", s="shop")
    told = here.ask(key, STORE, t="a third", r="too many", s="shop")
    assert told["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert "as many memories as it may (2)" in told["errors"][0]["message"]
    assert here.data(key, RECALL, q="another", s="shop")["recall"]["items"]
    forget = "mutation($n: String!) { forget(input: {nameOrId: $n}) { result { id } } }"
    assert here.code(key, forget, n=first) == "OK"
    other = _limited(team)
    assert here.code(other, STORE, t="a third", r="room for all", s="shop") == "OK"


def test_a_tenant_s_log_has_a_size_that_it_may_have(team: Team) -> None:
    here, key = team.processes[0], _limited(team, bytes=3_000)
    here.data(key, STORE, t="one", r="so it is", s="shop")
    big = " ".join(str(number * 7919 % 10_007) for number in range(2_000))  # the log is packed
    assert here.code(key, STORE, t="two", r=big, s="shop") == "OK"
    told = here.ask(key, STORE, t="three", r="so it is", s="shop")
    assert "as much as it may (3000 bytes)" in told["errors"][0]["message"]


@pytest.mark.parametrize("quota", [{"memories": 60}, {"bytes": 40_000}])
def test_one_request_brings_no_more_than_a_batch_beyond_what_may_be_kept(team: Team, quota: dict[str, int]) -> None:
    here, key = team.processes[0], _limited(team, **quota)
    lines = [json.dumps({"trigger": f"line {number}", "resolution": f"it says {number}"}) for number in range(400)]
    document = 'mutation($l: [String!]!) { ingestJsonl(input: {lines: $l, scope: "shop"}) { result { memories } } }'
    kept = []
    for _ in range(2):
        told = here.ask(key, document, l=lines)
        assert told["errors"][0]["extensions"]["code"] == "FORBIDDEN"
        counted = "SELECT count(*) FROM node JOIN tenant ON tenant.id = tenant WHERE slug = $1 AND label = 'Memory'"
        kept += team.sql(counted, team.accounts.principal_of(key).tenant)[0]
    assert kept[0] == kept[1] <= 60 + BATCH
    assert kept[0] > 0


@pytest.mark.soak
def test_a_quota_that_changes_holds_for_a_tenant_that_is_open(team: Team) -> None:
    here, key = team.processes[0], _limited(team, memories=1)
    tenant = team.server.tenant(team.accounts.principal_of(key).tenant)
    here.data(key, STORE, t="one", r="so it is", s="shop")
    assert here.code(key, STORE, t="two", r="or else", s="shop") == "FORBIDDEN"
    team.server.set_quota(tenant.id, json.dumps({"memories": 2}))
    until(lambda: here.code(key, STORE, t="two", r="or else", s="shop") == "OK")


def test_what_is_said_on_a_websocket_counts_as_requests(team: Team) -> None:
    here, key = team.processes[0], _limited(team, requests=10)

    async def talk() -> int:
        told = 0
        async with connect(
            f"{here.url.replace('http', 'ws', 1)}/graphql",
            additional_headers={"authorization": f"Bearer {key}"},
            subprotocols=[Subprotocol("graphql-transport-ws")],
            proxy=None,
        ) as socket:
            await socket.send(json.dumps({"type": "connection_init"}))
            with suppress(ConnectionClosed):
                for number in range(50):
                    asks = {"id": str(number), "type": "subscribe", "payload": {"query": "{ status { edges } }"}}
                    await socket.send(json.dumps(asks))
                    told += '"next"' in str(await asyncio.wait_for(socket.recv(), MOST_SECONDS))
        return told

    assert asyncio.run(talk()) < 15


def test_requests_of_a_minute_are_counted(team: Team) -> None:
    key = _limited(team, requests=3)
    here = team.processes[1]
    codes = [here.code(key, "{ status { edges } }") for _ in range(5)]
    assert codes[:3] == ["OK"] * 3
    assert "TOO_MANY_REQUESTS" in codes[3:]
    refused = here.send("POST", "/graphql", key, json={"query": "{ status { edges } }"})
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert here.code(team.key(team.tenant(), Role.READER), "{ status { edges } }") == "OK"


@given(st.dictionaries(st.sampled_from(NAMES), st.integers(min_value=0, max_value=1 << 60)))
def test_a_quota_is_kept_as_it_is_said(quota: dict[str, int]) -> None:
    assert parsed(json.dumps(quota)) == quota


@pytest.mark.parametrize("text", ['{"memories": -1}', '{"other": 1}', "[1]", '{"memories": "many"}', "{"])
def test_what_is_no_quota_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        parsed(text)


@given(st.integers(min_value=0, max_value=40), st.integers(min_value=1, max_value=80))
def test_no_more_than_its_number_goes_through_at_once(most: int, asked: int) -> None:
    there = Whereabouts(1, "t", "active", json.dumps({"requests": most}), None, "", False, 0)
    quotas, through = Quotas(), 0
    for _ in range(asked):
        try:
            quotas.count(there)
            through += 1
        except TooManyRequestsError:
            pass
    assert through <= most + 1
    assert through >= min(most, asked)
