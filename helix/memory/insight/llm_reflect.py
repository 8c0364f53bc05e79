"""Reflection and roll-up with a language model's help, where the store has one: else by rules alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from helix.memory.insight.insight_text import MOST_CITED, Item, Thought
from helix.memory.insight.reflect import Think, reflect
from helix.memory.insight.summary import Summary, speaker_of, summarised
from helix.memory.job_run.run import Run
from helix.memory.llm.ask import insights, summary
from helix.model.episode import Episode
from helix.model.provenance import BY_MODEL, Trust, weakest_trust
from helix.providers.llm import LanguageModel


def reflect_with_model(run: Run, payload: Mapping[str, Any]) -> Mapping[str, int]:
    """Do the job `reflect`, with the store's language model where the run may ask one."""
    return reflect(run, payload, think_of(run.language_model))


def think_of(model: LanguageModel | None) -> Think | None:
    """Return the function that asks a language model for insights, or None where there is none.

    About items of which the model says nothing that it can cite it answers None. Of what an insight cites, the first
    MOST_CITED stay. It is an agent's at most, and as weak as the weakest item, cited or not: a text may talk the model
    into what it says of the others.
    """
    return None if model is None else lambda items: _thoughts(model, items)


def _thoughts(model: LanguageModel, items: Sequence[Item]) -> Sequence[Thought] | None:
    texts = [f"{item.day}, {item.speaker}: {item.text}" if item.speaker else item.text for item in items]
    found, trust = insights(model, texts), weakest_trust(Trust.AGENT_INFERRED, *(item.trust for item in items))
    if found is None:
        return None
    return [
        Thought(
            question=insight.question,
            insight=insight.text,
            cites=tuple(items[place] for place in insight.cites[:MOST_CITED]),
            model=BY_MODEL,
            trust=trust,
        )
        for insight in found
    ]


def summed_up(model: LanguageModel | None, episodes: Sequence[Episode]) -> Summary:
    """Return an insight's summary of episodes in the order in which they happened.

    It is in a model's lines where they hold, and these are an agent's.
    """
    ruled = summarised(episodes)
    if model is None:
        return ruled
    told = [f"{speaker_of(episode)}: {episode.content}".removeprefix(": ") for episode in episodes]
    lines = summary(model, told)
    return ruled if lines is None else replace(ruled, lines=lines, by_model=True)
