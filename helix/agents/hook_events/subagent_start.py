"""Subagent start: an agent that is called gets the memories for what it is to do, put into its prompt."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from helix.agents.answers.prompt import (
    AgentType,
    detect_agent_type,
    extract_builder_params,
    extract_explorer_params,
    extract_planner_params,
    parse_prompt,
    should_inject,
)
from helix.agents.context.exact_lookup import MOST, action_context, look_up
from helix.agents.context.loaded import loaded_by, unloaded
from helix.agents.context.notes import notes_by_user
from helix.agents.context.relevant import Sources
from helix.agents.context.role_contexts import context_for, context_for_other
from helix.agents.hook_events.hook_context import NOTHING, HookContext, Reaction, showing
from helix.agents.hook_events.hook_events import ANSWER_LIMIT, AgentCalled, HookReply
from helix.agents.hook_events.session_state import AgentCall
from helix.agents.tasks.board import SESSION_KEY
from helix.agents.tasks.task_names import is_clients, key_named
from helix.command_outcome.command_run import CommandRun
from helix.model.context_answers import BuilderContext, ExplorerContext, PlannerContext
from helix.model.task import CALL, CLIENT_TASK, IN_PROGRESS, RELEVANT_FILES, SILENT, VERIFY, Shown
from helix.text.excerpts import shortened

_Context = ExplorerContext | PlannerContext | BuilderContext

_LONGEST_OBJECTIVE = 1_000
_WITH_TASK_LIST = (AgentType.BUILDER, AgentType.PLANNER)
"""The agents whose work is in the client's task list: in the background a client may keep its tools from them."""


def agent_called(context: HookContext, event: AgentCalled) -> Reaction:
    """Put memories into the prompt of a sub-agent at the hook of its call, unless its task is held back; note the task.

    The client is sent the whole call: it takes what it is sent in place of what it has. An agent that works with the
    task list is waited for, with memories and without.
    """
    kind = detect_agent_type(event.prompt, event.called_type)
    if kind is None:
        return _other_called(context, event)
    key, objective, said = _task(kind, context, event)
    silent = not should_inject(event.prompt)
    context.session.called(
        AgentCall(
            call=event.call,
            called_type=event.called_type,
            kind=kind,
            key=key,
            prompt=event.prompt,
            silent=silent,
        )
    )
    said = {**said, CALL: event.call, **({SILENT: True} if silent else {})}
    if kind is not AgentType.EXPLORER:
        context.session.objective = _short(parse_prompt(event.prompt).get("OBJECTIVE")) or context.session.objective
    told = (lambda: context.sees(key, said, objective=objective or None, status=IN_PROGRESS),)
    attended = detect_agent_type("", event.called_type) in _WITH_TASK_LIST
    bare = HookReply(given=event.given, attended=True) if attended else HookReply()
    block, memories = _memories(context, event, str(said.get(VERIFY, "")))
    if not memories:
        return Reaction(reply=bare, always=told, did=f"has nothing for the {kind}")
    held_back, keep = showing(context, key, memories)
    given = {**event.given, "prompt": _joined(kind, event.prompt, block)}
    return Reaction(
        reply=bare if held_back else HookReply(given=given, attended=attended),
        always=told,
        then=(keep,),
        did=f"{'holds back' if held_back else 'injects'} {len(memories)} for the {kind}",
    )


def _other_called(context: HookContext, event: AgentCalled) -> Reaction:
    """Put what fits the prompt behind it, for an agent of any other name; of its task nothing is known."""
    if not context.store.runtime.settings.other_agents:
        return NOTHING
    found = _context(context, event, context_for_other)
    if found is None or not found.shown:
        return NOTHING
    held_back, keep = showing(context, SESSION_KEY, found.shown)
    given = {**event.given, "prompt": f"{event.prompt}\n\n{found.text}"}
    return Reaction(
        reply=HookReply() if held_back else HookReply(given=given),
        then=(keep,),
        did=f"{'holds back' if held_back else 'injects'} {len(found.shown)} for another agent",
    )


def _context(context: HookContext, event: AgentCalled, find: Callable[..., _Context | None]) -> _Context | None:
    """Return the context for a prompt, without what the client gives to such an agent anyway."""
    is_loaded = loaded_by(
        context.store.runtime.settings.home, context.client, event.folder, context.session.root, event.called_type
    )
    sources = Sources(
        context.recall, partial(notes_by_user, context.store), context.store.runtime.settings.context_floor
    )
    return find(unloaded(sources, is_loaded), event.prompt, event.called_type, context.session.scope)


def _memories(context: HookContext, event: AgentCalled, verify: str) -> tuple[str, tuple[Shown, ...]]:
    """Return the block for an agent, and the memories in it: what fits its task, and what its verify command is about.

    At the command itself a client puts a note before the agent only once the command has run.
    """
    if not should_inject(event.prompt):
        return "", ()
    settings = context.store.runtime.settings
    fitting = _context(context, event, context_for)
    block, memories = ("", ()) if fitting is None else (fitting.text, fitting.shown)
    known = {one.memory_id for one in memories}
    run = CommandRun(command=verify, folder=event.folder, root=str(context.session.root))
    found = look_up(context.store, run, context.session.scope, MOST) if verify else ()
    fresh = [site for site in found if site.memory.id not in known]
    more = action_context(fresh, budget_tokens=settings.action_tokens)
    if not more.text or len(block) + len(more.text) + 1 > ANSWER_LIMIT:
        return block, memories
    return f"{block}\n{more.text}".lstrip(), (*memories, *more.shown)


def _task(kind: AgentType, context: HookContext, event: AgentCalled) -> tuple[str, str, dict[str, object]]:
    """Return the key, the objective and what else is known of the task that an agent is called for."""
    if kind is AgentType.EXPLORER:
        asked = extract_explorer_params(event.prompt)
        objective = asked.focus or asked.objective
        return f"agent:{event.call}", _short(objective or event.prompt), {}
    if kind is AgentType.PLANNER:
        objective = extract_planner_params(event.prompt).objective
        return f"agent:{event.call}", _short(objective or event.prompt), {}
    params = extract_builder_params(event.prompt)
    key = key_named(context.store.index, context.session.scope, context.session.name, params.task_id, params.task)
    said: dict[str, object] = {
        CLIENT_TASK: key if is_clients(key) else "",
        VERIFY: params.verify,
        RELEVANT_FILES: list(params.relevant_files),
    }
    return (
        key or f"agent:{event.call}",
        _short(params.task or event.prompt),
        {name: value for name, value in said.items() if value},
    )


def _short(text: str) -> str:
    return shortened(text.strip(), _LONGEST_OBJECTIVE)


def _joined(kind: AgentType, prompt: str, block: str) -> str:
    """Return the prompt with the block, which a builder reads before its task, the others behind it."""
    return f"{block}\n\n{prompt}" if kind is AgentType.BUILDER else f"{prompt}\n\n{block}"
