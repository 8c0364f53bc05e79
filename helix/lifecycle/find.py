"""Finding a memory by what a person or an agent calls it: its id, or its name."""

from __future__ import annotations

from helix.errors import ConflictError, NotFoundError
from helix.model.edge import Label, Ref
from helix.model.memory import Memory, Status
from helix.model.tombstone import is_erased
from helix.scopes import same_scope
from helix.store.store import Store
from helix.text.names import given_name

# Where a name has belonged to several memories, the one that stands first here is meant.
_PREFERENCE = (Status.ACTIVE, Status.QUARANTINED, Status.ARCHIVED, Status.FORGOTTEN, Status.RETIRED)


def memory_of(store: Store, name_or_id: str) -> Memory:
    """Return the memory of that id, or the newest of that name, active ones first.

    A name is found however it was written when it was given. `scope:name` tells apart memories of one name in several
    scopes. Raises NotFoundError, or ConflictError for a name that is active in several scopes.
    """
    wanted = name_or_id.strip()
    row = store.catalogue.row_of(Ref(label=Label.MEMORY, id=wanted))
    if row is not None:
        return store.memory(row)
    named = store.memories_named(wanted) or store.memories_named(given_name(wanted))
    if not named and ":" in wanted:
        scope, _, name = wanted.rpartition(":")
        named = [memory for memory in store.memories_named(name) if same_scope(memory.scope, scope)]
    if not named:
        raise NotFoundError(f"no memory is called {wanted!r}", hint="`helix list` and `helix recall` show names")
    best = min(_PREFERENCE.index(memory.status) for memory in named)
    candidates = [memory for memory in named if _PREFERENCE.index(memory.status) == best]
    scopes = sorted({memory.scope for memory in candidates})
    if len(scopes) > 1:
        choices = ", ".join(f"{scope}:{candidates[0].name}" for scope in scopes)
        raise ConflictError(f"{wanted!r} is a memory in several scopes", hint=f"say which: {choices}")
    return max(candidates, key=lambda memory: (memory.recorded_at, memory.id))


def standing_memory_of(store: Store, name_or_id: str) -> Memory:
    """Return what `memory_of` does, but raise ConflictError for a tombstone: nothing is left of it to be changed."""
    memory = memory_of(store, name_or_id)
    if is_erased(memory):
        raise ConflictError(f"{memory.id} was erased for good", hint="store it again if it is still wanted")
    return memory
