"""Tool use: what is remembered about exactly this command, file or error is shown; how it ends is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from helix.agents.context.exact_lookup import MOST, action_context, look_up
from helix.agents.experiment.holdback import drawn, treatment
from helix.agents.hook_events.hook_context import NOTHING, HookContext, Reaction
from helix.agents.hook_events.hook_events import ActionBegins, ActionEnded, HookReply
from helix.agents.hook_events.known_errors import count_repeat, is_own, remember_fix
from helix.agents.hook_events.session_state import SessionWorker
from helix.agents.outcomes.noting import note_evidence, note_repeats, note_revert, note_use
from helix.agents.tasks.board import find_task, inject, task_id
from helix.command_outcome.command_evidence import classify, takes_back
from helix.command_outcome.command_run import CommandRun, changes_nothing
from helix.command_outcome.fixes import Fix, failure_words
from helix.command_outcome.ignored import names_ignored
from helix.helixignore import without_ignored
from helix.memory.capture.episodes import EpisodeRequest, record
from helix.model.action import Action
from helix.model.context_answers import Site
from helix.model.evidence import EvidenceKind
from helix.model.provenance import Trust
from helix.model.task import ACTION, HELD_BACK, ON_ERROR, VERIFY


def action_begins(context: HookContext, event: ActionBegins) -> Reaction:
    """Show the memories about exactly this command or file at a tool's hook, each once in a session."""
    worker = context.worker(event)
    if _wants_none(context, worker):
        return NOTHING
    action = _placed(context, event.action)
    return _show(context, worker, worker.unseen(_looked_up(context, action)), action)


def action_ended(context: HookContext, event: ActionEnded) -> Reaction:
    """Keep how the command of a hook ended, as evidence and as a failure or its fix; show what its error is about."""
    worker = context.worker(event)
    action = replace(_placed(context, event.action), at=context.store.runtime.clock())
    tasks = context.session.in_progress
    if not isinstance(action, CommandRun):
        return Reaction(
            always=(context.when_sure(worker, lambda: _edited(context, worker, action, event.wrote, tasks)),)
        )
    found = _looked_up(context, action, ON_ERROR) if action.has_failed else ()

    def keep() -> None:
        known = _looked_up(context, action, ACTION) if action.ended_well is False else ()
        exact = [site for site in known if site.level == 0]  # before this failure is learned from
        _ran(context, worker, action, tasks)
        if repeats := tuple(dict.fromkeys(site.memory.id for site in (*found, *exact))):
            _repeated(context, worker, action, tasks, repeats)

    shown_now = () if _wants_none(context, worker) else worker.unseen(found)
    reaction = _show(context, worker, shown_now, action)
    return replace(reaction, always=(context.when_sure(worker, keep), *reaction.always))


def _placed(context: HookContext, action: Action) -> Action:
    """Return an action of a hook with the top of the session's project."""
    return replace(action, root=str(context.session.root))


def _looked_up(context: HookContext, action: Action, *by: str) -> tuple[Site, ...]:
    """Return what is remembered about exactly this; what the session learned itself is in its sight."""
    found = look_up(context.store, action, context.session.scope, MOST, by=by or (ACTION, ON_ERROR))
    return tuple(site for site in found if not is_own(context, site.memory))


def take_in(context: HookContext, worker: SessionWorker, event: ActionEnded) -> None:
    """Keep what hooks could tell no daemon that an agent did, as of its own time; told again it counts once."""
    action, tasks = _placed(context, event.action), context.session.in_progress
    if isinstance(action, CommandRun):
        _ran(context, worker, action, tasks)
    else:
        _edited(context, worker, action, event.wrote, tasks)
    context.session.told_before.add(action.id)


def track_fix(context: HookContext, worker: SessionWorker, action: Action) -> None:
    """Note what earlier hooks told that an agent did, so that a failure in it is known when it is mended."""
    context.session.told_before.add(action.id)
    seen = _visible(_placed(context, action))
    if seen is not None:
        worker.fix_tracker.take(seen)


def _wants_none(context: HookContext, worker: SessionWorker) -> bool:
    """Return whether the prompt of an agent said that it wants no memories, or may have."""
    return worker.silent or any(call.silent for call in context.session.may_be(worker))


def _show(context: HookContext, worker: SessionWorker, sites: Sequence[Site], action: Action) -> Reaction:
    if not sites:
        return NOTHING
    tasks = context.session.in_progress
    held_back = _is_held_back(context, worker, action, tasks) if context.keeps() else False
    if held_back is None:
        return NOTHING
    block = action_context(sites, budget_tokens=context.store.runtime.settings.action_tokens)
    told = sites[: len(block.shown)]
    at = context.store.runtime.clock()

    def keep() -> None:
        key = _key(context, worker, action, tasks)
        task = _task(context, key)
        context.ensure(task, key)
        treatment(context.store, task)
        inject(context.store, task, block.shown, held_back=held_back, at=at)

    return Reaction(
        reply=HookReply() if held_back else HookReply(context=block.text),
        at_once=(lambda: worker.saw(told),),
        undone=(lambda: worker.saw_not(told),),
        then=(context.when_sure(worker, keep),),
        did=f"{'holds back' if held_back else 'shows'} {len(told)} at {'an edit' if action.is_edit else 'a command'}",
    )


def _edited(context: HookContext, worker: SessionWorker, action: Action, wrote: str, tasks: Sequence[str]) -> None:
    files = tuple(without_ignored(action.files, action.root))
    if not files:
        return
    worker.files.update(dict.fromkeys(files))
    if action.id not in context.session.told_before:
        worker.fix_tracker.take(replace(action, files=files))
    task = _task(context, _key(context, worker, action, tasks))
    if find_task(context.store.index, task) is not None:
        note_use(context.store, task, files=files, text=wrote, edited_at=action.at)


def _ran(context: HookContext, worker: SessionWorker, action: CommandRun, tasks: Sequence[str]) -> None:
    task = _task(context, _key(context, worker, action, tasks))
    known = find_task(context.store.index, task)
    hidden = names_ignored(action)
    evidence = classify(action, "" if known is None else str(known.attributes.get(VERIFY) or ""))
    if evidence is not None and hidden:
        evidence = replace(evidence, command="", subject="")
    if evidence is not None and evidence.kind is EvidenceKind.REVERT:
        note_revert(context.store, context.session.scope, evidence, context.session.name)
    elif evidence is not None and known is not None:
        note_evidence(context.store, task, evidence)
    if known is not None and takes_back(action):
        note_use(context.store, task, edited_at=action.at)
    if hidden:
        return
    if known is not None and (done := action.succeeded(changes_nothing)):
        note_use(context.store, task, commands=done, at=action.at)
    if action.passed is False and not action.only_looks:
        _record_failure(context, action)
    if action.id in context.session.told_before:
        return
    if action.ended_well is False and not action.only_looks:
        count_repeat(context, action)
    fix = worker.fix_tracker.take(action)
    if fix is not None and (kept := _without_hidden(context, fix)) is not None:
        remember_fix(context, worker, task, kept)


def _visible(action: Action) -> Action | None:
    """Return what may be kept of an action; None where `.helixignore` keeps all of it out."""
    if not isinstance(action, CommandRun):
        files = tuple(without_ignored(action.files, action.root))
        return replace(action, files=files) if files else None
    return None if names_ignored(action) else action


def _repeated(
    context: HookContext, worker: SessionWorker, action: Action, tasks: Sequence[str], memories: Sequence[str]
) -> None:
    key = _key(context, worker, action, tasks)
    task = _task(context, key)
    context.ensure(task, key)
    note_repeats(context.store, task, memories, action.at)


def _is_held_back(context: HookContext, worker: SessionWorker, action: Action, tasks: Sequence[str]) -> bool | None:
    """Return whether an agent's task is held back; None where it may be one of several that differ in that."""
    keys = {call.key for call in context.session.may_be(worker)} or {_key(context, worker, action, tasks)}
    drawn_so = {drawn(context.store, _task(context, key)) == HELD_BACK for key in keys}
    return drawn_so.pop() if len(drawn_so) == 1 else None


def _task(context: HookContext, key: str) -> str:
    return task_id(context.session.scope, context.session.name, key)


def _key(context: HookContext, worker: SessionWorker, action: Action, tasks: Sequence[str]) -> str:
    """Return the key of the task that an action is of; `tasks` were in progress in the main thread when it was done.

    Of several it is the one whose verify command it is, if it is that of one alone.
    """
    if not context.session.is_main(worker):
        return context.session.key_of(worker)
    if len(tasks) < 2 or not isinstance(action, CommandRun):
        return tasks[0] if len(tasks) == 1 else worker.key
    mine = []
    for key in tasks:
        task = find_task(context.store.index, _task(context, key))
        verify = "" if task is None else str(task.attributes.get(VERIFY) or "")
        if verify and replace(action, command=verify).normal == action.normal:
            mine.append(key)
    return mine[0] if len(mine) == 1 else worker.key


def _without_hidden(context: HookContext, fix: Fix) -> Fix | None:
    """Return a fix as it may be kept; None where what failed, or all that mended it, is to be kept out."""
    root = str(context.session.root)
    tools = [one for one in fix.commands if not names_ignored(CommandRun(command=one, folder=root, root=root))]
    kept = replace(fix, commands=tuple(tools))
    return kept if kept.files or kept.commands else None


def _record_failure(context: HookContext, action: CommandRun) -> None:
    """Record a command that failed, once."""
    record(
        context.store,
        EpisodeRequest(
            content=failure_words(action),
            session=context.session.name,
            scope=context.session.scope,
            role="tool",
            occurred_at=action.at,
            trust=Trust.TOOL_OUTPUT,
        ),
        origin=context.source_of(action.id) if action.id else "",
    )
