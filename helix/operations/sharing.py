"""Sharing: parts of the memory are exchanged over HTTP with the holders of keys, each by a token of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from helix.errors import NotFoundError
from helix.memory.change.intake import Intake
from helix.model.strand import MemoryShare
from helix.operations import strand_keys
from helix.operations.listed import mutation, query_for
from helix.service import Helix
from helix.strands import shared_place
from helix.strands.shares import Shares

_SHARE = "share memory with others"


@query_for(None)
def shares(helix: Helix) -> list[MemoryShare]:
    """List with whom the memory is shared over HTTP, and which scopes of it."""
    return Shares(helix.settings.home).all()


@mutation(None, person=_SHARE)
def new_share(
    helix: Helix,
    key: Annotated[str, "The name of the key of who it is shared with: it signs what they leave."],
    scopes: Annotated[Sequence[str], "What it is of: nothing else is given, and nothing else is taken."],
    *,
    name: Annotated[str | None, "What the share is called; as the key where it is not said."] = None,
    write: Annotated[bool, "Take in what they leave, too, believed as the key is."] = True,
) -> MemoryShare:
    """Share scopes with the holder of a key: with the token that this tells once, they sync with `/sync/v1`."""
    known = {one.name: one for one in strand_keys.keys(helix) if not one.own and one.revoked_at is None}
    if key not in known:
        raise NotFoundError(f"no key of somebody else is called {key!r:.100}", hint="`helix keys import NAME KEY`")
    intake = Intake(helix.settings.text_limit)
    now = helix.store.runtime.clock()
    wanted = [intake.scope(one) for one in scopes]
    return Shares(helix.settings.home).new(name or key, known[key].public, wanted, write=write, at=now)


@mutation(None, person=_SHARE)
def revoke_share(helix: Helix, name: str) -> MemoryShare:
    """End a share: its token lets nobody in from now on. What was exchanged stays on both sides."""
    share = Shares(helix.settings.home).revoke(name)
    shared_place.clear(helix.store.path, share)
    return share
