"""The second process answers what this one would, and an import goes on without it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helix.ingest.jsonl import read_lines
from helix.ingest.preparing import Cleaned, clean
from helix.ingest.preprocess_process import Beside
from helix.model.reports import IngestProblem

LINES = (
    '{"trigger": "keys of the build", "resolution": "ghp_9fK2mQ7xW4bT8vN1cR5yL3pD6hJ0sA2gZxWq", "files": ["ci"]}',
    '{"content": "who said what", "speaker": "Ada", "session": "s"}',
    '{"content": "x", "agent": "' + "y " * 200 + '"}',
)


@pytest.fixture
def beside() -> Iterator[Beside]:
    process = Beside(65_536)
    yield process
    process.close()


def test_it_cleans_as_this_process_does(beside: Beside) -> None:
    slices = [item for item in read_lines(LINES) if not isinstance(item, IngestProblem)]
    there, here = beside.clean(slices), clean(slices, 65_536)
    assert there == here
    assert isinstance(there[0], Cleaned)
    assert there[0].redacted
    assert there[0].readings
    assert beside.clean(slices[:1]) == here[:1]


def test_without_it_this_process_cleans(beside: Beside) -> None:
    slices = [item for item in read_lines(LINES) if not isinstance(item, IngestProblem)]
    beside._process.kill()  # type: ignore[union-attr]
    beside._process.wait()  # type: ignore[union-attr]
    assert beside.clean(slices) == clean(slices, 65_536)
    beside.close()
    assert beside.clean(slices) == clean(slices, 65_536)
