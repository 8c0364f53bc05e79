"""Holds what the keys promise: private ones stay with their owner, and nobody is believed but by a person's word."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from helix.errors import ConflictError, HelixError, InvalidInputError, NotFoundError, UnauthorizedError
from helix.model.provenance import Trust
from helix.strands.keyring import Keyring
from helix.text.secrets.redact import redact

NOW = datetime(2026, 11, 26, tzinfo=UTC)
THEIRS = SigningKey(b"t" * 32)
PUBLIC = f"helix-key1:{bytes(THEIRS.verify_key).hex()}"
SIGNER = bytes(THEIRS.verify_key).hex()


@pytest.fixture
def ring(tmp_path: Path) -> Keyring:
    return Keyring(tmp_path / "home", now=NOW)


def known(ring: Keyring) -> list[tuple[str, bool, Trust, bool]]:
    return [(key.name, key.own, key.trust, key.revoked_at is not None) for key in ring.keys()]  # noqa: SIM118


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "home" / "keys"


def test_a_key_is_for_its_owner_alone_and_is_shown_by_its_public_part(ring: Keyring, folder: Path) -> None:
    umask = os.umask(0)
    try:
        made = ring.new("laptop")
        ring.add("desktop", PUBLIC)
    finally:
        os.umask(umask)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    private = json.loads((folder / "laptop.key").read_text())["private"].removeprefix("helix-private-key1:")
    assert made.public == f"helix-key1:{bytes(SigningKey(bytes.fromhex(private)).verify_key).hex()}"
    assert private not in repr(ring.keys())
    assert known(ring) == [("laptop", True, Trust.USER_ASSERTED, False), ("desktop", False, Trust.WEB, False)]


def test_a_private_key_is_redacted_wherever_its_file_is_shown(ring: Keyring, folder: Path) -> None:
    ring.new("laptop")
    text = (folder / "laptop.key").read_text()
    digits = json.loads(text)["private"][-64:]
    for shown in (text, f"$ cat laptop.key\n{text}", f"helix-private-key1:{digits}", json.dumps([text])):
        assert digits[:20] not in redact(shown).text


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../up", "a/b", "/etc/passwd", "a\\b", ".hidden", "-x", "A", "a b", "a\n", "a\0", "ä", "x" * 65],
)
def test_a_name_leads_nowhere_else(ring: Keyring, tmp_path: Path, name: str) -> None:
    for ask in (lambda: ring.new(name), lambda: ring.add(name, PUBLIC)):
        with pytest.raises(InvalidInputError, match="not a name for a key"):
            ask()
    for told in (lambda: ring.revoke(name), lambda: ring.believe(name, Trust.WEB)):
        with pytest.raises(NotFoundError):
            told()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "public",
    [
        "",
        PUBLIC.removeprefix("helix-key1:"),
        PUBLIC.replace("key1", "key2"),
        PUBLIC[:-1],
        PUBLIC + "0",
        PUBLIC.upper(),
        f"helix-key1:{'00' * 32}",  # points of which whoever likes can sign
        f"helix-key1:01{'00' * 31}",
        f"helix-key1:{'ff' * 32}",
        f"helix-key1:{'zz' * 32}",
        f"helix-private-key1:{'00' * 32}",
    ],
)
def test_what_is_no_public_key_is_not_known(ring: Keyring, tmp_path: Path, public: str) -> None:
    with pytest.raises(InvalidInputError):
        ring.add("theirs", public)
    assert list(tmp_path.iterdir()) == []


def test_only_who_is_known_and_not_revoked_is_believed(ring: Keyring) -> None:
    with pytest.raises(UnauthorizedError, match="not known here") as refused:
        ring.signer(SIGNER)
    assert PUBLIC in str(refused.value)
    assert "helix keys import" in str(refused.value)
    ring.add("theirs", f" {PUBLIC}\n")
    assert ring.signer(SIGNER).trust is Trust.WEB
    ring.believe("theirs", Trust.AGENT_INFERRED)
    assert ring.signer(SIGNER).trust is Trust.AGENT_INFERRED
    ring.revoke("theirs")
    ring.believe("theirs", Trust.USER_ASSERTED)
    with pytest.raises(UnauthorizedError, match="revoked on 2026-11-26"):
        ring.signer(SIGNER)
    for again in ("theirs", "others"):
        with pytest.raises(ConflictError):
            ring.add(again, PUBLIC)
    with pytest.raises(NotFoundError):
        ring.sealing(ring.new("laptop").name, "secret", ["theirs"])


def test_an_own_key_that_is_revoked_is_gone_and_its_name_stays_taken(ring: Keyring, folder: Path) -> None:
    public = ring.new("laptop").public
    with pytest.raises(ConflictError, match="your own key"):
        ring.believe("laptop", Trust.WEB)
    ring.revoke("laptop")
    assert [file.name for file in folder.iterdir()] == ["trusted.json"]
    with pytest.raises(UnauthorizedError, match="revoked"):
        ring.signer(public.removeprefix("helix-key1:"))
    with pytest.raises(ConflictError):
        ring.new("laptop")
    with pytest.raises(ConflictError, match="no key to sign with"):
        ring.sealing(None, "secret", [])


def test_the_only_key_signs_and_of_several_one_is_named(ring: Keyring) -> None:
    ring.new("laptop")
    assert ring.sealing(None, "secret", []).name == "laptop"
    ring.new("desktop")
    with pytest.raises(ConflictError, match=r"2 keys.*desktop, laptop"):
        ring.sealing(None, "secret", [])
    assert ring.sealing("desktop", None, ["laptop", "desktop"]).name == "desktop"
    for name in ("none", "../laptop"):
        with pytest.raises(NotFoundError):
            ring.sealing(name, "secret", [])


def link(file: Path) -> None:
    target = file.with_name("target")
    target.write_text(json.dumps({"private": "helix-private-key1:" + "00" * 32}))
    file.symlink_to(target)


HOSTILE: list[Callable[[Path], object]] = [
    link,
    os.mkfifo,
    Path.mkdir,
    *(
        lambda file, text=text: file.write_bytes(text)
        for text in (
            b"",
            b"[]",
            b"5",
            b"{}",
            b"[" * 100_000,
            b"\xff\xfe",
            b'{"private": null}',
            b'{"private": "helix-private-key1:00"}',
            b'{"private": "helix-private-key1:' + b"00" * 33 + b'"}',
            b'{"theirs": {}}',
            b'{"theirs": {"key": "helix-key1:00", "trust": "web", "since": null, "revoked_at": null}}',
            b'{"theirs": {"key": "' + PUBLIC.encode() + b'", "trust": "god", "since": null, "revoked_at": null}}',
            b'{"theirs": {"key": "' + PUBLIC.encode() + b'", "trust": "web", "since": 5, "revoked_at": null}}',
            b'{"theirs": 5}',
            b" " * (2 << 20),
        )
    ),
]


@pytest.mark.parametrize("name", ["laptop.key", "trusted.json"])
@pytest.mark.parametrize("make", HOSTILE)
def test_a_file_that_is_no_key_is_named_and_used_for_nothing(
    ring: Keyring, folder: Path, name: str, make: Callable[[Path], object]
) -> None:
    folder.mkdir(parents=True)
    make(folder / name)
    if name == "trusted.json" and (folder / name).is_file() and (folder / name).read_bytes() == b"{}":
        assert ring.keys() == []
        return
    for ask in (ring.keys, lambda: ring.new("new"), lambda: ring.signer(SIGNER), lambda: ring.add("theirs", PUBLIC)):
        with pytest.raises(HelixError, match=name):
            ask()
    assert [file.name for file in folder.iterdir() if file.name not in (name, "target")] == []


def test_a_key_that_is_revoked_stays_so_whatever_else_is_written(ring: Keyring) -> None:
    """The daemon answers side by side: none of what is written at once is lost."""
    names = [f"key-{number}" for number in range(8)]
    for name in names:
        ring.add(name, f"helix-key1:{bytes(SigningKey.generate().verify_key).hex()}")
    ready = threading.Barrier(2 * len(names))

    def at_once(change: Callable[[], object]) -> threading.Thread:
        def run() -> None:
            ready.wait()
            change()

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    threads = [at_once(lambda name=name: ring.revoke(name)) for name in names]
    threads += [at_once(lambda name=name: ring.believe(name, Trust.AGENT_INFERRED)) for name in names]
    for thread in threads:
        thread.join()
    assert known(ring) == [(name, False, Trust.AGENT_INFERRED, True) for name in names]
