"""Background: what the service offers of capture, sessions and the work that goes on behind the foreground."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from helix.lifecycle.capture import sessions
from helix.lifecycle.capture.episodes import EpisodeRequest, record
from helix.lifecycle.capture.sessions import SessionRequest
from helix.lifecycle.intake import Intake
from helix.lifecycle.work.foreground import Foreground
from helix.lifecycle.work.undo import undo
from helix.lifecycle.work.worker import Worker
from helix.model.episode import Episode
from helix.model.memory import GLOBAL_SCOPE
from helix.model.reports import BackgroundStatus, Page, Recording, SessionReport, WorkPlan
from helix.model.requests import Request
from helix.model.undo import UndoReport
from helix.model.work import WorkItem
from helix.store import listing
from helix.store.store import Store


class Background:
    """The part of the service that captures; every method blocks and may be called from any thread."""

    _store: Store
    _foreground: Foreground
    _worker: Worker

    def request(self, request: Request) -> AbstractContextManager[None]:
        """Have what this thread asks for meanwhile count once, however often the request is sent."""
        return self._store.writer.request(request)

    def record_episode(self, **fields: Any) -> Recording:
        """Record something that happened, found at once; the fields are those of `EpisodeRequest`."""
        self._store.check_capture()
        with self._foreground.request():
            return record(self._store, EpisodeRequest(**fields))

    def list_episodes(
        self, *, scope: str | None = None, session: str | None = None, limit: int = 50, after: str | None = None
    ) -> Page[Episode]:
        """Return a page of episodes, newest first."""
        return listing.episodes(self._store, scope=scope, session=session, limit=limit, after=after)

    def open_session(self, **fields: Any) -> SessionReport:
        """Open a session, or go on with one; the fields are those of `SessionRequest`.

        A private one is opened while capture is paused too: it is to be known as private when capture goes on.
        """
        request = SessionRequest(**fields)
        if not request.private:
            self._store.check_capture()
        return sessions.open_session(self._store, request)

    def close_session(self, name: str, scope: str = GLOBAL_SCOPE) -> SessionReport:
        """End a session, and have what is new in its scope consolidated."""
        report = sessions.close_session(self._store, name, scope)
        if not report.private:
            self._worker.session_ended(report.scope)
        return report

    def list_sessions(self, scope: str | None = None, limit: int = 50) -> list[SessionReport]:
        """Return sessions, the latest start first."""
        return sessions.sessions(self._store, scope, limit)

    def flush(self, scope: str | None = None) -> WorkItem:
        """Have what happened in a scope (None: in all) consolidated now, without waiting for more."""
        self._store.check_capture()
        return self._worker.flush(None if scope is None else self._intake().scope(scope))

    def begin_work(self, kind: str, /, **payload: Any) -> WorkItem:
        """Ask for a background job of a kind; see `helix.lifecycle.work.kinds`, and `parameters` for the payload.

        Raises InvalidInputError, which says what is allowed, and PausedError while capture is paused.
        """
        self._store.check_capture()
        return self._worker.add(kind, self._intake().attributes(payload))

    def plan_work(self, kind: str, /, **payload: Any) -> WorkPlan:
        """Return what a background job would do now, without a language model; nothing is changed.

        Raises InvalidInputError as `begin_work` does, and QueryTimeoutError where it takes longer than a request may.
        """
        return self._worker.plan(kind, payload)

    def _intake(self) -> Intake:
        return Intake(self._store.settings.text_limit)

    def pause_worker(self, on: bool) -> bool:
        """Stop background work, also over restarts, or go on with it; return what holds now."""
        return self._worker.pause(on)

    def cancel_work(self, item_id: str) -> WorkItem:
        """Ask a background job to end; what it has written stays."""
        return self._worker.cancel(item_id)

    def work_item(self, item_id: str) -> WorkItem:
        """Return a background job as it stands."""
        return self._worker.item(item_id)

    def undo(self, item_id: str, *, dry_run: bool = False) -> UndoReport:
        """Take back what a background job did, or list what has been done since that this would take away."""
        return undo(self._store, item_id, dry_run=dry_run)

    def background(self, limit: int = 10) -> BackgroundStatus:
        """Describe what the background does and has to do, with the jobs asked for last."""
        listing.check_limit(self._store, limit)
        return self._worker.status(limit)

    def settle(self, seconds: float | None = None) -> bool:
        """Wait until the background has nothing left to do; False when that takes longer."""
        return self._worker.settle(seconds)
