"""Change events: what listeners are told of changes and jobs, after they are durable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from helix.model.edge import Label, Relation
from helix.model.operations import DropEdge, DropNode, PutEdge, PutNode, Row
from helix.model.reports import Job
from helix.model.work_item import WorkItem

Event = Mapping[str, Any]

_BIRTHS = frozenset({Relation.GROUNDED_IN, Relation.SUPERSEDES})
_CALLED: Mapping[Label, str] = {
    **{label: label.value.lower() for label in Label if label is not Label.ENTITY},  # a name alone says nothing new
    Label.REFLECTION: "insight",
}
EVENT_TYPES = (
    *("memory.added", "memory.changed", "memory.dropped", "episode.recorded", "episode.dropped"),
    *("edge.changed", "contradiction.changed", "candidate.changed", "insight.changed"),
    *("session.changed", "plan.changed", "task.changed", "exploration.changed", "workspace.changed"),
    *("job.progress", "work.progress", "store.changed"),
)
"""What is told of. An id is that of the node, job or piece of work; of an edge those of its two ends. `store.changed`
says of what: `capture` or `background` was paused or goes on, or the `content` became another one, by a restore."""


class ChangeEvents:
    """Passes events on to subscribers, on the writer's or a job's thread: a callback must return at once."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[Event], None]] = []

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Have `callback` told of every event of the store; return a function that ends it."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback)

    def tell_rows(self, rows: Sequence[Row]) -> None:
        """Tell those who subscribed to the store of journalled changes."""
        if self._callbacks:
            for event in _of_rows(rows):
                self._tell(event)

    def tell_job(self, job: Job) -> None:
        """Tell those who subscribed to the store of a job's progress or end."""
        self._tell(
            {
                "type": "job.progress",
                "id": job.id,
                "kind": job.kind,
                "state": job.state.value,
                "done": job.done,
                "total": job.total,
            }
        )

    def tell_work(self, item: WorkItem) -> None:
        """Tell those who subscribed to the store of background work asked for, begun, put off or ended."""
        self._tell({"type": "work.progress", "id": item.id, "kind": item.kind, "state": item.state.value})

    def tell_store(self, store_id: str, what: str) -> None:
        """Tell that of the store as a whole something is otherwise now: see EVENT_TYPES."""
        self._tell({"type": "store.changed", "id": store_id, "what": what})

    def _tell(self, event: Event) -> None:
        for callback in tuple(self._callbacks):
            callback(event)


def _of_rows(rows: Sequence[Row]) -> Iterator[Event]:
    for row in rows:
        # A memory comes into the world with its evidence, or as the successor of another.
        born = {op.source.id for op in row.change.operations if isinstance(op, PutEdge) and op.type in _BIRTHS}
        for op in row.change.operations:
            match op:
                case PutNode() | DropNode() if op.label in _CALLED:
                    yield {"type": _word(op, op.id in born), "id": op.id, "change": row.change.kind}
                case PutEdge() | DropEdge():
                    contrary = op.type is Relation.CONTRADICTS
                    yield {
                        "type": "contradiction.changed" if contrary else "edge.changed",
                        "id": f"{op.source.id}->{op.target.id}",
                        "relation": op.type.value,
                        "source": op.source.id,
                        "target": op.target.id,
                        "change": row.change.kind,
                    }


def _word(op: PutNode | DropNode, born: bool) -> str:
    if op.label is Label.MEMORY:
        return "memory.dropped" if isinstance(op, DropNode) else "memory.added" if born else "memory.changed"
    if op.label is Label.EPISODE:
        return "episode.dropped" if isinstance(op, DropNode) else "episode.recorded"
    return f"{_CALLED[op.label]}.changed"
