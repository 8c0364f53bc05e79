"""Extract: episodes give candidates for memories, through one interface, here by rules and without a model.

Rules are named by a digest of their source, their edition, so that what other rules found is found again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Protocol

from helix.memory.extraction.gate import CUT_OFF, Passed, gate, is_own_word, may_settle
from helix.memory.extraction.steps import Procedure, procedure
from helix.model.entity import EntityKind, Mention
from helix.model.episode import Episode
from helix.model.memory import Kind
from helix.text.cues import REPAIR
from helix.text.discourse_markers import without_openers
from helix.text.sentences import Sentence
from helix.text.spotting.entities import mentions

MOST_CANDIDATES = 8
"""Candidates of one episode: behind them it is a document, and documents are ingested as such."""
PLACES_OF_MODEL = 1_000
"""From this place on stand a language model's candidates, so that none is taken for one that the rules found."""
_SHORT = 400
"""Characters of an episode up to which its vector speaks for its best sentence."""
_AFTERWARDS = 3
"""Sentences after a failure among which its repair is looked for."""
_REASON = re.compile(
    r"(?:because|since|otherwise|so that|the reason|or else|that way|this (?:is|way|avoids|keeps))\b", re.I
)
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|i'd|my|we|we're|we've|our)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeCandidate:
    """Something that an episode says and that may be worth a memory; `place` tells apart those of one episode.

    `explicit`: said in so many words by somebody who may: once is enough. `whole`: it stands for all of the episode,
    and the episode's vector for it. `speaker`: who says it of themselves, where they have a name; the trigger begins
    with it. `steps` are those of an approach, in order. `confidence` is 0..1.
    """

    episode: str
    place: int
    kind: Kind
    trigger: str
    resolution: str
    confidence: float
    explicit: bool
    whole: bool = False
    speaker: str = ""
    entities: tuple[Mention, ...] = ()
    files: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()

    @property
    def by_model(self) -> bool:
        """Whether the words are those of a language model, which may have turned round what the episode says."""
        return self.place >= PLACES_OF_MODEL


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What a batch came to: candidates in the order of the episodes, and the ids of those the gate held back.

    Those are the episodes of which no sentence passed the gate. Others may give no candidate all the same.
    """

    candidates: tuple[EpisodeCandidate, ...]
    held_back: tuple[str, ...]


class Extractor(Protocol):
    """Reads episodes. What it makes of one depends on nothing but that episode."""

    @property
    def name(self) -> str:
        """What the provenance of a memory calls it."""
        ...

    @property
    def edition(self) -> str:
        """What its answers depend on beside the episode: they are kept under it. Empty: they are not to be kept."""
        ...

    def extract(self, episodes: Sequence[Episode]) -> Extraction:
        """Return what the episodes say that may be worth a memory."""
        ...


class RuleExtractor:
    """The extractor that costs nothing: sentences with cues, in the episode's own words."""

    def __init__(self, cut_off: float = CUT_OFF) -> None:
        """`cut_off` is the worth (0..1) below which a sentence is held back."""
        self._cut_off = cut_off

    @property
    def name(self) -> str:
        """`rules`."""
        return "rules"

    @cached_property
    def edition(self) -> str:
        """The rules as they are written, and what is held back by them."""
        return f"{self.name} {edition_of_rules()} {self._cut_off}"

    def extract(self, episodes: Sequence[Episode]) -> Extraction:
        """Return what the episodes say that may be worth a memory."""
        candidates: list[EpisodeCandidate] = []
        held_back: list[str] = []
        for episode in episodes:
            said, passed = gate(episode, self._cut_off)
            found = list(_candidates(episode, said, passed))[:MOST_CANDIDATES]
            candidates += found
            if not found and not passed:
                held_back.append(episode.id)
        return Extraction(candidates=tuple(candidates), held_back=tuple(held_back))


def _candidates(episode: Episode, said: Sequence[Sentence], passed: Sequence[Passed]) -> Iterator[EpisodeCandidate]:
    told = procedure(episode.content)
    if told is not None:
        approach = _approach(episode, told)
        if approach is not None:
            yield approach
            return
        passed = [one for one in passed if not any(one.sentence.text in step for step in told.steps)]
    marked = [one for one in passed if one.mark.marked]
    alone = len(said) == 1
    for one in marked:
        yield _candidate(episode, said, one, whole=alone)
    if not marked and passed and len(episode.content) <= _SHORT:
        best = max(passed, key=lambda one: (one.mark.worth, -one.place))
        yield _candidate(episode, said, best, whole=True)


def _candidate(episode: Episode, said: Sequence[Sentence], one: Passed, *, whole: bool) -> EpisodeCandidate:
    mark, text = one.mark, without_openers(one.sentence.text)
    resolution, explicit, sure = _more(said, one)
    speaker = episode.agent if episode.session and _FIRST_PERSON.search(text) else ""
    return EpisodeCandidate(
        episode=episode.id,
        place=one.place,
        kind=mark.kind,
        trigger=f"{speaker}: {text}" if speaker else text,
        resolution=resolution,
        confidence=sure,
        explicit=explicit,
        whole=whole,
        speaker=speaker,
        entities=one.mentions,
        files=tuple(mention.name for mention in one.mentions if mention.kind is EntityKind.FILE),
    )


def _more(said: Sequence[Sentence], one: Passed) -> tuple[str, bool, float]:
    """Return what the sentences after this one add: the repair of a failure, the reason of the rest.

    With it comes whether the whole is explicit, and how sure it is: a failure whose repair is told is both.
    """
    mark, after = one.mark, said[one.place + 1 : one.place + 1 + _AFTERWARDS]
    if mark.kind is Kind.FAILURE:
        repair = next((s.text for s in after if not s.asks and REPAIR.search(s.text)), "")
        return (repair, True, max(mark.sure, 0.7)) if repair else ("", mark.explicit, mark.sure)
    reason = after[0].text if after and _REASON.match(after[0].text) else ""
    return reason, mark.explicit, mark.sure


def _approach(episode: Episode, told: Procedure) -> EpisodeCandidate | None:
    """Return a procedure as an approach; None for general advice, which does not say what is done here."""
    own = is_own_word(episode)
    if not (told.technical or told.ours or own):
        return None
    return EpisodeCandidate(
        episode=episode.id,
        place=0,
        kind=Kind.PATTERN,
        trigger=told.goal,
        resolution="\n".join(f"{number}. {step}" for number, step in enumerate(told.steps, 1)),
        confidence=0.8 if told.settled and own else 0.6,
        explicit=told.settled and own and may_settle(episode),
        whole=True,
        entities=mentions("\n".join(told.steps)),
        steps=told.steps,
    )


_RULES = ("extract.py", "gate.py", "episodes_seen.py", "steps.py")
_CACHE = "__pycache__"


@cache
def edition_of_rules() -> str:
    """Return 16 hex digits that change with any line of the extractor of memories, the gate or their helpers."""
    own = files("helix.memory.extraction")
    return digest_of(*(own / name for name in _RULES), files("helix.text"))


def digest_of(*sources: Traversable) -> str:
    """Return a digest of the extractor's files and folders, 16 hex digits: of names and bytes, whatever the place."""
    digest = sha256()
    for name, file in sorted((pair for source in sources for pair in _files(source)), key=lambda pair: pair[0]):
        content = file.read_bytes()
        digest.update(f"{name}\x1f{len(content)}\x1f".encode() + content)
    return digest.hexdigest()[:16]


def _files(source: Traversable, above: str = "") -> Iterator[tuple[str, Traversable]]:
    name = f"{above}/{source.name}"
    if source.is_dir():
        for one in source.iterdir():
            if one.name != _CACHE:
                yield from _files(one, name)
    else:
        yield name, source
