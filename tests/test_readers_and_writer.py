"""Four readers and one writer over HTTP: no error, no lost write; with --soak for the full minute."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.concurrent import measure

from helix.files import read_text
from helix.settings import DAEMON_LOG, LOGS


@pytest.mark.parametrize("seconds", [1.0, pytest.param(60.0, marks=pytest.mark.soak)])
def test_readers_beside_a_writer_see_no_error_and_no_write_is_lost(
    tmp_path: Path, models_path: Path, seconds: float
) -> None:
    (tmp_path / "models").symlink_to(models_path)
    result = measure(tmp_path, seconds=seconds, memories=20, model=None)
    assert result["error_count"] == 0, (result["errors"], read_text(tmp_path / "store" / LOGS / DAEMON_LOG))
    assert result["acknowledged"] > 0
    assert result["lost"] == []
    assert result["busy"]["reads"] > 0
    assert result["healthy"]
