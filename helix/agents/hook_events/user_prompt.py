"""User prompt: a person's prompt briefs the session; the first of a task brings the few memories that it is about."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from helix.agents.context.loaded import loaded_by, unloaded
from helix.agents.context.notes import notes_by_user
from helix.agents.context.relevant import Sources
from helix.agents.context.role_contexts import is_same_task, is_telling, request_context
from helix.agents.hook_events.hook_context import NOTHING, HookContext, Reaction, joined_reactions, showing
from helix.agents.hook_events.hook_events import HookReply, PromptGiven
from helix.agents.hook_events.session_start import brief_once
from helix.agents.tasks.board import SESSION_KEY
from helix.model.task import PROMPT
from helix.text.tokens import query_terms


def prompt_given(context: HookContext, event: PromptGiven) -> Reaction:
    """Brief a session at the hook of a user's prompt if nobody has, and show what it is about; no client's words."""
    if event.by_client or event.agent:
        return NOTHING
    first = brief_once(context, known=True)
    context.session.prompts += 1
    # A prompt that comes with the brief waits: the brief says what matters most, and the two may say the same.
    if first.reply.context or not _is_new_task(context, event.prompt):
        return first
    return joined_reactions(first, _about(context, event)) or first


def _is_new_task(context: HookContext, prompt: str) -> bool:
    """Return whether memories are to be looked up: at the first prompt that says something, and at one of a new task.

    Between two of them lie as many prompts as is set.
    """
    session, settings = context.session, context.store.runtime.settings
    if settings.prompt_tokens < 1 or not is_telling(prompt):
        return False
    if not session.asked_at:
        return True
    long_ago = session.prompts - session.asked_at > settings.prompt_every
    return long_ago and not is_same_task(session.asked_terms, prompt)


def _about(context: HookContext, event: PromptGiven) -> Reaction:
    session, settings = context.session, context.store.runtime.settings
    is_loaded = loaded_by(context.store.runtime.settings.home, context.client, event.folder, session.root)
    written = partial(notes_by_user, context.store, strict=True)
    sources = unloaded(Sources(context.recall, written, settings.context_floor), is_loaded)
    found = request_context(
        sources, event.prompt, session.scope, budget_tokens=settings.prompt_tokens, known=session.told
    )

    def asked() -> None:
        session.told.update(one.memory_id for one in found.shown)
        session.asked_at, session.asked_terms = session.prompts, frozenset(query_terms(event.prompt))

    before = session.asked_at, session.asked_terms

    def not_asked() -> None:
        session.told.difference_update(one.memory_id for one in found.shown)
        session.asked_at, session.asked_terms = before

    if not found.text:
        return Reaction(at_once=(asked,), undone=(not_asked,))
    shown = tuple(replace(one, arm=PROMPT) for one in found.shown)
    held_back, keep = showing(context, SESSION_KEY, shown)
    return Reaction(
        reply=HookReply() if held_back else HookReply(context=found.text),
        at_once=(asked,),
        undone=(not_asked,),
        then=(keep,),
        did=f"{'holds back' if held_back else 'shows'} {len(shown)} with a prompt",
    )
