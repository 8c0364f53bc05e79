"""Crowd: a tenant takes no more of a process than leaves room for the others."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from helix.errors import TooManyRequestsError
from helix.model.principal import Principal, Role
from helix.server.crowd import MOST_AT_ONCE, Crowd

ROOM, WEBSOCKETS = 800, 200


def _asks(tenant: int, key: int) -> Principal:
    return Principal(name=f"k{key}", role=Role.READER, tenant=f"t{tenant}", number=tenant)


def _fill(crowd: Crowd, tenant: int, *, talks: bool = False, handed_on: bool = False) -> list[ExitStack]:
    """Have a tenant ask with one key after the other, until it may not any more."""
    entered: list[ExitStack] = []
    with pytest.raises(TooManyRequestsError):
        while True:
            key = len(entered) // (MOST_AT_ONCE - 1)
            entered.append(crowd.enter(_asks(tenant, key), talks=talks, handed_on=handed_on))
    return entered


@pytest.fixture
def crowd() -> Crowd:
    made = Crowd()
    made.connections, made.websockets = ROOM, WEBSOCKETS
    return made


@pytest.mark.parametrize(("talks", "room"), [(False, ROOM), (True, WEBSOCKETS)])
@pytest.mark.parametrize("handed_on", [False, True])
def test_some_is_left_for_whoever_comes_next(crowd: Crowd, talks: bool, room: int, handed_on: bool) -> None:
    first = _fill(crowd, 1, talks=talks, handed_on=handed_on)
    assert len(first) == room * 3 // 4
    second = _fill(crowd, 2, talks=talks, handed_on=handed_on)
    assert len(second) > room // 10
    crowd.enter(_asks(3, 1), talks=talks, handed_on=False)


def test_what_ended_leaves_its_place(crowd: Crowd) -> None:
    for _ in range(2):
        for leaves in _fill(crowd, 1, talks=True):
            leaves.close()


def test_a_key_that_has_many_under_way_leaves_room_for_others_of_its_tenant(crowd: Crowd) -> None:
    for _ in range(MOST_AT_ONCE):
        crowd.enter(_asks(1, 1), talks=False, handed_on=False)
    with pytest.raises(TooManyRequestsError):
        crowd.enter(_asks(1, 1), talks=False, handed_on=False)
    crowd.enter(_asks(1, 2), talks=False, handed_on=False)
