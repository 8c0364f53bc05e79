"""Provenance: where a node or an edge came from, and how far its source is to be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Annotated

from helix.model.worded import Worded

GIT, NOTES = "git", "notes"
"""Extractors whose texts a repository holds: its history and its notes."""
TOLD_BY_OTHERS = frozenset({GIT, NOTES})
"""Extractors of what is told of a project: what failed there did not fail here."""
STRANGERS = "strand:"
"""How a source begins that somebody else's strand told: it is none that anything here was taken from. So begins the
slice of all that came in by such a strand, also on the person's other machines, which have it from this one."""
JSON_LINES = "jsonl"
"""The extractor of lines that were imported."""
STATED = "explicit"
"""The extractor of what somebody stored."""
BY_MODEL = "model"
"""What provenance calls the model of what is in a language model's words; which one answered is a matter of the
moment."""


class Trust(Worded):
    """Provenance classes, strongest first; anything derived is bounded by its weakest source."""

    USER_ASSERTED = "user_asserted", "A person said it."
    VERIFIED_OUTCOME = "verified_outcome", "A check showed it: a test, a build, a commit."
    AGENT_INFERRED = "agent_inferred", "An agent said it."
    TOOL_OUTPUT = "tool_output", "A tool, a commit or a file of a repository said it."
    WEB = "web", "It comes from the web, or from elsewhere that nobody vouches for."

    @cached_property
    def rank(self) -> int:
        """0 for the strongest class, 4 for the weakest."""
        return list(Trust).index(self)


def weakest_trust(*classes: Trust) -> Trust:
    """Return the weakest of trust classes: trust never rises above its source."""
    return max(classes, key=lambda trust: trust.rank)


_WORDS: Mapping[Trust, str] = MappingProxyType(
    {
        Trust.USER_ASSERTED: "you",
        Trust.VERIFIED_OUTCOME: "verified",
        Trust.AGENT_INFERRED: "agent",
        Trust.TOOL_OUTPUT: "tool",
        Trust.WEB: "web",
    }
)
_OF_REPOSITORIES: Mapping[str, str] = MappingProxyType({GIT: "commit", NOTES: "notes"})
QUOTED = frozenset({"commit", "notes", "tool", "web"})
"""Words of what nobody here stands for: an agent is shown it in quotes."""
SPOKEN_HERE = frozenset(_WORDS.values()) - QUOTED
"""Words of what somebody here stands for: the user, a verified outcome, an agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What produced a record: the slice of the source, the extractor, the model and the agent."""

    slice: Annotated[str, "The part of the source it was drawn from."] = ""
    extractor: Annotated[str, "What drew it from there."] = ""
    model: Annotated[str, "The model that took part; empty for none."] = ""
    agent: str = ""
    trust: Trust = Trust.AGENT_INFERRED

    @property
    def is_strangers(self) -> bool:
        """Whether somebody else's strand told it, and the person does not stand for it."""
        return self.slice.startswith(STRANGERS) and self.trust is not Trust.USER_ASSERTED


def is_hand_written(provenance: Provenance) -> bool:
    """Return whether provenance says that a person wrote it: the user said it, or it stands in notes that were read."""
    read = provenance.extractor == NOTES and not provenance.is_strangers
    return provenance.trust is Trust.USER_ASSERTED or read


def provenance_word(provenance: Provenance) -> str:
    """Return the provenance of a record in a word, as every line says it that reaches an agent.

    `you` said or confirmed it; it is `verified`; an `agent` said it; or it was read in a `commit`, in `notes` of a
    repository, in what a `tool` printed, or on the `web`. A memory that was made of several is as its weakest source.
    What a stranger's strand says that it read in a commit nobody has looked up: that is a tool's.
    """
    if provenance.trust is Trust.TOOL_OUTPUT and not provenance.is_strangers:
        return _OF_REPOSITORIES.get(provenance.extractor, _WORDS[provenance.trust])
    return _WORDS[provenance.trust]
