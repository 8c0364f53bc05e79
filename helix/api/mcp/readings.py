"""Readings: what a client may read or begin with by MCP, without an agent's asking: resources and prompts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Annotated, Any

from mcp.server.mcpserver import Context as Call
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Completion, CompletionArgument, PromptReference, ResourceTemplateReference
from pydantic import Field

from helix.agents.context.blocks import entry, one_line, told_name
from helix.api.mcp.answers import found_of
from helix.api.mcp.asker import Askers
from helix.model.edge import Ref
from helix.model.graph_answers import GraphNode
from helix.model.memory import Memory, Status
from helix.model.provenance import QUOTED
from helix.model.recall import Completable
from helix.text.inert import quoted

_JSON, _TEXT = "application/json", "text/markdown"
_NEAR = 50
_WAITING = 10
_LONGEST_PREFIX = 200
_COMPLETED = {"name": Completable.NAMES, "id": Completable.NAMES, "scope": Completable.SCOPES}
"""Arguments of resources and prompts whose beginning can be completed."""


def offer_readings(server: MCPServer[Any], askers: Askers) -> None:
    """Give an MCP server the resources and prompts of Helix."""
    _offer_graph(server, askers)
    _offer_texts(server, askers)
    _offer_prompts(server, askers)
    _offer_completions(server, askers)


def _offer_graph(server: MCPServer[Any], askers: Askers) -> None:
    @server.resource(
        "helix://graph", name="graph", description="What the graph holds, and what most leads to.", mime_type=_JSON
    )
    async def graph() -> str:
        status = await askers.read(None, "status")
        central = await askers.read(None, "centrality")
        return _json({"nodes": status.nodes, "edges": status.edges, "central": central})

    @server.resource(
        "helix://graph/{id}",
        name="neighbourhood",
        description="A node, by name or id, and what lies around it.",
        mime_type=_JSON,
    )
    async def near(id: str, call: Call) -> str:
        return _json(await askers.read(call, "neighbourhood", name_or_id=id, limit=_NEAR))

    @server.resource(
        "helix://strand/manifest",
        name="manifest",
        description="What this memory is: its model, format, size and scopes.",
        mime_type=_JSON,
    )
    async def manifest() -> str:
        status = await askers.read(None, "status")
        scopes = await askers.read(
            None, "completions", of=Completable.SCOPES, limit=askers.runtime.helix.settings.page_size
        )
        return _json(
            {
                "version": status.version,
                "model": status.model,
                "dimension": status.dimension,
                "journal_rows": status.journal_rows,
                "nodes": status.nodes,
                "edges": status.edges,
                "scopes": [*map(told_name, scopes)],
            }
        )


def _offer_texts(server: MCPServer[Any], askers: Askers) -> None:
    @server.resource(
        "helix://memory/{name}", name="memory", description="One memory, with where it comes from.", mime_type=_TEXT
    )
    async def memory(name: str, call: Call) -> str:
        found: Memory = await askers.read(call, "get", name_or_id=name)
        if found.status is Status.QUARANTINED:
            raise MCPError(INVALID_PARAMS, "it is quarantined until a person has looked at it (`helix review`)")
        line = entry(found, score=0.0, arm="mcp", limit=askers.runtime.helix.settings.text_limit).line
        facts = {
            "kind": found.kind.value,
            "scope": told_name(found.scope),
            "trust": found.provenance.trust.value,
            "source": _as_told(found.source, found.said_by),
            "recorded": found.recorded_at.isoformat(),
            "status": found.status.value,
            "id": found.id,
        }
        return f"{line}\n\n" + "\n".join(f"- {name}: {value}" for name, value in facts.items() if value)

    @server.resource(
        "helix://brief/{+scope}",
        name="brief",
        description="What to know of a project as a session begins.",
        mime_type=_TEXT,
    )
    async def brief(scope: str, call: Call) -> str:
        return await _brief(askers, call, scope)


def _offer_prompts(server: MCPServer[Any], askers: Askers) -> None:
    @server.prompt("brief", description="Brief me: what is remembered of this project.")
    async def brief_me(
        call: Call,
        scope: Annotated[str | None, Field(description="A project; by default the folder you work in.")] = None,
    ) -> str:
        return await _brief(askers, call, await askers.scope(call, scope))

    @server.prompt("decision", description="Record a decision that was made, with its reason and what was turned down.")
    def record_decision(
        decision: Annotated[str, Field(description="What was decided, in your own words.")] = "",
    ) -> str:
        about = decision or "what we have just decided"
        return (
            f"Record a decision: {about}\nCall memory.search first: a decision on the same matter is refined, not "
            "repeated. Then call memory.write with type `decision`: `when` is the question that was open, `content` "
            "what was chosen, why, and what was turned down. Say in one sentence what you wrote."
        )

    @server.prompt("review", description="Review what waits for a person: quarantined texts, and contradictions.")
    async def review_what_waits(
        call: Call,
        scope: Annotated[str | None, Field(description="A project; by default the folder you work in.")] = None,
    ) -> str:
        where = await askers.scope(call, scope)
        most = askers.runtime.helix.settings.page_size
        cases = (await askers.read(call, "contradictions", scope=where, first=most)).items
        held = await askers.read(call, "review", scope=where, first=_WAITING)
        lines = [
            f"- They cannot both hold:\n  - {found_of(case.first, where).line}\n  - {found_of(case.second, where).line}"
            for case in cases[-_WAITING:]
        ]
        lines += [f"- {held.total} texts are quarantined, as they read like instructions: see `helix review`."] * bool(
            held.total
        )
        asked = "Put each before the user and ask what holds; they say so with `helix resolve`."
        return "\n".join([*lines, asked]) if lines else "Nothing waits."


def _offer_completions(server: Any, askers: Askers) -> None:
    async def complete(
        of: PromptReference | ResourceTemplateReference, argument: CompletionArgument, context: object
    ) -> Completion | None:
        kind = _COMPLETED.get(argument.name)
        if kind is None:
            return None
        found = await askers.read(None, "completions", of=kind, prefix=argument.value[:_LONGEST_PREFIX])
        return Completion(values=found)

    server.completion()(complete)


async def _brief(askers: Askers, call: Call, scope: str | None) -> str:
    told = await askers.read(call, "brief", scope=scope)
    return told.text or "Nothing is remembered of this project yet."


def _json(value: Any) -> str:
    return json.dumps(value, default=_plain, ensure_ascii=False)


def _as_told(text: str, by: str) -> str:
    told = one_line(text)
    return quoted(told) if told and (not by or by in QUOTED) else told


def _plain(value: Any) -> Any:
    if isinstance(value, GraphNode):
        title = _as_told(value.title, value.said_by)
        told = {**_plain(value.ref), "title": title, "scope": told_name(value.scope)}
        return {**told, "by": value.said_by} if value.said_by else told
    if isinstance(value, Ref):  # whoever names a session chooses its id
        return {"label": value.label, "id": told_name(value.id)}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    return value.isoformat() if isinstance(value, datetime) else value.value if isinstance(value, Enum) else str(value)
