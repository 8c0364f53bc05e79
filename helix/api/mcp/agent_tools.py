"""Tools: what an agent may do with memory by MCP. Each is one operation of Helix, worded for an agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context as Call
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import BaseModel, Field, create_model

from helix.agents.context.blocks import listing
from helix.api.mcp.answers import (
    Block,
    Forgotten,
    Found,
    Listing,
    Related,
    Search,
    Told,
    Written,
    answered,
    found_in,
    found_of,
    lines_of,
    within,
)
from helix.api.mcp.asker import Askers
from helix.errors import InvalidInputError
from helix.memory.change.intake import known_kind
from helix.memory.remember.request import StoreRequest
from helix.model.memory import GLOBAL_SCOPE, Kind
from helix.model.recall import RecallQuery
from helix.model.reports import StoreResult
from helix.operations.checks import check_length
from helix.store.listing import MemoryFilter
from helix.text.tokens import estimate_tokens

BUDGET = 1_000
"""Tokens of an answer where a client says no other number."""
_CANDIDATES = 5
_SHORT = 200
"""Characters of what a memory says in a list."""
_CLAIM = 0.5
"""What an agent may say of a memory in all."""
_KINDS = "decision, convention, failure, pattern, fact, preference or snippet."
_MOST = 20

Query = Annotated[str, Field(description="What you want to know, in words.")]
Scope = Annotated[str | None, Field(description="A project, or `global`; by default the folder you work in.")]
Types = Annotated[list[str] | None, Field(description="Only these kinds: decision, failure, convention, ...")]
Files = Annotated[list[str] | None, Field(description="Files it is about.")]
Budget = Annotated[int, Field(ge=50, le=20_000, description="Tokens the answer may take.")]
NameOrId = Annotated[str, Field(description="Its name or id.")]

_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_COUNTS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
_TAKES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


class Which(BaseModel):
    """What a person chose of the memories that a query meant; empty for none."""

    name: str = ""


class AgentTools:
    """The tools, each a method; `tools` lists them as the protocol wants them."""

    def __init__(self, askers: Askers) -> None:
        self._askers = askers

    def tools(self) -> list[Tool]:
        """Return the MCP tools under their names, with schemas that cost an agent few tokens."""
        return [
            _tool(self.search, "memory.search", _READS),
            _tool(self.context, "memory.context", _READS),
            _tool(self.at_action, "memory.at_action", _READS),
            _tool(self.note, "memory.note", _ADDS),
            _tool(self.write, "memory.write", _ADDS),
            _tool(self.relate, "memory.relate", _ADDS),
            _tool(self.feedback, "memory.feedback", _COUNTS),
            _tool(self.forgetting(), "memory.forget", _TAKES),
            _tool(self.page, "memory.list", _READS),
        ]

    async def search(
        self,
        query: Query,
        call: Call,
        scope: Scope = None,
        k: Annotated[int, Field(ge=1, le=_MOST, description="The most to return.")] = 8,
        types: Types = None,
        files: Files = None,
        asOf: Annotated[datetime | None, Field(description="Valid time: what was true at this time.")] = None,
        knownAt: Annotated[datetime | None, Field(description="Recorded time: what was known by then.")] = None,
        budget_tokens: Budget = BUDGET,
    ) -> Annotated[CallToolResult, Search]:
        """Find what is remembered: decisions, conventions, failures with fixes, facts, past work."""
        found = await self._found(
            *(call, query, scope, k),
            types=types,
            files=files,
            as_of=asOf,
            known_at=knownAt,
            budget_tokens=budget_tokens,
        )
        items = found_in(found)
        kept = within(items, budget_tokens)
        return answered(
            lines_of(kept, "Nothing is remembered about this." if not items else "Nothing fits the budget."),
            Search(items=kept, more=len(items) - len(kept), notes=list(found.notes)),
        )

    async def context(
        self,
        call: Call,
        task: Annotated[str, Field(description="What you are about to do; leave out as a session begins.")] = "",
        files: Files = None,
        scope: Scope = None,
        budget_tokens: Budget = 600,
    ) -> Annotated[CallToolResult, Block]:
        """Get what matters before you begin: a brief of the project, and what fits your task."""
        where = await self._askers.scope(call, scope)
        kept, ids = list[Found](), list[str]()
        if task:
            found = await self._found(call, task, where, _MOST, files=files, budget_tokens=budget_tokens)
            pairs = zip(found.items, found_in(found), strict=True)
            fit = [(item.node.id, one) for item, one in pairs if one.kind in list(Kind)]
            kept = within([one for _, one in fit], budget_tokens)
            ids = [ident for ident, _ in fit[: len(kept)]]
        about = listing("ABOUT YOUR TASK", (one.line for one in kept)).rstrip()
        left = budget_tokens - estimate_tokens(about) - (4 if about else 0)
        told = [one.name for one in kept]
        brief = await self._askers.ask(call, "brief", scope=where, budget_tokens=max(left, 0), without=ids)
        text = "\n\n".join(part for part in (about, brief.text) if part)
        names = [*told, *(one.name for one in brief.shown)]
        record = Block(text=text, memories=names, tokens=estimate_tokens(text))
        return answered(text or "Nothing is remembered of this project yet.", record)

    async def at_action(
        self,
        call: Call,
        command: Annotated[str, Field(description="A command line you are about to run, or that failed.")] = "",
        error: Annotated[str, Field(description="What it printed when it failed.")] = "",
        files: Annotated[list[str] | None, Field(description="Files you are about to edit.")] = None,
        scope: Scope = None,
    ) -> Annotated[CallToolResult, Block]:
        """Look up exactly this command, error or file: known failures, their fixes, rules about it."""
        folder = await self._askers.folder(call)
        found = await self._askers.ask(
            call,
            "at_action",
            command=command,
            output=error,
            files=files or [],
            folder=str(folder or ""),
            scope=await self._askers.scope(call, scope),
        )
        names = [one.name for one in found.shown]
        record = Block(text=found.text, memories=names, tokens=estimate_tokens(found.text))
        return answered(found.text or "Nothing is remembered about exactly this.", record)

    async def note(
        self,
        text: Annotated[str, Field(description="What to remember, with the reason.")],
        call: Call,
        scope: Scope = None,
    ) -> Annotated[CallToolResult, Written]:
        """Remember something in a sentence or two."""
        self._check(text=text)
        return await self._store(call, scope, StoreRequest(trigger=text, resolution="", kind=Kind.FACT))

    async def write(
        self,
        content: Annotated[str, Field(description="What to know or do.")],
        call: Call,
        type: Annotated[str, Field(description=_KINDS)] = "fact",
        when: Annotated[str, Field(description="When it matters: a situation, an error, a command in backticks.")] = "",
        scope: Scope = None,
        files: Files = None,
        source: Annotated[str, Field(description="Where you have it from.")] = "",
    ) -> Annotated[CallToolResult, Written]:
        """Remember a decision, convention or failure with its fix; a refinement becomes a new version."""
        self._check(content=content, **({"when": when} if when else {}))
        trigger, resolution = (when, content) if when else (content, "")
        request = StoreRequest(
            trigger=trigger, resolution=resolution, kind=type, files=tuple(files or ()), source=source
        )
        return await self._store(call, scope, request)

    async def relate(
        self,
        from_id: NameOrId,
        to_id: NameOrId,
        relation: Annotated[str, Field(description="SOLVES, CAUSES, REQUIRES, or a word of your own.")],
        call: Call,
    ) -> Annotated[CallToolResult, Related]:
        """Link two memories."""
        edge = await self._askers.ask(call, "edge", source=from_id, target=to_id, relation=relation)
        record = Related(source=from_id, target=to_id, relation=edge.relation or edge.type.value)
        return answered(f"{from_id} {record.relation} {to_id}.", record)

    async def feedback(
        self,
        names: Annotated[list[str], Field(min_length=1, description="Memories you used.")],
        helped: Annotated[bool, Field(description="False: it was wrong or misled you.")],
        call: Call,
    ) -> Annotated[CallToolResult, Told]:
        """Say whether memories helped. It is a claim: verified outcomes weigh more."""
        told = await self._askers.ask(call, "feedback", names=names, delta=_CLAIM if helped else -_CLAIM)
        record = Told(memories=[memory.name for memory in told])
        return answered(f"Noted for {', '.join(record.memories)}.", record)

    async def page(
        self,
        call: Call,
        scope: Scope = None,
        type: str | None = None,
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
        cursor: Annotated[str | None, Field(description="Go on after the last page.")] = None,
    ) -> Annotated[CallToolResult, Listing]:
        """List memories, newest first."""
        where = await self._askers.scope(call, scope)
        wanted = MemoryFilter(scope=where, kinds=[known_kind(type)] if type else [])
        page = await self._askers.ask(call, "memories", wanted=wanted, first=limit, after=cursor)
        items = [found_of(memory, where, limit=_SHORT) for memory in page.items]
        more = f"\nMore: cursor {page.next_cursor}" if page.next_cursor else ""
        record = Listing(items=items, total=page.total, cursor=page.next_cursor)
        return answered(f"{page.total} in all\n{lines_of(items, 'None.')}{more}", record)

    def forgetting(self) -> Callable[..., Any]:
        """Return the MCP tool that forgets, with the question to the person that it may ask first."""

        async def meant(id: str, query: str, scope: str | None, call: Call) -> Elicit[Which] | Which:
            able = call.client_capabilities
            if id or not query or able is None or able.elicitation is None:
                return Which()
            found = await self._candidates(call, query, scope)
            if not found:
                return Which()
            names = ("", *(one.name for one in found))
            fields: dict[str, Any] = {"name": (Literal[names], "")}
            asked = create_model("Which", __base__=Which, **fields)
            return Elicit(f"Which of these is to be forgotten?\n{lines_of(found, '')}", asked)

        async def forget(
            call: Call,
            chosen: ElicitationResult[Which],
            id: Annotated[str, Field(description="Name or id of the memory.")] = "",
            query: Annotated[str, Field(description="Or what it says: you are shown what that means first.")] = "",
            scope: Scope = None,
        ) -> Annotated[CallToolResult, Forgotten]:
            """Take a memory out of recall; a person can bring it back."""
            if not id.strip() and not query.strip():
                raise InvalidInputError(
                    "`id` or `query` is missing", hint="say what is to be forgotten: its name or id, or what it says"
                )
            name = id or (chosen.data.name if isinstance(chosen, AcceptedElicitation) else "")
            if name:
                memory = await self._askers.ask(call, "forget", name_or_id=name)
                return answered(f"Forgotten: {memory.name}.", Forgotten(forgotten=memory.name))
            if _was_asked(chosen):
                return answered("Nothing was forgotten: the user was asked, and chose none.", Forgotten())
            found = await self._candidates(call, query, scope)
            advice = "Nothing was forgotten. Call again with the id of the one that is meant:\n"
            return answered(advice + lines_of(found, "nothing fits"), Forgotten(candidates=found))

        # Set here: what is written above is read as text, where `meant` is not known.
        forget.__annotations__["chosen"] = Annotated[ElicitationResult[Which], Resolve(meant)]
        return forget

    async def _candidates(self, call: Call, query: str, scope: str | None) -> list[Found]:
        found = await self._found(call, query, scope, _CANDIDATES, types=list(Kind))
        return within(found_in(found), BUDGET)

    async def _found(
        self,
        call: Call,
        query: str,
        scope: str | None,
        limit: int,
        *,
        types: Sequence[str] | None = None,
        files: Sequence[str] | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        budget_tokens: int = BUDGET,
    ) -> Any:
        kinds = tuple(known_kind(kind) for kind in types or ())
        question = RecallQuery(
            query=query,
            scope=await self._askers.scope(call, scope),
            kinds=kinds,
            limit=limit,
            files=tuple(files or ()),
            as_of=as_of,
            known_at=known_at,
            budget_tokens=budget_tokens,
        )
        return await self._askers.ask(call, "recall", question=question)

    def _check(self, **texts: str) -> None:
        """Refuse an empty or too long text by the name that the tool has for it."""
        for name, text in texts.items():
            check_length(self._askers.runtime.helix, name, text)
            if not text.strip():
                raise InvalidInputError(f"`{name}` is empty", hint="say in a few words what to remember")

    async def _store(self, call: Call, scope: str | None, request: StoreRequest) -> CallToolResult:
        where = await self._askers.scope(call, scope) or GLOBAL_SCOPE
        result: StoreResult = await self._askers.ask(call, "store", request=replace(request, scope=where))
        warning = "quarantined until a person has looked at it" if result.suspicious else ""
        record = Written(
            name=result.name,
            scope=where,
            status=result.status.value,
            redacted=list(result.redacted),
            contradicts=list(result.contradicts),
            warning=warning,
        )
        words = [f"{record.status}: {record.name} in {where}"]
        words += [f"taken out: {', '.join(record.redacted)}"] if record.redacted else []
        words += [f"contradicts {', '.join(record.contradicts)}"] if record.contradicts else []
        return answered("; ".join([*words, *([warning] if warning else [])]) + ".", record)


def _was_asked(chosen: ElicitationResult[Which]) -> bool:
    """Return whether a person was shown what is meant: what they say is of a class made for the question."""
    return not isinstance(chosen, AcceptedElicitation) or type(chosen.data) is not Which


def _tool(function: Callable[..., Any], name: str, annotations: ToolAnnotations) -> Tool:
    tool = Tool.from_function(function, name=name, annotations=annotations)
    tool.parameters = {**_slim(tool.parameters, given=True), "additionalProperties": False}
    if tool.fn_metadata.output_schema is not None:
        tool.fn_metadata.output_schema = _slim(tool.fn_metadata.output_schema)
    return tool


def _slim(schema: Any, *, given: bool = False) -> Any:
    """Return a schema without titles; of what is given, without saying that what may be left out may be null."""
    if isinstance(schema, list):
        return [_slim(one, given=given) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    slim = {
        key: _slim(value, given=given) for key, value in schema.items() if key != "title" or not isinstance(value, str)
    }
    choices = slim.get("anyOf", ())
    if given and {"type": "null"} in choices and len(choices) == 2:
        del slim["anyOf"], slim["default"]
        slim |= next(choice for choice in choices if choice != {"type": "null"})
    return slim
