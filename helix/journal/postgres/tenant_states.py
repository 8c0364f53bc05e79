"""Tenant states: what a server says of a tenant, and what whoever runs it does about one that is not served."""

from __future__ import annotations

from collections.abc import Sequence

from helix.errors import ForbiddenError, StoreError, StoreLockedError, UnauthorizedError

ACTIVE, INCOMING, MOVED, SUSPENDED, DELETING = "active", "incoming", "moved", "suspended", "deleting"


def way_out_of(state: str, slug: str) -> str:
    """Return what to do about a tenant that PostgreSQL's tables say is not active."""
    ways = {
        SUSPENDED: f"`helix tenant resume {slug}` has it served again",
        INCOMING: "end its `helix migrate`: the same once more, or with --source-gone in place of --from;"
        f" `helix tenant delete {slug}` removes what arrived",
        MOVED: "use it where it was moved to; a move that was cut off is ended by the same `helix migrate` once more",
    }
    return ways.get(state, f"end it: `helix tenant delete {slug}`")


def not_served(state: str, slug: str) -> ForbiddenError:
    """Return the error for a client of a tenant in PostgreSQL that is not active."""
    hint = f"ask who runs the server: {way_out_of(state, slug)}"
    return ForbiddenError(f"the tenant {slug} is {state}: it is not served", hint=hint)


def not_claimed(there: tuple[str, str, str] | None, states: Sequence[str]) -> StoreError:
    """Return why a process is not a tenant's home in PostgreSQL, as in some `states`; `there` is what holds."""
    if there is None:
        return StoreError("the tenant was removed", hint="`helix tenant list` shows them")
    state, slug, process = there
    if state not in states:
        return StoreError(f"the tenant {slug} is {state}: it is not served", hint=way_out_of(state, slug))
    away = "" if state != ACTIVE else f"; to move it away, `helix tenant suspend {slug}` first"
    return StoreLockedError(f"the tenant {slug} is served by {process}", hint=f"ask there, or end that process{away}")


def name_is_anothers(slug: str) -> UnauthorizedError:
    """Return what is told to who may use a removed tenant of PostgreSQL, whose name another one has by now."""
    return UnauthorizedError(f"the tenant {slug} that this was good for was removed")
