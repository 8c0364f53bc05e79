"""Holds that the passphrase of a strand is written nowhere: not to the log, the journal, nor any other file."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api_server import Served, serving

from helix import settings as configuration
from helix.cli.logs import start_daemon_log
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import DAEMON_LOG, LOGS
from tests.memory.working import copied
from tests.waiting import UNHURRIED, until

WORDS = "walnut ferry lantern"
"""No rule of redaction knows these words by themselves."""
TAKES = "(input: {path: $file, passphrase: $words})"
EXPORT, IMPORT, DIFF = (
    f"mutation($file: String!, $words: String) {{ {name}{TAKES} {{ result {{ {asked} }} }} }}"
    for name, asked in (("exportStrand", "id"), ("importStrand", "id"), ("diffStrands", "lines"))
)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A served store whose log takes every level, and redacts nothing."""
    before, level = list(logging.root.handlers), logging.root.level
    start_daemon_log(tmp_path / "home" / "store", "debug", lambda text: text)
    settings = configuration.load({"home": tmp_path / "home"}, environ=UNHURRIED, cwd=tmp_path)
    with Helix.open(settings, embedder=HashEmbedder()) as helix, serving(helix) as made:
        yield made
    for handler in logging.root.handlers:
        handler.close()
    logging.root.handlers[:] = before
    logging.root.setLevel(level)


def ended(served: Served, document: str, **variables: Any) -> dict[str, Any]:
    """Return the job that a mutation started, once it has ended."""
    (job,) = served.ask(document, **variables).values()
    query = f'{{ job(id: "{job["id"]}") {{ state errorCode error }} }}'
    until(lambda: served.ask(query)["job"]["state"] != "RUNNING")
    found: dict[str, Any] = served.ask(query)["job"]
    return found


def test_no_file_has_the_passphrase_whatever_becomes_of_the_request(served: Served, tmp_path: Path) -> None:
    file = str(tmp_path / "a.dna")
    served.ask('mutation { newKey(input: {name: "laptop"}) { result { name } } }')
    assert ended(served, EXPORT, file=file, words=WORDS)["state"] == "DONE"
    assert ended(served, EXPORT, file=file, words=WORDS)["errorCode"] == "CONFLICT"
    assert ended(served, IMPORT, file=file, words=WORDS)["state"] == "DONE"
    served.ask('mutation { store(input: {trigger: "later", resolution: "", kind: FACT}) { result { id } } }')
    later = str(tmp_path / "later.dna")
    assert ended(served, EXPORT, file=later, words=f"{WORDS}!")["state"] == "DONE"
    assert served.post(DIFF, {"file": later, "words": WORDS}).code == "UNAUTHORIZED"
    assert served.post(DIFF, {"file": str(tmp_path), "words": WORDS}).code == "INVALID_INPUT"
    for wrong in ([WORDS], {"words": WORDS}, 5):
        assert served.post(EXPORT, {"file": file, "words": wrong, WORDS: WORDS}).code == "INVALID_INPUT"
    literal = f'mutation {{ exportStrand(input: {{path: "{file}", passphrase: "{WORDS}", nothing: 1}}) {{ result }} }}'
    assert served.post(literal).code == "INVALID_INPUT"
    assert served.post(f'{{ passphrase("{WORDS}"').code == "INVALID_INPUT"
    log = tmp_path / "home" / "store" / LOGS / DAEMON_LOG
    assert "internal error" not in log.read_text("utf-8")
    with copied(tmp_path) as files:
        assert [one for one in files if WORDS.encode() in one.read_bytes()] == []
