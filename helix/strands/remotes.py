"""Remotes: places where machines leave strands for each other. None of them has to be trusted, or to run anything."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from helix import files
from helix.errors import InvalidInputError, NotFoundError, lacks_extra
from helix.model.strand import SYNC_PATH, is_shared
from helix.providers.addresses import is_here
from helix.store.erasing import STRANDS
from helix.store.store import Store
from helix.strands import shared_place
from helix.strands.folder_remote import FolderRemote
from helix.strands.git_remote import GitRemote
from helix.strands.http_remote import HttpRemote
from helix.strands.place import Remote
from helix.strands.shares import PlaceTokens, Shares
from helix.text.secrets.redact import redact

_GIT = ("ssh", "git", "http", "https", "file")
_SCP = re.compile(r"(?:[A-Za-z0-9_.-]+@)?[A-Za-z0-9_.-]+:(?!//)\S+")
_LOGIN = re.compile(r"[^/@:]+:[^/@]+@")
_HINT = f"a folder, a git repository (path or URL), s3://bucket/prefix, or a shared Helix: https://host{SYNC_PATH}"


def address_of(text: str) -> str:
    """Return the address of a remote for strands as it is kept; raises InvalidInputError for none, or a password."""
    text = text.strip()
    try:
        said = urlsplit(text) if "://" in text else None
    except ValueError as error:  # such as half a bracket
        raise InvalidInputError(f"{text!r:.200} is not a place for strands", hint=_HINT) from error
    secret = said.password or (said.username and said.scheme in ("http", "https")) if said else _LOGIN.match(text)
    if secret or redact(text).kinds:  # such as `?private_token=`
        raise InvalidInputError(
            "the address has a password in it, which would be written down",
            hint="leave it to git's credential helper, or to the environment",
        )
    if said is not None and said.scheme == "s3" and said.netloc:
        return text.rstrip("/")
    if said is not None and is_shared(text):
        return _shared(said)
    if (said is not None and said.scheme in _GIT) or (not text.startswith(("/", "-")) and _SCP.fullmatch(text)):
        return text
    if said is not None or "\0" in text or not Path(text).is_absolute():
        raise InvalidInputError(f"{text!r:.200} is not a place for strands", hint=_HINT)
    return os.fspath(Path(text))


def _shared(said: SplitResult) -> str:
    if not said.hostname or said.query or said.fragment:
        raise InvalidInputError(f"{said.geturl()!r:.200} is not the address of a shared Helix", hint=_HINT)
    if said.scheme == "http" and not is_here(said.geturl()):
        raise InvalidInputError(
            "a token is not sent over plain http to another machine", hint="https, or a tunnel such as `ssh -L`"
        )
    return said.geturl().rstrip("/")


def open_remote(store: Store, address: str, stopped: Callable[[], bool]) -> Remote:
    """Return the remote at an address, as `address_of` gives it; raises NotFoundError where a folder is not there."""
    if address.startswith("s3://"):
        try:
            from helix.strands.s3_remote import S3Remote  # boto3 is an extra
        except ImportError as error:
            raise lacks_extra("a bucket", "s3", error) from error

        return S3Remote(address, store.runtime.settings.s3_endpoint, stopped)
    home = store.runtime.settings.home
    if address.startswith(shared_place.PREFIX):
        return shared_place.SharedPlace(store.path, Shares(home).get(address.removeprefix(shared_place.PREFIX)))
    if is_shared(address):
        return HttpRemote(address, PlaceTokens(home).of(address), stopped)
    folder = Path(address)
    if not folder.is_absolute() or _is_bare(folder):
        return GitRemote(_clone(store.path, address), address, stopped)
    if not folder.is_dir():
        raise NotFoundError(f"there is no folder {folder}", hint="make it, or connect the disk that it is on")
    return FolderRemote(folder)


def forget(store: Store, address: str) -> None:
    """Remove what this store keeps to reach a remote: its token, and what was fetched of its repository."""
    PlaceTokens(store.runtime.settings.home).drop(address)
    files.remove(_clone(store.path, address))


def _clone(folder: Path, address: str) -> Path:
    return folder / STRANDS / f"{hashlib.sha256(address.encode()).hexdigest()[:16]}.git"


def _is_bare(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir()
