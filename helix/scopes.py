"""Scopes: what tells the name of one project from another's, and which name the user has confirmed for a folder's.

A grammar of the addresses of remotes.
"""

from __future__ import annotations

import re
from pathlib import Path

from helix.confirmed import FOLDER_NAMES, PROJECT_NAMES, confirm, confirmed
from helix.files import real_path

EVERYWHERE = "all"
"""What a person says to look in every scope, in any spelling; no scope is called so."""
_WWW = re.compile(r"\Awww\.(?=[^/]+/)")
_HERE = r"(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){1,3}|0\.0\.0\.0|::1"
_PORT = re.compile(rf"\A(?!(?:{_HERE}):)([^/:]+):\d+(?=/)")
_OTHER_DOORS = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
"""Hosts that are the same forge's, for SSH where a firewall lets nothing through but HTTPS."""


def scope_key(scope: str) -> str:
    """Return the key by which a scope is compared: letter case, a port and `www.` do not count.

    Hosts take them for the same, and no two projects that anybody has differ in nothing else. Only the ports of this
    machine count: behind each may be another user, or another tunnel. Stores that were written when all of it counted
    are read by this too.
    """
    # Not `casefold`: it makes `ss` of a sharp s, and in a domain those are two names, which two people may own. Letter
    # by letter, because `lower` of a whole word writes the last sigma of it as another letter.
    folded = _WWW.sub("", _PORT.sub(r"\1", "".join(letter.lower() for letter in scope)))
    host, slash, path = folded.partition("/")
    return f"{_OTHER_DOORS.get(host, host)}{slash}{path}"


def is_everywhere(scope: str) -> bool:
    """Return whether a scope is what a person says to look in every one."""
    return scope_key(scope) == EVERYWHERE


def is_this_machine(host: str) -> bool:
    """Return whether a host of an address, in small letters, is this machine, by what it is called."""
    return re.fullmatch(_HERE, host) is not None


def same_scope(one: str, other: str) -> bool:
    """Return whether two scopes are one project's."""
    return one == other or scope_key(one) == scope_key(other)


def is_called(ordinary: str, name: str, home: Path | None) -> bool:
    """Return whether a project may use the scope name that a file in its folder gives it.

    It may by what it is called anyway, and by what the user has confirmed for it (`home`: where that is kept). A folder
    that anybody wrote would else read and write what is kept of another project, or of all.
    """
    return same_scope(ordinary, name) or (
        home is not None and _renaming(ordinary, name) in confirmed(home, PROJECT_NAMES)
    )


def confirm_name(ordinary: str, name: str, home: Path) -> None:
    """Keep that the user wants a project's scope to have a name."""
    confirm(home, PROJECT_NAMES, _renaming(ordinary, name))


def folder_name(folder: Path, home: Path | None) -> str:
    """Return what the user calls the project of a folder, whatever its files say; empty where nothing was said."""
    known = {} if home is None else confirmed(home, FOLDER_NAMES)
    return str(known.get(str(real_path(folder)), {}).get("name", "")) if known else ""


def call_folder(folder: Path, name: str, home: Path) -> None:
    """Keep what the user calls the project of a folder: no file that goes or comes there changes that."""
    confirm(home, FOLDER_NAMES, str(real_path(folder)), name=name)


def _renaming(ordinary: str, name: str) -> str:
    return f"{scope_key(ordinary)} is called {scope_key(name)}"
