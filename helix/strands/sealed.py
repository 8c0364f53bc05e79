"""Sealed: the cryptography of a strand, all of it libsodium's, by PyNaCl.

XChaCha20-Poly1305 in libsodium's secret stream for the content; its key locked by Argon2id from a passphrase, or sealed
for X25519 keys; Ed25519 for the signature. docs/strand-format.md tells how they are put together.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from nacl import bindings, pwhash
from nacl.exceptions import BadSignatureError, CryptoError
from nacl.public import PrivateKey, PublicKey, SealedBox
from nacl.signing import SigningKey, VerifyKey

from helix.errors import InvalidInputError, UnauthorizedError

CHUNK = 65_536
"""Bytes of plaintext in a chunk; the last one may be shorter."""
HEADER_BYTES = bindings.crypto_secretstream_xchacha20poly1305_HEADERBYTES
_OVERHEAD = bindings.crypto_secretstream_xchacha20poly1305_ABYTES
_FINAL = bindings.crypto_secretstream_xchacha20poly1305_TAG_FINAL
_MESSAGE = bindings.crypto_secretstream_xchacha20poly1305_TAG_MESSAGE
_KEY_BYTES = 32
_DOMAIN = b"helix strand 1\n"
_MOST_OPS, _MOST_MEMORY = 10, 1 << 30
_WRONG = ("the passphrase is wrong", "try it again; where HELIX_PASSPHRASE is set, that is taken")
_NOT_GIVEN = (
    "no passphrase was given, and there is no key here for it",
    "set HELIX_PASSPHRASE, or type it on a terminal (`helix sync --locked` asks for it)",
)
_NO_KEY = (
    "there is no key here for it",
    "give its writer your key (`helix keys export NAME`): they export `--to` it, or for a sync trust it as their own",
)

Opener = Callable[[Sequence[Mapping[str, Any]]], bytes]
"""Returns the key of a content, given how the manifest says it is locked; raises UnauthorizedError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argon2:
    """What it costs to try a passphrase: passes over memory, and bytes of it."""

    ops: int = pwhash.argon2id.OPSLIMIT_MODERATE
    memory: int = pwhash.argon2id.MEMLIMIT_MODERATE


COST = Argon2()
"""Of what is locked from now on: a second and 256 MB for each try. What is opened says what it costs."""


def new_key() -> bytes:
    """Return a new key that encrypts the content of one strand."""
    return os.urandom(_KEY_BYTES)


def lock(key: bytes, passphrase: str) -> dict[str, Any]:
    """Return a strand's content key locked by a passphrase, for the manifest."""
    salt, nonce = os.urandom(pwhash.argon2id.SALTBYTES), os.urandom(24)
    locked = bindings.crypto_aead_xchacha20poly1305_ietf_encrypt(
        key, None, nonce, _stretched(passphrase, salt, COST.ops, COST.memory)
    )
    told = {"key": locked.hex(), "nonce": nonce.hex(), "salt": salt.hex()}
    return {**told, "mem": COST.memory, "ops": COST.ops, "type": "passphrase"}


def seal(key: bytes, recipient: PublicKey) -> dict[str, Any]:
    """Return a strand's content key sealed for the private part of a public key, for the manifest."""
    return {"key": SealedBox(recipient).encrypt(key).hex(), "recipient": bytes(recipient).hex(), "type": "recipient"}


def opener(passphrase: str | None, keys: Iterable[PrivateKey]) -> Opener:
    """Return what opens encrypted strands with a passphrase (None: without one) or with any of some private keys."""
    held = {bytes(key.public_key).hex(): key for key in keys}

    def opened(ways: Sequence[Mapping[str, Any]]) -> bytes:
        for way in ways:
            try:
                if way["type"] == "recipient" and way["recipient"] in held:
                    return _of_length(SealedBox(held[way["recipient"]]).decrypt(bytes.fromhex(way["key"])))
                if way["type"] == "passphrase" and passphrase is not None:
                    return _of_length(_unlocked(way, passphrase))
            except (CryptoError, KeyError, ValueError, TypeError, OverflowError):
                continue
        locked = any(way.get("type") == "passphrase" for way in ways)
        why, hint = _NO_KEY if not locked else _NOT_GIVEN if passphrase is None else _WRONG
        raise UnauthorizedError(f"the strand cannot be opened: {why}", hint=hint)

    return opened


def _unlocked(way: Mapping[str, Any], passphrase: str) -> bytes:
    ops, memory = int(way["ops"]), int(way["mem"])
    if not (1 <= ops <= _MOST_OPS and 8_192 <= memory <= _MOST_MEMORY):
        raise ValueError("the passphrase costs more to try than any strand of Helix's")
    key = _stretched(passphrase, bytes.fromhex(way["salt"]), ops, memory)
    unlocked: bytes = bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(
        bytes.fromhex(way["key"]), None, bytes.fromhex(way["nonce"]), key
    )
    return unlocked


def _of_length(key: bytes) -> bytes:
    if len(key) != _KEY_BYTES:
        raise ValueError("not a key")
    return key


def _stretched(passphrase: str, salt: bytes, ops: int, memory: int) -> bytes:
    normal = unicodedata.normalize("NFC", passphrase)  # one keyboard types a letter and its accent, another both in one
    stretched: bytes = pwhash.argon2id.kdf(_KEY_BYTES, normal.encode(), salt, opslimit=ops, memlimit=memory)
    return stretched


def sign(manifest: bytes, signer: SigningKey) -> bytes:
    """Return the signature of a strand's manifest, 64 bytes."""
    return signer.sign(_DOMAIN + manifest).signature


def check_signature(manifest: bytes, signature: bytes, signer: str) -> None:
    """Raise InvalidInputError where the holder of a public key (hexadecimal) has not signed a strand's manifest."""
    try:
        VerifyKey(bytes.fromhex(signer)).verify(_DOMAIN + manifest, signature)
    except (BadSignatureError, CryptoError, ValueError, TypeError) as error:
        raise InvalidInputError(
            "the strand's signature does not fit: it was changed after it was signed",
            hint="get the file once more from whoever made it",
        ) from error


class Encrypting:
    """Encrypts a stream into a file, a chunk at a time."""

    def __init__(self, file: IO[bytes], key: bytes) -> None:
        self._file = file
        self._state = bindings.crypto_secretstream_xchacha20poly1305_state()
        self._held = b""
        file.write(bindings.crypto_secretstream_xchacha20poly1305_init_push(self._state, key))

    def write(self, data: bytes) -> None:
        """Encrypt some bytes of a strand; they may wait for more."""
        self._held += data
        while len(self._held) > CHUNK:
            self._push(self._held[:CHUNK], _MESSAGE)
            self._held = self._held[CHUNK:]

    def close(self) -> None:
        """Write the last chunk of a strand, which says that it is the last one."""
        self._push(self._held, _FINAL)

    def _push(self, chunk: bytes, tag: int) -> None:
        push = bindings.crypto_secretstream_xchacha20poly1305_push
        self._file.write(push(self._state, chunk, None, tag))


def decrypted(read: Callable[[int], bytes], size: int, key: bytes) -> Iterator[bytes]:
    """Yield the plaintext of a strand's next `size` bytes; InvalidInputError where nobody encrypted them so."""
    state = bindings.crypto_secretstream_xchacha20poly1305_state()
    try:
        bindings.crypto_secretstream_xchacha20poly1305_init_pull(state, read(HEADER_BYTES), key)
        left, tag = size - HEADER_BYTES, _MESSAGE
        while left > 0 and tag != _FINAL:
            chunk = read(min(left, CHUNK + _OVERHEAD))
            left -= len(chunk)
            plain, tag = bindings.crypto_secretstream_xchacha20poly1305_pull(state, chunk, None)
            yield plain
        if left or tag != _FINAL:
            raise InvalidInputError("the strand is cut, or something was put behind its end")
    except (CryptoError, ValueError, RuntimeError, TypeError) as error:
        raise InvalidInputError("the content of the strand was changed, or the key is another one's") from error
