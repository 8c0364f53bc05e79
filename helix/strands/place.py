"""Place: where machines leave strands for each other, and what may be exchanged there."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from helix import files
from helix.errors import InvalidInputError
from helix.strands import container
from helix.strands.container import Manifest
from helix.strands.rows import Selection

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What may be exchanged in a place that is shared with one other key; a place that only keeps files says nothing.

    `peer` is the public key on the other side, `scopes` is all that is exchanged (None: whatever the store chooses).
    `asked`: it is the other side that says these scopes, so a person here has to have said the same.
    """

    peer: str | None = None
    scopes: tuple[str, ...] | None = None
    asked: bool = False
    may_take: bool = True
    may_leave: bool = True


class Remote(Protocol):
    """A place of strands. Every call may take long, and raises HelixError or OSError where the place fails."""

    def terms(self) -> Terms:
        """Return what may be exchanged in a place for strands."""
        return Terms()

    def names(self) -> list[str]:
        """Return the names of what lies in a place for strands, strands or not."""

    def fetch(self, name: str, target: Path, most: int) -> None:
        """Write the strand of that name to a new file; raises InvalidInputError where it has more than `most` bytes."""

    def publish(self, source: Path, name: str) -> None:
        """Leave a strand in a place under a name; it is there whole or not at all."""

    def remove(self, names: Sequence[str]) -> None:
        """Take the strands that have these names away."""

    def close(self) -> None:
        """Let go of the connection to it, where there is one."""
        return


def check_size(size: int, most: int) -> None:
    """Raise InvalidInputError for a strand that is larger than what may be fetched from a place."""
    if size > most:
        raise InvalidInputError(f"it has {size:,} bytes, and {most:,} may be fetched", hint="make room on the disk")


def verified(file: Path, name: StrandName, selection: Selection) -> Manifest:
    """Return the manifest of a strand whose every byte was checked; raises InvalidInputError for another one.

    Another one is what is not signed, of the version, or of the content that the name says, or of other scopes.
    """
    try:
        manifest, sha256 = container.verified(file)
    except InvalidInputError as error:  # who left it has nothing to do with where it lies here
        raise InvalidInputError(error.message.replace(str(file), str(name)), hint=error.hint) from error
    version = manifest.data["version"]
    if (manifest.data["signer"][:SHORT], version["id"][:SHORT], sha256[:SHORT]) != (
        name.signer,
        name.version,
        name.sha256,
    ):
        raise InvalidInputError("it is not the strand that its name says")
    if version["selection"] != selection.named:
        raise InvalidInputError(
            "it is of other scopes than are synced here", hint="machines of a place sync the same scopes"
        )
    return manifest


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a strand's file, in hexadecimal digits."""
    with files.open_regular(file) as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
