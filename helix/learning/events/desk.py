"""The desk: what a reaction to an event works with, and what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from helix.learning.events.afterwards import Work
from helix.learning.events.bounds import bounded
from helix.learning.events.events import Event, Reply
from helix.learning.events.sessions import Session, Worker
from helix.learning.orchestration.board import TaskSighting, find_task, mirror
from helix.lifecycle.capture.sessions import is_private
from helix.model.recall import RecallAnswer, RecallQuery
from helix.model.task import IN_PROGRESS
from helix.store.store import Store

Recall = Callable[[RecallQuery], RecallAnswer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """What an event comes to: the answer, what is written down after it, and in a few words for the log what was done.

    What follows is done only where the answer arrives: nobody learns from what nobody was shown. `at_once` is done
    before the answer goes out and only remembers, and `undone` takes it back where the answer gets lost; `then` writes,
    once the answer has arrived; `always` is done in any case, also where the answer is late. Nothing of the latter two
    is done while nothing may be kept.
    """

    reply: Reply = field(default_factory=Reply)
    at_once: tuple[Work, ...] = ()
    undone: tuple[Work, ...] = ()
    then: tuple[Work, ...] = ()
    always: tuple[Work, ...] = ()
    did: str = ""


NOTHING = Reaction()


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """One event's session and the service. `close_session` and `flush` are the service's own, by scope and name."""

    store: Store
    session: Session
    recall_any: Recall
    close_session: Callable[[str, str], object]
    flush: Callable[[str], object]
    client: str

    def worker(self, event: Event) -> Worker:
        """Return who works."""
        return self.session.worker(event.agent, event.agent_type)

    def when_sure(self, worker: Worker, work: Work) -> Work:
        """Return work that is done once it is certain which task an agent does, behind what waits for the same."""

        def done() -> None:
            worker.held.append(work)
            if worker.sure:
                worker.write_held()

        return done

    def release(self, *, even_unsure: bool = False) -> None:
        """Do what was held back and waits for nothing any more; with `even_unsure` all of it."""
        for worker in self.session.ready(even_unsure=even_unsure):
            worker.write_held()

    def recall(self, query: RecallQuery) -> RecallAnswer:
        """Answer a question in this session, so that `helix last` shows what an agent was given."""
        return self.recall_any(replace(query, session=self.session.name))

    def keeps(self) -> bool:
        """Return whether anything of this session may be written down just now."""
        return not self.store.paused and not is_private(self.store, self.session.name)

    def sees(
        self, key: str, attributes: Mapping[str, object], *, objective: str | None = None, status: str | None = None
    ) -> None:
        """Bring a task up to date with what was seen of it, cut to size; what is None or left out stays."""
        seen = TaskSighting(
            session=self.session.name,
            key=key,
            scope=self.session.scope,
            objective=objective,
            status=status,
            attributes=bounded(attributes),
        )
        mirror(self.store, seen)

    def ensure(self, task: str, key: str) -> None:
        """Have a task where something is to be noted about one that nobody has told of yet."""
        if find_task(self.store, task) is None:
            self.sees(key, {}, status=IN_PROGRESS)
