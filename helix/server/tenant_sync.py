"""Tenant sync: what a laptop's store may exchange with a tenant by a key, over `/sync/v1`.

A key that names a peer is a share: its scopes say of what, its role whether something is imported and how far it is
believed. The tenant signs with a key that follows from the server's secret, so that every process has it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime

from helix.errors import ForbiddenError
from helix.model.principal import Principal, Role
from helix.model.provenance import Trust
from helix.model.strand import MemoryShare
from helix.service import Helix
from helix.strands.keyring import Keyring, digits_of
from helix.strands.shares import Shares

_OWN = "tenant"
_SINCE = datetime.fromtimestamp(0, UTC)
_BELIEVED: Mapping[Role, Trust] = {
    Role.OWNER: Trust.USER_ASSERTED,
    Role.ADMIN: Trust.USER_ASSERTED,
    Role.EDITOR: Trust.USER_ASSERTED,
    Role.AGENT: Trust.AGENT_INFERRED,
}
"""How far what a store says is believed, by the role of the key that it is synced by; a reader says nothing."""


def seed_of(secret: str, tenant: int) -> bytes:
    """Return the 32 bytes that a tenant's own key is made of: HMAC-SHA256 of its number."""
    return hmac.new(secret.encode(), f"strands of tenant {tenant}".encode(), hashlib.sha256).digest()


def share_of(helix: Helix, seed: bytes, principal: Principal) -> MemoryShare:
    """Return the share that a key is, with the keys that it takes in the tenant's folder. It reads and writes files.

    Raises ForbiddenError for a key that no store is synced by.
    """
    if not principal.peer or not principal.scopes:
        raise ForbiddenError(
            f"no store is synced by the key of {principal.name}",
            hint="helix key create NAME --role editor --scope SCOPE --peer PUBLIC-KEY",
        )
    home, now = helix.settings.home, helix.store.runtime.clock()
    keyring = Keyring(home, now=now)
    keyring.derive(_OWN, seed)
    known = keyring.known(digits_of(principal.peer)) or keyring.add(f"key-{principal.key}", principal.peer)
    trust = _BELIEVED.get(principal.role, Trust.WEB)
    if not known.own and known.trust is not trust:
        keyring.believe(known.name, trust)
    share = MemoryShare(
        name=f"key-{principal.key}",
        key=principal.peer,
        scopes=principal.scopes,
        write=principal.role.reaches(Role.AGENT),
        since=_SINCE,
    )
    Shares(home).put(share)
    return share
