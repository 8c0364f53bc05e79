"""Remotes: places where machines leave strands for each other. None of them has to be trusted, or to run anything."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from helix import files
from helix.errors import InvalidInputError, NotFoundError
from helix.store.erasing import STRANDS
from helix.store.store import Store
from helix.strands.git_remote import GitRemote
from helix.strands.names import StrandName

_GIT = ("ssh", "git", "http", "https", "file")
_SCP = re.compile(r"(?:[A-Za-z0-9_.-]+@)?[A-Za-z0-9_.-]+:(?!//)\S+")
_HINT = "a folder, a git repository (path or URL), or s3://bucket/prefix"


class Remote(Protocol):
    """A place of strands. Every call may take long, and raises HelixError or OSError where the place fails."""

    def names(self) -> list[str]:
        """Return the names of what lies there, strands or not."""

    def fetch(self, name: str, target: Path) -> None:
        """Write what has a name to a new file."""

    def publish(self, source: Path, name: str) -> None:
        """Leave a file there under a name; it is there whole or not at all."""

    def remove(self, names: Sequence[str]) -> None:
        """Take what has these names away."""


def address_of(text: str) -> str:
    """Return the address of a place as it is kept; raises InvalidInputError for what is none, or has a password."""
    text = text.strip()
    said = urlsplit(text) if "://" in text else None
    if said is not None and (said.password or (said.username and said.scheme in ("http", "https"))):
        raise InvalidInputError(
            "the address has a password in it, which would be written down",
            hint="leave it to git's credential helper, or to the environment",
        )
    if said is not None and said.scheme == "s3" and said.netloc:
        return text.rstrip("/")
    if (said is not None and said.scheme in _GIT) or (not text.startswith(("/", "-")) and _SCP.fullmatch(text)):
        return text
    if said is not None or "\0" in text or not Path(text).is_absolute():
        raise InvalidInputError(f"{text!r:.200} is no place for strands", hint=_HINT)
    return os.fspath(Path(text))


def open_remote(store: Store, address: str, stopped: Callable[[], bool]) -> Remote:
    """Return the place of an address, as `address_of` gives it; raises NotFoundError where a folder is not there."""
    if address.startswith("s3://"):
        from helix.strands.s3_remote import S3Remote  # boto3 is an extra

        return S3Remote(address, store.runtime.settings.s3_endpoint)
    folder = Path(address)
    if not folder.is_absolute() or _is_bare(folder):
        clone = store.path / STRANDS / f"{hashlib.sha256(address.encode()).hexdigest()[:16]}.git"
        return GitRemote(clone, address, stopped)
    if not folder.is_dir():
        raise NotFoundError(f"there is no folder {folder}", hint="make it, or connect the disk that it is on")
    return FolderRemote(folder)


def _is_bare(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir()


class FolderRemote:
    """A folder: of a disk that is carried, of a network, or of a program that keeps folders of machines the same."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> list[str]:
        """Return the names of the strands and of all else that lies two levels deep."""
        return [f"{file.parent.name}/{file.name}" for file in self._folder.glob("*/*")]

    def fetch(self, name: str, target: Path) -> None:
        """Copy a strand to a new file; links are not followed, and nothing but a file is read."""
        try:
            found = files.open_regular(self._file(name), links=False)
        except OSError as error:
            raise InvalidInputError(f"it is no file that can be read: {error.strerror}") from error
        with (
            found as source,
            os.fdopen(files.create_private(target, exclusive=True), "wb") as copy,
        ):
            shutil.copyfileobj(source, copy)

    def publish(self, source: Path, name: str) -> None:
        """Write a draft, and give it its name once it is on the disk."""
        target = self._file(name)
        files.private_folder(target.parent)
        draft = target.with_name(f".{target.name}.{os.urandom(8).hex()}.new")
        try:
            with (
                files.open_regular(source) as written,
                os.fdopen(files.create_private(draft, exclusive=True), "wb") as copy,
            ):
                shutil.copyfileobj(written, copy)
                copy.flush()
                os.fsync(copy.fileno())
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)

    def remove(self, names: Sequence[str]) -> None:
        """Remove strands."""
        for name in names:
            self._file(name).unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        return self._folder / str(StrandName.read(name))
