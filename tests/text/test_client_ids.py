"""Client ids: random ones are kept as they are, and what says a password is not."""

from __future__ import annotations

import pytest

from helix.text.client_ids import told_id


@pytest.mark.parametrize(
    "name",
    ["toolu_01A09q90qw90q9q90Qw", "0b8f5a2e-7b1c-4d5e-9f2a-1a2b3c4d5e6f", "Zm9vYmFyYmF6cXV4Zm9v==", "call:7/2@main"],
)
def test_an_id_is_kept(name: str) -> None:
    assert told_id(name) == name


@pytest.mark.parametrize("name", ["DB_PASSWORD=Kr4kenBay22", "postgres://ann:Kr4kenBay22@db", "key is Kr4ken \ud800"])
def test_a_digest_stands_for_an_id_that_says_a_secret_or_is_no_text(name: str) -> None:
    assert "Kr4ken" not in told_id(name)
    assert told_id(name).startswith("~")
