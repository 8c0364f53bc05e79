"""Syncing: machines come to hold the same by way of a folder, a git repository, a bucket, or a Helix that is shared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from helix.errors import InvalidInputError, NotFoundError
from helix.model.clock import from_micros
from helix.model.reports import Job
from helix.model.strand import SyncedPlace, is_shared
from helix.operations.listed import mutation, query_for
from helix.operations.strand_keys import keyring_of
from helix.service import Helix
from helix.store.jobs import Ticket
from helix.strands import arriving, remotes, sync_state
from helix.strands.remotes import address_of
from helix.strands.shares import PlaceTokens
from helix.strands.sync import outdated_by
from helix.strands.sync import start as start_sync

_SYNC = "carry memory out of the store, and import what others carry"
_PLACE = "A folder, a bare git repository (path or URL), `s3://bucket/prefix`, or a shared `https://host/sync/v1`."
_SCOPES = "Only these scopes from now on; an empty list for the whole store. It stays as it was where it is not said."


@mutation(None, person=_SYNC)
def sync(
    helix: Helix,
    place: Annotated[str, _PLACE],
    *,
    passphrase: Annotated[
        str | None, "What strands there are locked with; without it they are sealed for your keys."
    ] = None,
    key: Annotated[str | None, "The name of the key that signs; the only one where it is not said."] = None,
    scopes: Annotated[Sequence[str] | None, _SCOPES] = None,
    token: Annotated[str | None, "What a shared Helix gave to let this store in; kept in the home."] = None,
) -> Job:
    """Take in what your other machines left in a place, and leave there what the store holds by now.

    Only signed and encrypted strands lie there. Of what the place has, only what a known key signed is imported, as an
    import is; what was passed over is told in `problems`.
    """
    address = address_of(place)
    keyring_of(helix).sealing_for_oneself(key, passphrase)  # said at once where there is no key
    tokens = PlaceTokens(helix.settings.home)
    if token is not None and token != tokens.of(_taking_a_token(address)):
        tokens.keep(address, token)
        sync_state.forget_contents(helix.store, address)  # it opens another share: what the last one had is not there
    sync_state.choose(helix.store, address, scopes)
    return start_sync(helix.store, helix.jobs, helix.worker, address, key=key, passphrase=passphrase)


@mutation(None, person=_SYNC)
def watch_sync(
    helix: Helix,
    place: Annotated[str, _PLACE],
    minutes: Annotated[float | None, "How often; null to do it only when it is asked for."] = None,
    scopes: Annotated[Sequence[str] | None, _SCOPES] = None,
) -> list[SyncedPlace]:
    """Have the store synced with a place in the background, at once and then every so many minutes.

    It goes on after a restart. Strands are sealed for your keys; this machine needs exactly one of its own.
    Returns the places.
    """
    address = address_of(place)
    if minutes is not None:
        if not (math.isfinite(minutes) and 1 <= minutes <= 100_000):
            raise InvalidInputError("`minutes` must be 1 or more", hint="such as 15")
        keyring_of(helix).sealing_for_oneself(None, None)
    sync_state.choose(helix.store, address, scopes)
    helix.watching.set(address, minutes)
    return synced_places(helix)


@mutation(None, person=_SYNC)
def forget_place(helix: Helix, place: Annotated[str, "As `syncedPlaces` tells it."]) -> Job:
    """Stop syncing with a place, and forget it; the job tells how many strands of this store stay there.

    Nothing is lost here, and nothing is removed there. `erased`: they have what was erased here since the last sync.
    Synced again it is as a new place.
    """
    known = {state.place: state for state in sync_state.every(helix.store.journal)}
    address = place if place in known else address_of(place)
    if address not in known:
        raise NotFoundError(f"this store was never synced with {address!r:.300}", hint="`helix sync` shows the places")

    def work(ticket: Ticket) -> Mapping[str, Any]:
        state = sync_state.read(helix.store.journal, address)
        left, erased = len(state.published), state.outdated != outdated_by(helix.store.path)
        helix.watching.set(address, None)
        sync_state.drop(helix.store, address)
        remotes.forget(helix.store, address)
        return {"place": address, "left": left, "erased": bool(left) and erased}

    return helix.jobs.start(arriving.JOB, work)


@query_for(None)
def synced_places(helix: Helix) -> list[SyncedPlace]:
    """List the places that the store was synced with: how often that is done, and how the last time went."""
    return [
        SyncedPlace(
            place=state.place,
            scopes=None if state.scopes is None else tuple(state.scopes),
            minutes=state.minutes,
            at=None if state.at is None else from_micros(state.at),
            error=state.error,
            problems=tuple(state.problems),
        )
        for state in sync_state.every(helix.store.journal)
    ]


def _taking_a_token(address: str) -> str:
    if not is_shared(address):
        raise InvalidInputError("a token is for a shared Helix alone", hint="such as https://host/sync/v1")
    return address
