"""Both Python clients against a real server: answers are the records that the operations make, and events are told."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import python_client
from api_server import TOKEN, Served

from helix import AsyncClient, Client
from helix.client import typed
from helix.client.wire import camel
from helix.errors import HelixError, InvalidInputError, NotFoundError
from helix.model.memory import Kind, Memory
from helix.model.reports import Event, Job, JobState, StoreStatus
from helix.operations import OPERATIONS, capture, learning, memories, review, tasks, upkeep
from helix.service import Helix

ROOT = python_client.FOLDER.parent.parent
Say = Callable[..., Any]


class Blocking:
    """The asynchronous client, called like the other one: each method in a run of one event loop."""

    def __init__(self, client: AsyncClient, loop: asyncio.Runner) -> None:
        self._client, self._loop = client, loop

    def __getattr__(self, name: str) -> Say:
        async def called(*given: Any, **named: Any) -> Any:
            return await getattr(self._client, name)(*given, **named)

        return lambda *given, **named: self._loop.run(called(*given, **named))


@pytest.fixture(params=["blocking", "asyncio"])
def client(request: pytest.FixtureRequest, served: Served) -> Iterator[Any]:
    """Each client in turn."""
    if request.param == "blocking":
        with Client(served.origin, TOKEN) as blocking:
            yield blocking
        return
    with asyncio.Runner() as loop:
        asynchronous = Blocking(AsyncClient(served.origin, TOKEN), loop)
        yield asynchronous
        asynchronous.close()


def test_the_methods_in_the_repository_are_current() -> None:
    made = python_client.files()
    assert {name: (python_client.FOLDER / name).read_text("utf-8") for name in made} == made, "run scripts/schema"


def test_answers_are_the_records_that_the_operations_make(client: Any, helix: Helix) -> None:
    stored = client.store("when pip fails", "make a venv", Kind.PATTERN, files=["setup.py"], attributes={"a": [1]})
    assert stored.status is StoreStatus.ADDED
    client.store("when pip fails", "never make a venv", "pattern")
    client.store("which queue carries the mail", "a table of its own", "decision")
    client.record_episode("pip failed again in CI", session="monday", role="user")
    client.save_plan('{"tasks": [{"seq": "001", "slug": "a", "objective": "mend pip", "depends": "none"}]}')
    same: list[tuple[Any, Any]] = [
        (client.get(stored.name), memories.get(helix, stored.name)),
        (client.memories(first=1), memories.memories(helix, first=1)),
        (client.edges(), memories.edges(helix)),
        (client.episodes(), capture.episodes(helix)),
        (client.sessions(), capture.sessions(helix)),
        (client.contradictions(any_status=True), review.contradictions(helix, any_status=True)),
        (client.stats(), upkeep.stats(helix)),
        (client.health(), upkeep.health(helix)),
        (client.verify(), learning.verify(helix)),
        (client.config(), upkeep.config(helix)),
        (client.ready_tasks(), tasks.ready_tasks(helix)),
        (client.plan(), tasks.plan(helix)),
        (client.cascade_status(), tasks.cascade_status(helix)),
    ]
    assert [mine for mine, made in same if mine != made] == []
    assert client.memories(first=1).next_cursor
    found = client.recall("when pip fails", kinds=["pattern"], explain=True)
    assert isinstance(found.items[0].node, Memory)
    assert found.items[0].node == memories.get(helix, found.items[0].node.name)
    assert client.last(session="nobody") is None


def test_a_refusal_is_raised_as_its_class(client: Any) -> None:
    with pytest.raises(NotFoundError, match="nothing-of-this-name"):
        client.get("nothing-of-this-name")
    with pytest.raises(InvalidInputError):
        client.recall("q", limit=-1)


def test_a_store_with_the_same_key_counts_once(client: Any) -> None:
    said = ("when asked twice", "once", "fact")
    first, again = (client.store(*said, idempotency_key="k") for _ in range(2))
    assert first == again and client.stats().total == 1


def test_a_job_is_followed_to_its_end(served: Served, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# pip\n\nMake a venv before pip.\n", "utf-8")

    async def followed() -> list[Job]:
        async with AsyncClient(served.origin, TOKEN) as client:
            job = await client.ingest_notes([str(tmp_path)])
            return [one async for one in client.job_progress(job.id)]

    with Client(served.origin, TOKEN) as client:
        job = client.ingest_notes([str(tmp_path)], scope="elsewhere")
        for jobs in (list(client.job_progress(job.id)), asyncio.run(followed())):
            assert jobs[-1].state is JobState.DONE
        with pytest.raises(HelixError):
            list(client.job_progress("no-job"))


def test_events_are_told_while_requests_go_on(served: Served) -> None:
    async def first_event() -> tuple[Event, set[str]]:
        async with AsyncClient(served.origin, TOKEN) as client:

            async def listen() -> Event:
                return await anext(aiter(client.events(types=["memory.added"])))

            listening, stored = asyncio.create_task(listen()), set()
            while not listening.done():
                stored.add((await client.store(f"when {len(stored) * 7919} fails", "look", "fact")).id)
            return await listening, stored

    event, stored = asyncio.run(first_event())
    assert event.type == "memory.added" and event.id in stored

    with Client(served.origin, TOKEN) as client, ThreadPoolExecutor(1) as pool:
        listening = pool.submit(lambda: next(client.events(types=["memory.added"])))
        ids = set()
        while not listening.done():
            ids.add(client.store(f"where {len(ids) * 7919} fails", "look", "fact").id)
        assert listening.result().id in ids


def test_a_cancelled_request_leaves_nothing_for_the_next(served: Served) -> None:
    async def asked() -> list[str]:
        async with AsyncClient(served.origin, TOKEN) as client:
            late: Coroutine[Any, Any, Any] = client.doctor()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(late, 0.0001)
            return [(await client.health()).status for _ in range(2)]

    assert len(set(asyncio.run(asked()))) == 1


def test_every_answer_can_be_read_by_its_type() -> None:
    """A record with a type that the reader does not know would fail only when it is first answered."""
    for name in OPERATIONS.keys() - python_client.BY_HAND:
        hint = typed._hints(name)["return"]
        assert typed._typed_value(hint | None, None) is None
        with pytest.raises(HelixError):
            typed.answer(name, {camel(name) + "?": 0})


SAMPLE = """
from helix import AsyncClient, Client, connect, connect_async
from helix.client.domain import Event, Kind, Memory, RecallAnswer

def blocking(client: Client) -> list[str]:
    answer: RecallAnswer = client.recall("q", kinds=[Kind.FACT], limit=3)
    for event in client.events():
        told: Event = event
    return [item.node.trigger for item in answer.items if isinstance(item.node, Memory)]

async def awaited() -> str:
    async with await connect_async(store="s") as client:
        async for event in client.events():
            print(event.id)
        return (await client.store("t", "r", "fact")).name

reveal_type(connect().memories().items)
connect().recall(7)
"""


def test_the_programs_of_the_documentation_are_checked_and_run(served: Served, tmp_path: Path) -> None:
    """Each runs against this server, by a `connect` that knows its address."""
    programs = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text("utf-8"), flags=re.DOTALL)
    assert len(programs) == 2
    for index, program in enumerate(programs):
        (tmp_path / f"program{index}.py").write_text(program, "utf-8")
    line = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=", str(tmp_path)]
    run = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout

    async def connected() -> AsyncClient:
        return AsyncClient(served.origin, TOKEN)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("helix.connect", lambda: Client(served.origin, TOKEN), raising=False)
        patched.setattr("helix.connect_async", connected, raising=False)
        for program in programs:
            exec(compile(program, "docs/python.md", "exec"), {"__name__": "program"})
    assert served.ask("{ stats { total } }")["stats"]["total"] == 2


def test_programs_are_checked_against_the_types(tmp_path: Path) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text(SAMPLE, "utf-8")
    line = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=", str(sample)]
    run = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    told = [line.partition("sample.py:")[2] for line in run.stdout.splitlines() if "sample.py:" in line]
    revealed = '20: note: Revealed type is "tuple[helix.model.memory.Memory, ...]"'
    assert told == [revealed.replace("20:", f"{SAMPLE[: SAMPLE.index('reveal')].count(chr(10)) + 1}:"), told[-1]]
    assert 'Argument 1 to "recall" of "Operations" has incompatible type "int"' in told[-1]
