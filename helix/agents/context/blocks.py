"""Blocks: memories as lines of a prompt, one line each, which nothing that a memory says can break out of.

A grammar of what ends a line or a block of a prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from helix.agents.answers.prompt import NAMES
from helix.model.memory import Kind, Memory
from helix.model.provenance import QUOTED
from helix.model.task import Shown
from helix.text.excerpts import gist, head
from helix.text.inert import inert, quoted, told_label, visible
from helix.text.tokens import estimate_tokens

LONGEST_BLOCK = 10_000
"""Characters of a block at most: what is longer, the client puts into a file and shows the beginning of."""
LONGEST_LINE = 600
"""Characters of what one memory says in a block."""

_READ = 2_400
"""Characters of a trigger or a resolution that are looked at for sentences."""
_ARROW, _LEAST_ROOM = " -> ", 120

WARNING = "WARNING"
FAILURES, PATTERNS, CONVENTIONS = "FAILURES_TO_AVOID", "PATTERNS_TO_APPLY", "CONVENTIONS_TO_FOLLOW"
FACTS, PARENTS, INJECTED = "RELATED_FACTS", "PARENT_DELIVERIES", "INJECTED_MEMORIES"

_FIELDS = sorted(
    {*NAMES, WARNING, FAILURES, PATTERNS, CONVENTIONS, FACTS, PARENTS, INJECTED}
    | {
        "DELIVERED",
        "BLOCKED",
        "TRIED",
        "UTILIZED",
        "TASK_MAPPING",
        "PLAN_COMPLETE",
        "MEMORY CONTEXT",
        "PROJECT CONTEXT",
        "PROJECT BRIEF",
        "OPEN_CONTRADICTIONS",
        "DECISIONS",
        "CONVENTIONS",
        "KNOWN_FACTS",
        "RELEVANT_FAILURES",
        "FAILURES_MET_AGAIN",
        "RECENT_EVOLUTION",
    }
)
_HEADER = re.compile(rf"\b({'|'.join(_FIELDS)})\b[\s*_`]*[:=]")
_HEADING = re.compile(r"(?:^|(?<=\s))(?:#{1,6}(?=\s)|-{3,}(?=\s|$))")
_FENCE = re.compile("`{3,}|~{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockEntry:
    """A memory on its way into a block: its line, and what is noted of its being shown but for its rank."""

    memory: Memory
    line: str
    score: float
    arm: str

    @property
    def name(self) -> str:
        """The name of a memory in an agent's context, by which the agent says that it used it."""
        return self.memory.name


def entry(memory: Memory, *, score: float, arm: str, limit: int = LONGEST_LINE, question: str = "") -> BlockEntry:
    """Return a memory as a line of an agent's context: label, who says so, name, when it matters and what to do.

    Where it says more than `limit` characters, the sentences stay that the question is about.
    """
    line = f"[{standing(memory)}] {memory.name}: {claim(memory, limit, question)}"
    return BlockEntry(memory=memory, line=line, score=score, arm=arm)


def standing(memory: Memory) -> str:
    """Return how far an agent may trust a memory in its context: confidence label, if there is one, and who says it."""
    return f"{memory.label[1:-1]}, {memory.said_by}" if memory.label else memory.said_by


def claim(memory: Memory, limit: int = LONGEST_LINE, question: str = "") -> str:
    """Return a memory's claim as a line of an agent's context, in whole sentences; quoted if nobody here stands for it.

    Nothing that it says ends the quotes.
    """
    trigger, resolution = one_line(memory.trigger, _READ), one_line(memory.resolution, _READ)
    room = limit - len(trigger) - len(_ARROW)
    if not resolution:
        said = gist(trigger, limit, question)
    elif room >= _LEAST_ROOM:
        said = f"{trigger}{_ARROW}{gist(resolution, room, question)}"
    else:
        half = limit // 2
        said = f"{gist(trigger, half, question)}{_ARROW}{gist(resolution, limit - half - len(_ARROW), question)}"
    return quoted(said) if memory.said_by in QUOTED else said


def one_line(text: str, limit: int = LONGEST_LINE) -> str:
    """Return a text as one line of an agent's context, inert, without secrets, heading or fence, at most `limit` long.

    Secrets are looked for again: rules may have become better since the text was stored.
    """
    plain = " ".join(_FENCE.sub(" ", inert(head(visible(text), 4 * limit))).split())
    plain = " ".join(_HEADING.sub("", _HEADER.sub(r"\1 -", plain)).split())
    return plain if len(plain) <= limit else f"{plain[: limit - 1].rstrip()}\u2026"


def told_name(text: str, limit: int = LONGEST_LINE) -> str:
    """Return a name that somebody else may have chosen: on one line, and quoted where it is more than a name."""
    return told_label(one_line(text, limit))


def listing(title: str, lines: Iterable[str]) -> str:
    """Return a titled list of memories for an agent's context, or nothing where there are no lines."""
    body = "".join(f"- {line}\n" for line in lines)
    return f"{title}:\n{body}" if body else ""


def lines_of(entries: Iterable[BlockEntry], kinds: Collection[Kind]) -> tuple[str, ...]:
    """Return the lines of an agent's context for the memories that are of these kinds, in their order."""
    return tuple(one.line for one in entries if one.memory.kind in kinds)


def names_line(entries: Iterable[BlockEntry]) -> str:
    """Return the line that names every memory of an agent's context, so that the agent can say which it used."""
    names = [one.name for one in entries]
    return f"{INJECTED}: {json.dumps(names, ensure_ascii=False)}\n" if names else ""


def fitted(
    entries: Sequence[BlockEntry], render: Callable[[Sequence[BlockEntry]], str]
) -> tuple[tuple[BlockEntry, ...], str]:
    """Return the memories that a block of an agent's context has room for, and the block: the lowest score goes first.

    What is not a memory must leave room: a block of no entries has to be within LONGEST_BLOCK.
    """
    kept = list(entries)
    while len(text := render(kept)) > LONGEST_BLOCK and kept:
        kept.remove(min(reversed(kept), key=lambda one: one.score))
    return tuple(kept), text


def shown_of(entries: Sequence[BlockEntry]) -> tuple[Shown, ...]:
    """Return what is noted of memories that an agent's context shows in this order."""
    return tuple(
        Shown(
            memory_id=one.memory.id,
            name=one.memory.name,
            kind=one.memory.kind.value,
            rank=rank,
            score=one.score,
            arm=one.arm,
            tokens=estimate_tokens(one.line),
        )
        for rank, one in enumerate(entries, 1)
    )
