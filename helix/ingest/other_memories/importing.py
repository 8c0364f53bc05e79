"""Importing: tells by which adapter a file or folder is read, and makes a job's work of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from helix.errors import InvalidInputError, did_you_mean
from helix.identity import Identity, project_of
from helix.ingest.draft import Slice, in_one_scope
from helix.ingest.other_memories.adapter import Adapter, Asked, items
from helix.ingest.other_memories.chats import CHATGPT, CLAUDE
from helix.ingest.other_memories.claude_mem import CLAUDE_MEM
from helix.ingest.other_memories.client_memory import CLIENT_MEMORY
from helix.ingest.other_memories.histories import CODEX, GEMINI, OPENCODE
from helix.ingest.other_memories.mcp_memory import MCP_MEMORY
from helix.ingest.other_memories.mem0 import MEM0
from helix.ingest.other_memories.own_export import OWN, records
from helix.ingest.other_memories.peek import Peek
from helix.ingest.other_memories.restoring import Restorer
from helix.ingest.other_memories.vault import VAULT
from helix.ingest.plain import shorten
from helix.ingest.writing import Importer
from helix.model.memory import GLOBAL_SCOPE
from helix.store.jobs import Ticket, Work
from helix.store.store import Store
from helix.text.secrets.redact import redact

ADAPTERS: tuple[Adapter, ...] = (
    *(OWN, MCP_MEMORY, CODEX, GEMINI, OPENCODE, CHATGPT, CLAUDE, MEM0, CLAUDE_MEM),
    *(CLIENT_MEMORY, VAULT),
)
"""Every kind of file and folder, those first that are told by the most."""
_SHOWN = 10
_LONGEST, _LOOKED_AT = 120, 2_000


def adapter_for(path: Path, name: str = "") -> Adapter:
    """Return the import adapter of that name, or by what the path holds.

    Raises NotFoundError where nothing is there, and InvalidInputError, naming what was looked for, where none fits.
    """
    peek = Peek(path)
    if name:
        named = next((one for one in ADAPTERS if one.name == name), None)
        if named is None:
            names = [one.name for one in ADAPTERS]
            hint = did_you_mean(name, names) or f"one of: {', '.join(names)}"
            raise InvalidInputError(f"nothing is imported from {name!r}", hint=hint)
        if not named.fits(peek):
            raise InvalidInputError(f"{path} is not what {name} writes", hint=f"looked for: {named.looks_for}")
        return named
    found = next((one for one in ADAPTERS if one.fits(peek)), None)
    if found is None:
        looked = "; ".join(f"{one.name}: {one.looks_for}" for one in ADAPTERS)
        raise InvalidInputError(f"{path} is nothing that can be imported", hint=f"looked for {looked}")
    return found


def work_of(store: Store, path: Path, *, name: str, scope: str, one_scope: bool, mine: bool, plan: bool) -> Work:
    """Return the work of importing a file or folder of another memory; raises at once what `adapter_for` raises.

    `scope` (empty: none said) takes what names none itself, with `one_scope` all. With `plan` nothing is written.
    """
    adapter = adapter_for(path, name)
    settings, known = store.runtime.settings, dict[Path, Identity]()

    def place_of(folder: Path) -> Identity:
        if folder not in known:
            chosen = scope or settings.scope
            known[folder] = project_of(folder, worktrees=settings.worktrees, chosen=chosen, names=settings.home)
        return known[folder]

    asked = Asked(path=path, scope=scope, mine=mine, place_of=place_of, is_here=lambda ref: ref in store.index)
    if adapter is OWN and mine:
        if scope:
            hint = "leave --scope out; without --mine all comes into one scope, as a tool's word"
            raise InvalidInputError("what Helix exported goes back into the scopes it came from", hint=hint)
        restorer = Restorer(store, adapter.name)

        def restore(ticket: Ticket) -> Mapping[str, Any]:
            report = restorer.run(
                partial(records, path), lambda done: ticket.progress(done, 0), lambda: ticket.cancelled, plan=plan
            )
            return {**asdict(report), "planned": plan, "examples": []}

        return restore
    importer = Importer(store, source=adapter.extractor, scope=scope or GLOBAL_SCOPE, vouched=mine)

    def work(ticket: Ticket) -> Mapping[str, Any]:
        found = items(adapter, asked)
        found = in_one_scope(found) if one_scope else found
        if plan:
            shown: list[str] = []
            report = importer.plan(found, lambda item: _show(shown, item), lambda: ticket.cancelled)
        else:
            report = importer.run(found, lambda done: ticket.progress(done, 0), lambda: ticket.cancelled)
        return {**asdict(report), "source": adapter.name, "planned": plan, "examples": shown if plan else []}

    return work


def _show(shown: list[str], item: Slice) -> None:
    if len(shown) < _SHOWN:
        says = item.memories[0].trigger if item.memories else item.episode.content
        shown.append(shorten(" ".join(redact(says[:_LOOKED_AT]).text.split()), _LONGEST))
