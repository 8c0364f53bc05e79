"""Extraction with a language model's help: rules read every episode, a model those of which the rules are unsure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from helix.memory.extraction.extract import (
    MOST_CANDIDATES,
    PLACES_OF_MODEL,
    EpisodeCandidate,
    Extraction,
    Extractor,
    RuleExtractor,
)
from helix.memory.job_run.run import Run
from helix.memory.llm.ask import answers_apart, one_line
from helix.model.entity import EntityKind
from helix.model.episode import Episode
from helix.model.memory import Kind
from helix.model.provenance import Trust
from helix.providers.llm import LanguageModel, ModelQuestion
from helix.text.injection.prompt_injection import suspicion
from helix.text.spotting.entities import mentions
from helix.text.statement.grounding import grounded, turns

_KINDS = tuple(kind for kind in Kind if kind not in (Kind.SYSTEMIC, Kind.GAP, Kind.ENTITY))
_LONGEST = 6_000
"""Characters of an episode that a model is shown: behind them it is a document, and documents are ingested as such."""
_LONGEST_PART = 1_000
_MOST_CONFIDENCE = 0.9

EXTRACTION = ModelQuestion(
    task="extraction",
    instructions=(
        "From each text take what a developer's assistant should still know in months: decisions, rules of this "
        "project, preferences, failures and their fixes, approaches that worked, lasting facts. Nothing passing, no"
        " small talk, mostly nothing at all. `trigger` says when it matters or what it is about, `resolution` what "
        "to know or do then (empty where the trigger says it all), both complete by themselves and in the words of "
        "the text. `confidence` (0 to 1) is how sure the text makes it. Kinds: failure (what went wrong, with its "
        "fix), pattern (what worked), convention (how it is done here), decision, fact, evolution (what changed), "
        "preference, identity, project, snippet (a command or code to reuse)."
    ),
    schema={
        "type": "object",
        "properties": {
            "memories": {
                "type": "array",
                "maxItems": 4,
                "items": {
                    "type": "object",
                    "properties": {
                        "kind": {"type": "string", "enum": [kind.value for kind in _KINDS]},
                        "trigger": {"type": "string"},
                        "resolution": {"type": "string"},
                        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                    },
                    "required": ["kind", "trigger", "resolution", "confidence"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["memories"],
        "additionalProperties": False,
    },
    max_tokens=250,
    batch=8,
)


class ModelExtractor:
    """An `Extractor` that keeps what the rules are sure of, and asks a model about the rest.

    What passed no gate is not sent at all. Where the model has no answer, or none that stands in the episode, the
    episode's candidates are those of the rules.
    """

    def __init__(self, model: LanguageModel, rules: Extractor, cutoff: float) -> None:
        """`cutoff` is the confidence (0..1) from which the rules' word is enough."""
        self._model = model
        self._rules = rules
        self._cutoff = cutoff

    @property
    def name(self) -> str:
        """`rules+model`."""
        return f"{self._rules.name}+model"

    @property
    def edition(self) -> str:
        """Empty: where the model had no answer it is asked again; the answers it gave are kept by themselves."""
        return ""

    def extract(self, episodes: Sequence[Episode]) -> Extraction:
        """Return what the episodes say that may be worth a memory."""
        ruled = self._rules.extract(episodes)
        by_episode: dict[str, list[EpisodeCandidate]] = {episode.id: [] for episode in episodes}
        for candidate in ruled.candidates:
            by_episode[candidate.episode].append(candidate)
        unsure = [episode for episode in episodes if self._unsure(episode, by_episode[episode.id])]
        texts, trusts = [one.content for one in unsure], [one.provenance.trust for one in unsure]
        for episode, answer in zip(unsure, answers_apart(self._model, EXTRACTION, texts, trusts), strict=True):
            if answer.value is None:
                continue
            told = list(_candidates(episode, answer.value, by_episode[episode.id]))
            is_own = episode.provenance.trust.rank < Trust.AGENT_INFERRED.rank
            kept = _merged(by_episode[episode.id], told, is_own=is_own)
            if not answer.value["memories"]:
                kept = [candidate for candidate in by_episode[episode.id] if candidate.explicit]
            by_episode[episode.id] = kept
        found = tuple(candidate for episode in episodes for candidate in by_episode[episode.id])
        return Extraction(candidates=found, held_back=ruled.held_back)

    def _unsure(self, episode: Episode, found: Sequence[EpisodeCandidate]) -> bool:
        """Return whether the rules found something, are not sure of it, and the text may be shown to a model."""
        return (
            bool(found)
            and max(candidate.confidence for candidate in found) < self._cutoff
            and len(episode.content) <= _LONGEST
            and not suspicion(episode.content).suspicious
        )


def extractor_of(run: Run) -> Extractor:
    """Return the extractor of memories of the settings: rules, with the run's language model where it has one."""
    rules, model = RuleExtractor(run.store.runtime.settings.gate_threshold), run.language_model
    return (
        rules if model is None else ModelExtractor(model, rules, run.store.runtime.settings.heuristic_confidence_cutoff)
    )


def _merged(
    ruled: Sequence[EpisodeCandidate], told: Sequence[EpisodeCandidate], *, is_own: bool
) -> list[EpisodeCandidate]:
    """Return the model's candidates, beside them what was said in so many words; the rules' where it has none.

    A candidate of the rules whose words the model's holds is the same thing. In an episode of the user (`is_own`) it
    stays, in the user's words: the model's are an agent's.
    """
    if not told:
        return list(ruled)
    held = {one.place for one in ruled if any(grounded(one.trigger, [_text(each)]) for each in told)}
    if is_own:
        said = [one for one in ruled if one.explicit or one.place in held]
    else:
        said = [one for one in ruled if one.explicit and one.place not in held]
    return [*said, *told][:MOST_CANDIDATES]


def _candidates(
    episode: Episode, value: Mapping[str, Any], ruled: Sequence[EpisodeCandidate]
) -> Iterator[EpisodeCandidate]:
    """Yield those of a model's memories that stand in the episode, with what in them the episode mentions."""
    spoken = {mention.name.casefold() for mention in mentions(episode.content)}
    for place, entry in enumerate(value["memories"]):
        trigger, resolution = (one_line(entry[part], _LONGEST_PART) for part in ("trigger", "resolution"))
        words = f"{trigger}\n{resolution}"
        if not trigger or not grounded(words, [episode.content]) or turns(words, episode.content):
            continue
        kind = Kind(entry["kind"])
        found = tuple(one for one in mentions(words) if one.name.casefold() in spoken)
        alike = [one for one in ruled if one.kind is kind]
        candidate = EpisodeCandidate(
            episode=episode.id,
            place=PLACES_OF_MODEL + place,
            kind=kind,
            trigger=trigger,
            resolution=resolution,
            confidence=min(_MOST_CONFIDENCE, float(entry["confidence"])),
            explicit=any(one.explicit for one in alike),
            entities=found,
            files=tuple(one.name for one in found if one.kind is EntityKind.FILE),
        )
        speaker = next((one.speaker for one in ruled if one.speaker), "")
        if speaker and speaker.casefold() not in trigger.casefold():
            candidate = replace(candidate, trigger=f"{speaker}: {trigger}", speaker=speaker)
        yield candidate


def _text(candidate: EpisodeCandidate) -> str:
    return f"{candidate.trigger}\n{candidate.resolution}"
