"""Unsolved: what failed in a task until it ended blocked is remembered by itself, and counted when it comes again."""

from __future__ import annotations

from collections.abc import Sequence

from helix.agents.context.exact_lookup import look_up
from helix.agents.hook_events.hook_context import HookContext
from helix.agents.hook_events.session_state import SessionWorker
from helix.agents.tasks.board import find_task, learn
from helix.command_outcome.command_run import CommandRun
from helix.command_outcome.fixes import COMMAND, ERROR, Unsolved
from helix.command_outcome.ignored import tells_of_ignored
from helix.memory.capture.quarantine import screen
from helix.memory.change.compose import Composer
from helix.memory.failures.systemic import TIMES, UNSOLVED
from helix.memory.remember.curate import EditRequest, edit
from helix.memory.remember.remember import follow_up, remember
from helix.memory.remember.request import StoreRequest
from helix.model import task as named
from helix.model.edge import Ref, Relation
from helix.model.memory import Kind, Memory
from helix.model.provenance import Trust
from helix.model.task import BLOCKED, VERIFY, Task
from helix.scopes import same_scope
from helix.store.writer import Decision
from helix.text.client_ids import short_digest
from helix.text.error_lines import signature_of

_SURENESS = 0.6
_LOOKED_THROUGH = 20
_MOST_TRIED = 600
_MOST_SAID = 2_000


def remember_unsolved(context: HookContext, worker: SessionWorker, ident: str) -> None:
    """Store the failures that hooks saw block an agent's task: the verify command's, those whose error it names.

    What is claimed is not enough: the command failed itself, and has not passed since. The same command with the same
    error again, in another task, is evidence for the same memory, of which the third within a week is systemic.
    """
    task = find_task(context.store.index, ident)
    if task is None or task.outcome != BLOCKED:
        return
    for one in blocking_failures(context, worker, task):
        known = _known(context, one)
        if known is None:
            _add(context, task, one)
        else:
            _count(context, task, one, known)


def blocking_failures(context: HookContext, worker: SessionWorker, task: Task) -> Sequence[Unsolved]:
    """Return the failures that hooks saw block an agent's task, and not only happen in it."""
    wanted, error = _blamed(context, task)
    return [
        one
        for one in worker.fix_tracker.unsolved
        if one.error and (one.command == wanted or (bool(error) and one.error == error))
    ]


def blocked_by(context: HookContext, worker: SessionWorker, task: Task) -> dict[str, object]:
    """Return the command and error that hooks saw block an agent's task, as attributes that a memory is found by."""
    found = blocking_failures(context, worker, task)
    if found:
        return found[-1].attributes
    told = zip((COMMAND, ERROR), _blamed(context, task), strict=True)
    return {name: value for name, value in told if value}


def _blamed(context: HookContext, task: Task) -> tuple[str, str]:
    """Return the verify command of an agent's task in its normal form, and the error line that the agent told."""
    root = str(context.session.root)
    verify, said = (str(task.attributes.get(name) or "") for name in (VERIFY, named.ERROR))
    return CommandRun(command=verify, folder=root, root=root).normal if verify else "", signature_of(said)


def _known(context: HookContext, one: Unsolved) -> Memory | None:
    """Return the failure that says exactly this command and this error."""
    root = str(context.session.root)
    run = CommandRun(command=one.command, folder=root, root=root)
    found = look_up(context.store, run, context.session.scope, _LOOKED_THROUGH, each=True)
    same = (
        site.memory
        for site in found
        if site.memory.kind is Kind.FAILURE
        and same_scope(site.memory.scope, context.session.scope)
        and (site.memory.attributes.get(COMMAND), site.memory.attributes.get(ERROR)) == (one.command, one.error)
    )
    return next(same, None)


def _add(context: HookContext, task: Task, one: Unsolved) -> None:
    request = StoreRequest(
        trigger=one.trigger,
        resolution=_render_tried(context, task),
        kind=Kind.FAILURE,
        scope=context.session.scope,
        confidence=_SURENESS,
        trust=Trust.TOOL_OUTPUT,
        source=_named(context, one),
        agent=context.client,
        attributes=one.attributes,
    )
    learn(context.store, task.id, remember(context.store, request).id)


def _count(context: HookContext, task: Task, one: Unsolved, known: Memory) -> None:
    """Have a failure stand on one occurrence more, and say what was tried this time, where that is new.

    Until it is systemic every occurrence is a version of its own, so that each of them is what caused that. One that
    somebody better than a tool stands for keeps its words.
    """
    episode = context.store.index.from_source(context.source_of(one.first.id), scope=context.session.scope)
    if episode is None or known.source == _named(context, one):
        return
    here = known.ref
    stands_on = [op.target for op in context.store.records.edges_at(here) if op.type is Relation.GROUNDED_IN]
    if episode in stands_on:
        return
    tried = _render_tried(context, task)
    fresh = tried not in known.resolution
    told = f"{known.resolution}\nAnd again{': ' + tried if fresh else ', in another task.'}"
    grows = known.provenance.trust.rank >= Trust.TOOL_OUTPUT.rank and (fresh or len(stands_on) < TIMES)
    if grows and len(told) <= _MOST_SAID and not screen(Trust.TOOL_OUTPUT, told).held:
        # In one change: who looks in between would see a version more than occurrences.
        request = EditRequest(resolution=told, agent=context.client)
        known = edit(context.store, known.id, request, grounds=(episode,))
    else:
        _ground(context, known, episode)
    learn(context.store, task.id, known.id)
    follow_up(context.store, known.id)


def _ground(context: HookContext, known: Memory, episode: Ref) -> None:
    def decision() -> Decision[None]:
        composer = Composer(context.store, context.store.runtime.clock())
        ref = known.ref
        composer.edge(Relation.GROUNDED_IN, ref, episode, provenance=known.provenance)
        return Decision((composer.change("sighting"),), None)

    context.store.writer.submit(decision)


def _named(context: HookContext, one: Unsolved) -> str:
    """Return the source of the memory of a command that failed: a digest, as a client's ids look like keys."""
    return f"{context.client}:{short_digest(context.session.name, one.first.id)}"


def _render_tried(context: HookContext, task: Task) -> str:
    """Return what the agent says it tried, but where that names a file of `.helixignore`."""
    tried, root = str(task.attributes.get(named.TRIED) or "").strip(), str(context.session.root)
    if not tried or tells_of_ignored(tried, root):
        return f"{UNSOLVED}: the task ended blocked by it."
    shown = tried if len(tried) <= _MOST_TRIED else tried[: _MOST_TRIED - 3].rstrip() + "..."
    return f"{UNSOLVED}. Tried without success: {shown}"
