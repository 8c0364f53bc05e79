"""Signed requests: what one process believes of a request that another handed on."""

from __future__ import annotations

import time

import pytest
from starlette.datastructures import Headers

from helix.errors import EngineError, UnauthorizedError
from helix.model.principal import Principal, Role
from helix.server.signed_requests import AGE_SECONDS, ASKS, SIGNED, Cluster

ADA = Principal(tenant="kiosk", number=7, name="Ada Größe", role=Role.READER, scopes=("shop",))


def test_who_asks_is_believed_by_who_knows_the_secret_alone() -> None:
    told = Cluster("secret").told(ADA, "/graphql")
    assert Cluster("secret").principal(Headers(told), "/graphql") == ADA
    assert Cluster("secret").principal(Headers({}), "/graphql") is None
    assert all("secret" not in value and value.isascii() for value in told.values())
    with pytest.raises(UnauthorizedError):
        Cluster("another").principal(Headers(told), "/graphql")


@pytest.mark.parametrize(
    "changed",
    [
        {ASKS: ADA.to_json().replace("reader", "owner")},
        {ASKS: ""},
        {SIGNED: ""},
        {SIGNED: "2:0:"},
        {SIGNED: "2:x:y"},
        {SIGNED: f"2:{time.time() + 5:.0f}:" + "0" * 64},
    ],
)
def test_nothing_of_what_was_signed_may_be_changed(changed: dict[str, str]) -> None:
    told = Cluster("secret").told(ADA, "/graphql")
    with pytest.raises(UnauthorizedError):
        Cluster("secret").principal(Headers({**told, **changed}), "/graphql")
    with pytest.raises(UnauthorizedError):
        Cluster("secret").principal(Headers(told), "/v1/keys")


def test_what_is_handed_on_keeps_its_form_or_gets_another_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases that run beside each other hand on to each other: who changes this takes the next FORM."""
    monkeypatch.setattr(time, "time", lambda: 1_800_000_000.0)
    told = Cluster("secret").told(ADA, "/graphql")
    assert told == {
        SIGNED: "2:1800000000:83d1922da14c88a9b464c8152dad8f974e8a3d5e5d8dee2da017c272481011aa",
        ASKS: r'{"tenant": "kiosk", "number": 7, "name": "Ada Gr\u00f6\u00dfe", "role": "reader", "scopes": ["shop"],'
        ' "key": "", "peer": ""}',
    }
    later = {**told, SIGNED: told[SIGNED].replace("2:", "3:", 1)}
    with pytest.raises(EngineError, match="another release"):
        Cluster("secret").principal(Headers(later), "/graphql")


@pytest.mark.parametrize("seconds", [-AGE_SECONDS - 5, AGE_SECONDS + 5])
def test_what_was_signed_does_not_hold_for_long(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    told = Cluster("secret").told(ADA, "/graphql")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + seconds)
    with pytest.raises(UnauthorizedError, match="too old or too new"):
        Cluster("secret").principal(Headers(told), "/graphql")
