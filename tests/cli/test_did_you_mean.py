"""What is mistyped is met with what was meant; the beginning of a name or an id stands for it where it is one."""

from __future__ import annotations

import pytest
from command_line import Command


@pytest.fixture(autouse=True)
def lanterns(helix_command: Command) -> None:
    """Two memories whose names begin alike."""
    for word in ("oil", "wick"):
        assert helix_command("store", f"The lantern needs {word}.", "--name", f"lantern-{word}-needed").code == 0


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (("rcall", "x"), "recall"),
        (("sesion", "list"), "session"),
        (("list", "--knd", "fact"), "--kind"),
        (("list", "--kind", "failur"), "did you mean failure?"),
        (("record", "x", "--role", "assistent"), "did you mean assistant?"),
        (("task", "outcome", "7", "deliverd"), "did you mean delivered?"),
        (("recall", "x", "--recipe", "lerning"), "did you mean learning?"),
        (("get", "lantern-wikc-needed"), "did you mean lantern-wick-needed"),
        (("cypher", "MATCH (n) RETURN cuont(n)"), "did you mean count"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_it_is_asked_what_was_meant(helix_command: Command, line: tuple[str, ...], meant: str) -> None:
    result = helix_command(*line)
    assert result.code != 0
    assert meant in result.err


def test_nothing_is_asked_where_nothing_is_alike(helix_command: Command) -> None:
    assert "mean" not in helix_command("get", "zzzzzz").err


def test_the_beginning_of_a_name_or_id_is_enough(helix_command: Command) -> None:
    found = helix_command("get", "lantern-w", "--json").data["get"]
    assert found["name"] == "lantern-wick-needed"
    assert helix_command("get", found["id"][:-2], "--json").data["get"]["id"] == found["id"]


def test_why_takes_what_begins_one_name_of_the_last_answer(helix_command: Command) -> None:
    assert helix_command("recall", "what does the lantern need").code == 0
    assert helix_command("why", "lantern-w", "--json").data["why"]["node"]["name"] == "lantern-wick-needed"
    assert "did you mean lantern-wick-needed" in helix_command("why", "lantern-wikc-needed").err
    assert "`helix last` shows what was" in helix_command("why", "lantern").err


def test_the_beginning_of_several_is_refused_with_their_names(helix_command: Command) -> None:
    error = helix_command("get", "lantern", "--json").error
    assert error["code"] == "CONFLICT"
    assert "lantern-oil-needed, lantern-wick-needed" in error["hint"]


def test_a_name_is_short_and_ends_with_a_whole_word(helix_command: Command) -> None:
    told = "Uploading screenshots through the transparent accelerator occasionally duplicates attachments."
    name = helix_command("store", told, "--json").data["store"]["name"]
    assert name == "uploading-screenshots-through"
