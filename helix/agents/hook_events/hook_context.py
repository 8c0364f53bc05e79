"""Hook context: what a reaction to an event works with, and what it comes to.

What is told of a task is cut, so that it can be kept whatever its length.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from helix.agents.experiment.holdback import drawn, treatment
from helix.agents.hook_events.deferred_queue import Work
from helix.agents.hook_events.hook_events import ANSWER_LIMIT, HookEvent, HookReply
from helix.agents.hook_events.session_state import HookSession, SessionWorker
from helix.agents.observer.queue import enqueue, fit_to_keep
from helix.agents.tasks.board import SESSION_KEY, TaskSighting, find_task, inject, mirror, task_id
from helix.agents.tasks.exclusion import Exclusion
from helix.memory.capture.sessions import is_private
from helix.memory.worker.worker import MemoryWorker
from helix.model.candidate import Candidate
from helix.model.recall import RecallAnswer, RecallQuery
from helix.model.task import HELD_BACK, IN_PROGRESS, Shown
from helix.store.store import Store
from helix.text.client_ids import told_id
from helix.text.excerpts import ends

Recall = Callable[[RecallQuery], RecallAnswer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """What an event comes to: the answer, what is written down after it, and in a few words for the log what was done.

    What follows is done only where the answer arrives: nobody learns from what nobody was shown. `at_once` is done
    before the answer goes out and only remembers, and `undone` takes it back where the answer gets lost; `then` writes,
    once the answer has arrived; `always` is done in any case, also where the answer is late. Nothing of the latter two
    is done while nothing may be kept.
    """

    reply: HookReply = field(default_factory=HookReply)
    at_once: tuple[Work, ...] = ()
    undone: tuple[Work, ...] = ()
    then: tuple[Work, ...] = ()
    always: tuple[Work, ...] = ()
    did: str = ""


NOTHING = Reaction()


def joined_reactions(first: Reaction, found: Reaction) -> Reaction | None:
    """Return two reactions to one hook event as one; None where their context is too long together."""
    context = "\n".join(text for text in (first.reply.context, found.reply.context) if text)
    if len(context) > ANSWER_LIMIT:
        return None
    return Reaction(
        reply=replace(found.reply, context=context),
        at_once=(*first.at_once, *found.at_once),
        undone=(*first.undone, *found.undone),
        then=(*first.then, *found.then),
        always=(*first.always, *found.always),
        did=", ".join(did for did in (first.did, found.did) if did),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HookContext:
    """One event's session and the service.

    `answers` says whether what is said at this event reaches the agent at once.
    """

    store: Store
    session: HookSession
    recall_any: Recall
    memory_worker: MemoryWorker
    client: str
    answers: bool

    def worker(self, event: HookEvent) -> SessionWorker:
        """Return who works in the session of a hook."""
        return self.session.worker(event.agent, event.agent_type)

    def when_sure(self, worker: SessionWorker, work: Work) -> Work:
        """Return a hook's work as done once its agent's task is certain, behind what waits for the same."""

        def done() -> None:
            worker.held.append(work)
            if worker.sure:
                worker.write_held()

        return done

    def release(self, *, even_unsure: bool = False) -> None:
        """Do what hooks held back and waits for nothing any more; with `even_unsure` all of it."""
        for worker in self.session.ready(even_unsure=even_unsure):
            worker.write_held()

    def source_of(self, call: str) -> str:
        """Return the source of what the call of a hook came to, as an imported history of the client names it."""
        return f"{self.client}:{told_id(self.session.name)}:{told_id(call)}"

    def recall(self, query: RecallQuery) -> RecallAnswer:
        """Answer a question in a hook's session, so that `helix last` shows what an agent was given."""
        return self.recall_any(replace(query, session=self.session.name))

    def keeps(self) -> bool:
        """Return whether anything of a hook's session may be written down just now."""
        return not self.store.paused and not is_private(self.store.journal, self.session.name)

    def sees(
        self,
        key: str,
        attributes: Mapping[str, object],
        *,
        objective: str | None = None,
        title: str = "",
        status: str | None = None,
    ) -> None:
        """Bring a task up to date with what a hook saw of it, cut to size; what is None or left out stays.

        `title` stands for an objective that names a file of `.helixignore`.
        """
        seen = TaskSighting(
            session=self.session.name,
            key=key,
            scope=self.session.scope,
            root=str(self.session.root),
            objective=objective,
            title=title,
            status=status,
            attributes=bounded(attributes),
        )
        mirror(self.store, seen)

    def propose(self, candidates: Sequence[Candidate]) -> None:
        """Have what an agent's work gives to learn wait to be looked at, but what is about a file of `.helixignore`."""
        enqueue(self.store, fit_to_keep(candidates, Exclusion([str(self.session.root)])))

    def ensure(self, task: str, key: str) -> None:
        """Have a task where a hook is to note something about one that nobody has told of yet."""
        if find_task(self.store.index, task) is None:
            self.sees(key, {}, status=IN_PROGRESS)


_MOST = 12_000
"""Characters of JSON that what is told at once may have."""
_LONGEST = (3_000, 1_500, 700, 300, 100)
_MOST_WORDS, _LONGEST_WORD = 50, 100


def bounded(told: Mapping[str, object]) -> dict[str, object]:
    """Return a hook event's values with their texts cut in the middle, so that all have room.

    Of lists the first fifty are kept. A text is redacted before it is cut: half a secret is known by nobody.
    """
    for most in _LONGEST:
        cut = {name: _cut(value, most) for name, value in told.items()}
        if len(json.dumps(cut, ensure_ascii=False, default=str)) <= _MOST:
            break
    return cut if told else {}


def _cut(value: object, most: int) -> object:
    if isinstance(value, str):
        return ends(value, most)
    if isinstance(value, list | tuple):
        return [ends(one, _LONGEST_WORD) if isinstance(one, str) else one for one in value[:_MOST_WORDS]]
    return value


def showing(context: HookContext, key: str, shown: Sequence[Shown]) -> tuple[bool, Work]:
    """Return whether a hook holds out memories from its session's task, and what notes that they were shown."""
    task = task_id(context.session.scope, context.session.name, key)
    held_back = context.keeps() and drawn(context.store, task) == HELD_BACK
    at = context.store.runtime.clock()

    def keep() -> None:
        if key == SESSION_KEY:
            context.sees(key, {}, status=IN_PROGRESS)
        treatment(context.store, task)
        inject(context.store, task, shown, held_back=held_back, at=at)

    return held_back, keep
