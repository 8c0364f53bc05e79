"""Where the files that belong to the code lie: beside the package in a wheel, at the root of a checkout."""

from __future__ import annotations

from pathlib import Path

from helix.errors import NotFoundError

_PACKAGE = Path(__file__).resolve().parent


def directory(name: str) -> Path:
    """Return a packaged folder ("schema", "queries", "graphiql"): packaged data first, then the checkout.

    Raises NotFoundError when neither place has it.
    """
    for candidate in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise NotFoundError(f"Helix's own folder {name!r} is missing", hint="reinstall helix-memory")


def text(folder: str, name: str) -> str:
    """Return the text of a packaged file of Helix."""
    return (directory(folder) / name).read_text("utf-8")
