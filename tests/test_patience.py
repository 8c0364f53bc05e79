"""Waiting for a file or a socket works whichever number the system has given it."""

from __future__ import annotations

import fcntl
import os
import resource
import selectors
from collections.abc import Iterator

import pytest

from helix.patience import is_ready

NUMBER = 1_500
"""One that `select` refuses."""


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """Both ends of a pipe, of which the one to read from has a high number."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], NUMBER + 100), limits[1]))
    except ValueError:
        pytest.skip("no process may open so many files here")
    low, end = os.pipe()
    high = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, NUMBER)
    os.close(low)
    yield high, end
    os.close(high)
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_what_comes_and_what_ends_is_ready_and_nothing_else(pipe: tuple[int, int]) -> None:
    high, end = pipe
    assert high >= NUMBER
    with os.fdopen(high, "rb", closefd=False) as file:
        assert not is_ready(file, selectors.EVENT_READ, 0)
        os.write(end, b"x")
        assert is_ready(file, selectors.EVENT_READ, -1)
        os.read(high, 1)
        os.close(end)
        assert is_ready(file, selectors.EVENT_READ, 60)
