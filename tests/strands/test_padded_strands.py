"""Padded strands: a small file unpacks to lines that say very much; none is read that no Helix writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from independent import write
from test_hostile_strands import FIRST, brought, memory
from test_strand_format import SEED, WORDS, believing

from helix.errors import ConflictError, InvalidInputError
from helix.model.provenance import Trust
from helix.model.reports import JobState
from helix.operations.strand_keys import keyring_of
from helix.strands import container
from helix.strands.arriving import Strand
from helix.strands.reading import StrandReading
from helix.strands.rows import schema_number
from tests.strands.conftest import Machines

ROW = memory(FIRST, "the cache is cold at night")
MUCH = "[" + ",".join(["[]"] * 1_000_000) + "]"


class Stopped:
    """Somebody asked the work to stop."""

    cancelled = True

    def progress(self, done: int, total: int, message: str = "") -> None:
        """Take no notice."""


@pytest.mark.parametrize(
    "padded",
    [
        pytest.param(lambda: [{**ROW, "more": json.loads(MUCH)}], marks=pytest.mark.soak),
        pytest.param(
            lambda: [ROW, {"id": FIRST, "label": "Memory", "t": "vec", "v": json.loads(MUCH)}], marks=pytest.mark.soak
        ),
        lambda: [{**ROW, "props": {**ROW["props"], "attributes": f'{{"a":{MUCH}}}'}}],
    ],
    ids=["a row of an older schema", "vectors", "attributes"],
)
def test_a_line_that_says_very_many_values_is_refused(
    machines: Machines, tmp_path: Path, padded: Callable[[], list[dict[str, Any]]]
) -> None:
    helix = believing(machines(), Trust.USER_ASSERTED)
    job = brought(helix, tmp_path, padded(), schema=schema_number() - 1)
    assert (job.state, job.error_code) == (JobState.FAILED, InvalidInputError.code)
    assert "says more than" in job.error


@pytest.mark.parametrize(
    "padded",
    [{**ROW, "more": 1}, {"id": FIRST, "label": "Memory", "t": "vec", "v": [None], "more": 1}],
    ids=["a row", "vectors"],
)
def test_a_line_has_nothing_beside_what_the_format_says(
    machines: Machines, tmp_path: Path, padded: dict[str, Any]
) -> None:
    helix = believing(machines())
    lines = [padded] if padded["t"] == "node" else [ROW, padded]
    job = brought(helix, tmp_path, lines, schema=schema_number() - 1)
    assert (job.state, job.error_code) == (JobState.FAILED, InvalidInputError.code)


def test_a_change_of_the_log_is_passed_over_unread() -> None:
    assert list(StrandReading(schema=schema_number()).entries([b'{"change":[[[['])) == []


def test_a_manifest_that_says_very_many_values_is_none(tmp_path: Path) -> None:
    file = tmp_path / "padded.dna"
    file.write_bytes(write([ROW], SEED, WORDS, more=[0] * 1_000_001))
    with pytest.raises(InvalidInputError, match="is not a strand"):
        container.inspect(file)


def test_a_strand_is_read_no_further_once_that_is_to_stop(machines: Machines, tmp_path: Path) -> None:
    helix, file = believing(machines()), tmp_path / "long.dna"
    file.write_bytes(write([ROW, *[{"change": {}, "seq": 1, "t": "change"}] * 100], SEED, WORDS))
    keyring = keyring_of(helix)
    strand = Strand.by(keyring, file, container.inspect(file), keyring.opener(WORDS))
    with pytest.raises(ConflictError, match="was stopped"):
        list(strand.entries(helix.store.journal, Stopped())[1])
