"""Bearer: the two tokens of a store, which its daemon's clients show, in files that only the owner may read."""

from __future__ import annotations

import html
import os
import secrets
import sys
from contextlib import suppress
from pathlib import Path

from helix import files
from helix.errors import DaemonError
from helix.local_store import is_tracked

TOKEN_FILE = "token"
HOOK_TOKEN_FILE = "hook-token"
LINK_FILE = "open.html"

_TOKEN_BYTES = 32
_LONGEST_TOKEN = 4096


def token_of(store: Path) -> str:
    """Return the store's bearer token (256 bits), making it where there is none; only for the owner of the lock.

    A token file that others could read, or that git tracks, is replaced: what was in it may be known.
    """
    return _token_in(store / TOKEN_FILE)


def hook_token_of(store: Path) -> str:
    """Return the bearer token for a client's hooks alone, as `token_of` does; clients keep it in their settings.

    Unlike that one it may be made before a daemon runs: whoever makes it first, the next daemon takes it.
    """
    files.private_folder(store)
    return _token_in(store / HOOK_TOKEN_FILE)


def _token_in(path: Path) -> str:
    with suppress(FileNotFoundError):
        token = _token_read(path)
        found = path.lstat()
        private = sys.platform == "win32" or (found.st_uid == os.geteuid() and not found.st_mode & 0o077)
        if private and len(token) >= _TOKEN_BYTES and not is_tracked(path):
            return token
        path.unlink()
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    with os.fdopen(files.create_private(path, exclusive=True), "w", encoding="ascii") as file:
        file.write(token)
    return token


def put_link(store: Path, url: str) -> Path:
    """Write a page with a one-time link into the store's folder, for the bearer's browser; return where it is.

    A browser gets the page's name as an argument, which every user of the machine may read; the page only its owner.
    """
    path = store / LINK_FILE
    shown = html.escape(url, quote=True)
    words = f'<meta http-equiv="refresh" content="0; url={shown}"><a href="{shown}">Open Helix</a>'
    files.write_private(path, f'<!doctype html><html lang="en"><meta charset="utf-8">{words}</html>')
    return path


def drop_link(store: Path) -> None:
    """Remove the page of a bearer's one-time link: it has been used, or nobody is there to answer it."""
    with suppress(OSError):  # such as a folder of that name, which is no page of ours
        (store / LINK_FILE).unlink(missing_ok=True)


def read_token(store: Path) -> str:
    """Return the store's bearer token. Raises DaemonError where there is none that can be read."""
    try:
        return _token_read(store / TOKEN_FILE)
    except FileNotFoundError as error:
        raise DaemonError(f"there is no {store / TOKEN_FILE}", hint="stop the daemon and start it again") from error


def _token_read(path: Path) -> str:
    """Return the token in a file. Raises FileNotFoundError, and DaemonError for what is no file with a token."""
    try:
        token = files.read_text(path, _LONGEST_TOKEN, links=False).strip()
    except FileNotFoundError:
        raise
    except PermissionError as error:
        hint = files.closed_hint(path, "only the store's owner may use it")
        raise DaemonError(f"{path} cannot be read", hint=hint) from error
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not text"
        raise DaemonError(
            f"{path} holds no token: {why}", hint="remove it: it is made anew at the next start"
        ) from error
    if not token.isascii() or not token.isprintable():
        raise DaemonError(f"{path} holds no token", hint="remove it: it is made anew at the next start")
    return token
