"""Privacy: what of a home and a store other users of the machine could read or change, and closing it to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from helix import files
from helix.settings import Settings

_FILES = ("config.toml", "cypher_history")
_FOLDERS = ("clients", "models")
_NAMED = 5
PLACE_HINT = "`chmod go-w FOLDER` where it is yours, or set HELIX_HOME to a place that only you may change"


def make_private(settings: Settings) -> list[Path]:
    """Close this user's files for the commands that an earlier version or a loose umask left open; return them."""
    return [path for place, below in _places(settings) for path in files.tighten(place, below=below)]


def privacy_findings(settings: Settings) -> Iterator[dict[str, Any]]:
    """Yield what `helix doctor` tells about other users of this machine."""
    loose = [path for place, below in _places(settings) for path in files.open_to_others(place, below=below)]
    named = ", ".join(map(str, loose[:_NAMED])) + (f" and {len(loose) - _NAMED} more" if len(loose) > _NAMED else "")
    hint = "`helix stop`, then any command, closes what is yours; `chmod -R go= FOLDER` does too"
    yield _finding("privacy", f"open to other users: {named}" if loose else "", "other users can read nothing", hint)
    yield _finding("place", replaceable(settings), "no other user can replace the store", PLACE_HINT)


def replaceable(settings: Settings) -> str:
    """Return in words in which folders other users can replace what is Helix's; empty where in none."""
    above = dict.fromkeys(path for place, _ in _places(settings) for path in files.changed_by_others(place))
    return f"other users can put another folder in place of what is in {', '.join(map(str, above))}" if above else ""


def _finding(check: str, trouble: str, fine: str, hint: str) -> dict[str, Any]:
    return {"check": check, "ok": not trouble, "detail": trouble or fine, "hint": hint}


def _places(settings: Settings) -> list[tuple[Path, bool]]:
    """Return what is Helix's own, each with whether all that lies below it is: a home may hold other things too."""
    home = settings.home
    below = [settings.store_path, settings.models_path, *(home / name for name in _FOLDERS)]
    own = [] if home == Path.home() else [home]
    return [
        *((path, False) for path in own),
        *((home / name, False) for name in _FILES),
        *((path, True) for path in below),
    ]
