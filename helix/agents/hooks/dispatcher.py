"""Dispatcher: an event of a coding agent comes in, an answer goes out, and what is to be kept is kept after that."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from helix.agents.context.brief import brief
from helix.agents.context.exact_lookup import look_up
from helix.agents.experiment.holdback import drawn
from helix.agents.hooks import (
    claude_code,
    endings,
    session_start,
    subagent_start,
    subagents,
    task_list,
    tool_use,
    user_prompt,
)
from helix.agents.hooks.client_shape import CLAUDE_CODE, Client
from helix.agents.hooks.cline_hooks import CLINE
from helix.agents.hooks.codex_hooks import CODEX
from helix.agents.hooks.continue_hooks import CONTINUE
from helix.agents.hooks.cursor_hooks import CURSOR
from helix.agents.hooks.deferred_queue import Afterwards, Showing, Work, in_this_context
from helix.agents.hooks.deliveries import Deliveries
from helix.agents.hooks.gemini_hooks import GEMINI
from helix.agents.hooks.goose_hooks import GOOSE
from helix.agents.hooks.held_notes import HeldNotes
from helix.agents.hooks.hook_context import NOTHING, Desk, Reaction, Recall
from helix.agents.hooks.hook_events import (
    ActionBegins,
    ActionEnded,
    AgentCalled,
    AgentJoined,
    AgentStarted,
    AgentStopped,
    Event,
    PromptGiven,
    Rested,
    SessionBegan,
    SessionEnded,
    TaskTold,
)
from helix.agents.hooks.opencode_hooks import OPENCODE
from helix.agents.hooks.session_recovery import last_written, recollect
from helix.agents.hooks.session_state import Sessions
from helix.agents.hooks.vscode_hooks import VSCODE
from helix.agents.hooks.windsurf_hooks import WINDSURF
from helix.memory.capture.sessions import is_private
from helix.memory.jobs.foreground import Foreground
from helix.model.action import Action
from helix.store.store import Store
from helix.text.excerpts import head

log = logging.getLogger("helix.hooks")

_SLOW = 0.5
"""Seconds from which on an answer is told of as a warning: no client waits so long."""

CLIENTS: Mapping[str, Client] = {
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

_REACTIONS: Mapping[type[Event], Callable[[Desk, Any], Reaction]] = {
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


class Told(NamedTuple):
    """What a client reads, `{}` for nothing, and what is to be told once it has read that."""

    answer: dict[str, Any]
    showing: Showing


def _nothing() -> Told:
    return Told({}, Showing())


class Reacting:
    """Reacts to events of sessions; safe from any thread. Whatever goes wrong, the answer is to go on without Helix."""

    def __init__(
        self,
        store: Store,
        recall: Recall,
        *,
        close_session: Callable[[str, str], object],
        flush: Callable[[str], object],
        foreground: Foreground,
    ) -> None:
        """What follows an answer gives way to whoever waits for one, as `foreground` tells."""
        self._store = store
        self._recall = recall
        self._close_session = close_session
        self._flush = flush
        self._sessions = Sessions(store)
        self._there_until = last_written(store)
        self._foreground = foreground
        self._after = Afterwards(foreground)
        self._deliveries = Deliveries(_nothing)
        self._held = HeldNotes()

    def answer(self, client: str, payload: object, until: float | None = None, scope: str = "") -> Told:
        """Return what the client reads, `{}` for nothing: also for what is no event, fails, or is not there in time.

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
        """Return the same to somebody who has it at once, in this process."""
        answer, showing = self.answer(client, payload)
        showing.arrived()
        return answer

    def _answer(self, client: str, payload: Mapping[str, Any], until: float | None, scope: str) -> Told:
        begun = time.monotonic()
        event: Event | None = None
        try:
            shape = CLIENTS[client]
            event = shape.read(payload)
            if event is None:
                return _nothing()
            reaction = self._held.passed(event, self._react(client, event, scope), shape.shows, scope)
            tells = not is_private(self._store, event.session)
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
        return Told(answer, Showing() if late else self._showing(reaction))

    def warm_up(self) -> None:
        """Have what a first hook would wait for done before it comes: rules that are read, a model that is loaded."""
        self._after.do(self._touch_all)

    def forget_words(self) -> None:
        """Let go of what was said, failed or waits to be shown: something was erased that it may repeat."""
        self._held.forget()
        self._deliveries.forget()
        self._after.do(self._sessions.forget_words)

    def settle(self, seconds: float | None = None) -> bool:
        """Wait until everything that followed the answers so far is written down; False when that takes longer."""
        return self._after.settle(seconds)

    def close(self) -> None:
        """Write down what is left."""
        self._after.close()

    def _touch_all(self) -> None:
        store = self._store
        look_up(store, Action(command="git push", output="error: failed to push", exit_status=1), None)
        brief(store, None)
        drawn(store, "")
        if store.runtime.embedder is not None and not store.mismatch:
            store.embed_query("a question")

    def _react(self, client: str, event: Event, scope: str) -> Reaction:
        reaction = _REACTIONS.get(type(event))
        if reaction is None:
            return NOTHING
        session = self._sessions.of(event, scope)
        desk = Desk(
            store=self._store,
            session=session,
            recall_any=self._recall,
            close_session=self._close_session,
            flush=self._flush,
            client=client,
            answers=isinstance(event, CLIENTS[client].shows),
        )
        before = recollect(desk, event, self._there_until)
        subagents.recognise(desk, event)
        found = reaction(desk, event)
        if isinstance(event, ActionBegins | ActionEnded):
            found = session_start.briefed_late(desk, event, found)
        return replace(
            found,
            then=tuple(_kept(desk, work) for work in found.then),
            always=tuple(_kept(desk, work) for work in (*before, *found.always, desk.release)),
        )

    def _showing(self, reaction: Reaction) -> Showing:
        at_once, then, undone = (
            tuple(map(in_this_context, works)) for works in (reaction.at_once, reaction.then, reaction.undone)
        )
        return Showing(at_once=at_once, then=then, undone=undone, do=self._after.do)

    def _follow(self, event: Event, reaction: Reaction, scope: str) -> None:
        for work in reaction.always:
            self._after.do(work)
        if isinstance(event, SessionEnded):
            self._after.do(lambda: self._sessions.end(event.session, scope))


def _kept(desk: Desk, work: Work) -> Work:
    """Return work that is done only where something of the session may be kept at the time."""

    def done() -> object:
        return work() if desk.keeps() else None

    return done
