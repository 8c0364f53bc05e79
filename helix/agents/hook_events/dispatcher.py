"""Dispatcher: an event of a coding agent comes in, an answer goes out, and what is to be kept is kept after that.

A hook that a client tells of twice is reacted to once (`Deliveries`). What is to be shown at an event whose answer the
agent is not given waits for the next that it is (`HeldNotes`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar

from helix.agents.context.brief import brief
from helix.agents.context.exact_lookup import look_up
from helix.agents.experiment.holdback import drawn
from helix.agents.hook_events import (
    claude_code,
    endings,
    session_start,
    subagent_start,
    subagents,
    task_list,
    tool_use,
    user_prompt,
)
from helix.agents.hook_events.client_shapes import (
    CLAUDE_CODE,
    CODEX,
    CONTINUE,
    CURSOR,
    GEMINI,
    GOOSE,
    OPENCODE,
    VSCODE,
    WINDSURF,
    ClientShape,
)
from helix.agents.hook_events.cline_hooks import CLINE
from helix.agents.hook_events.deferred_queue import Afterwards, PendingAnswer, Work, keeping_context
from helix.agents.hook_events.hook_context import NOTHING, HookContext, Reaction, Recall
from helix.agents.hook_events.hook_events import (
    ActionBegins,
    ActionEnded,
    AgentCalled,
    AgentJoined,
    AgentStarted,
    AgentStopped,
    HookEvent,
    PromptGiven,
    Rested,
    SessionBegan,
    SessionEnded,
    TaskTold,
)
from helix.agents.hook_events.session_recovery import last_written, recollect
from helix.agents.hook_events.session_state import Sessions
from helix.command_outcome.command_run import CommandRun
from helix.memory.capture.sessions import is_private
from helix.memory.job_run.foreground import Foreground
from helix.memory.worker.worker import MemoryWorker
from helix.store.store import Store
from helix.text.excerpts import head

log = logging.getLogger("helix.hooks")

_SLOW = 0.5
"""Seconds from which on an answer is told of as a warning: no client waits so long."""

CLIENTS: Mapping[str, ClientShape] = {
    claude_code.CLIENT: CLAUDE_CODE,
    "codex": CODEX,
    "gemini": GEMINI,
    "opencode": OPENCODE,
    "cursor": CURSOR,
    "windsurf": WINDSURF,
    "vscode": VSCODE,
    "cline": CLINE,
    "goose": GOOSE,
    "continue": CONTINUE,
}
"""The clients whose hooks are understood, by the name that `helix connect` has for them."""

_REACTIONS: Mapping[type[HookEvent], Callable[[HookContext, Any], Reaction]] = {
    SessionBegan: session_start.session_began,
    PromptGiven: user_prompt.prompt_given,
    ActionBegins: tool_use.action_begins,
    ActionEnded: tool_use.action_ended,
    AgentCalled: subagent_start.agent_called,
    AgentStarted: subagents.agent_started,
    AgentJoined: subagents.agent_joined,
    AgentStopped: endings.agent_stopped,
    TaskTold: task_list.task_told,
    Rested: endings.rested,
    SessionEnded: endings.session_ended,
}


class HookAnswer(NamedTuple):
    """What a client reads, `{}` for nothing, and what is to be told once it has read that."""

    answer: dict[str, Any]
    showing: PendingAnswer


def _nothing() -> HookAnswer:
    return HookAnswer({}, PendingAnswer())


class HookDispatcher:
    """Answers events of sessions; safe from any thread. Whatever goes wrong, the answer is to go on without Helix."""

    def __init__(
        self,
        store: Store,
        recall: Recall,
        memory_worker: MemoryWorker,
        foreground: Foreground,
    ) -> None:
        """What follows an answer gives way to whoever waits for one, as `foreground` tells."""
        self._store = store
        self._recall = recall
        self._memory_worker = memory_worker
        self._sessions = Sessions(store)
        self._there_until = last_written(store.journal)
        self._foreground = foreground
        self._after = Afterwards(foreground)
        self._deliveries = Deliveries(_nothing)
        self._held = HeldNotes()

    def answer(self, client: str, payload: object, until: float | None = None, scope: str = "") -> HookAnswer:
        """Return a hook's answer as the client reads it, `{}` for nothing: no event, a failure, or not there in time.

        `scope` is the project of a session on another machine; else its folder tells.

        `until` is the moment (of `time.monotonic`) from which nobody waits for the answer: nothing was shown then, and
        nothing is written down as shown; nor is it before the showing has arrived. What is told a second time counts
        once, and is answered as the first time.
        """
        if client not in CLIENTS or not isinstance(payload, Mapping):
            log.warning("a hook that nobody can read", extra={"client": client[:40]})
            return _nothing()
        told = CLIENTS[client].delivery(payload)
        key = told and f"{scope}\n{told}"  # what is answered to a scope is that scope's
        with self._foreground.request():
            return self._deliveries.once(key, lambda: self._answer(client, payload, until, scope), until)

    def tell(self, client: str, payload: object) -> dict[str, Any]:
        """Return a hook's answer to somebody who has it at once, in this process."""
        answer, showing = self.answer(client, payload)
        showing.arrived()
        return answer

    def _answer(self, client: str, payload: Mapping[str, Any], until: float | None, scope: str) -> HookAnswer:
        begun = time.monotonic()
        event: HookEvent | None = None
        try:
            shape = CLIENTS[client]
            event = shape.read(payload)
            if event is None:
                return _nothing()
            reaction = self._held.passed(event, self._react(client, event, scope), shape.shows, scope)
            tells = not is_private(self._store.journal, event.session)
            late = until is not None and time.monotonic() > until
            answer = {} if late else shape.write(event, reaction.reply)
            for work in () if late else reaction.at_once:
                work()
        except Exception:  # the outermost boundary of a hook: an agent goes on whatever happens here
            log.exception("a hook failed", extra={"client": client[:40], "event": "" if event is None else event.name})
            return _nothing()
        self._follow(event, reaction, scope)
        took = time.monotonic() - begun
        said = len(reaction.reply.context) + (0 if reaction.reply.given is None else 1)
        if tells and (reaction.did or late or took > _SLOW):
            log.log(
                logging.WARNING if took > _SLOW else logging.INFO,
                "hook",
                extra={
                    "client": client,
                    "event": event.name,
                    "session": head(event.session, 64),
                    "agent": head(event.agent, 64),
                    "did": reaction.did,
                    "answered": bool(said) and not late,
                    "late": late,
                    "ms": round(took * 1000, 1),
                },
            )
        return HookAnswer(answer, PendingAnswer() if late else self._showing(reaction))

    def warm_up(self) -> None:
        """Have what a first hook would wait for done before it comes: rules that are read, a model that is loaded."""
        self._after.do(self._touch_all)

    def forget_words(self) -> None:
        """Let go of what hooks said, failed at or wait to show: something was erased that it may repeat."""
        self._held.forget()
        self._deliveries.forget()
        self._after.do(self._sessions.forget_words)

    def settle(self, seconds: float | None = None) -> bool:
        """Wait until all that followed the hooks answered so far is written down; False when that takes longer."""
        return self._after.settle(seconds)

    def close(self) -> None:
        """Write down what is left of the hooks that were answered."""
        self._after.close()

    def _touch_all(self) -> None:
        store = self._store
        look_up(store, CommandRun(command="git push", output="error: failed to push", exit_status=1), None)
        brief(store, None)
        drawn(store, "")
        if store.runtime.embedder is not None and not store.mismatch:
            store.embed_query("a question")

    def _react(self, client: str, event: HookEvent, scope: str) -> Reaction:
        reaction = _REACTIONS.get(type(event))
        if reaction is None:
            return NOTHING
        if not scope:
            self._sessions.hide_fork(event)
        session = self._sessions.placed(event, scope, of_commands=CLIENTS[client].of_commands)
        if persons := CLIENTS[client].persons:
            self._sessions.hide_agents(session, event, persons)
        if session is None:
            return NOTHING
        context = HookContext(
            store=self._store,
            session=session,
            recall_any=self._recall,
            memory_worker=self._memory_worker,
            client=client,
            answers=isinstance(event, CLIENTS[client].shows),
        )
        session_start.note_place(context)
        before = recollect(context, event, self._there_until)
        subagents.recognise(context, event)
        found = reaction(context, event)
        if isinstance(event, ActionBegins | ActionEnded):
            found = session_start.briefed_late(context, event, found)
        found = session_start.with_notice(context, event, found)
        return replace(
            found,
            then=tuple(_kept(context, work) for work in found.then),
            always=tuple(_kept(context, work) for work in (*before, *found.always, context.release)),
        )

    def _showing(self, reaction: Reaction) -> PendingAnswer:
        at_once, then, undone = (
            tuple(map(keeping_context, works)) for works in (reaction.at_once, reaction.then, reaction.undone)
        )
        return PendingAnswer(at_once=at_once, then=then, undone=undone, do=self._after.do)

    def _follow(self, event: HookEvent, reaction: Reaction, scope: str) -> None:
        for work in reaction.always:
            self._after.do(work)
        if isinstance(event, SessionEnded):
            self._after.do(lambda: self._sessions.end(event.session, scope))


def _kept(context: HookContext, work: Work) -> Work:
    """Return work that is done only where something of the session may be kept at the time."""

    def done() -> object:
        return work() if context.keeps() else None

    return done


MOST_KNOWN = 4_096
"""How many deliveries are known; what happened before is told apart by its id in the store (`with_evidence`)."""
MOST_ANSWERS = 64
"""Of how many of them the answer is held too."""

_LONGEST_WAIT = 1.0

T = TypeVar("T")


class Deliveries(Generic[T]):
    """The deliveries that came last, with their answers. Safe from any thread; nothing of it is on disk."""

    def __init__(self, nothing: Callable[[], T]) -> None:
        """`nothing` makes what is answered where there is no answer, or none any more."""
        self._nothing = nothing
        self._known: OrderedDict[str, None] = OrderedDict()
        self._answers: OrderedDict[str, Future[T]] = OrderedDict()
        self._turn = threading.Lock()

    def once(self, key: str, answer: Callable[[], T], until: float | None = None) -> T:
        """Return a hook's `answer`, or the one to the same delivery before; nothing where it is not there in time.

        In time is by `until`; an answer that is forgotten is not there, either. An empty key is known to nobody: such a
        delivery is answered each time.
        """
        if not key:
            return answer()
        with self._turn:
            known, first = key in self._known, self._answers.get(key)
            if not known:
                own = self._answers[key] = Future()
                self._known[key] = None
                if len(self._known) > MOST_KNOWN:
                    self._known.popitem(last=False)
                if len(self._answers) > MOST_ANSWERS:
                    self._answers.popitem(last=False)
        if known:
            return self._awaited(first, until)
        said = self._nothing()
        try:
            said = answer()
        finally:
            own.set_result(said)
        return said

    def forget(self) -> None:
        """Let go of the answers to hooks; what was delivered stays known."""
        with self._turn:
            self._answers.clear()

    def _awaited(self, first: Future[T] | None, until: float | None) -> T:
        """Return the answer that is being given to the first of two, which may still be under way."""
        left = _LONGEST_WAIT if until is None else min(max(until - time.monotonic(), 0.0), _LONGEST_WAIT)
        try:
            return self._nothing() if first is None else first.result(left)
        except TimeoutError:
            return self._nothing()


_MOST_HELD = 64
"""Agents for which something waits: what is left behind is shown to nobody."""


class HeldNotes:
    """What waits for each agent of a session. Safe from any thread; nothing of it is on disk."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[tuple[str, str, str], Reaction] = OrderedDict()
        self._turn = threading.Lock()

    def passed(
        self, event: HookEvent, reaction: Reaction, shows: tuple[type[HookEvent], ...], scope: str = ""
    ) -> Reaction:
        """Return the reaction to a hook with what waited for its agent, or without what has to wait.

        `scope` is the project of a session on another machine, as others may have sessions of that name.
        """
        key = (scope, event.session, event.agent)
        with self._turn:
            held = self._waiting.pop(key, None)
            whole = reaction if held is None else _joined(held, reaction)
            if isinstance(event, shows):
                return whole
            if not whole.reply.context:
                return whole
            if shows:
                self._waiting[key] = replace(whole, always=())
                if len(self._waiting) > _MOST_HELD:
                    self._waiting.popitem(last=False)
        return Reaction(always=reaction.always)

    def forget(self) -> None:
        """Drop the reactions that wait for an agent."""
        with self._turn:
            self._waiting.clear()


def _joined(held: Reaction, reaction: Reaction) -> Reaction:
    """Return both in one; what follows the first is done before what follows the second."""
    texts = (held.reply.context, reaction.reply.context)
    return replace(
        reaction,
        reply=replace(reaction.reply, context="\n\n".join(text for text in texts if text)),
        at_once=(*held.at_once, *reaction.at_once),
        undone=(*held.undone, *reaction.undone),
        then=(*held.then, *reaction.then),
        did=" and ".join(did for did in (held.did, reaction.did) if did),
    )
