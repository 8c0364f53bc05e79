"""Session start: a session begins; it is briefed once, with its beginning or, after a cold start, what comes first."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from helix.agents.context.brief import brief
from helix.agents.context.loaded import loaded_by
from helix.agents.hook_events.hook_context import NOTHING, HookContext, Reaction, joined_reactions, showing
from helix.agents.hook_events.hook_events import HookEvent, HookReply, SessionBegan
from helix.agents.tasks.board import SESSION_KEY, find_task, injections, task_id
from helix.folders import names_before, note_folder
from helix.identity import PROJECT_FILE
from helix.memory.capture.sessions import SessionRequest, open_session
from helix.model.clock import to_micros
from helix.model.task import BRIEF, HISTORY_CUT
from helix.text.inert import inert, quoted, visible

_KEEPS_ITS_HISTORY = ("resume", "fork")


def session_began(context: HookContext, event: SessionBegan) -> Reaction:
    """Open a client's session at its hook and brief it, unless it is taken up again with the history that it had."""
    if event.source in _KEEPS_ITS_HISTORY:
        return brief_once(context, known=True)
    context.session.forget_shown()
    found = brief_once(context, known=False)
    return replace(found, always=(lambda: _note_cut(context), *found.always))


def briefed_late(context: HookContext, event: HookEvent, found: Reaction) -> Reaction:
    """Return a hook's reaction with the brief before it where a session's first prompt has met no daemon."""
    if event.agent or context.session.briefed:
        return found
    first = brief_once(context, known=True)
    return joined_reactions(first if first.then else replace(first, did=""), found) or found


def brief_once(context: HookContext, *, known: bool) -> Reaction:
    """Brief a client's session once at a hook; `known` says that it may have been, before the daemon was started anew.

    Where no answer reaches the agent the brief comes with the first action that has one.
    """
    session = context.session
    if session.briefed:
        return NOTHING
    task = task_id(session.scope, session.name, SESSION_KEY)
    opened = (lambda: _open(context),)
    if known and any(one.arm == BRIEF for one in injections(context.store.index, task)):
        session.was_briefed(one.memory_id for one in injections(context.store.index, task))
        return Reaction(always=opened)
    if not context.answers:
        return Reaction(always=opened)
    settings = context.store.runtime.settings
    is_loaded = loaded_by(context.store.runtime.settings.home, context.client, str(session.root), session.root)
    found = brief(context.store, session.scope, settings.brief_tokens, is_loaded=is_loaded)
    if not found.text:
        session.was_briefed()
        return Reaction(always=opened, did="has nothing to brief with")
    held_back, keep = showing(context, SESSION_KEY, found.shown)
    ids = [one.memory_id for one in found.shown]
    return Reaction(
        reply=HookReply() if held_back else HookReply(context=found.text),
        at_once=(partial(session.was_briefed, ids),),
        undone=(partial(session.was_not_briefed, ids),),
        always=opened,
        then=(keep,) if found.shown else (),
        did=f"{'holds back' if held_back else 'shows'} a brief of {len(found.shown)}",
    )


def note_place(context: HookContext) -> None:
    """Note the folder that a session works in at the first of its hooks, whichever that is, unless nothing is kept."""
    session = context.session
    if session.is_noted:
        return
    home, keeps = context.store.runtime.settings.home, context.keeps()
    if keeps or not session.was_noticed:
        session.names_before = names_before(home, session.project, once=True)
        session.came_after = note_folder(home, session.project, keeps=keeps)
        session.is_noted = keeps


def with_notice(context: HookContext, event: HookEvent, found: Reaction) -> Reaction:
    """Have the user told at the first hook that has an answer, and as a session begins, of what its folder claims.

    That is a name which the project's files ask for, or that they cannot be read; and once a project that other folders
    were worked in as, or another name than the folder had before.
    """
    session, said = context.session, []
    if not context.answers or event.agent or (session.was_noticed and not isinstance(event, SessionBegan)):
        return found
    session.was_noticed = True
    if asked := visible(session.project.asked):
        said.append(f"Helix works in {session.scope}: confirm the name {asked} with `helix name {asked}`")
    if session.project.unread:
        said.append(
            f"Helix works in {session.scope}, as {PROJECT_FILE} of this project cannot be read: mend or remove it"
        )
    if session.came_after:
        said.append(
            f"Helix: this folder is new and says that it is {visible(session.project.repository)}, so it sees the "
            f"memory of {quoted(inert(session.came_after[0]))}. If you did not clone it yourself: `helix name` gives "
            "it another name"
        )
        session.came_after = ()
    if known := [name for name in session.names_before if context.store.index.of_scope(name)]:
        said.append(
            f"Helix: this folder's project was {visible(known[0])} before and is {visible(session.scope)} now, so what "
            f"is known of the former is not seen. To go on with it: `helix name {visible(known[0])}`"
        )
        session.names_before = ()
    return replace(found, reply=replace(found.reply, notice="\n".join(said)))


def _note_cut(context: HookContext) -> None:
    """Have it known to the next daemon too that what was shown so far is out of sight."""
    task = task_id(context.session.scope, context.session.name, SESSION_KEY)
    if find_task(context.store.index, task) is not None:
        context.sees(SESSION_KEY, {HISTORY_CUT: to_micros(context.store.runtime.clock())})


def _open(context: HookContext) -> None:
    open_session(
        context.store, SessionRequest(name=context.session.name, scope=context.session.scope, agent=context.client)
    )
