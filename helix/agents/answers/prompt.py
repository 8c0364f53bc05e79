"""Prompt: the fields of a prompt to an agent, which agent it is for, and what that agent is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from helix.agents.answers.fields_of_text import LEADS, sections
from helix.agents.answers.loose_json import TEXT_LIMIT, command, listed, mappings
from helix.agents.answers.task_record import client_task


class AgentType(StrEnum):
    """The agents that Helix gives memories to."""

    EXPLORER = "explorer"
    PLANNER = "planner"
    BUILDER = "builder"


FIELDS: Mapping[AgentType, tuple[str, ...]] = MappingProxyType(
    {
        AgentType.EXPLORER: ("SCOPE", "FOCUS", "OBJECTIVE", "KNOWN_FACTS", "RELEVANT_FAILURES"),
        AgentType.PLANNER: ("OBJECTIVE", "EXPLORATION", "PROJECT_CONTEXT"),
        AgentType.BUILDER: (
            *("TASK_ID", "TASK", "OBJECTIVE", "VERIFY", "RELEVANT_FILES", "LINEAGE", "WARNING", "MEMORY_LIMIT"),
        ),
    }
)
"""The fields that a prompt to each agent may have."""
NO_INJECT = "NO_INJECT"
NAMES = frozenset({NO_INJECT, *(name for names in FIELDS.values() for name in names)})
MEMORY_LIMIT, MOST_MEMORIES = 5, 20
"""How many memories a builder is shown where its prompt does not say, and the most that it may ask for."""
_NO_INJECT = re.compile(
    rf"^(?:{LEADS}|>)*(?:NO\\?_INJECT)[\s*_`]*(?:[:\uff1a=][\s*_`\"']*(\w+))?", re.IGNORECASE | re.MULTILINE
)
_LIMIT = re.compile(r"(?<![\d\-\u2212.])\d{1,6}")
"""A number that is none of what is left of a negative one or a fraction."""
_QUOTING = frozenset({"EXPLORATION", "PROJECT_CONTEXT"})
"""Fields that hold whole documents, which have fields of their own."""
_NO = frozenset({"false", "no", "off", "0"})
_SHARED = frozenset({"OBJECTIVE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The fields of a prompt by name in capitals, and the text that it is."""

    text: str
    fields: Mapping[str, str] = field(default_factory=dict)

    def get(self, name: str) -> str:
        """Return what a field of a prompt to an agent says, empty where it is not there."""
        return self.fields.get(name, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorerParams:
    """What an explorer is asked to look for."""

    focus: str = ""
    objective: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerParams:
    """What a planner is to plan."""

    objective: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuilderParams:
    """What a builder is to do; `lineage` are the deliveries of the tasks before it (`seq`, `slug`, `delivered`)."""

    task_id: str = ""
    task: str = ""
    objective: str = ""
    verify: str = ""
    relevant_files: tuple[str, ...] = ()
    lineage: tuple[Mapping[str, Any], ...] = ()
    warning: str = ""
    memory_limit: int = MEMORY_LIMIT


def parse_prompt(prompt: str) -> Prompt:
    """Return the fields of a prompt to an agent, in any order and case; of a field that stands twice, the first."""
    found: dict[str, str] = {}
    last = ""
    for name, value in sections(prompt, NAMES):
        if found.get(name):
            # Within a document a second heading of a name is part of it, such as an exploration's own objective.
            if last in _QUOTING:
                found[last] += f"\n{name}: {value}"
        else:
            found[name], last = value, name
    return Prompt(text=prompt, fields=MappingProxyType(found))


def detect_agent_type(prompt: str, subagent_type: str = "") -> AgentType | None:
    """Return which agent a prompt is for: by the agent's name, with or without its plugin's, else by fields.

    A prompt to an agent of another name must have two fields of ours, so that one such word in prose is not enough.
    """
    name = subagent_type.rpartition(":")[2].strip().lower().removeprefix("helix-").removesuffix("-agent")
    if name in tuple(AgentType):
        return AgentType(name)
    has = {field for field, value in parse_prompt(prompt).fields.items() if value} - {NO_INJECT}
    if not has or (name and len(has) < 2):
        return None
    weights = {agent: len(has & (set(names) - _SHARED)) for agent, names in FIELDS.items()}
    agent = max((AgentType.BUILDER, AgentType.EXPLORER, AgentType.PLANNER), key=weights.__getitem__)
    return agent if weights[agent] else AgentType.PLANNER


def should_inject(prompt: str) -> bool:
    """Read whether a prompt to an agent lets memories be put into it: not where a line says NO_INJECT unless false."""
    said = _NO_INJECT.finditer(prompt[:TEXT_LIMIT])
    return all((found[1] or "").lower() in _NO for found in said)


def extract_explorer_params(prompt: str) -> ExplorerParams:
    """Return the parameters of a prompt to an explorer."""
    asked = parse_prompt(prompt)
    return ExplorerParams(focus=asked.get("FOCUS"), objective=asked.get("OBJECTIVE"))


def extract_planner_params(prompt: str) -> PlannerParams:
    """Read the parameters that a prompt gives to a planner."""
    return PlannerParams(objective=parse_prompt(prompt).get("OBJECTIVE"))


def extract_builder_params(prompt: str) -> BuilderParams:
    """Return the parameters of a prompt to a builder; its objective is its task where it has none, or back."""
    asked = parse_prompt(prompt)
    limit = _LIMIT.search(asked.get("MEMORY_LIMIT"))
    return BuilderParams(
        task_id=client_task(asked.get("TASK_ID")),
        task=asked.get("TASK") or asked.get("OBJECTIVE"),
        objective=asked.get("OBJECTIVE") or asked.get("TASK"),
        verify=command(asked.get("VERIFY")),
        relevant_files=listed(asked.get("RELEVANT_FILES")),
        lineage=mappings(asked.get("LINEAGE")),
        warning=asked.get("WARNING"),
        memory_limit=min(int(limit[0]), MOST_MEMORIES) if limit else MEMORY_LIMIT,
    )
