"""Shares: with whom a store is shared over HTTP, of which scopes, and whether they may add to it.

Of the tokens that open a share only digests are kept. The tokens that other stores gave to this one are kept for its
own syncs. Both lie in a home's folder of keys, for its owner alone.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from helix import files
from helix.errors import ConflictError, InvalidInputError, NotFoundError
from helix.model.strand import MemoryShare
from helix.strands.keyring import FOLDER, is_name
from helix.text.secrets.private_keys import TOKEN

_SHARES = "shares.json"
_TOKENS = "tokens.json"
_MOST_SCOPES = 1_000
_WRITING = threading.RLock()


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeptShare:
    share: MemoryShare
    digest: str


class Shares:
    """The shares of one home; every call reads them anew, so that one that was revoked ends at once."""

    def __init__(self, home: Path) -> None:
        self._file = home / FOLDER / _SHARES

    def all(self) -> list[MemoryShare]:
        """Return every share by which strands are exchanged, by name."""
        return [kept.share for kept in self._read_shares()]

    def of_token(self, token: str) -> MemoryShare | None:
        """Return the share that a token for exchanging strands opens; each is compared in constant time."""
        told = _digest(token)
        found = [kept.share for kept in self._read_shares() if hmac.compare_digest(kept.digest, told)]
        return found[0] if found else None

    def get(self, name: str) -> MemoryShare:
        """Return a share by its name; raises NotFoundError."""
        for share in self.all():
            if share.name == name:
                return share
        raise NotFoundError(f"no share is called {name!r:.100}", hint="`helix share list` shows them")

    def new(self, name: str, key: str, scopes: Sequence[str], *, write: bool, at: datetime) -> MemoryShare:
        """Make a share with the holder of a key and return it with its token, which is told this once.

        Raises InvalidInputError for a name or scopes that are none, ConflictError where the name is taken.
        """
        if not is_name(name):
            raise InvalidInputError(f"{name!r:.100} is not a name for a share", hint="such as `laptop` or `ada-api`")
        if not 0 < len(scopes) <= _MOST_SCOPES:
            raise InvalidInputError("a share is of one scope or more", hint="`helix list --scope all` shows them")
        with _WRITING:
            held = self._read_shares()
            if any(kept.share.name == name for kept in held):
                raise ConflictError(f"a share is called {name!r} already", hint="revoke it, or choose another name")
            token = f"{TOKEN}{secrets.token_hex(32)}"
            share = MemoryShare(name=name, key=key, scopes=tuple(sorted(set(scopes))), write=write, since=at)
            self._write([*held, _KeptShare(share=share, digest=_digest(token))])
        return replace(share, token=token)

    def put(self, share: MemoryShare) -> None:
        """Keep a share by which strands are exchanged, as it is told elsewhere, with no token of its own."""
        with _WRITING:
            held = self._read_shares()
            kept = _KeptShare(share=share, digest="")
            if kept not in held:
                self._write([*(one for one in held if one.share.name != share.name), kept])

    def revoke(self, name: str) -> MemoryShare:
        """End a share: its token opens nothing from now on. Raises NotFoundError."""
        with _WRITING:
            ended = self.get(name)
            self._write([kept for kept in self._read_shares() if kept.share.name != name])
        return ended

    def _read_shares(self) -> list[_KeptShare]:
        held: Mapping[str, Mapping[str, Any]] = _content(self._file)
        try:
            return [
                _KeptShare(
                    share=MemoryShare(
                        name=name,
                        key=str(said["key"]),
                        scopes=tuple(map(str, said["scopes"])),
                        write=said["write"] is True,
                        since=datetime.fromisoformat(said["since"]),
                    ),
                    digest=str(said["digest"]),
                )
                for name, said in sorted(held.items())
            ]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InvalidInputError(
                f"{self._file} cannot be read", hint="move it away: shares are made anew"
            ) from error

    def _write(self, held: Sequence[_KeptShare]) -> None:
        told = {
            kept.share.name: {
                **{name: value for name, value in asdict(kept.share).items() if name not in ("name", "token")},
                "since": kept.share.since.isoformat(),
                "digest": kept.digest,
            }
            for kept in held
        }
        _keep(self._file, told)


class PlaceTokens:
    """The tokens by which a home's stores are let into what others share, by address."""

    def __init__(self, home: Path) -> None:
        self._file = home / FOLDER / _TOKENS

    def of(self, address: str) -> str | None:
        """Return the token of a remote for strands, by its address; None where none is kept."""
        found = _content(self._file).get(address)
        return str(found) if found else None

    def keep(self, address: str, token: str) -> None:
        """Keep the token of a remote for strands in place of the one before."""
        with _WRITING:
            _keep(self._file, {**_content(self._file), address: token})

    def drop(self, address: str) -> None:
        """Keep the token of a remote for strands no longer, where there is one."""
        with _WRITING:
            held = _content(self._file)
            if address in held:
                _keep(self._file, {one: token for one, token in held.items() if one != address})


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _content(file: Path) -> Mapping[str, Any]:
    try:
        held = json.loads(files.read_text(file, links=False))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"{file} cannot be read", hint="move it away") from error
    if not isinstance(held, dict):
        raise InvalidInputError(f"{file} cannot be read", hint="move it away")
    return held


def _keep(file: Path, told: Mapping[str, Any]) -> None:
    files.private_folder(file.parent)
    files.write_private(file, json.dumps(told, indent=1))
