"""Contexts: what is remembered, as it is put before an agent of a role, at an action or as a session begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from helix.model.memory import Memory
from helix.model.task import Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorerContext:
    """What an explorer is told: a line for each memory, their names, the block, and what is noted as shown."""

    known_facts: Annotated[tuple[str, ...], "What need not be found again, a line each."] = ()
    relevant_failures: Annotated[tuple[str, ...], "What to watch for, a line each."] = ()
    injected: tuple[str, ...] = ()
    text: Annotated[str, "The block as it goes into a prompt; empty where nothing fits."] = ""
    shown: tuple[Shown, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerContext:
    """What a planner is told: a line for each memory, their names, the block, and what is noted as shown."""

    decisions: Annotated[tuple[str, ...], "Choices already made, a line each."] = ()
    conventions: Annotated[tuple[str, ...], "How things are done here, a line each."] = ()
    recent_evolution: Annotated[tuple[str, ...], "What has changed lately, a line each."] = ()
    injected: tuple[str, ...] = ()
    text: Annotated[str, "The block as it goes into a prompt; empty where nothing fits."] = ""
    shown: tuple[Shown, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What a task delivered: its number in the plan, its short name, and what came of it in a line."""

    seq: Annotated[str, "The number of the task in its plan."]
    slug: Annotated[str, "The short name of the task."]
    delivered: Annotated[str, "What came of it, in a line."]

    @property
    def line(self) -> str:
        """The record of a delivery as a line of a block: what an agent said of its task."""
        return f"{' '.join((*filter(None, (self.seq, self.slug)), '(agent)'))}: {self.delivered}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuilderContext:
    """What a builder is told: the block, the names of the memories in it, and what is noted as shown."""

    injected: tuple[str, ...] = ()
    text: Annotated[str, "The block as it goes into a prompt; empty where nothing fits."] = ""
    shown: tuple[Shown, ...] = ()

    @property
    def prompt(self) -> str:
        """The block as it goes into a prompt."""
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The block that a session begins with, and the memories in it as they are noted; both empty for nothing to say."""

    text: Annotated[str, "The block that a session begins with; empty where there is nothing to say."] = ""
    shown: tuple[Shown, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A memory about an action: why it is about it, the way it came, and how exactly it fits (0 is the most)."""

    memory: Annotated[Memory, "The memory."]
    reason: Annotated[str, "What it is about, in words."]
    arm: Annotated[str, "The way it came: `action` or `error`."]
    level: Annotated[
        int, "How exactly it fits: 0 as a whole, 1 by what the command is run on, 2 by the tool and what it does."
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionContext:
    """What is remembered of exactly one command, error or file: the memories, and what an agent is told of them."""

    sites: Annotated[tuple[Site, ...], "The memories about it, best first."]
    text: Annotated[str, "What an agent is told at the action; empty where nothing is about it."]
    shown: tuple[Shown, ...]
