"""Change events: what listeners are told of changes and jobs, after they are durable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from helix.model.edge import Label, Relation
from helix.model.operations import DropEdge, DropNode, PutEdge, PutNode, Row
from helix.model.reports import Job

Event = Mapping[str, Any]

_BIRTHS = frozenset({Relation.GROUNDED_IN, Relation.SUPERSEDES})


class Events:
    """Passes events on to subscribers, on the writer's or a job's thread: a callback must return at once."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[Event], None]] = []

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Have `callback` told of every event; return a function that ends it."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback)

    def tell_rows(self, rows: Sequence[Row]) -> None:
        """Tell of journalled changes."""
        if self._callbacks:
            for event in _of_rows(rows):
                self._tell(event)

    def tell_job(self, job: Job) -> None:
        """Tell of a job's progress or end."""
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

    def _tell(self, event: Event) -> None:
        for callback in tuple(self._callbacks):
            callback(event)


def _of_rows(rows: Sequence[Row]) -> Iterator[Event]:
    for row in rows:
        # A memory comes into the world with its evidence, or as the successor of another.
        born = {op.source.id for op in row.change.operations if isinstance(op, PutEdge) and op.type in _BIRTHS}
        for op in row.change.operations:
            match op:
                case PutNode(label=Label.MEMORY):
                    kind = "memory.added" if op.id in born else "memory.changed"
                    yield {"type": kind, "id": op.id, "change": row.change.kind}
                case PutNode(label=Label.EPISODE):
                    yield {"type": "episode.recorded", "id": op.id, "change": row.change.kind}
                case DropNode(label=Label.MEMORY):
                    yield {"type": "memory.dropped", "id": op.id, "change": row.change.kind}
                case PutEdge() | DropEdge():
                    yield {"type": "edge.changed", "id": f"{op.source.id}->{op.target.id}", "relation": op.type.value}
