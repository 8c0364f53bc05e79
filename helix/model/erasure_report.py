"""Erasure report: what a hard forget or a scan for secrets would take away, and what it came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from helix.model.edge import Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasable:
    """One node that would go or stay: its name, and why it is on the list."""

    ref: Annotated[Ref, "The node."]
    name: Annotated[str, "Its name."]
    why: Annotated[str, "Why it is on the list."]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasePlan:
    """What a hard forget of `root` takes away, for a person to confirm.

    `goes` is all of it, `stays` what speaks of it or served as its evidence and is left as it is. `copies` are the
    files outside the present journal in which it is erased too.
    """

    root: Annotated[Ref, "What was named; its id confirms the erasure."]
    goes: Annotated[tuple[Erasable, ...], "All that is erased."]
    stays: Annotated[tuple[Erasable, ...], "What speaks of it and stays."]
    copies: Annotated[tuple[str, ...], "Backups and kept journals in which it is erased too."]


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyOutcome:
    """Whether the text is gone from a copy of the journal, and why not."""

    path: str
    erased: bool
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseReport:
    """What an erasure came to: the nodes it took the words of, rows of the log it emptied, and what it left undone."""

    erased: tuple[Ref, ...]
    rows: int
    copies: tuple[CopyOutcome, ...]
    warnings: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether the text is gone from every place that Helix knows of."""
        return not self.warnings and all(copy.erased for copy in self.copies)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretFound:
    """A secret in something stored: where it stands, of which kind it is, and what stands around it, masked.

    `place` is a property of the node, `passage`, `edge`, or `log` for what only old rows of the log still say.
    """

    ref: Ref
    place: str
    kind: str
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanReport:
    """What today's rules find in everything stored, and, unless it was a dry run, what taking it out came to."""

    scanned: int
    found: tuple[SecretFound, ...]
    erasure: EraseReport | None = None
