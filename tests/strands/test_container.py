"""Holds what a strand's file promises: what is written is read, and nothing that was tampered with is."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import stat
import subprocess
import sys
import tarfile
import tracemalloc
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from independent import NAMES, canonical, member
from nacl.public import PublicKey
from nacl.signing import SigningKey

from helix.errors import ConflictError, HelixError, InvalidInputError, NotFoundError, UnauthorizedError
from helix.strands import container, sealed
from helix.strands.sealed import CHUNK, Argon2, Encrypting, Opener, lock, new_key, opener, sign
from tests.sampling import draws

SIGNER = SigningKey(bytes(range(32)))
FRIEND, STRANGER = SigningKey(b"f" * 32), SigningKey(b"s" * 32)
SECRET = "open sesame, please"
SAID: Mapping[str, Any] = {
    "counts": {"nodes": 1},
    "created_at": "2026-01-02T03:04:05+00:00",
    "embedding": None,
    "groups": {"": {"Memory": {"digest": "00", "rows": 1}}},
    "history": "none",
    "root": "00",
    "schema": 1,
    "scopes": [""],
    "version": {
        **{"id": "11", "parents": [], "ancestry": [{"id": "10", "parents": []}], "since": None},
        **{"selection": '{"ids":null,"scopes":null}', "who": "me", "why": "", "tag": ""},
    },
}


def public(key: SigningKey) -> PublicKey:
    return key.verify_key.to_curve25519_public_key()


def write(target: Path, lines: Iterable[bytes], said: Mapping[str, Any] = SAID, **options: Any) -> container.Manifest:
    given: dict[str, Any] = {"signer": SIGNER, "passphrase": SECRET, "recipients": [], **options}
    return container.write(target, lines, lambda: said, **given)


def read(path: Path, by: Opener | None = None) -> list[bytes]:
    manifest = container.verify(path)
    return list(container.content(path, manifest, by or opener(SECRET, [])))


def archive(parts: Iterable[tuple[str, bytes]]) -> bytes:
    return b"".join(member(name, data) for name, data in parts) + bytes(1_024)


def members(strand: bytes) -> list[bytes]:
    with tarfile.open(fileobj=io.BytesIO(strand)) as tar:
        return [tar.extractfile(name).read() for name in NAMES]  # type: ignore[union-attr]


def signed(manifest: bytes, content: bytes) -> bytes:
    """Return a file as only its signer could make it, whatever the manifest and the content are."""
    return archive(zip(NAMES, (manifest, sign(manifest, SIGNER), content), strict=True))


def forged(packed: bytes, said: Mapping[str, Any] = SAID, **of_content: Any) -> bytes:
    """Return what a hostile signer writes: whole and signed, and wrong in what is given."""
    key, encrypted = new_key(), io.BytesIO()
    encrypting = Encrypting(encrypted, key)
    encrypting.write(packed)
    encrypting.close()
    content = encrypted.getvalue()
    told = {"bytes": len(content), "lines": 2, "plain_bytes": 6, "sha256": hashlib.sha256(content).hexdigest()}
    own = {"helix": "strand", "format": 1, "signer": bytes(SIGNER.verify_key).hex(), "keys": [lock(key, SECRET)]}
    return signed(canonical({**own, "content": {**told, **of_content}, **said}), content)


PACKED = zlib.compress(b"{}\n{}\n")
"""The content of a forged strand, where nothing else is said."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A strand of two chunks, and one line longer than a chunk."""
    path = tmp_path_factory.mktemp("strand") / "small.dna"
    noise = random.Random(15)
    write(path, [b"{}", noise.randbytes(70_000).hex().encode(), b'{"a":1}'], recipients=[public(FRIEND)])
    return path.read_bytes()


@settings(deadline=None, max_examples=draws(30))
@given(
    lines=st.lists(st.binary(max_size=300).map(lambda line: line.replace(b"\n", b""))),
    times=st.sampled_from([1, 1, 1, 900]),
    passphrase=st.text(min_size=1, max_size=20),
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], times: int, passphrase: str
) -> None:
    path = tmp_path_factory.mktemp("strand") / "a.dna"
    written = write(path, lines * times, passphrase=passphrase, recipients=[public(FRIEND), public(STRANGER)])
    assert container.inspect(path) == container.verify(path) == written
    for by in (opener(passphrase, []), opener(None, [FRIEND.to_curve25519_private_key()])):
        assert read(path, by) == lines * times
    assert SAID.items() <= written.data.items()
    assert written.data["content"]["lines"] == len(lines) * times


@pytest.mark.parametrize("size", [0, 1, 65_536 * 3, 65_536 * 3 + 1, 65_536 * 3 - 1])
def test_the_last_chunk_is_told_from_the_others_however_long_it_is(tmp_path: Path, size: int) -> None:
    """Random bytes do not get shorter, so that sizes of the content come close to those of chunks."""
    line = os.urandom(size).replace(b"\n", b" ")
    write(tmp_path / "a.dna", [line])
    assert read(tmp_path / "a.dna") == [line]


def test_a_strand_is_written_whole_and_for_the_owner_alone(tmp_path: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield b"{}"
        raise ConflictError("stopped")

    with pytest.raises(ConflictError, match="stopped"):
        write(tmp_path / "a.dna", broken())
    assert list(tmp_path.iterdir()) == []
    write(tmp_path / "a.dna", [])
    assert [one.name for one in tmp_path.iterdir()] == ["a.dna"]
    assert stat.S_IMODE((tmp_path / "a.dna").stat().st_mode) == 0o600
    with pytest.raises(ConflictError, match="exists already"):
        write(tmp_path / "a.dna", [])
    with pytest.raises(NotFoundError, match="no folder"):
        write(tmp_path / "none" / "a.dna", [])


def test_nothing_is_written_that_nobody_could_read(tmp_path: Path) -> None:
    for options in ({"passphrase": None}, {"passphrase": ""}, {"recipients": [public(FRIEND)] * container.MOST_KEYS}):
        with pytest.raises(InvalidInputError):
            write(tmp_path / "a.dna", [], **options)
    with pytest.raises(InvalidInputError, match="longer than any reader"):
        write(tmp_path / "a.dna", [b" " * (container.LONGEST_LINE + 1)])
    with pytest.raises(InvalidInputError, match="too many scopes"):
        write(tmp_path / "a.dna", [], {**SAID, "scopes": ["s" * container.MOST_OF_MANIFEST]})
    assert list(tmp_path.iterdir()) == []
    longest = b" " * container.LONGEST_LINE
    write(tmp_path / "a.dna", [longest])
    assert read(tmp_path / "a.dna") == [longest]


def test_only_a_key_that_it_is_for_opens_a_strand(tmp_path: Path, small: bytes) -> None:
    path = tmp_path / "a.dna"
    path.write_bytes(small)
    with pytest.raises(UnauthorizedError, match="the passphrase is wrong"):
        read(path, opener("open sesame", []))
    for by in (opener(None, []), opener(None, [STRANGER.to_curve25519_private_key()])):
        with pytest.raises(UnauthorizedError, match="there is no key here for it"):
            read(path, by)
    for secret in (SECRET.encode(), b"sesame", bytes(SIGNER), b'{"a":1}'):
        assert secret not in small


def test_one_reading_verifies_a_strand_and_tells_the_digest_of_its_file(tmp_path: Path, small: bytes) -> None:
    (file := tmp_path / "a.dna").write_bytes(small)
    assert container.verified(file) == (container.verify(file), hashlib.sha256(small).hexdigest())


def test_two_strands_of_the_same_share_no_key(tmp_path: Path) -> None:
    contents = []
    for name in ("a.dna", "b.dna"):
        manifest = write(tmp_path / name, [b"the same"])
        contents.append((members((tmp_path / name).read_bytes())[2], str(manifest.data["keys"])))
    assert contents[0][0][24:] != contents[1][0][24:]
    assert contents[0][1] != contents[1][1]


def refused(path: Path, data: bytes) -> HelixError:
    """Have a file refused by everything that reads one; return the error. Anything but a HelixError fails the test."""
    path.write_bytes(data)
    by = opener(SECRET, [FRIEND.to_curve25519_private_key()])
    with pytest.raises(HelixError):  # as it is taken in: read once, and refused by its end
        list(container.content(path, container.inspect(path), by))
    with pytest.raises(HelixError) as found:
        read(path, by)
    return found.value


def mutated(data: bytes, chance: random.Random, times: int, step: int) -> Iterator[bytes]:
    """Yield a file that was changed in every way that nobody needs a key for, so many times in most of them.

    Where it is densest, in each byte, or in each of so many.
    """
    size, blocks = len(data), len(data) // 512
    dense = [*range(0, 600, step), *range(size - 1_100, size, step)]  # headers, the manifest's beginning, and the end
    for at in (*dense, *chance.sample(range(size), 2 * times)):
        changed = bytearray(data)
        changed[at] ^= 1 << chance.randrange(8)
        yield bytes(changed)
    for _ in range(times):
        at, length = chance.randrange(size), chance.randint(1, 600)
        yield data[:at] + data[at + length :]  # cut out of the middle
        yield data[:at]  # cut off
        yield data[:at] + chance.randbytes(length) + data[at:]  # put in
    for length in (*range(1, 100, 9), 512, 1_024, 10_240):
        yield data + bytes(length)
        yield data + chance.randbytes(length)
    for _ in range(times // 3):
        one, other = sorted(chance.sample(range(blocks), 2))
        cut = [data[at * 512 : at * 512 + 512] for at in range(blocks)]
        cut[one], cut[other] = cut[other], cut[one]
        yield b"".join(cut)


def test_a_file_that_was_changed_anywhere_is_refused(tmp_path: Path, small: bytes, pytestconfig: pytest.Config) -> None:
    """In a soak each byte of its headers, in an ordinary run each tenth: another bit of each field of them."""
    tried, chance = 0, random.Random(15)
    times, step = (700, 1) if pytestconfig.getoption("--soak") else (20, 10)
    for data in mutated(small, chance, times, step):
        if data != small:
            assert isinstance(refused(tmp_path / "a.dna", data), InvalidInputError)
            tried += 1
    assert tried > 2_000 / step


def test_parts_of_other_strands_are_refused(tmp_path: Path, small: bytes) -> None:
    """Another signer's manifest, signature and content; chunks in another order; the same chunk twice."""
    write(tmp_path / "other.dna", [b"{}"], signer=STRANGER)
    own, other = members(small), members((tmp_path / "other.dna").read_bytes())
    for number in range(3):
        for one, another in ((own, other), (other, own)):
            mixed = [another[at] if at == number else one[at] for at in range(3)]
            refused(tmp_path / "a.dna", archive(zip(NAMES, mixed, strict=True)))
    chunk = CHUNK + 17
    head, chunks = own[2][:24], [own[2][at : at + chunk] for at in range(24, len(own[2]), chunk)]
    assert len(chunks) > 1
    manifest = json.loads(own[0])
    for parts in (chunks[::-1], [*chunks, chunks[-1]], chunks[:-1], chunks[1:], [chunks[0], *chunks], []):
        content = head + b"".join(parts)
        told = {**manifest["content"], "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        refused(tmp_path / "a.dna", signed(canonical({**manifest, "content": told}), content))


def test_a_signature_speaks_of_strands_alone(tmp_path: Path, small: bytes) -> None:
    """Whoever had a text of theirs signed by the same key cannot pass it off as a manifest's signature."""
    written, _, content = members(small)
    for signature in (SIGNER.sign(written).signature, sign(written, STRANGER), bytes(64)):
        data = archive(zip(NAMES, (written, signature, content), strict=True))
        assert "signature does not fit" in str(refused(tmp_path / "a.dna", data))


def test_an_archive_with_anything_else_in_it_is_refused(tmp_path: Path, small: bytes) -> None:
    """Names that lead elsewhere, links, folders, other owners and modes; members that are missing, added or doubled."""
    parts = list(zip(NAMES, members(small), strict=True))
    names = ("/etc/passwd", "../content", "./content", "content/", "Content", "content\0x", "", "c" * 99)
    archives = [[*parts[:2], (name, parts[2][1])] for name in names]
    archives += [[*parts, ("extra", b"x")], [("extra", b"x"), *parts], [*parts, parts[2]], [parts[0], *parts]]
    archives += [parts[:2], parts[1:], parts[::-1], [parts[1], parts[0], parts[2]], [], [parts[0]] * 3]
    for one in archives:
        refused(tmp_path / "a.dna", archive(one))
    at = small.index(b"content\0")
    kinds = [(156, bytes([kind])) for kind in range(256) if kind != ord("0")]  # links, folders, devices, longer names
    fields = [
        *kinds,
        (100, b"0000777\0"),
        (108, b"0001750\0"),
        (136, b"00000000001\0"),
        (157, b"../target"),
        (345, b"/etc"),
    ]
    fields += [
        (265, b"root"),
        (257, b"ustar\x0000"),
        (329, b"0000001\0"),
        (124, b"\x80" + b"\xff" * 11),
        (124, b"-0000000001\0"),
    ]
    for offset, value in fields:
        header = bytearray(small[at : at + 512])
        header[offset : offset + len(value)] = value
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\0 " % sum(header)
        refused(tmp_path / "a.dna", small[:at] + bytes(header) + small[at + 512 :])


HOSTILE: Mapping[str, Any] = {
    "counts": [{}, {"nodes": -1}, {"nodes": 1e400}, {"nodes": 1 << 31}, {"nodes": True}, {"nodes": "1"}, []],
    "created_at": ["", "yesterday", "2026-01-02", "2026-01-02T03:04:05", 5, None],
    "embedding": [[], {}, {"digest": 1, "dimension": 2, "model": "m"}, {"digest": "", "dimension": -2, "model": "m"}],
    "groups": [[], {"": []}, {"": {"M": {}}}, {"": {"M": {"rows": float("inf"), "digest": ""}}}],
    "helix": ["", "other", None],
    "history": [None, 1],
    "keys": [
        None,
        [[]],
        [{}],
        ["passphrase"],
        [{"type": 5}],
        [{"type": "passphrase"}] * 2,
        [{"type": "recipient"}] * (container.MOST_KEYS + 1),
        [],
        [{"type": "passphrase"}],
        [{"type": "unheard of"}],
    ],
    "root": [None, 5],
    "schema": [None, "1", -1, 1.0, float("nan"), 1 << 70, True],
    "scopes": ["", [1], None],
    "signer": ["", "zz", "00", "0" * 64, None, 5],
    "version": [None, {}, []],
    "format": [0.5, "1", None, True, -1, 0],
    "content": [None, {}, {"bytes": -1, "lines": 1, "plain_bytes": 1, "sha256": ""}],
    "more": ["x" * container.MOST_OF_MANIFEST],
}

UNHEARD_OF: list[dict[str, Any]] = [
    *({"ops": value} for value in (0, 11, float("inf"), "x")),
    *({"mem": value} for value in (0, (1 << 30) + 1, None)),
    *({"salt": value} for value in ("", "zz", 5)),
    *({"nonce": "00"}, {"key": "00" * 48}, {"key": None}, {"key": ""}),
]
"""Locks that nobody would make: they open nothing, and cost nothing to try."""


def test_what_a_hostile_signer_says_of_a_strand_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.dna"
    file.write_bytes(forged(PACKED))
    assert read(file) == [b"{}", b"{}"]
    for name, values in HOSTILE.items():
        for value in values:
            assert refused(file, forged(PACKED, {**SAID, name: value})), (name, value)
    for name in SAID["version"]:
        for value in (None, 5, {}, [5], [{"id": 5}]):
            if (name, value) != ("since", None):
                assert refused(file, forged(PACKED, {**SAID, "version": {**SAID["version"], name: value}}))
    (lock_of_it,) = json.loads(members(forged(PACKED))[0])["keys"]
    for way in UNHEARD_OF:
        assert isinstance(refused(file, forged(PACKED, {**SAID, "keys": [{**lock_of_it, **way}]})), UnauthorizedError)
    assert "upgrade Helix" in str(refused(file, forged(PACKED, {**SAID, "format": 2})))


@pytest.mark.parametrize(
    "written",
    [
        b'{"helix":"strand","more":' + b"[" * 1_000 + b"]" * 1_000 + b"}",
        b'{"helix":"strand","more":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"format":1,"helix":"strand","more":"\\ud800","signer":"%s"}' % bytes(SIGNER.verify_key).hex().encode(),
        b'{"format":1,"helix":"strand","helix":"strand"}',
        b'{"format":1,"helix":"strand","more":' + b"9" * 10_000 + b"}",
        b'{"format": 1, "helix": "strand"}',
        b'{"helix":"strand","format":1}',
        b'{"format":1,"helix":"strand"}\n',
        b'["strand"]',
        b"\xff",
        b"",
    ],
    ids=range(11),
)
def test_a_manifest_that_is_no_canonical_json_is_refused(tmp_path: Path, written: bytes) -> None:
    assert "is not a strand, or was damaged" in str(refused(tmp_path / "a.dna", signed(written, b"")))


@pytest.mark.parametrize(
    ("packed", "plain_bytes", "lines"),
    [
        (PACKED, 5, 2),
        (PACKED, 7, 2),
        (PACKED, 6, 1),
        (PACKED, 6, 3),
        (PACKED, 0, 0),
        (PACKED[:-1], 6, 2),
        (PACKED + b"x", 6, 2),
        (PACKED + PACKED, 12, 4),
        (PACKED + bytes(1 << 20), 6, 2),
        (zlib.compress(b"{}\n{}"), 5, 2),
        (b"not packed at all", 6, 2),
        (b"", 0, 0),
    ],
)
def test_a_content_that_is_not_what_the_manifest_says_is_refused(
    tmp_path: Path, packed: bytes, plain_bytes: int, lines: int
) -> None:
    data = forged(packed, plain_bytes=plain_bytes, lines=lines)
    assert isinstance(refused(tmp_path / "a.dna", data), InvalidInputError)


def zeros(size: int, filler: bytes) -> bytes:
    packer = zlib.compressobj(9)
    parts = [packer.compress(filler * (1 << 20)) for _ in range(size >> 20)]
    return b"".join(parts) + packer.flush()


def test_a_bomb_goes_off_nowhere(tmp_path: Path) -> None:
    """A line without end, more than was said, and more lines than were said: each stops within a few megabytes."""
    large = 1 << 27
    for packed, plain_bytes, lines, most in (
        (zeros(large, b" "), large, 1, 0),
        (zeros(large, b" "), 1_000, 1, 0),
        (zeros(1 << 25, b"\n"), 1_000, 1_000, 0),
        (zeros(1 << 25, b"\n"), 1 << 25, 5, 5),
    ):
        path = tmp_path / "a.dna"
        path.write_bytes(forged(packed, plain_bytes=plain_bytes, lines=lines))
        manifest, found = container.verify(path), []
        tracemalloc.start()
        try:
            with pytest.raises(InvalidInputError):
                found.extend(container.content(path, manifest, opener(SECRET, [])))
            assert tracemalloc.get_traced_memory()[1] < large / 2
        finally:
            tracemalloc.stop()
        assert len(found) <= most


def test_a_file_that_was_put_in_the_place_of_a_verified_one_is_noticed(tmp_path: Path, small: bytes) -> None:
    path = tmp_path / "a.dna"
    path.write_bytes(small)
    manifest = container.verify(path)
    path.write_bytes(forged(PACKED))
    with pytest.raises(InvalidInputError):
        list(container.content(path, manifest, opener(SECRET, [])))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        container.inspect(tmp_path / "none.dna")
    os.mkfifo(tmp_path / "pipe.dna")
    for path in (tmp_path, tmp_path / "pipe.dna", Path(os.devnull)):
        with pytest.raises(InvalidInputError):
            container.inspect(path)


CARRIES = """
import random, resource, sys
from pathlib import Path
from nacl.signing import SigningKey
from helix.strands import container, sealed
from helix.strands.sealed import Argon2, opener
sealed.COST = Argon2(ops=1, memory=8192)
noise, path = random.Random(1).randbytes(1 << 19), Path(sys.argv[1])
said = eval(sys.argv[2])
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
def lines(count): return (b"%d %s" % (at, noise.hex().encode()) for at in range(count))
def carry(path, count):
    container.write(path, lines(count), lambda: said, signer=SigningKey.generate(), passphrase="secret",
        recipients=[])
    return sum(len(line) for line in container.content(path, container.verify(path), opener("secret", [])))
carry(path.with_name("small"), 4)
before = peak()
print(carry(path, 44), peak() - before)
"""


@pytest.mark.soak
def test_trying_a_passphrase_takes_a_second_and_256_mb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealed, "COST", Argon2())
    (way,) = write(tmp_path / "a.dna", [b"a"]).data["keys"]
    assert (way["ops"], way["mem"]) == (3, 256 << 20)
    assert read(tmp_path / "a.dna") == [b"a"]


@pytest.mark.soak
def test_what_does_not_fit_into_memory_is_written_and_read(tmp_path: Path) -> None:
    """44 MB of plaintext, 22 MB of content: beyond what four lines take, that needs hardly any more memory."""
    run = subprocess.run(
        [sys.executable, "-c", CARRIES, str(tmp_path / "a.dna"), repr(dict(SAID))], capture_output=True, check=True
    )
    size, kilobytes = map(int, run.stdout.split())
    assert size > 44 << 20
    assert kilobytes < 16_000
