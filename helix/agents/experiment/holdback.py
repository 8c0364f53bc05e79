"""Hold-back: which tasks are shown no memories, drawn at random, so that the others can be compared with them."""

from __future__ import annotations

import secrets
from dataclasses import replace
from hashlib import sha256
from typing import cast

from helix.agents.tasks.board import find_task
from helix.journal.log import Journal
from helix.memory.change.compose import Composer
from helix.memory.change.intake import OWN_ATTRIBUTE
from helix.model.task import HELD_BACK, WITH_MEMORY, Task
from helix.store.store import Store
from helix.store.writer import Decision

SHARE = f"{OWN_ATTRIBUTE}holdback"
"""Attribute of a task: the share of tasks that was held back when it was drawn."""
_SALT = "holdback_salt"


def treatment(store: Store, ident: str) -> str:
    """Return whether the experiment shows a task memories (`memory`) or none (`held_back`); drawn once, and kept.

    The draw is a digest of the task's id and a salt of the store's own, so nobody can tell it beforehand and it is
    the same however often it is asked for. A task that is not kept is shown memories: it would not be compared.
    """
    found = find_task(store.index, ident)
    if found is None or found.treatment:
        return found.treatment if found is not None else WITH_MEMORY

    def decision() -> Decision[str]:
        task = find_task(store.index, ident)
        if task is None or task.treatment:
            return Decision((), task.treatment if task is not None else WITH_MEMORY)
        share = store.runtime.settings.holdback
        chosen = HELD_BACK if _draw(_salt(store.journal), ident) < share else WITH_MEMORY
        composer = Composer(store, store.runtime.clock())
        composer.node(replace(task, treatment=chosen, attributes={**task.attributes, SHARE: share}))
        return Decision((composer.change("treatment", task=ident),), chosen)

    return store.writer.submit(decision)


def drawn(store: Store, ident: str) -> str:
    """Return a task's treatment in the experiment as `treatment` would draw it, without waiting for a write."""
    found = find_task(store.index, ident)
    if found is not None and found.treatment:
        return found.treatment
    # The salt is made once in the life of a store.
    salt = store.journal.meta(_SALT) or store.writer.call(lambda: _salt(store.journal))
    return HELD_BACK if _draw(salt, ident) < store.runtime.settings.holdback else WITH_MEMORY


def was_drawn(task: Task) -> bool:
    """Return whether the experiment could have given a task either treatment: it proves nothing without hold-back."""
    return cast(float, task.attributes.get(SHARE, 0.0)) > 0


def _draw(salt: str, ident: str) -> float:
    """Return a number in [0, 1) that salt and id alone decide."""
    return int.from_bytes(sha256(f"{salt}\x1f{ident}".encode()).digest()[:8]) / 2**64


def _salt(journal: Journal) -> str:
    kept = journal.meta(_SALT)
    if kept is None:
        kept = secrets.token_hex(16)
        journal.set_meta(_SALT, kept)
    return kept
