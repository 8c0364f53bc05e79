"""The chain: salted digests that bind every row of the log to all before it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

GENESIS = b"\0" * 32


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainReport:
    """What walking the hash chain found: rows seen, rows whose payload was erased, and the damaged ones."""

    rows: int
    erased: int
    damaged: tuple[int, ...]


def digest_of(salt: bytes, payload: bytes) -> bytes:
    """Return the salted digest of a journal row's payload, which tells nothing of it to who lacks the salt."""
    return hashlib.sha256(salt + payload).digest()


def chained_digest(previous: bytes, seq: int, at: int, digest: bytes) -> bytes:
    """Return the digest that chains a journal row to every row before it."""
    return hashlib.sha256(previous + seq.to_bytes(8, "big") + at.to_bytes(8, "big", signed=True) + digest).digest()


def continues_chain(previous: bytes, seq: int, at: int, digest: bytes, chain: bytes) -> bool:
    """Return whether a stored row continues the journal's chain; False too for one that can be no part of it."""
    try:
        return chained_digest(previous, seq, at, digest) == chain
    except (TypeError, OverflowError):
        return False
