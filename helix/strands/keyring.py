"""Keyring: the keys that sign strands and open them, and how far each signer is believed.

A key of one's own is an Ed25519 seed in a file that only its owner may read; what is sealed for it is opened by the
X25519 key that derives from the same seed. Of other people's keys the public part is kept, and how far the rows that
they signed are to be believed: as the web at first.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from nacl.public import PrivateKey, PublicKey
from nacl.signing import SigningKey, VerifyKey

from helix import files
from helix.errors import ConflictError, InvalidInputError, NotFoundError, UnauthorizedError
from helix.model.provenance import Trust
from helix.model.strand import StrandKey
from helix.strands.sealed import Opener, opener
from helix.text.secrets.private_keys import HELIX as PRIVATE

FOLDER = "keys"
"""The folder of a home that holds the keys."""
_TRUSTED = "trusted.json"
_SUFFIX = ".key"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_WRITING = threading.RLock()
"""Held while what is kept is read and written anew: otherwise a key that was revoked could come back."""
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, RecursionError)
_PUBLIC = re.compile(r"helix-key1:([0-9a-f]{64})")


LOCKED = "a passphrase"
"""How a passphrase is told of among what opens a strand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealing:
    """What a strand is signed with (the key's `name` and the key), and what opens it."""

    name: str
    signer: SigningKey
    passphrase: str | None = None
    recipients: tuple[PublicKey, ...] = ()

    @property
    def opens(self) -> list[str]:
        """What opens the strand, in words that tell one from another."""
        locked = [] if self.passphrase is None else [LOCKED]
        return sorted([*locked, *(bytes(one).hex() for one in self.recipients)])


class Keyring:
    """The keys of one home; every call reads them anew."""

    def __init__(self, home: Path, *, now: datetime) -> None:
        self._folder = home / FOLDER
        self._now = now

    def keys(self) -> list[StrandKey]:
        """Return every key for strands that is known, one's own first, by name."""
        own = [
            StrandKey(name=name, public=_public(_verifying(key)), own=True, trust=Trust.USER_ASSERTED)
            for name, key in self._own().items()
        ]
        return [*own, *sorted(self._others().values(), key=lambda key: key.name)]

    def new(self, name: str) -> StrandKey:
        """Make a key of one's own that signs strands; raises ConflictError where the name is taken."""
        with _WRITING:
            self._check_free(name)
            self._write_own(name, SigningKey.generate())
        return next(key for key in self.keys() if key.name == name)

    def derive(self, name: str, seed: bytes) -> StrandKey:
        """Have a key for strands of one's own that follows from 32 bytes which are kept elsewhere, as a tenant's is."""
        with _WRITING:
            held = self._own()
            if name not in held or bytes(held[name]) != seed:
                self._write_own(name, SigningKey(seed))
        return next(key for key in self.keys() if key.name == name)

    def add(self, name: str, public: str) -> StrandKey:
        """Know by its public text somebody else's key for strands; its rows are believed as the web is.

        Raises InvalidInputError for what is no key, ConflictError for a name or a key that is known.
        """
        key = VerifyKey(bytes.fromhex(digits_of(public)))
        _sealing(key)
        with _WRITING:
            self._check_free(name)
            if (known := self.known(bytes(key).hex())) is not None:
                raise ConflictError(f"that key is known already, as {known.name!r}")
            added = StrandKey(name=name, public=_public(bytes(key).hex()), own=False, trust=Trust.WEB, since=self._now)
            self._keep({**self._others(), name: added})
        return added

    def believe(self, name: str, trust: Trust) -> StrandKey:
        """Say how far the rows of strands are believed that a key has signed; raises NotFoundError or ConflictError."""
        return self._changed(name, trust=trust)

    def revoke(self, name: str) -> StrandKey:
        """Stop believing a key: strands it signed are refused from now on. An own key's file is removed for good."""
        with _WRITING:
            if name not in self._own():
                return self._changed(name, revoked_at=self._now)
            own = next(key for key in self.keys() if key.name == name)
            revoked = replace(own, own=False, trust=Trust.WEB, revoked_at=self._now)
            self._keep({**self._others(), name: revoked})
            files.remove(self._folder / f"{name}{_SUFFIX}")
            return revoked

    def known(self, signer: str) -> StrandKey | None:
        """Return the strand key of a public key in hexadecimal digits; None for one that is not known."""
        return next((key for key in self.keys() if key.public == _public(signer)), None)

    def recipient(self, recipient: str) -> str:
        """Return the name of the key that a strand is sealed for, or what the manifest calls it (hexadecimal)."""
        held = {bytes(_sealing(VerifyKey(bytes.fromhex(digits_of(key.public))))).hex(): key.name for key in self.keys()}
        return held.get(recipient, recipient)

    def signer(self, signer: str) -> StrandKey:
        """Return the key that signed a strand; raises UnauthorizedError for one that is not known, or was revoked."""
        known = self.known(signer)
        if known is None:
            raise UnauthorizedError(
                f"the strand is signed by a key that is not known here: {_public(signer)}",
                hint="where you know whose it is: `helix keys import NAME KEY`; `helix keys trust` believes it more",
            )
        if known.revoked_at is not None:
            raise UnauthorizedError(
                f"the strand is signed by {known.name!r}, a key that was revoked on {known.revoked_at:%Y-%m-%d}",
                hint="ask its owner for a strand signed by another key",
            )
        return known

    def sealing(self, name: str | None, passphrase: str | None, recipients: Iterable[str]) -> Sealing:
        """Return what a strand is to be signed and locked with; raises NotFoundError or ConflictError for names."""
        own = self._own()
        if name is None and len(own) != 1:
            raise ConflictError(
                "there is no key to sign with" if not own else f"there are {len(own)} keys to sign with",
                hint="`helix keys new NAME` makes one" if not own else "say which: " + ", ".join(own),
            )
        wanted = name if name is not None else next(iter(own))
        if wanted not in own:
            raise NotFoundError(f"{wanted!r} is not a key of yours", hint="`helix keys list` shows them")
        known = {key.name: key for key in self.keys() if key.revoked_at is None}
        if missing := sorted(set(recipients) - known.keys()):
            raise NotFoundError(f"no key is called {missing[0]!r}", hint="`helix keys list` shows them")
        sealed = tuple(_sealing(VerifyKey(bytes.fromhex(digits_of(known[one].public)))) for one in recipients)
        return Sealing(name=wanted, signer=own[wanted], passphrase=passphrase, recipients=sealed)

    def sealing_for_oneself(self, name: str | None, passphrase: str | None) -> Sealing:
        """Return what a strand is signed with that one's own machines are to open; raises what `sealing` does.

        With a passphrase it is locked by that, otherwise sealed for every key that is believed as one's own.
        """
        mine = () if passphrase is not None else [key.name for key in self.own_machines()]
        return self.sealing(name, passphrase, mine)

    def sealing_between(self, name: str | None, peer: str) -> Sealing:
        """Return what a strand is signed with that oneself and the holder of one other key are to open.

        `peer` is its public text. Raises what `sealing` does, and UnauthorizedError for a key that is not known.
        """
        other, own = self.signer(digits_of(peer)), self.sealing(name, None, ())
        return self.sealing(own.name, None, [own.name, other.name])

    def own_machines(self) -> list[StrandKey]:
        """Return the keys that sign strands as one's own, those of one's other machines among them."""
        return [key for key in self.keys() if key.trust is Trust.USER_ASSERTED and key.revoked_at is None]

    def opener(self, passphrase: str | None) -> Opener:
        """Return what opens strands: a passphrase, or the keys of one's own."""
        return opener(passphrase, [_private(key) for key in self._own().values()])

    def _check_free(self, name: str) -> None:
        if not is_name(name):
            raise InvalidInputError(
                f"{name!r:.100} is not a name for a key", hint="small letters, digits, dots, dashes: such as `laptop`"
            )
        if name in self._own() or name in self._others():
            raise ConflictError(f"a key is called {name!r} already", hint="choose another name")

    def _changed(self, name: str, **fields: Any) -> StrandKey:
        with _WRITING:
            if name in self._own():
                raise ConflictError(f"{name!r} is your own key: what it signs is yours")
            others = self._others()
            if name not in others:
                raise NotFoundError(f"no key is called {name!r}", hint="`helix keys list` shows them")
            others[name] = replace(others[name], **fields)
            self._keep(others)
        return others[name]

    def _own(self) -> dict[str, SigningKey]:
        found = {}
        for file in sorted(self._folder.glob(f"*{_SUFFIX}")):
            try:
                said = str(json.loads(files.read_text(file, links=False))["private"])
                seed = bytes.fromhex(said.removeprefix(PRIVATE))
                found[file.name.removesuffix(_SUFFIX)] = SigningKey(seed)
            except _UNREADABLE as error:
                raise InvalidInputError(f"{file} is not a key that can be read", hint="move it away") from error
        return found

    def _write_own(self, name: str, key: SigningKey) -> None:
        files.private_folder(self._folder)
        told = {"created_at": self._now.isoformat(), "private": f"{PRIVATE}{bytes(key).hex()}"}
        files.write_private(self._folder / f"{name}{_SUFFIX}", json.dumps(told))

    def _others(self) -> dict[str, StrandKey]:
        file = self._folder / _TRUSTED
        try:
            held: Mapping[str, Mapping[str, Any]] = json.loads(files.read_text(file, links=False))
            return {name: _parse_key(name, said) for name, said in held.items()}
        except FileNotFoundError:
            return {}
        except (*_UNREADABLE, AttributeError, InvalidInputError) as error:
            raise InvalidInputError(f"{file} cannot be read", hint="move it away: keys are imported anew") from error

    def _keep(self, others: Mapping[str, StrandKey]) -> None:
        files.private_folder(self._folder)
        told = {
            key.name: {
                "key": key.public,
                "trust": key.trust.value,
                "since": None if key.since is None else key.since.isoformat(),
                "revoked_at": None if key.revoked_at is None else key.revoked_at.isoformat(),
            }
            for key in others.values()
        }
        files.write_private(self._folder / _TRUSTED, json.dumps(told, indent=1))


def is_name(name: str) -> bool:
    """Return whether a key or a signer of strands may have this name: a file on the keyring is named so."""
    return _NAME.fullmatch(name) is not None


def _parse_key(name: str, said: Mapping[str, Any]) -> StrandKey:
    since, revoked = (
        None if said[one] is None else datetime.fromisoformat(said[one]) for one in ("since", "revoked_at")
    )
    public = _public(digits_of(said["key"]))
    return StrandKey(name=name, public=public, own=False, trust=Trust(said["trust"]), since=since, revoked_at=revoked)


def digits_of(public: str) -> str:
    """Return the 64 hexadecimal digits of a strand signer's key; raises InvalidInputError for what is none."""
    found = _PUBLIC.fullmatch(public.strip())
    if found is None:
        raise InvalidInputError(f"{public!r:.100} is not a public key", hint="it reads helix-key1: and 64 digits")
    return found[1]


def _public(digits: str) -> str:
    return f"helix-key1:{digits}"


def _verifying(key: SigningKey) -> str:
    return bytes(key.verify_key).hex()


def _sealing(key: VerifyKey) -> PublicKey:
    try:
        return key.to_curve25519_public_key()
    except Exception as error:  # libsodium raises several kinds for a point that is none
        raise InvalidInputError("that is not a public key: it is not a point of the curve") from error


def _private(key: SigningKey) -> PrivateKey:
    return key.to_curve25519_private_key()
