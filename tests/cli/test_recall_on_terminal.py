"""Recall on a terminal: the few that matter, in two lines each; why they are there when somebody asks."""

from __future__ import annotations

import re

import pytest
from command_line import Command, run_on_terminal
from rich.cells import cell_len

from tests.sampling import some

SCOPE = ("--scope", "beehives")


@pytest.fixture(autouse=True)
def hives(helix_command: Command) -> None:
    """Seven memories that a question fits, and one that says more than a line holds."""
    for word in ("north", "south", "east", "west", "roof", "cellar", "garden"):
        trigger = f"the {word} hive swarms when the queen is old and nobody has looked after the frames in the spring"
        told = (
            "--trigger",
            trigger,
            "--resolution",
            f"Put frames into the {word} hive.",
            "--name",
            f"{word}-hive",
        )
        assert helix_command("store", *told, "--kind", "failure", *SCOPE).code == 0


def test_each_of_the_few_is_two_lines_that_fit(helix_command: Command) -> None:
    lines = run_on_terminal(80, "recall", "why does a hive swarm?", *SCOPE).out.splitlines()
    assert max(map(cell_len, lines)) <= 80
    assert len(lines) == 2 * 5
    for number, (said, called) in enumerate(zip(lines[::2], lines[1::2], strict=True), 1):
        assert re.match(rf"{number}\. the \w+ hive swarms .*… → Put frames into the \w+ hive\.$", said)
        assert re.match(r"   \w+-hive  \[you\] failure \d{4}-\d\d-\d\d$", called)


def test_reasons_are_shown_on_demand(helix_command: Command) -> None:
    few = run_on_terminal(80, "recall", "why does a hive swarm?", *SCOPE)
    assert "because" not in few.out
    assert "5 of 7; `helix last -v` shows all, and why each is there" in few.err
    for told in (("last", "-v"), ("recall", "why does a hive swarm?", *SCOPE, "--why")):
        every = run_on_terminal(200, *told).out
        assert every.count(" because ") == 7
        assert every.count("score is: ") == 7


def test_somebody_who_says_how_many_gets_so_many(helix_command: Command) -> None:
    assert len(run_on_terminal(80, "recall", "why does a hive swarm?", *SCOPE, "-n", "7").out.splitlines()) == 14


def test_a_pipe_and_json_hold_the_whole_answer(helix_command: Command) -> None:
    piped = helix_command("recall", "why does a hive swarm?", *SCOPE)
    assert piped.out.count(" because ") == 7
    items = helix_command("recall", "why does a hive swarm?", *SCOPE, "--json").data["recall"]["items"]
    assert len(items) == 7


def test_what_is_found_elsewhere_says_where(helix_command: Command) -> None:
    out = run_on_terminal(80, "recall", "why does a hive swarm?", "--scope", "all").out
    assert "-hive  [you] failure" in out
    helix_command("store", "A hive that swarms is caught in a box.", "--name", "swarm-box", "--scope", "global")
    called = run_on_terminal(80, "recall", "swarms caught box", *SCOPE).out.splitlines()[1]
    assert called.startswith("   swarm-box  ")
    assert called.endswith(" global")
    helix_command("forget", "swarm-box")  # the store is shared


@pytest.mark.parametrize("form", some(["jsonl", "graphml"], 1))
def test_an_export_to_a_terminal_holds_nothing_that_it_would_obey(helix_command: Command, form: str) -> None:
    helix_command("store", "the hive is \u009b31m red and \u202e turned", *SCOPE)
    shown = run_on_terminal(200, "export", form).out
    assert "the hive is" in shown
    assert not {"\u009b", "\u202e"} & set(shown)
