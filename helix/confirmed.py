"""Confirmed: what the user of this machine said yes to, once, kept in HELIX_HOME where no project can write.

`confirmed.json` maps a kind to what was confirmed of it, and each of that to details.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from helix.errors import StoreError
from helix.files import json_object, kept_json, newest_json, private_folder, write_private

FILE = "confirmed.json"
LOCAL_STORES, MODEL_ADDRESSES, PROJECT_NAMES = "local_stores", "model_addresses", "project_names"
FOLDER_NAMES = "folder_names"
"""Folders, each with the name that the user gave its project there."""
OWN_FOLDERS = "own_folders"
"""Folders that the user says are his own, each with the project that it claims."""
VOUCHED_FILE = "vouched.json"


def confirmed(home: Path, kind: str) -> Mapping[str, Mapping[str, Any]]:
    """Return what the user has confirmed of a kind, with details; a file that cannot be read confirms nothing."""
    found = kept_json(home / FILE).get(kind)
    return {name: one for name, one in found.items() if isinstance(one, dict)} if isinstance(found, dict) else {}


def confirm(home: Path, kind: str, what: str, **details: Any) -> None:
    """Note in the home's `confirmed.json` that the user said yes to something of a kind."""
    private_folder(home)
    everything = json_object(home / FILE)
    if everything is None and (home / FILE).exists():
        raise StoreError(
            f"{home / FILE} cannot be read", hint="mend it, or remove it and confirm anew what you had confirmed"
        )
    known = {**confirmed(home, kind), what: {**details, "at": datetime.now(UTC).isoformat(timespec="seconds")}}
    write_private(home / FILE, json.dumps({**(everything or {}), kind: known}, indent=2) + "\n")


def vouched(home: Path) -> Mapping[str, str]:
    """Return the files of notes that the user stands for, by their whole path, with the digest of what they held."""
    return {path: str(digest) for path, digest in kept_json(home / VOUCHED_FILE).items()}


def note_vouched(home: Path, digests: Mapping[str, str]) -> None:
    """Note what files of notes hold that the user stands for; the newest are kept. One job at a time calls it."""
    if not digests:
        return
    private_folder(home)
    known = {path: digest for path, digest in vouched(home).items() if path not in digests} | dict(digests)
    write_private(home / VOUCHED_FILE, newest_json(known))
