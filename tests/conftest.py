"""Fixtures shared by all tests: real stores in temporary folders, with the shipped hash embedder or the real model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from helix import settings as configuration
from helix.providers import install
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings

ROOT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="run the long tests too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--soak"):
        long = pytest.mark.skip(reason="a long run: pass --soak")
        for item in items:
            if "soak" in item.keywords:
                item.add_marker(long)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of an empty home in a temporary folder, untouched by this machine's environment."""
    return configuration.load({"home": tmp_path / "home"}, environ={}, cwd=tmp_path)


@pytest.fixture
def helix(settings: Settings) -> Iterator[Helix]:
    """An open service with the deterministic hash embedder."""
    with Helix.open(settings, embedder=HashEmbedder()) as service:
        yield service


@pytest.fixture(scope="session")
def models_path() -> Path:
    """The folder with the real default model, installed once and shared by all runs of a checkout."""
    path = Path(os.environ.get("HELIX_TEST_MODELS", ROOT / "build" / "models"))
    install.install("bge-small-en-v1.5-int8", path)
    return path


@pytest.fixture(scope="session")
def evaluation_data() -> Path:
    """The folder of public evaluation data; tests that need it are skipped where it is not."""
    path = Path(os.environ.get("HELIX_EVAL_DATA", ROOT.parent / "shared" / "data"))
    if not path.is_dir():
        pytest.skip(f"no evaluation data at {path}: set HELIX_EVAL_DATA")
    return path
