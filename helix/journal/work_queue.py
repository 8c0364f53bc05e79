"""Work queue: the queue of background work, kept beside the log, so that what was asked for outlives the process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from helix.errors import ConflictError, NotFoundError
from helix.journal.backend import Backend, DatabaseConnection
from helix.model.clock import EPOCH, LATEST, Clock, from_micros, to_micros
from helix.model.ids import IdMaker
from helix.model.work_item import WorkItem, WorkState

KEPT_ITEMS = 500
"""Ended items, the last ones, that stay to be looked at."""

_COLUMNS = (
    "id, kind, key, payload, state, attempts, not_before, created_at, started_at, ended_at, error, result FROM work"
)
_ENDED = "('done', 'failed')"


class Work:
    """The queue of one store. Any thread may use it; every call that changes it is durable when it returns."""

    def __init__(self, database: Backend, *, clock: Clock, make_id: IdMaker) -> None:
        self._database = database
        self._clock = clock
        self._make_id = make_id

    def add(
        self,
        kind: str,
        key: str = "",
        payload: Mapping[str, Any] | None = None,
        not_before: datetime | None = None,
    ) -> WorkItem:
        """Ask for work in the journal's queue, to be begun at a moment or (None) at once; return its item.

        Where the same is queued already, that item is returned, due at the earlier of both moments. Where it runs,
        that one is returned too, and it is queued once more, with this payload, when it ends.
        """
        now = self._clock()
        said, due = json.dumps(dict(payload or {}), ensure_ascii=False), to_micros(not_before or now)
        with self._database.transaction() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} WHERE kind = ? AND key = ? AND state IN ('queued', 'running')", (kind, key)
            ).fetchone()
            if row is None:
                item_id = self._make_id(now)
                _insert(connection, item_id, kind, key, said, due, to_micros(now))
            else:
                item_id = row[0]
                running = row[4] == WorkState.RUNNING
                change = "again = ?" if running else "not_before = min(not_before, ?)"
                connection.execute(f"UPDATE work SET {change} WHERE id = ?", (said if running else due, item_id))
            return _one(connection, item_id)

    def take(self, now: datetime) -> WorkItem | None:
        """Begin the item of the journal's queue that was asked for first among those due, or return None."""
        moment = to_micros(now)
        with self._database.transaction() as connection:
            row = connection.execute(
                "SELECT id FROM work WHERE state = 'queued' AND not_before <= ? ORDER BY created_at, id LIMIT 1",
                (moment,),
            ).fetchone()
            if row is None:
                return None
            connection.execute(
                "UPDATE work SET state = 'running', attempts = attempts + 1, started_at = ? WHERE id = ?",
                (moment, row[0]),
            )
            return _one(connection, row[0])

    def finish(self, item_id: str, result: Mapping[str, Any]) -> None:
        """End a running item of the journal's work queue with what it came to."""
        self._end(item_id, WorkState.DONE, "", result)

    def fail(self, item_id: str, error: str, result: Mapping[str, Any] | None = None) -> None:
        """End a running item of the journal's queue for good, with the reason and with what it had come to."""
        self._end(item_id, WorkState.FAILED, error, result or {})

    def postpone(self, item_id: str, error: str, not_before: datetime) -> None:
        """Put a running item back into the journal's queue, to begin at a moment; its journalled steps stay."""
        with self._database.transaction() as connection:
            _check_running(connection, item_id)
            connection.execute(
                "UPDATE work SET state = 'queued', error = ?, not_before = ?, again = NULL WHERE id = ?",
                (error, to_micros(not_before), item_id),
            )

    def recover(self) -> int:
        """Put back into the journal's queue what ran when the process ended; return how many. Asked at start."""
        with self._database.reading() as connection:
            if connection.execute("SELECT 1 FROM work WHERE state = 'running' LIMIT 1").fetchone() is None:
                return 0
        with self._database.transaction() as connection:
            changed = "UPDATE work SET state = 'queued', again = NULL WHERE state = 'running' RETURNING id"
            return len(connection.execute(changed).fetchall())

    def item(self, item_id: str) -> WorkItem:
        """Return an item of the journal's work queue, or raise NotFoundError."""
        with self._database.reading() as connection:
            return _one(connection, item_id)

    def items(self, limit: int = 50) -> list[WorkItem]:
        """Return the items of the journal's work queue asked for last, newest first, with every unfinished one."""
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} ORDER BY state IN {_ENDED}, created_at DESC, id DESC LIMIT ?", (limit,)
            ).fetchall()
        return sorted(map(_item, rows), key=lambda item: (item.created_at, item.id), reverse=True)

    def came_to(self, *counts: str) -> dict[str, int]:
        """Return by name the sums of counts over the results of the ended items in the journal's work queue."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT result FROM work WHERE state = 'done'").fetchall()
        results = [_table(result) or {} for (result,) in rows]
        came = {name: [result.get(name) for result in results] for name in counts}
        return {name: sum(one for one in found if isinstance(one, int)) for name, found in came.items()}

    def next_due(self) -> datetime | None:
        """Return when the next item in the journal's work queue is due, or None where nothing is queued."""
        with self._database.reading() as connection:
            (due,) = connection.execute(
                "SELECT min(not_before) FROM work WHERE state = 'queued' AND not_before BETWEEN 0 AND ?", (LATEST,)
            ).fetchone()
        return None if due is None else from_micros(due)

    def _end(self, item_id: str, state: WorkState, error: str, result: Mapping[str, Any]) -> None:
        now = self._clock()
        with self._database.transaction() as connection:
            kind, key, again = _check_running(connection, item_id)
            connection.execute(
                "UPDATE work SET state = ?, error = ?, result = ?, ended_at = ?, again = NULL WHERE id = ?",
                (state, error, json.dumps(dict(result), ensure_ascii=False, default=str), to_micros(now), item_id),
            )
            if again is not None:
                _insert(connection, self._make_id(now), kind, key, again, to_micros(now), to_micros(now))
            connection.execute(
                f"DELETE FROM work WHERE state IN {_ENDED} AND id NOT IN"
                f" (SELECT id FROM work WHERE state IN {_ENDED} ORDER BY ended_at DESC, id DESC LIMIT {KEPT_ITEMS})"
            )


def _insert(
    connection: DatabaseConnection, item_id: str, kind: str, key: str, payload: str, due: int, now: int
) -> None:
    connection.execute(
        "INSERT INTO work (id, kind, key, payload, state, not_before, created_at) VALUES (?, ?, ?, ?, 'queued', ?, ?)",
        (item_id, kind, key, payload, due, now),
    )


def _check_running(connection: DatabaseConnection, item_id: str) -> tuple[str, str, str | None]:
    """Return kind, key and what is to be queued next of a running item; raises ConflictError where it does not run."""
    row = connection.execute("SELECT kind, key, again, state FROM work WHERE id = ?", (item_id,)).fetchone()
    if row is None or row[3] != WorkState.RUNNING:
        raise ConflictError(f"work {item_id} is not running", hint="`helix work` lists the background work")
    return row[0], row[1], row[2]


def _one(connection: DatabaseConnection, item_id: str) -> WorkItem:
    row = connection.execute(f"SELECT {_COLUMNS} WHERE id = ?", (item_id,)).fetchone()
    if row is None:
        raise NotFoundError(f"no work has the id {item_id!r}", hint="`helix work` lists the background work")
    return _item(row)


def _item(row: tuple[Any, ...]) -> WorkItem:
    item_id, kind, key, payload, state, attempts, *times, error, result = row
    not_before, created_at, started_at, ended_at = map(_moment, times)
    asked, came_to = _table(payload), _table(result)
    damaged = None in (asked, came_to, not_before, created_at) or state not in list(WorkState)
    return WorkItem(
        id=item_id,
        kind=kind,
        key=key,
        payload=asked or {},
        state=WorkState.FAILED if damaged else WorkState(state),
        attempts=attempts,
        not_before=not_before or EPOCH,
        created_at=created_at or EPOCH,
        started_at=started_at,
        ended_at=ended_at,
        error="its row in the queue is damaged" if damaged else error,
        result=came_to or {},
    )


def _moment(at: object) -> datetime | None:
    return from_micros(at) if isinstance(at, int) and 0 <= at <= LATEST else None


def _table(text: str) -> dict[str, Any] | None:
    """Return an object of JSON; None where the row was damaged: what it asked for is asked for again in its time."""
    try:
        found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
