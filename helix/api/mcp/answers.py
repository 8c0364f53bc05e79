"""Answers: what tools answer, as lines for a reader and as records for a program, both within one budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_types import CallToolResult, ContentBlock, TextContent
from pydantic import BaseModel

from helix.agents.context.blocks import claim, one_line, standing, told_name
from helix.model.memory import Memory
from helix.model.provenance import QUOTED
from helix.model.recall import RecallAnswer
from helix.model.records import Node
from helix.text.inert import quoted
from helix.text.tokens import estimate_tokens

_LONGEST = 600
_FRAME = 24
"""Tokens of an answer that are none of its items: brackets, and the line above them."""


class Found(BaseModel):
    """One thing that is remembered; `by` says who says it, after what verified use says of it, where there is any."""

    name: str
    kind: str
    by: str
    text: str
    scope: str = ""

    @property
    def line(self) -> str:
        """An item of an MCP answer as a line: the way agents are shown memories everywhere, and its kind."""
        return f"[{self.by}] {self.name} ({self.kind}): {self.text}"


class Search(BaseModel):
    """What a search found, best first."""

    items: list[Found]
    more: int = 0
    notes: list[str] = []


class Listing(BaseModel):
    """One page of memories, newest first; `cursor` goes on."""

    items: list[Found]
    total: int
    cursor: str | None = None


class Written(BaseModel):
    """What became of a text."""

    name: str
    scope: str
    status: str
    redacted: list[str] = []
    contradicts: list[str] = []
    warning: str = ""


class Forgotten(BaseModel):
    """What was taken out of recall; or what was meant, where nothing was."""

    forgotten: str = ""
    candidates: list[Found] = []


class Related(BaseModel):
    """An edge that was drawn."""

    source: str
    target: str
    relation: str


class Block(BaseModel):
    """A block for the agent's context."""

    text: str
    memories: list[str] = []
    tokens: int


class Told(BaseModel):
    """Memories that feedback was given to."""

    memories: list[str]


def answered(text: str, record: BaseModel) -> CallToolResult:
    """Return the answer of an MCP tool, without defaults: clients hand agents the record as it is."""
    content: list[ContentBlock] = [TextContent(type="text", text=text)]
    return CallToolResult(content=content, structured_content=record.model_dump(mode="json", exclude_defaults=True))


def found_of(
    node: Node, scope: str | None = None, *, text: str = "", question: str = "", limit: int = _LONGEST
) -> Found:
    """Return a node as an item of an MCP answer, with a scope unless asked for; `text` is told of no memory."""
    elsewhere = getattr(node, "scope", "")
    where = "" if elsewhere == scope else told_name(elsewhere)
    if isinstance(node, Memory):
        told = claim(node, limit, question)
        return Found(name=node.name, kind=node.kind.value, by=standing(node), text=told, scope=where)
    told, by = one_line(text, limit), getattr(node, "said_by", "")
    kind = type(node).__name__.lower()
    return Found(name=node.id, kind=kind, by=by, text=quoted(told) if by in QUOTED else told, scope=where)


def found_in(answer: RecallAnswer) -> list[Found]:
    """Return a recall's answer as items of an MCP answer."""
    asked = answer.query
    return [found_of(item.node, asked.scope, text=item.text, question=asked.query) for item in answer.items]


def within(items: Sequence[Found], budget_tokens: int) -> list[Found]:
    """Return as many items of an MCP answer, in order, as a token budget holds both as lines and as records."""
    kept: list[Found] = []
    lines = records = _FRAME
    for item in items:
        lines += estimate_tokens(item.line) + 2
        records += estimate_tokens(item.model_dump_json(exclude_defaults=True)) + 1
        if max(lines, records) > budget_tokens:
            break
        kept.append(item)
    return kept


def lines_of(items: Sequence[Found], nothing: str) -> str:
    """Return the items of an MCP answer as lines; what to say where there are none."""
    return "\n".join(f"- {item.line}" for item in items) or nothing
