"""Failover: a home that was killed, stopped, put to sleep or cut off; nothing acknowledged is lost or written twice."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest

from tests.server.team import RECALL, STORE, Process, Team, gathered
from tests.waiting import until

KEYED = (
    "mutation($t: String!, $k: String!) { store(input: "
    '{trigger: $t, resolution: "so it is", kind: FACT, scope: "shop", idempotencyKey: $k}) { result { id } } }'
)
STATUS = "{ status { edges } }"


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Team]:
    """A team of the test's own: it kills processes."""
    with gathered(tmp_path) as made:
        for process in [made.start(), made.start()]:
            process.announced()
        yield made


def _names(process: Process, key: str) -> list[str]:
    document = '{ memories(scope: "shop", first: 200) { edges { node { trigger } } } }'
    return [edge["node"]["trigger"] for edge in process.data(key, document)["memories"]["edges"]]


class Writer(threading.Thread):
    """Stores one thing after another at a home that is killed meanwhile, and sends the last again to another one."""

    def __init__(self, home: Process, other: Process, key: str, number: int) -> None:
        super().__init__()
        self._ask, self._again = (partial(one.data, key, KEYED) for one in (home, other))
        self._number = number
        self.acknowledged: list[str] = []
        self.written = threading.Event()
        self.start()

    def run(self) -> None:
        while True:
            thing = f"thing {self._number}.{len(self.acknowledged)}"
            try:
                self._ask(t=thing, k=thing)
            except (httpx.HTTPError, AssertionError):  # the answer is lost, or tells that it may have been stored
                self._again(t=thing, k=thing)
                self.acknowledged.append(thing)
                return
            self.acknowledged.append(thing)
            if len(self.acknowledged) > 5:
                self.written.set()


def test_a_home_that_is_killed_is_taken_over_with_all_that_it_acknowledged(own: Team) -> None:
    """Each writer sends its last store again under the same key: it counts once, whether it was stored or not."""
    key = own.key(own.tenant())
    home, other = own.processes
    home.data(key, STATUS)
    writers = [Writer(home, other, key, number) for number in range(4)]
    assert all(writer.written.wait(120) for writer in writers)
    home.kill()
    for writer in writers:
        writer.join()
    assert sorted(_names(other, key)) == sorted(thing for writer in writers for thing in writer.acknowledged)


@pytest.mark.soak
def test_a_home_that_leaves_gives_its_tenants_back_at_once(own: Team) -> None:
    key = own.key(own.tenant())
    home, other = own.processes
    home.data(key, STORE, t="the till jams", r="off and on", s="shop")
    home.stop()
    assert other.data(key, RECALL, q="till", s="shop")["recall"]["items"]
    assert other.send("GET", "/readyz").json() == {"ready": True}


@pytest.mark.soak
def test_a_process_that_starts_where_one_was_killed_goes_on_in_its_place(own: Team) -> None:
    tenant = own.tenant()
    key = own.key(tenant)
    home, other = own.processes
    home.data(key, STORE, t="before", r="so it is", s="shop")
    number = own.server.tenant(tenant).id
    first = own.sql("SELECT epoch FROM head WHERE tenant = $1", number)[0][0]
    home.kill()
    own.sql("UPDATE process SET until = now() + interval '1 hour'")  # nobody waits for it to count as gone
    port = home.url.rpartition(":")[2]
    again = own.start("--listen", f"127.0.0.1:{port}").announced()
    assert again.url == home.url
    other.data(key, STORE, t="after", r="so it is", s="shop")
    assert set(_names(again, key)) == {"before", "after"}
    assert own.sql("SELECT epoch FROM head WHERE tenant = $1", number)[0][0] > first


@pytest.mark.soak
def test_a_home_that_slept_writes_nothing_when_it_wakes(own: Team) -> None:
    key = own.key(own.tenant())
    home, other = own.processes
    home.data(key, STORE, t="before", r="so it is", s="shop")
    os.kill(home.child.pid, signal.SIGSTOP)
    try:
        # What is handed on to a sleeping home has no answer; until its lease is over, that is.
        def answers() -> bool:
            with httpx.Client(trust_env=False, timeout=5) as client:
                body = {"query": STORE, "variables": {"t": "meanwhile", "r": "so it is", "s": "shop"}}
                try:
                    told = client.post(f"{other.url}/graphql", json=body, headers={"authorization": f"Bearer {key}"})
                except httpx.HTTPError:
                    return False
                return "errors" not in told.json()

        until(answers)
    finally:
        os.kill(home.child.pid, signal.SIGCONT)
    until(lambda: "errors" not in home.ask(key, STORE, t="after", r="so it is", s="shop"))
    names = _names(home, key)
    assert {"before", "meanwhile", "after"} <= set(names)
    assert _names(other, key) == names


@pytest.mark.soak
def test_work_that_nobody_s_home_has_is_found_and_done(own: Team) -> None:
    tenant = own.tenant()
    key = own.key(tenant)
    home, other = own.processes
    home.data(key, STORE, t="before", r="so it is", s="shop")
    number = own.server.tenant(tenant).id
    home.stop()
    own.sql(
        "INSERT INTO work (tenant, id, kind, key, payload, state, not_before, created_at)"
        " VALUES ($1, 'w1', 'decay_edges', 'w1', '{}', 'queued', 0, 0)",
        number,
    )
    until(lambda: own.sql("SELECT state FROM work WHERE tenant = $1 AND id = 'w1'", number)[0][0] in ("done", "failed"))
    assert other.child.poll() is None


@pytest.mark.soak
def test_a_server_that_is_away_for_a_while_is_waited_for(own: Team) -> None:
    key = own.key(own.tenant())
    home = own.processes[0]
    home.data(key, STORE, t="before", r="so it is", s="shop")
    own.cluster.stop()
    assert home.send("GET", "/healthz").json()["status"] == "ok"
    assert home.code(key, STORE, t="lost", r="it is not acknowledged", s="shop") != "OK"
    own.cluster.start()
    until(lambda: home.code(key, STATUS) == "OK")
    until(lambda: home.code(key, STORE, t="after", r="so it is", s="shop") == "OK")
    assert "before" in _names(home, key)


@pytest.mark.soak
def test_a_process_drains_before_it_leaves(own: Team) -> None:
    leaving = own.start("--drain", "3").announced()
    key = own.key(own.tenant())
    leaving.data(key, STORE, t="before", r="so it is", s="shop")
    leaving.child.send_signal(signal.SIGTERM)
    until(lambda: leaving.send("GET", "/readyz").status_code == 503)
    assert leaving.send("GET", "/healthz").status_code == 200
    assert leaving.code(key, STATUS) == "OK"
    leaving.child.wait(120)
    assert own.processes[0].code(key, STATUS) == "OK"


@pytest.mark.soak
def test_who_asks_notices_nothing_of_a_home_that_changes(own: Team) -> None:
    """What is handed on to a process that is no home any more is handed on to the next one, once more."""
    tenant = own.tenant()
    key = own.key(tenant)
    first, other = own.processes
    first.data(key, STORE, t="before", r="so it is", s="shop")
    other.data(key, RECALL, q="before", s="shop")  # it knows now who is home
    third = own.start().announced()
    number = own.server.tenant(tenant).id
    for attempt in range(5):
        home, epoch = own.sql("SELECT home, epoch FROM head WHERE tenant = $1", number)[0]
        own.sql("UPDATE head SET home = NULL, epoch = epoch + 1 WHERE tenant = $1", number)  # as if it had been taken
        assert home is not None
        assert epoch > attempt
        store = partial(
            (third, other, first)[attempt % 3].ask, key, STORE, t=f"thing {attempt}", r="so it is", s="shop"
        )
        if errors := store().get("errors"):  # the home found out by this change itself, and acknowledged nothing
            assert [one["extensions"]["code"] for one in errors] == ["NOT_HOME"], errors
            until(lambda store=store: "errors" not in store())  # type: ignore[misc]  # another one each time
    assert {f"thing {attempt}" for attempt in range(5)} <= set(_names(other, key))


@pytest.mark.soak
def test_a_process_that_is_let_in_no_more_is_not_ready_until_it_is(tmp_path: Path) -> None:
    with gathered(tmp_path) as team:
        one, key = team.start().announced(), team.key(team.tenant())
        assert one.send("GET", "/readyz").status_code == 200
        team.sql("ALTER ROLE app CONNECTION LIMIT 1")
        team.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'")
        assert one.send("POST", "/graphql", key, json={"query": "{ status { edges } }"}).status_code == 503
        assert until(lambda: one.send("GET", "/readyz").status_code == 503)
        team.sql("ALTER ROLE app CONNECTION LIMIT -1")
        assert until(lambda: one.send("GET", "/readyz").status_code == 200)
        assert one.code(key, "{ status { edges } }") == "OK"
