"""Holds that an action reads few memories, however many name its command or file, and still finds those that fit."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from helix import settings as configuration
from helix.agents.context import exact_lookup
from helix.agents.context.exact_lookup import look_up
from helix.command_outcome.command_run import CommandRun
from helix.memory.remember.request import StoreRequest
from helix.model.action import Action
from helix.model.memory import Kind
from helix.model.provenance import Trust
from helix.operations import ingest, memories
from helix.service import Helix
from helix.store.index import StoreIndex
from tests.counting import calls_of
from tests.waiting import UNHURRIED, finished

SCOPE = "shop"
MANY = 120
MOST = 20


@pytest.fixture
def helix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Helix]:
    monkeypatch.setattr(exact_lookup, "_MOST_READ", MOST)
    settings = configuration.load(
        {"home": tmp_path / "home", "embedding_model": "none"}, environ=UNHURRIED, cwd=tmp_path
    )
    with Helix.open(settings) as opened:
        yield opened


def stream() -> bytes:
    """Return a history for `git fast-import` of MANY commits that all mend one file, each of them in other code."""
    commits = []
    for number in range(MANY):
        said = (
            f"Fix a leak of read_part_{number}\n\nThe buffer was never freed, because its owner was unclear.".encode()
        )
        when = f"committer Ada <ada@example.org> {1_700_000_000 + 60 * number} +0000".encode()
        changed = b"M 100644 inline parts.c\ndata %d\n%b\n" % (len(said), said)
        commits.append(b"commit refs/heads/main\n%b\ndata %d\n%b\n%b" % (when, len(said), said, changed))
    return b"".join(commits)


def read_at(helix: Helix, action: Action) -> tuple[int, list[str]]:
    found: list[str] = []

    def work() -> None:
        found.extend(site.memory.trigger for site in look_up(helix.store, action, SCOPE))

    return calls_of(StoreIndex.memory, work), found  # type: ignore[arg-type]


def test_an_edit_reads_few_commits_of_a_file_and_the_one_whose_code_it_touches(helix: Helix, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(repository)], check=True)
    subprocess.run(["git", "-C", str(repository), "fast-import", "--quiet"], input=stream(), check=True)
    finished(helix, ingest.ingest_git(helix, str(repository), scope=SCOPE))
    read, found = read_at(helix, Action(files=("parts.c",), folder="/", passage="int x;"))
    assert (read, found) == (MOST, [])
    read, found = read_at(helix, Action(files=("parts.c",), folder="/", passage="read_part_3(list);"))
    assert read <= MOST
    assert found == ["a leak of read_part_3"]


def test_failures_without_an_end_keep_no_command_waiting_and_nothing_of_another_trust_unread(helix: Helix) -> None:
    own = StoreRequest(
        trigger="`make deploy` needs the tunnel",
        resolution="open the tunnel first",
        kind=Kind.FAILURE.value,
        scope=SCOPE,
        trust=Trust.AGENT_INFERRED,
        importance=2.0,
    )
    memories.store(helix, own)
    for number in range(MANY):
        other = replace(own, trigger=f"`make deploy`: part {number} of it broke", resolution="", importance=9.0)
        memories.store(helix, replace(other, trust=Trust.TOOL_OUTPUT))
    read, found = read_at(helix, CommandRun(command="make deploy", folder="/"))
    assert read <= MOST + 1
    assert found == [own.trigger]
