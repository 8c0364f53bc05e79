"""Edition: names the rules of extraction by a digest of their source, so that what other rules found is found again."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

_RULES = ("extract.py", "gate.py", "kept.py", "steps.py")
_CACHE = "__pycache__"


def edition_of_rules() -> str:
    """Return 16 hexadecimal digits that change with any line of the extractor, the gate or what they read text with."""
    own = files("helix.lifecycle.knowledge")
    return digest_of(*(own / name for name in _RULES), files("helix.text"))


def digest_of(*sources: Traversable) -> str:
    """Return a digest of files and folders, 16 hexadecimal digits: of their names and bytes, whatever their place."""
    digest = sha256()
    for name, file in sorted((pair for source in sources for pair in _files(source)), key=lambda pair: pair[0]):
        content = file.read_bytes()
        digest.update(f"{name}\x1f{len(content)}\x1f".encode() + content)
    return digest.hexdigest()[:16]


def _files(source: Traversable, above: str = "") -> Iterator[tuple[str, Traversable]]:
    name = f"{above}/{source.name}"
    if source.is_file():
        yield name, source
    elif source.is_dir() and source.name != _CACHE:
        for one in source.iterdir():
            yield from _files(one, name)
