"""Kept out: what background work is not to derive again, known by salted digests and not by its words."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from helix.model.letters import normalised
from helix.model.memory import Memory

KEY = "helix:key"
"""Attribute of a derived memory: what it is known by, whatever version it is in."""
KEPT_OUT = "helix:kept_out"
"""Attribute of a tombstone: digests of what was said there, salted with its id."""
_WORD = re.compile(r"\w+")
_DIGEST_BYTES = 16


def normal(text: str) -> str:
    """Return the words of a text alone, in one case, a blank between two: equal where two say the same words."""
    return " ".join(_WORD.findall(normalised("NFKC", text).casefold()))


def digests(memory: Memory) -> list[str]:
    """Return what a memory is known by once its words are gone: its key, where it was derived, and its statement."""
    said = (_of_key(str(memory.attributes.get(KEY, ""))), normal(f"{memory.trigger} {memory.resolution}"))
    return [_salted(memory.id, one) for one in said if one]


@dataclass(frozen=True, slots=True)
class KeptOut:
    """Digests by their salts."""

    held: Mapping[str, frozenset[str]]

    def holds(self, trigger: str, resolution: str, key: str = "") -> bool:
        """Return whether this is a statement that is kept out, or says one in its trigger or its resolution alone."""
        said = {normal(trigger), normal(resolution), normal(f"{trigger} {resolution}"), _of_key(key)} - {""}
        return any(_salted(salt, one) in known for salt, known in self.held.items() for one in said)


def kept_out(held: Iterable[tuple[str, Iterable[str]]]) -> KeptOut:
    """Return what is kept out from pairs of a salt and its digests."""
    return KeptOut({salt: frozenset(known) for salt, known in held})


def _of_key(key: str) -> str:
    return f"key:{key}" if key else ""


def _salted(salt: str, said: str) -> str:
    keyed = hashlib.blake2b(said.encode("utf-8", "surrogatepass"), key=salt.encode()[:64], digest_size=_DIGEST_BYTES)
    return keyed.hexdigest()
