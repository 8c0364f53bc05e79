"""Known errors: a fix is remembered once for an error, and every session that meets the error again counts."""

from __future__ import annotations

from hashlib import sha256

from helix.agents.context.exact_lookup import look_up
from helix.agents.hook_events.hook_context import HookContext
from helix.agents.hook_events.session_state import SessionWorker
from helix.agents.tasks.board import learn
from helix.command_outcome.command_run import CommandRun
from helix.command_outcome.fixes import COMMAND, ERROR, FIXED, SESSIONS, Fix
from helix.memory.change.compose import Composer
from helix.memory.change.intake import LONGEST_LABEL, OWN_ATTRIBUTE
from helix.memory.change.versions import OWN_WORD
from helix.memory.remember import curate
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.remember import remember
from helix.memory.remember.request import StoreRequest
from helix.model.memory import Kind, Memory
from helix.model.provenance import JSON_LINES, TOLD_BY_OTHERS, Trust
from helix.model.task import ON_ERROR
from helix.scopes import same_scope
from helix.store.writer import Decision
from helix.text.about import about, commands_in_attributes
from helix.text.error_lines import names_something
from helix.text.path_patterns import as_name

_LAST = f"{OWN_ATTRIBUTE}session"
_LOOKED_THROUGH = 20
_BEFORE = " Before that: "
_MOST_COMMANDS = 8


def count_repeat(context: HookContext, run: CommandRun) -> None:
    """Count a session of hooks whose command met a remembered failure's error, once; find it at this command too."""
    known, session = _known(context, run, run.normal, run.error), sha256(context.session.name.encode()).hexdigest()[:16]
    if known is None or is_own(context, known) or known.attributes.get(_LAST) == session:
        return
    ref = known.ref

    def decision() -> Decision[None]:
        composer = Composer(context.store, context.store.runtime.clock())
        times = known.attributes.get(SESSIONS, 1)
        commands = dict.fromkeys([*commands_in_attributes(known.attributes), run.normal])
        attributes = {
            **known.attributes,
            COMMAND: "\n".join(list(commands)[:_MOST_COMMANDS]),
            SESSIONS: (times if isinstance(times, int) else 1) + 1,
            _LAST: session,
        }
        composer.patch(ref, attributes=attributes)
        composer.mentions(ref, known.scope, about("", attributes), known.provenance)
        return Decision((composer.change("sighting"),), None)

    context.store.writer.submit(decision)


def remember_fix(context: HookContext, worker: SessionWorker, task: str, fix: Fix) -> None:
    """Store an error with its fix once a hook tells both; once for an error with a subject, else for the command too.

    It quotes what a tool printed, so it is trusted no further than that.
    """
    call = fix.passed_id or sha256(fix.trigger.encode()).hexdigest()[:16]  # a client may name no calls
    source = f"{context.client}:{context.session.name}:{call}{FIXED}"
    if context.store.index.from_source(source, scope=context.session.scope) is not None:
        return
    if (known := _known(context, CommandRun(output=fix.error, failed=True), fix.command, fix.error)) is not None:
        if resolution := _otherwise(known, fix):
            known = curate.edit(context.store, known.id, EditRequest(resolution=resolution, agent=context.client))
            worker.learned(known.id)
        learn(context.store, task, known.id)
        return
    result = remember(
        context.store,
        StoreRequest(
            trigger=fix.trigger,
            resolution=fix.resolution,
            kind=Kind.FAILURE,
            scope=context.session.scope,
            files=tuple(name for name in map(as_name, fix.files) if len(name) <= LONGEST_LABEL),
            trust=Trust.TOOL_OUTPUT,
            source=source,
            agent=context.client,
            session=context.session.name,
            attributes=fix.attributes,
        ),
    )
    learn(context.store, task, result.id)


def _otherwise(known: Memory, fix: Fix) -> str:
    """Return what a failure's memory says once something else was run before its command passed; empty for the same.

    What mended it last comes first, and what did so before stays. What a person said of it is the person's.
    """
    last = known.resolution.partition(_BEFORE)[0]
    learned = known.source.endswith(FIXED) and known.provenance.trust is Trust.TOOL_OUTPUT
    learned = learned and OWN_WORD not in known.attributes
    if not learned or not fix.commands or all(f"`{one}`" in last for one in fix.commands):
        return ""
    return f"{fix.resolution}{_BEFORE}{last}"


def _is_believed(memory: Memory) -> bool:
    provenance = memory.provenance
    brought = provenance.is_strangers or provenance.extractor in (*TOLD_BY_OTHERS, JSON_LINES)
    return provenance.trust.rank < Trust.TOOL_OUTPUT.rank or (provenance.trust is Trust.TOOL_OUTPUT and not brought)


def is_own(context: HookContext, memory: Memory) -> bool:
    """Return whether a memory was learned in the hook's own session: whoever learned it knows it."""
    return memory.source.startswith(f"{context.client}:{context.session.name}:")


def _known(context: HookContext, run: CommandRun, command: str, error: str) -> Memory | None:
    """Return the failure with a fix that has exactly this error, and this command where the error names nothing.

    One that nobody here stands for counts where it was learned here: what a file or a strand brought says of itself
    what mends it, and would stand in the way of what does.
    """
    if not error:
        return None
    found = look_up(context.store, run, context.session.scope, _LOOKED_THROUGH, by=(ON_ERROR,), each=True)
    same = (
        site.memory
        for site in found
        if site.memory.kind is Kind.FAILURE
        and site.memory.resolution
        and same_scope(site.memory.scope, context.session.scope)
        and site.memory.attributes.get(ERROR) == error
        and _is_believed(site.memory)
        and (names_something(error) or command in commands_in_attributes(site.memory.attributes))
    )
    return next(same, None)
