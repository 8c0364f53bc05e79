"""Tenant states: what a server says of a tenant, who becomes its home, and what to do about one that is not served."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from helix.errors import ForbiddenError, StoreError, StoreLockedError, UnauthorizedError

ACTIVE, INCOMING, MOVED, SUSPENDED, DELETING = "active", "incoming", "moved", "suspended", "deleting"

CLAIM = (
    "UPDATE head SET epoch = epoch + $5, commits = commits + 1, home = $2::uuid WHERE tenant = $1 AND NOT EXISTS"
    " (SELECT 1 FROM process WHERE id = head.home AND id IS DISTINCT FROM $2::uuid AND until > now()"
    " AND (url = '' OR url <> $4))"
    " AND EXISTS (SELECT 1 FROM tenant WHERE id = $1 AND state = ANY($3)) RETURNING epoch, commits"
)
WHOSE = (
    "SELECT state, slug, coalesce(name, 'another process') FROM head JOIN tenant ON tenant.id = head.tenant"
    " LEFT JOIN process ON process.id = home WHERE head.tenant = $1"
)
_MOST_STEP = 2**31


def step_drawn() -> int:
    """Return by how much the epoch of a new home is later than that of the one before."""
    return 1 + secrets.randbelow(_MOST_STEP)


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
