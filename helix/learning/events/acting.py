"""Acting: what is remembered about exactly this command, file or error is put before the agent; how it ends is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from helix.learning.action.fixes import Fix, failure_words, only_looks
from helix.learning.action.sites import MOST, Site, look_up, shown, text
from helix.learning.events.desk import NOTHING, Desk, Reaction
from helix.learning.events.events import ActionBegins, ActionEnded, Reply
from helix.learning.events.sessions import Worker
from helix.learning.orchestration.board import find_task, inject, learn
from helix.learning.outcomes.evidence import classify
from helix.learning.outcomes.noting import note_evidence, note_repeats, note_use
from helix.learning.proof.holdback import drawn, treatment
from helix.lifecycle.asked import StoreRequest
from helix.lifecycle.capture.episodes import EpisodeRequest, record
from helix.lifecycle.capture.ignore import without_ignored
from helix.lifecycle.remember import remember
from helix.model.action import Action
from helix.model.memory import Kind
from helix.model.provenance import Trust
from helix.model.task import HELD_BACK, VERIFY


def action_begins(desk: Desk, event: ActionBegins) -> Reaction:
    """Show the memories about exactly this command or file; one that was shown here before is not shown again."""
    worker = desk.worker(event)
    found = look_up(desk.store, event.action, desk.session.scope, MOST, root=str(desk.session.root))
    return _show(desk, worker, worker.unseen(found), event.action)


def action_ended(desk: Desk, event: ActionEnded) -> Reaction:
    """Keep how a command ended, as evidence and as a failure or its fix; at a failure show what its error is about."""
    worker = desk.worker(event)
    action = replace(event.action, at=desk.store.clock())
    if action.is_edit:
        return Reaction(always=(lambda: _edited(desk, worker, action, event.wrote),))
    kept = (lambda: _ran(desk, worker, action),)
    if action.passed is not False:
        return Reaction(always=kept)
    root = str(desk.session.root)
    found = look_up(desk.store, replace(action, command=""), desk.session.scope, MOST, root=root)
    repeats = tuple(site.memory.id for site in found)
    noted = (*kept, lambda: _repeated(desk, worker, repeats)) if repeats else kept
    reaction = _show(desk, worker, worker.unseen(found, but=action.id), action)
    worker.failed_again(look_up(desk.store, replace(action, output=""), desk.session.scope, MOST, root=root))
    return replace(reaction, always=(*noted, *reaction.always))


def _show(desk: Desk, worker: Worker, sites: Sequence[Site], action: Action) -> Reaction:
    if not sites:
        return NOTHING
    key = desk.session.key_of(worker)
    task = desk.session.task_of(worker)
    held_back = desk.keeps() and drawn(desk.store, task) == HELD_BACK
    budget = desk.store.settings.action_tokens
    noted = shown(sites, budget_tokens=budget)
    told = sites[: len(noted)]

    def keep() -> None:
        desk.ensure(task, key)
        treatment(desk.store, task)
        inject(desk.store, task, noted, held_back=held_back)

    return Reaction(
        reply=Reply() if held_back else Reply(context=text(told, budget_tokens=budget)),
        at_once=(lambda: worker.saw(told, action.id),),
        then=(keep,),
        did=f"{'holds back' if held_back else 'shows'} {len(noted)} at {'an edit' if action.is_edit else 'a command'}",
    )


def _edited(desk: Desk, worker: Worker, action: Action, wrote: str) -> None:
    files = tuple(without_ignored(action.files, str(desk.session.root)))
    if not files:
        return
    worker.files.update(dict.fromkeys(files))
    worker.mending.take(replace(action, files=files))
    task = desk.session.task_of(worker)
    if find_task(desk.store, task) is not None:
        note_use(desk.store, task, files=files, text=wrote, edited_at=action.at)


def _ran(desk: Desk, worker: Worker, action: Action) -> None:
    task = desk.session.task_of(worker)
    known = find_task(desk.store, task)
    if known is not None:
        evidence = classify(action, str(known.attributes.get(VERIFY) or ""))
        if evidence is not None:
            note_evidence(desk.store, task, evidence)
        if action.passed and not only_looks(action.command):
            note_use(desk.store, task, commands=(action.command,))
    if action.passed is False and not only_looks(action.command):
        _record_failure(desk, action)
    fix = worker.mending.take(action)
    if fix is not None:
        _remember_fix(desk, task, fix)


def _repeated(desk: Desk, worker: Worker, memories: Sequence[str]) -> None:
    task = desk.session.task_of(worker)
    desk.ensure(task, desk.session.key_of(worker))
    note_repeats(desk.store, task, memories)


def _record_failure(desk: Desk, action: Action) -> None:
    record(
        desk.store,
        EpisodeRequest(
            content=failure_words(action, str(desk.session.root)),
            session=desk.session.name,
            scope=desk.session.scope,
            role="tool",
            occurred_at=action.at,
            source=f"{desk.client}:{desk.session.name}:{action.id}" if action.id else "",
            trust=Trust.TOOL_OUTPUT,
        ),
    )


def _remember_fix(desk: Desk, task: str, fix: Fix) -> None:
    """Store a failure with its fix, once; it quotes what a tool printed, so it is trusted no further than that."""
    source = f"{desk.client}:{desk.session.name}:{fix.passed_id}#fix"
    if desk.store.catalogue.row_of_source(source, scope=desk.session.scope) is not None:
        return
    result = remember(
        desk.store,
        StoreRequest(
            trigger=fix.trigger,
            resolution=fix.resolution,
            kind=Kind.FAILURE,
            scope=desk.session.scope,
            files=fix.files,
            trust=Trust.TOOL_OUTPUT,
            source=source,
            agent=desk.client,
            attributes=fix.attributes,
        ),
    )
    learn(desk.store, task, result.id)
