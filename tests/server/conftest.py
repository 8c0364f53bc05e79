"""What the tests of the server share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.team import Team, gathered


@pytest.fixture(scope="session")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    """Two processes, which every test shares; each makes tenants of its own and ends neither."""
    with gathered(tmp_path_factory.mktemp("team")) as made:
        for process in [made.start(HELIX_METRICS_TOKEN="counted"), made.start()]:
            process.announced()
        yield made
