"""Open tenants: opened when asked for, closed when not used or one too many, with nothing lost and little held."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from helix.model.principal import Role
from tests.server.team import GET, RECALL, STORE, Process, Team, gathered
from tests.waiting import until

COUNT = '{ cypher(query: "MATCH (m:Memory) RETURN count(m)") { rows } }'


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Team, Process]]:
    """A process that has room for three open tenants, and closes one after 2 seconds."""
    with gathered(tmp_path_factory.mktemp("small")) as made:
        words = ("--open-tenants", "3", "--idle", "0.034")
        yield made, made.start(*words, HELIX_METRICS_TOKEN="counted").announced()


def _open(process: Process) -> int:
    lines = process.send("GET", "/metrics", "counted").text.splitlines()
    return int(float(next(line for line in lines if line.startswith("helix_tenants_open ")).split()[1]))


def test_many_tenants_take_turns(small: tuple[Team, Process]) -> None:
    team, here = small
    keys = [team.key(team.tenant()) for _ in range(8)]

    def work(number: int) -> None:
        for round_ in range(2):
            here.data(keys[number], STORE, t=f"thing {number} of {round_}", r=f"mark{number}", s="shop")
            items = here.data(keys[number], RECALL, q=f"thing {number}", s="shop")["recall"]["items"]
            assert {item["node"]["resolution"] for item in items} == {f"mark{number}"}

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(8)))
    for number, key in enumerate(keys):
        document = '{ memories(scope: "shop") { edges { node { resolution } } } }'
        found = [edge["node"]["resolution"] for edge in here.data(key, document)["memories"]["edges"]]
        assert found == [f"mark{number}"] * 2
    until(lambda: _open(here) == 0)
    until(lambda: team.sql("SELECT count(*) FROM head WHERE home IS NOT NULL") == [(0,)])


@pytest.mark.soak
def test_an_open_tenant_at_rest_has_no_thread_of_its_own(small: tuple[Team, Process]) -> None:
    team, _ = small
    here = team.start(HELIX_METRICS_TOKEN="counted").announced()

    def use(number: int) -> None:
        key = team.key(team.tenant())
        here.data(key, STORE, t=f"thing {number}", r="so it is", s="shop")
        assert here.data(key, RECALL, q="thing", s="shop")["recall"]["items"]

    def threads() -> int:
        return len(list(Path(f"/proc/{here.child.pid}/task").iterdir()))

    for number in range(40):
        use(number)
    assert _open(here) == 40
    until(lambda: threads() < 40)


@pytest.mark.soak
def test_what_is_kept_of_a_tenant_goes_once_another_process_has_served_it(small: tuple[Team, Process]) -> None:
    """That one may have erased for good what would lie here for ever."""
    team, here = small
    there = team.start().announced()
    tenant = team.tenant()
    key = team.key(tenant, Role.OWNER)
    folder = here.home / f"server-{here.url.rpartition(':')[2]}" / "tenants" / str(team.server.tenant(tenant).id)
    here.data(key, STORE, t="the till jams", r="hunter2 opens it", s="shop")
    here.data(key, COUNT)
    until(lambda: team.sql("SELECT home FROM head WHERE tenant = $1", team.server.tenant(tenant).id) == [(None,)])
    assert folder.is_dir()  # it would be opened again by it
    name = there.data(key, GET, n="till-jams")["get"]["id"]
    forget = "mutation($n: String!) { hardForget(input: {nameOrId: $n, confirm: $n}) { result { id } } }"
    there.ask(key, forget, n=name)
    until(lambda: not folder.exists())
    there.stop()
    here.data(key, STORE, t="the lamp flickers", r="screw it in", s="shop")
    until(lambda: _open(here) == 0)
    team.server.delete(team.server.tenant(tenant).id)
    until(lambda: not folder.exists())


@pytest.mark.soak
def test_what_is_kept_of_a_tenant_is_not_taken_by_one_that_has_its_name_next(small: tuple[Team, Process]) -> None:
    """That one may come here with as many homes behind it as the old one had."""
    team, here = small
    there = team.start().announced()
    tenant = team.tenant()
    numbers = [team.server.tenant(tenant).id]
    key = team.key(tenant, Role.OWNER)
    here.data(key, STORE, t="the till jams", r="quastel", s="shop")
    until(lambda: here.code(key, COUNT) == "OK")
    until(lambda: team.sql("SELECT home FROM head WHERE tenant = $1", numbers[0]) == [(None,)])
    team.server.delete(numbers[0])
    numbers.append(team.server.tenant(team.tenant(tenant)).id)
    key = team.key(tenant, Role.OWNER)
    there.data(key, STORE, t="the lamp flickers", r="zinnober", s="shop")
    there.stop()
    until(lambda: here.code(key, COUNT) == "OK")
    assert here.data(key, COUNT)["cypher"]["rows"] == [[1]]
    places = [here.home / f"server-{here.url.rpartition(':')[2]}" / "tenants" / str(number) for number in numbers]
    held = [file.read_bytes() for file in places[1].rglob("*") if file.is_file()]
    assert any(b"zinnober" in one for one in held) and not any(b"quastel" in one for one in held)
    marks = [place.parent.with_name("marks") / place.name for place in places]
    until(lambda: not places[0].exists() and not marks[0].exists())
    assert marks[1].exists()


@pytest.mark.soak
def test_what_the_work_of_a_tenant_logs_names_it(
    small: tuple[Team, Process], capfd: pytest.CaptureFixture[str]
) -> None:
    team, _ = small
    here = team.start().announced()
    tenant = team.tenant()
    key = team.key(tenant)
    here.data(key, STORE, t="the till jams", r="off and on", s="shop")
    team.sql(
        "INSERT INTO work (tenant, id, kind, key, payload, state, not_before, created_at)"
        " VALUES ($1, 'w1', 'decay_edges', 'w1', '{}', 'queued', 0, 0)",
        team.server.tenant(tenant).id,
    )
    here.data(key, STORE, t="the lamp flickers", r="screw it in", s="shop")
    lines: list[str] = []

    def done() -> dict[str, object] | None:
        lines.extend(capfd.readouterr().err.splitlines())
        found = (json.loads(line) for line in lines if "background job" in line)
        return next((line for line in found if line["job"] == "w1"), None)

    assert (until(done) or {})["tenant"] == tenant
    here.stop()


@pytest.mark.soak
def test_the_graph_of_a_tenant_is_made_when_it_is_asked(small: tuple[Team, Process]) -> None:
    team, here = small
    key = team.key(team.tenant())

    def children() -> list[str]:
        found = []
        for task in Path(f"/proc/{here.child.pid}/task").iterdir():
            found += (task / "children").read_text().split()
        return found

    for number in range(3):
        here.data(key, STORE, t=f"thing {number}", r="so it is", s="shop")
    until(lambda: _open(here) == 0)
    here.data(key, RECALL, q="thing", s="shop")
    assert children() == []
    until(lambda: here.code(key, COUNT) == "OK")
    assert here.data(key, COUNT)["cypher"]["rows"] == [[3]]
    assert len(children()) == 1
