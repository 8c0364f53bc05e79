"""Hostile vectors: what a strand says that a text means counts where it is a vector, and else is found out here."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest
from format_vectors import NUMBERS, SPACE
from test_hostile_strands import FIRST, brought, found, memory, said
from test_strand_format import believing

from helix.model.edge import Ref
from helix.model.provenance import Trust
from helix.model.reports import JobState
from helix.service import Helix
from tests.strands.conftest import Machines

TEXT = "a lamp in the hall flickers"


def bring(helix: Helix, folder: Path, numbers: Sequence[float]) -> bytes:
    """Return the vector that a text has here which a strand brings with this one."""
    told = base64.b64encode(struct.pack("<256f", *numbers)).decode()
    lines = [memory(FIRST, TEXT), {"id": FIRST, "label": "Memory", "t": "vec", "v": [told]}]
    assert brought(helix, folder, lines, embedding=SPACE).state is JobState.DONE
    (kept,) = helix.store.index.vectors_of(Ref.memory(FIRST))
    return kept


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), 3e38, 100.0, 1.01, 0.0], ids=str)
def test_a_vector_of_another_length_is_made_anew(machines: Machines, tmp_path: Path, number: float) -> None:
    helix = believing(machines(), Trust.USER_ASSERTED)
    mine = said(helix, "the proxy listens on port 8080")
    assert bring(helix, tmp_path, [number, *[0.0] * 255]) == helix.store.embed([TEXT])[0]
    assert found(helix, "which port does the proxy listen on?")[0] == mine


def test_a_vector_of_length_1_is_taken_as_it_is(machines: Machines, tmp_path: Path) -> None:
    helix = believing(machines(), Trust.USER_ASSERTED)
    assert bring(helix, tmp_path, NUMBERS) == struct.pack("<256f", *NUMBERS)
