"""The soak's judge sees what is wrong with a store, and a short soak finds nothing wrong with one."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from benchmarks.soak import WRITTEN_SECONDS, measure
from benchmarks.soak_api import Api
from benchmarks.soak_daemon import Home, Running, Zygote
from benchmarks.soak_journal import read
from benchmarks.soak_judge import JOURNAL, graph, judge, settled
from benchmarks.soak_ledger import Ledger, Memory, Verdict
from benchmarks.soak_load import Retries

SEED = 3997
"""By it the first kill falls into an erasure, and the first damage on a page of the journal's log after a kill."""
ONE, MANY = 1, 24
"""How many kills, and how many damaged files: in an ordinary run, and in a soak."""


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    made = Zygote()
    yield made
    made.close()


@pytest.fixture
def home(tmp_path: Path, zygote: Zygote) -> Iterator[Home]:
    made = Home(tmp_path / "home", zygote)
    yield made
    made.kill()


def stored(running: Running, ledger: Ledger) -> Memory:
    """Store a memory of which the ledger knows."""
    api, token = Api(running), ledger.token()
    text = f"{token} the lexer reads byte by byte"
    answer = api.call("store", trigger=text, resolution="use a table", kind="FACT")
    made = ledger.memory(answer, token, text)
    api.close()
    assert made is not None
    return made


def judged(home: Home, running: Running, ledger: Ledger) -> Verdict:
    return judge(home, running, ledger, Retries(), random.Random(SEED))


@pytest.mark.soak
def test_the_judge_finds_nothing_wrong_after_a_kill_and_sees_what_was_promised_and_is_not_there(home: Home) -> None:
    ledger, running = Ledger(), home.start()
    kept = stored(running, ledger)
    home.kill()
    running = home.start()
    verdict = judged(home, running, ledger)
    assert verdict.clean and not verdict.alarms, verdict.short()

    ledger.facts.memories["no-such-id"] = Memory("no-such-id", "soak999q", "never stored")
    kept.helped = 2.0
    ledger.facts.erased.add(kept.token)
    lost = "\n".join(judged(home, running, ledger).lost)
    assert "no-such-id" in lost
    assert f"the erasure of {kept.token}" in lost, "it stands in the journal still"
    ledger.facts.erased.clear()
    lost = "\n".join(judged(home, running, ledger).lost)
    assert f"feedback of {kept.id}: 0.0 of 2.0" in lost


@pytest.mark.soak
def test_the_judge_sees_a_text_that_came_in_twice_a_tampered_state_and_what_the_graph_lacks(home: Home) -> None:
    ledger, running = Ledger(), home.start()
    kept = stored(running, ledger)
    api = Api(running)
    for source in ("one", "two"):
        api.call("recordEpisode", content=f"{kept.token} was told by {source}", source=source, role="user")
    settled(api)
    api.close()
    assert kept.token in "\n".join(judged(home, running, ledger).doubled)
    tampered = home.folder / "tampered.db"
    with closing(sqlite3.connect(home.store / JOURNAL)) as source, closing(sqlite3.connect(tampered)) as copy:
        source.backup(copy)
        copy.execute("UPDATE node SET props = replace(props, 'byte by byte', 'at once') WHERE label = 'Memory'")
        copy.execute("DELETE FROM edge")
        copy.commit()
    differs = "\n".join(read(tampered).faults)
    assert "nodes: ('Memory'" in differs
    assert "edges: ('GROUNDED_IN'" in differs
    picture, api = read(home.store / JOURNAL), Api(running)
    picture.state.nodes["Memory", "not-in-the-graph"] = {"status": "active"}
    assert "lacks 1, too many 0: ('Memory', 'not-in-the-graph')" in "\n".join(graph(api, picture))
    api.close()


def test_a_short_soak_finds_nothing_lost_doubled_or_wrongly_called_healthy(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """Of one kill and one damaged file, of a store that was written to for a moment, in an ordinary run."""
    soaked = pytestconfig.getoption("--soak")
    each, seconds = (MANY, WRITTEN_SECONDS) if soaked else (ONE, 0.3)
    tally = measure(SEED, each, each, tmp_path / "evidence", large=False, seconds=seconds)
    assert not tally.bad, tally.table()
    assert sum(row["rounds"] for row in tally.rows.values()) == 2 * each
    assert tally.acknowledged > each, "the writers wrote between the kills"
