"""Migrations of the graph: numbered, hashed, forward-only scripts of `schema/graph`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from helix.errors import StoreCorruptError, StoreTooNewError

_RENEWS = "`helix rebuild` renews the graph"


def statements(script: str) -> list[str]:
    """Return the Cypher statements of a graph migration's script, without comment lines."""
    lines = [line for line in script.splitlines() if not line.lstrip().startswith("//")]
    return [part.strip() for part in "\n".join(lines).split(";\n") if part.strip(" \n;")]


def pending(folder: Path, applied: Mapping[int, str]) -> list[tuple[int, str, str, list[str]]]:
    """Return (number, name, hash, statements) of each graph migration that is not in `applied` (number to hash).

    Raises StoreTooNewError for a number this code does not know and StoreCorruptError for a hash that has changed:
    the graph is then rebuilt from the journal.
    """
    scripts = {int(path.name[:4]): path for path in sorted(folder.glob("[0-9]*.cypher"))}
    if newer := [number for number in applied if number > max(scripts)]:
        raise StoreTooNewError(
            f"the graph was written by a newer Helix: it has migration {max(newer)}, this Helix ends at {max(scripts)}",
            hint="update Helix: `git pull`, then `scripts/setup`",
        )
    if strange := applied.keys() - scripts.keys():
        raise StoreCorruptError(f"the graph has a migration {min(strange)}, which no Helix has", hint=_RENEWS)
    found = []
    for number, path in scripts.items():
        text = path.read_text("utf-8")
        digest = hashlib.sha256(text.encode()).hexdigest()
        if number not in applied:
            found.append((number, path.name, digest, statements(text)))
        elif applied[number] != digest:
            raise StoreCorruptError(f"migration {path.name} has changed since it was applied", hint=_RENEWS)
    return found
