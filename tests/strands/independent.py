"""A second reader and writer of strands, of docs/strand-format.md, PyNaCl and the standard library alone."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from nacl import bindings, pwhash
from nacl.public import SealedBox
from nacl.signing import SigningKey, VerifyKey

DOMAIN = b"helix strand 1\n"
CHUNK = 65_536
NAMES = ("manifest.json", "manifest.sig", "content")
ALL = '{"ids":null,"scopes":null}'


def canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def member(name: str, data: bytes) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), 0o600
    return info.tobuf(tarfile.GNU_FORMAT) + data + bytes(-len(data) % 512)


def digests(rows: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], str]:
    """Return `groups` and `root` of rows in the order of their lines."""
    groups: dict[str, dict[str, list[Any]]] = {}
    for row in rows:
        node = row["t"] == "node"
        scope = row["props"].get("scope", "") if node else row["scope"]
        group = groups.setdefault(scope, {}).setdefault(row["label"] if node else row["type"], [0, hashlib.sha256()])
        group[0] += 1
        group[1].update(hashlib.sha256(canonical(row)).digest())
    told = {
        scope: {name: {"digest": held[1].hexdigest(), "rows": held[0]} for name, held in tables.items()}
        for scope, tables in groups.items()
    }
    return told, hashlib.sha256(canonical(told)).hexdigest()


def version_id(parents: Sequence[str], root: str, selection: str = ALL) -> str:
    told = canonical({"parents": sorted(parents), "root": root, "selection": selection})
    return hashlib.sha256(told).hexdigest()[:32]


def stretched(passphrase: str, way: Mapping[str, Any]) -> bytes:
    salt = bytes.fromhex(way["salt"])
    key: bytes = pwhash.argon2id.kdf(32, passphrase.encode(), salt, opslimit=way["ops"], memlimit=way["mem"])
    return key


def key_of(ways: Sequence[Mapping[str, Any]], by: str | bytes) -> bytes:
    """Return the key of a content, by a passphrase, or by the seed of a key that it is for."""
    if isinstance(by, bytes):
        private = SigningKey(by).to_curve25519_private_key()
        (way,) = (one for one in ways if one.get("recipient") == bytes(private.public_key).hex())
        return SealedBox(private).decrypt(bytes.fromhex(way["key"]))
    (way,) = (one for one in ways if one["type"] == "passphrase")
    key: bytes = bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(
        bytes.fromhex(way["key"]), None, bytes.fromhex(way["nonce"]), stretched(by, way)
    )
    return key


def sealed(key: bytes, recipient: bytes) -> dict[str, Any]:
    """Return how a key is sealed for an Ed25519 public key."""
    public = VerifyKey(recipient).to_curve25519_public_key()
    return {"key": SealedBox(public).encrypt(key).hex(), "recipient": bytes(public).hex(), "type": "recipient"}


def read(data: bytes, by: str | bytes) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the manifest and the lines of a strand; see `key_of`."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        assert tuple(archive.getnames()) == NAMES
        manifest, signature, content = (archive.extractfile(name).read() for name in NAMES)  # type: ignore[union-attr]
    assert data == b"".join(map(member, NAMES, (manifest, signature, content))) + bytes(1_024)
    said = json.loads(manifest)
    assert (said["helix"], said["format"]) == ("strand", 1)
    VerifyKey(bytes.fromhex(said["signer"])).verify(DOMAIN + manifest, signature)
    assert hashlib.sha256(content).hexdigest() == said["content"]["sha256"]
    key = key_of(said["keys"], by)
    state = bindings.crypto_secretstream_xchacha20poly1305_state()
    bindings.crypto_secretstream_xchacha20poly1305_init_pull(state, content[:24], key)
    plain, tag, place = b"", 0, 24
    while place < len(content):
        chunk = content[place : place + CHUNK + 17]
        part, tag = bindings.crypto_secretstream_xchacha20poly1305_pull(state, chunk, None)
        plain, place = plain + part, place + len(chunk)
    assert tag == bindings.crypto_secretstream_xchacha20poly1305_TAG_FINAL
    lines = [json.loads(line) for line in zlib.decompress(plain).splitlines()]
    assert len(lines) == said["content"]["lines"]
    if said["version"]["since"] is None:
        groups, root = digests([line for line in lines if line["t"] in ("node", "edge")])
        assert (groups, root) == (said["groups"], said["root"])
        assert said["version"]["id"] == version_id(said["version"]["parents"], root, said["version"]["selection"])
    return said, lines


def write(
    lines: Sequence[Mapping[str, Any]], seed: bytes, passphrase: str, recipients: Sequence[bytes] = (), **fields: Any
) -> bytes:
    """Return a strand of lines, the rows in the order of their keys; `fields` replace those of the manifest."""
    rows = [line for line in lines if line["t"] in ("node", "edge")]
    groups, root = digests(rows)
    plain = b"".join(canonical(line) + b"\n" for line in lines)
    key, packed = os.urandom(32), zlib.compress(plain)
    state = bindings.crypto_secretstream_xchacha20poly1305_state()
    content = bindings.crypto_secretstream_xchacha20poly1305_init_push(state, key)
    chunks = [packed[at : at + CHUNK] for at in range(0, len(packed), CHUNK)] or [b""]
    for number, chunk in enumerate(chunks, 1):
        tag = 3 if number == len(chunks) else 0
        content += bindings.crypto_secretstream_xchacha20poly1305_push(state, chunk, None, tag)
    way: dict[str, Any] = {"type": "passphrase", "salt": os.urandom(16).hex(), "ops": 1, "mem": 8_192}
    nonce = os.urandom(24)
    locked = bindings.crypto_aead_xchacha20poly1305_ietf_encrypt(key, None, nonce, stretched(passphrase, way))
    nodes = [row for row in rows if row["t"] == "node"]
    version = {"ancestry": [], "id": version_id([], root), "parents": [], "selection": ALL, "since": None}
    counts = {"edges": len(rows) - len(nodes), "nodes": len(nodes), "texts": sum(len(row["texts"]) for row in nodes)}
    counts["changes"] = sum(line["t"] == "change" for line in lines)
    counts["tombstones"] = sum(row["props"].get("extractor") == "erased" for row in nodes)
    signer = SigningKey(seed)
    manifest = canonical(
        {
            "content": {
                "bytes": len(content),
                "lines": len(lines),
                "plain_bytes": len(plain),
                "sha256": hashlib.sha256(content).hexdigest(),
            },
            "counts": {**counts, "gone": 0},
            "created_at": "2026-11-26T00:00:00+00:00",
            "embedding": None,
            "format": 1,
            "groups": groups,
            "helix": "strand",
            "history": "none",
            "keys": [
                {**way, "key": locked.hex(), "nonce": nonce.hex()},
                *(sealed(key, one) for one in recipients),
            ],
            "root": root,
            "schema": 3,
            "scopes": sorted(groups),
            "signer": bytes(signer.verify_key).hex(),
            "version": {**version, "tag": "", "who": "independent", "why": "a test"},
            **fields,
        }
    )
    signature = signer.sign(DOMAIN + manifest).signature
    return b"".join(map(member, NAMES, (manifest, signature, content))) + bytes(1_024)
