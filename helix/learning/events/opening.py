"""Opening: a session begins; it is briefed once, with its beginning or, after a cold start, what comes first."""

from __future__ import annotations

from dataclasses import replace

from helix.learning.context.brief import brief
from helix.learning.events.desk import NOTHING, Desk, Reaction
from helix.learning.events.events import ANSWER_LIMIT, Event, PromptGiven, Reply, SessionBegan
from helix.learning.orchestration.board import SESSION_KEY, find_task, inject, injections, task_id
from helix.learning.proof.holdback import drawn, treatment
from helix.lifecycle.capture.sessions import SessionRequest, open_session
from helix.model.clock import to_micros
from helix.model.injection import BRIEF
from helix.model.task import HELD_BACK, HISTORY_CUT, IN_PROGRESS

_KEEPS_ITS_HISTORY = ("resume", "fork")


def session_began(desk: Desk, event: SessionBegan) -> Reaction:
    """Open the session and brief it, unless it is taken up again with the history that it had."""
    if event.source in _KEEPS_ITS_HISTORY:
        return _brief(desk, known=True)
    desk.session.forget_shown()
    found = _brief(desk, known=False)
    return replace(found, always=(lambda: _note_cut(desk), *found.always))


def prompt_given(desk: Desk, event: PromptGiven) -> Reaction:
    """Brief a session that nobody has briefed; a prompt is never searched with, and what a client says is none."""
    return NOTHING if event.by_client or event.agent else _brief(desk, known=True)


def briefed_late(desk: Desk, event: Event, found: Reaction) -> Reaction:
    """Return what an action comes to, with the brief before it where a session's first prompt has met no daemon."""
    if event.agent or desk.session.briefed:
        return found
    first = _brief(desk, known=True)
    context = "\n".join(text for text in (first.reply.context, found.reply.context) if text)
    if len(context) > ANSWER_LIMIT:
        return found
    return Reaction(
        reply=replace(found.reply, context=context),
        at_once=(*first.at_once, *found.at_once),
        then=(*first.then, *found.then),
        always=(*first.always, *found.always),
        did=", ".join(did for did in (first.did if first.then else "", found.did) if did),
    )


def _brief(desk: Desk, *, known: bool) -> Reaction:
    """Brief the session once; `known` says that it may have been, before the daemon was started anew."""
    session = desk.session
    if session.briefed:
        return NOTHING
    task = task_id(session.scope, session.name, SESSION_KEY)
    opened = (lambda: _open(desk),)
    if known and any(one.arm == BRIEF for one in injections(desk.store, task)):
        session.was_briefed()
        return Reaction(always=opened)
    found = brief(desk.store, session.scope, desk.store.settings.brief_tokens)
    if not found.text:
        session.was_briefed()
        return Reaction(always=opened, did="has nothing to brief with")
    held_back = desk.keeps() and drawn(desk.store, task) == HELD_BACK

    def keep() -> None:
        desk.sees(SESSION_KEY, {}, status=IN_PROGRESS)
        treatment(desk.store, task)
        inject(desk.store, task, found.shown, held_back=held_back)

    return Reaction(
        reply=Reply() if held_back else Reply(context=found.text),
        at_once=(session.was_briefed,),
        always=opened,
        then=(keep,) if found.shown else (),
        did=f"{'holds back' if held_back else 'shows'} a brief of {len(found.shown)}",
    )


def _note_cut(desk: Desk) -> None:
    """Have it known to the next daemon too that what was shown so far is out of sight."""
    task = task_id(desk.session.scope, desk.session.name, SESSION_KEY)
    if find_task(desk.store, task) is not None:
        desk.sees(SESSION_KEY, {HISTORY_CUT: to_micros(desk.store.clock())})


def _open(desk: Desk) -> None:
    open_session(desk.store, SessionRequest(name=desk.session.name, scope=desk.session.scope, agent=desk.client))
