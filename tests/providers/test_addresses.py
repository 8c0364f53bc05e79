"""Addresses of language models: nothing is sent to another machine before the user has said yes to it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from helix.errors import ConfigError, InvalidInputError
from helix.journal.database import Database
from helix.journal.kept_results import Answers
from helix.providers.addresses import confirm_address, is_here, may_be_asked, origin_of
from helix.providers.choose import providers_of, router_for
from helix.settings import load

ELSEWHERE = "http://gpu.example:11434"


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:11434", "http://localhost:1/v1", "https://[::1]:8080", "http://127.8.9.1"]
)
def test_an_address_of_this_machine_needs_no_yes(tmp_path: Path, url: str) -> None:
    assert is_here(url)
    assert may_be_asked(url, tmp_path)


@pytest.mark.parametrize(
    "url",
    [ELSEWHERE, "http://localhost.example", "http://10.0.0.2", "http://0.0.0.0:1", "http://127.1:1", "http://[::]:1"],
)
def test_any_other_address_waits_for_one(tmp_path: Path, url: str) -> None:
    assert not may_be_asked(url, tmp_path)
    confirm_address(f"{url}/v1", tmp_path)
    assert may_be_asked(url, tmp_path)
    assert not may_be_asked(url.replace("http", "https"), tmp_path)


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1@evil.example", "http://127.0.0.1:1@evil.example", "http://evil.example\\@127.0.0.1"),
        *("ftp://127.0.0.1", "127.0.0.1:11434", "http://", "http://local host", "http://127.0.0.1:x", "http://[::1"),
    ],
)
def test_an_address_that_could_be_read_in_two_ways_is_none(tmp_path: Path, url: str) -> None:
    with pytest.raises(InvalidInputError):
        origin_of(url)
    assert not may_be_asked(url, tmp_path)
    with pytest.raises(ConfigError, match="setting 'ollama_url' from environment"):
        providers_of(load({"home": tmp_path}, environ={"HELIX_OLLAMA_URL": url}, cwd=tmp_path))


@pytest.mark.parametrize(
    ("model", "place"),
    [
        ("gemini/gemini-2.5-flash", "https://generativelanguage.googleapis.com:443"),
        ("openai/gpt-4o-mini", "https://api.openai.com:443"),
        ("novita/some-model", "novita"),
    ],
)
def test_a_hosted_provider_waits_for_a_yes_though_its_key_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, place: str
) -> None:
    """The key may stand in the environment for another program."""
    company = model.partition("/")[0]
    monkeypatch.setenv(f"{company.upper()}_API_KEY", "k" * 20)
    settings = load({"home": tmp_path}, environ={"HELIX_MODELS": model, "HELIX_FREE_MODELS": "*"}, cwd=tmp_path)
    database = Database(tmp_path / "journal.db")
    router = router_for(settings, Answers(database), clock=lambda: datetime(2026, 5, 1, tzinfo=UTC))
    assert not router.available
    (state,) = router.usage().providers
    assert state.state == f"not confirmed: texts would go to {place}; `helix models confirm {place}` allows it"
    confirm_address(company, tmp_path)
    assert router.available
    (state,) = router.usage().providers
    assert (state.state, state.place) == ("ready", place)
    router.close()
    database.close()


@pytest.mark.parametrize("name", ["HELIX_OLLAMA_URL", "HELIX_OPENAI_URL"])
def test_background_work_goes_without_a_model_until_then_and_status_says_so(tmp_path: Path, name: str) -> None:
    settings = load({"home": tmp_path}, environ={name: ELSEWHERE}, cwd=tmp_path)
    database = Database(tmp_path / "journal.db")
    router = router_for(settings, Answers(database), clock=lambda: datetime(2026, 5, 1, tzinfo=UTC))
    waiting = [one.state for one in router.usage().providers if one.state.startswith("not confirmed")]
    words = f"texts would go to {ELSEWHERE}; `helix models confirm {ELSEWHERE}` allows it"
    assert waiting == [f"not confirmed: {words}"]
    assert not router.available
    if name == "HELIX_OLLAMA_URL":
        assert router.usage().standing.startswith("an address waits to be confirmed, all is done by rules")
        confirm_address(ELSEWHERE, tmp_path)
        assert router.available
    router.close()
    database.close()
