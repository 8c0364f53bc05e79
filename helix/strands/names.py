"""Names: what a strand is called in a place where machines leave strands for each other."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(r"([0-9a-f]{16})/([0-9]{8})-([0-9a-f]{16})-([0-9a-f]{16})\.dna", re.ASCII)
SHORT = 16
"""Digits of a key, a version and a digest that a name has."""
LARGEST = 99_999_999


@dataclass(frozen=True, slots=True, order=True)
class StrandName:
    """`SIGNER/NUMBER-VERSION-SHA256.dna`: each of 16 digits but the number, which counts up for each signer."""

    signer: str
    number: int
    version: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.signer}/{self.number:08}-{self.version}-{self.sha256}.dna"

    @classmethod
    def read(cls, text: str) -> StrandName | None:
        """Return the name that a text is; None for what is none, whatever else lies in the place."""
        found = _NAME.fullmatch(text)
        return None if found is None else cls(found[1], int(found[2]), found[3], found[4])
