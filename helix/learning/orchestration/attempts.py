"""Attempts: which workspaces of a task somebody may still be at work in, and how they end when another one begins."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from helix.lifecycle.compose import Composer
from helix.model.edge import Label, Ref, Relation
from helix.model.workspace import ACTIVE, SUPERSEDED, Workspace
from helix.store.store import Store


def active_attempts(store: Store, task: str) -> list[Workspace]:
    """Return the attempts at a task that nobody has ended, the oldest first."""
    here = Ref(label=Label.TASK, id=task)
    edges = store.records.edges_at(here)
    refs = [op.source for op in edges if op.type is Relation.FOR_TASK and op.target == here]
    nodes = (cast(Workspace, node) for node in store.records.present(refs) if node is not None)
    return sorted((node for node in nodes if node.status == ACTIVE), key=lambda one: (one.recorded_at, one.id))


def supersede(store: Store, composer: Composer, task: str) -> tuple[str, ...]:
    """End the attempts at a task that nobody has ended, as a part of somebody's change; return their ids."""
    left = active_attempts(store, task)
    for one in left:
        composer.node(replace(one, status=SUPERSEDED, ended_at=composer.now))
    return tuple(one.id for one in left)
