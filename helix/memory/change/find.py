"""Find: the memory that a person or an agent means by an id or a name, and the node that stands behind any id."""

from __future__ import annotations

from collections.abc import Collection

from helix.errors import ConflictError, NotFoundError, did_you_mean
from helix.model.edge import Label, Ref
from helix.model.memory import Memory, Status
from helix.model.tombstone import is_erased
from helix.scopes import same_scope
from helix.store.index import StoreIndex
from helix.text.cleaning import given_name
from helix.text.inert import told_label

# Where a name has belonged to several memories, the one that stands first here is meant; one that waits for a review
# has the name that a stranger gave it.
_PREFERENCE = (Status.ACTIVE, Status.ARCHIVED, Status.FORGOTTEN, Status.QUARANTINED, Status.RETIRED)


_LEAST_OF_NAME, _LEAST_OF_ID = 3, 8
"""Fewest letters of a name, and of an id, that may stand for the whole."""
_SHOWN = 5
_LONGEST = 4_000
"""Letters of what is asked for that are looked at: no scope and name together have as many."""
_COMPARED = 5_000
"""Most names that a mistyped one is compared with."""


def memory_of(index: StoreIndex, name_or_id: str, scopes: Collection[str] | None = None) -> Memory:
    """Find the memory that a change is about: that of an id, or of a name: the active one, else the best founded one.

    Of these scopes, None: of any. Of those that are hidden alike and alike well founded it is the newest.
    A name is found however it was written when it was given. `scope:name` tells apart memories of one name in several
    scopes. What begins one name or id alone stands for it. Raises NotFoundError, or ConflictError for a name that is
    active in several scopes, and for what begins several; neither tells of other scopes than these.
    """
    wanted = name_or_id[:_LONGEST].strip()
    if (known := index.memory_by_id(wanted)) is not None and (scopes is None or known.scope in scopes):
        return known
    named = _named(index, wanted, scopes) or _named(index, given_name(wanted), scopes)
    if not named and ":" in wanted:
        scope, _, name = wanted.rpartition(":")
        named = [memory for memory in _named(index, name, scopes) if same_scope(memory.scope, scope)]
    if not named:
        named = _beginning(index, wanted, scopes)
    best = min(_PREFERENCE.index(memory.status) for memory in named)
    candidates = [memory for memory in named if _PREFERENCE.index(memory.status) == best]
    places = sorted({memory.scope for memory in candidates})
    if len(places) > 1:
        choices = ", ".join(f"{told_label(scope)}:{candidates[0].name}" for scope in places)
        raise ConflictError(f"{wanted!r} is a memory in several scopes", hint=f"say which: {choices}")
    return max(candidates, key=lambda memory: (-memory.provenance.trust.rank, memory.recorded_at, memory.id))


def _named(index: StoreIndex, name: str, scopes: Collection[str] | None) -> list[Memory]:
    return [memory for memory in index.memories_named(name) if scopes is None or memory.scope in scopes]


def _beginning(index: StoreIndex, wanted: str, scopes: Collection[str] | None) -> list[Memory]:
    """Return the memories of the one name or id that begins so, of active ones where there are any.

    Raises ConflictError where several do, and NotFoundError with what is like it where none does.
    """
    prefix = given_name(wanted)
    known = [*index.memory_names()]
    if scopes is not None:
        there = {row for scope in scopes for row in index.of_scope(scope)}
        known = [(name, here) for name, rows in known if (here := [row for row in rows if row in there])]
    begun = {
        name: rows
        for name, rows in known
        if (len(prefix) >= _LEAST_OF_NAME and name.startswith(prefix))
        or (len(wanted) >= _LEAST_OF_ID and any(index.id_of(row).startswith(wanted) for row in rows))
    }
    active = index.where(Label.MEMORY, statuses=[Status.ACTIVE])
    held = [name for name, rows in begun.items() if any(row in active for row in rows)]
    names = sorted(held or begun)
    if len(names) > 1:
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        hint = f"say more of it: {', '.join(names[:_SHOWN])}{more}"
        raise ConflictError(f"{wanted!r} begins the names of {len(names)} memories", hint=hint)
    if not names:
        first = prefix[:1]
        near = [name for name, _ in known if name.startswith(first)][:_COMPARED] if first else []
        hint = did_you_mean(prefix, near) or "`helix list` and `helix recall` show names"
        raise NotFoundError(f"no memory is called {wanted!r}", hint=hint)
    return [
        memory
        for memory in _named(index, names[0], scopes)
        if names[0].startswith(prefix) or memory.id.startswith(wanted)
    ]


def standing_memory_of(index: StoreIndex, name_or_id: str) -> Memory:
    """Find a memory as `memory_of` does, but raise ConflictError for a tombstone: it cannot be changed."""
    memory = memory_of(index, name_or_id)
    if is_erased(memory):
        raise ConflictError(f"{memory.id} was erased for good", hint="store it again if it is still wanted")
    return memory


def node_of(index: StoreIndex, name_or_id: str) -> Ref:
    """Find the node with that id, else the memory of that name; raises NotFoundError."""
    return index.with_id(name_or_id.strip()) or memory_of(index, name_or_id).ref
