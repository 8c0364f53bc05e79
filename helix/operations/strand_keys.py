"""Keys: who signs strands, for whom they are sealed, and how far each signer is believed."""

from __future__ import annotations

from typing import Annotated

from helix.errors import ConflictError
from helix.model.provenance import Trust
from helix.model.strand import StrandKey
from helix.operations.listed import mutation, query_for
from helix.service import Helix
from helix.strands import shared_place
from helix.strands.keyring import Keyring
from helix.strands.shares import Shares

_DECIDE = "decide whose memory is believed"


def keyring_of(helix: Helix) -> Keyring:
    """Return the keys of the home."""
    return Keyring(helix.settings.home, now=helix.store.runtime.clock())


@query_for(None)
def keys(helix: Helix) -> list[StrandKey]:
    """List the keys that sign strands, your own first; only their public parts are shown."""
    return keyring_of(helix).keys()


@mutation(None, person=_DECIDE)
def new_key(helix: Helix, name: Annotated[str, "Such as the name of this machine."]) -> StrandKey:
    """Make a key of your own, which signs strands and opens those that are sealed for it."""
    return keyring_of(helix).new(name)


@mutation(None, person=_DECIDE)
def import_key(
    helix: Helix,
    name: Annotated[str, "What it is called here."],
    public: Annotated[str, "Its public part, as `helix keys export` prints it there."],
) -> StrandKey:
    """Know somebody else's key, or that of your other machine; what it signed is believed as the web is, at first."""
    return keyring_of(helix).add(name, public)


@mutation(None, person=_DECIDE)
def trust_key(
    helix: Helix,
    name: str,
    trust: Annotated[Trust, "How far its rows are believed at most; `user_asserted` is for your other machines alone."],
) -> StrandKey:
    """Say how far the rows are believed that a key has signed."""
    believed = keyring_of(helix).believe(name, trust)
    if believed.revoked_at is not None:
        message = f"{name!r} was revoked on {believed.revoked_at:%Y-%m-%d}: nothing that it signed is believed"
        raise ConflictError(message, hint="ask its owner for another key")
    return believed


@mutation(None, person=_DECIDE)
def revoke_key(helix: Helix, name: str) -> StrandKey:
    """Stop believing a key: what it signed is refused from now on, and what is shared with it is no longer shared.

    The file of an own key is removed, for good.
    """
    revoked, shares = keyring_of(helix).revoke(name), Shares(helix.settings.home)
    for share in shares.all():
        if share.key == revoked.public:
            shared_place.clear(helix.store.path, shares.revoke(share.name))
    return revoked
