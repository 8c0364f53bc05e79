"""Capture: episodes and sessions, and a pause in which nothing new is ingested."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from helix.memory.capture import sessions as keeping
from helix.memory.capture.episodes import EpisodeRequest, record
from helix.memory.capture.sessions import SessionRequest
from helix.model.episode import Episode
from helix.model.memory import GLOBAL_SCOPE, MemoryOrder, TimeKind
from helix.model.principal import Role
from helix.model.reports import Page, Recording, SessionReport
from helix.operations.checks import check_source, page_size
from helix.operations.listed import mutation, scoped_query
from helix.service import Helix
from helix.store import listing
from helix.store.listing import MemoryFilter


@mutation(Role.AGENT, scoped=True, adds=True, keyed=True)
def record_episode(helix: Helix, request: EpisodeRequest) -> Recording:
    """Record what happened, word for word but for secrets, as evidence for memories; found by its words at once.

    A private session, and files that the project's `.helixignore` excludes, leave nothing: the answer says so.
    """
    helix.store.check_capture()
    check_source(helix, request.source)
    with helix.foreground.request():
        return record(helix.store, request)


@scoped_query
def episodes(
    helix: Helix,
    *,
    scope: Annotated[str | None, "Only of this scope."] = None,
    session: Annotated[str | None, "Only of this session."] = None,
    since: Annotated[datetime | None, "Only what is of this moment or later."] = None,
    until: Annotated[datetime | None, "Only what is of this moment or earlier."] = None,
    time: TimeKind = TimeKind.RECORDED,
    oldest_first: Annotated[bool, "The oldest first, as a session is read from its beginning."] = False,
    first: int = 50,
    after: str | None = None,
) -> Page[Episode]:
    """List episodes page by page, newest first."""
    order = MemoryOrder.OLDEST if oldest_first else MemoryOrder.NEWEST
    size = page_size(helix, "first", first)
    wanted = MemoryFilter(scope=scope, since=since, until=until, time=time)
    return listing.episodes(helix.store, wanted, session, order, size, after)


@mutation(Role.AGENT, scoped=True, adds=True, keyed=True)
def open_session(helix: Helix, request: SessionRequest) -> SessionReport:
    """Open a session, or go on with one. Nothing of a private one is ever written down."""
    if not request.private:  # a private one is opened while capture is paused too, so that it is known as private
        helix.store.check_capture()
    return keeping.open_session(helix.store, request)


@mutation(Role.AGENT, scoped=True, keyed=True)
def close_session(
    helix: Helix, name: Annotated[str, "The name of the session."], scope: str = GLOBAL_SCOPE
) -> SessionReport:
    """End a session; what is new in its scope is consolidated in the background."""
    return helix.worker.close_session(name, scope)


@scoped_query
def sessions(
    helix: Helix,
    scope: Annotated[str | None, "Only sessions of this scope; all where it is not said."] = None,
    first: int = 50,
    after: str | None = None,
    name: Annotated[str | None, "Only sessions of this name."] = None,
    since: Annotated[datetime | None, "Only sessions that began at this moment or later."] = None,
    until: Annotated[datetime | None, "Only sessions that began at this moment or earlier."] = None,
) -> Page[SessionReport]:
    """List sessions page by page, the latest start first; private ones are not among them."""
    wanted = MemoryFilter(scope=scope, since=since, until=until)
    return keeping.sessions(helix.store, wanted, page_size(helix, "first", first), after, name)


@mutation(Role.ADMIN, person_where={("on", False): "end a pause"})
def pause(helix: Helix, on: Annotated[bool, "True to stop, false to go on."] = True) -> bool:
    """Stop capturing and background jobs, or go on with it; returns whether capture is paused now.

    Nothing new comes in while it is paused. Recall goes on, and so does what people do to what is there.
    """
    helix.store.writer.call(lambda: helix.store.pause(on))
    helix.worker.wake()
    helix.events.tell_store(helix.store.journal.store_id, "capture")
    return on
