"""Task lists: tasks as a client lists its own, given as JSON or read from a saved plan, and what asks about either."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from helix.agents.answers.cycles import detect_cycles
from helix.agents.tasks import dag
from helix.agents.tasks.plan_end import Clearing, clear_plan
from helix.agents.tasks.plans import as_listed, load_plan
from helix.errors import InvalidInputError
from helix.model.memory import GLOBAL_SCOPE
from helix.store.index import StoreIndex
from helix.store.store import Store

Json = Mapping[str, Any]


def listed(
    index: StoreIndex, tasks: Sequence[Json] | None, plan: str, scope: str = GLOBAL_SCOPE
) -> list[dict[str, Any]]:
    """Return the listed tasks that were given, else those of a saved plan (empty: the scope's newest), by their `seq`.

    Raises InvalidInputError where a task is no object, or both are given; NotFoundError where there is no such plan.
    """
    if tasks is None:
        return as_listed(load_plan(index, plan, scope).tasks)
    if plan:
        raise InvalidInputError("tasks and a plan are both given", hint="give one of them")
    return [dict(task) for task in objects(tasks)]


def clear(
    store: Store, tasks: Sequence[Json] | None, plan: str, scope: str, session: str, *, force: bool
) -> tuple[Clearing, list[dict[str, Any]]]:
    """Clear a task list: return what was in progress, and all, with those pending; a saved plan is so from now on."""
    if tasks is None:
        return clear_plan(store, plan, scope, session, force=force), listed(store.index, None, plan, scope)
    changed, cleared = dag.clear_checkpoints(listed(store.index, tasks, plan), session)
    return Clearing(cleared=tuple(cleared)), changed


def cycles(dependencies: Json) -> list[tuple[str, ...]]:
    """Return circles of a list's tasks that wait for each other; InvalidInputError where one has no list of ids."""
    for task, waits in dependencies.items():
        if not isinstance(waits, list | tuple) or not all(isinstance(one, str) for one in waits):
            raise InvalidInputError(f"what {task!r} waits for is not a list of ids", hint='write {"002": ["001"]}')
    return detect_cycles(dependencies)


def objects(tasks: Sequence[Json]) -> list[Json]:
    """Return a client's list of tasks as it came; raises InvalidInputError where one is no object."""
    for task in tasks:
        if not isinstance(task, Mapping):
            raise InvalidInputError(f"a task must be a JSON object, not {task!r:.80}")
    return list(tasks)
