"""Preparing: slices cleaned, redacted, read for what they mention and embedded, before the writer is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from helix.errors import InvalidInputError
from helix.ingest.draft import MemoryDraft, Slice
from helix.memory.capture.episodes import spoken
from helix.memory.capture.quarantine import screen, texts_of
from helix.memory.change.compose import Prepared, ReadText, prepare
from helix.memory.change.intake import Intake
from helix.model.memory import body
from helix.model.reports import IngestProblem
from helix.store.store import Store
from helix.text.secrets.redact import without_markers

# An episode that became one memory, or whose memories hold this much of its text, needs no passage of its own: they
# speak for it, and every answer would come twice otherwise.
_SPOKEN_FOR = 0.5

VectorAt = Callable[[int], bytes]
"""Gives the vector (float32 bytes, unit length) that was made elsewhere for the slice at a position."""

Text = tuple[str, tuple[str, ...]]
"""A text and the files it is about."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A slice cleaned and redacted, and what was read in its texts."""

    slice: Slice
    redacted: bool
    held: bool
    """Whether it reads like an instruction to an agent, and is to be quarantined."""
    readings: Mapping[Text, ReadText]


@dataclass(frozen=True, slots=True)
class PreparedSlice:
    """A slice cleaned, redacted and embedded."""

    slice: Slice
    episode: Prepared
    memories: tuple[Prepared, ...]
    held: bool = False


def clean(batch: Sequence[Slice], text_limit: int) -> list[Cleaned | IngestProblem]:
    """Clean and read each slice to ingest, or say why it cannot be; the slow part of an import without a model."""
    return [_cleaned(item, text_limit) for item in batch]


def _cleaned(item: Slice, text_limit: int) -> Cleaned | IngestProblem:
    intake = Intake(text_limit)
    try:
        episode = replace(
            item.episode,
            content=intake.text(item.episode.content, "content"),
            found_by=intake.text(item.episode.found_by, "content") if item.episode.found_by else "",
            agent=intake.label(item.episode.agent, "agent"),
            session=intake.session(item.episode.session),
            files=intake.labels(item.episode.files, "file"),
        )
        memories = tuple(_cleaned_memory(intake, memory) for memory in item.memories)
    except InvalidInputError as error:
        return IngestProblem(where=item.episode.source, why=error.message)
    cleaned = replace(item, episode=episode, memories=memories)
    texts = dict.fromkeys((_spoken(cleaned), *map(_body, memories)))
    redacted = bool(intake.redacted) or without_markers(episode.content) != episode.content
    return Cleaned(cleaned, redacted, _held(cleaned), {text: ReadText.of(*text) for text in texts})


def _held(item: Slice) -> bool:
    """Return whether the slice is quarantined, the whole of it: what was drawn from such a text is no better."""
    episode = item.episode
    if screen(episode.trust, episode.content, episode.source, episode.agent, episode.session, *episode.files).held:
        return True
    return any(screen(memory.trust, *_texts_of_draft(memory)).held for memory in item.memories)


def _texts_of_draft(memory: MemoryDraft) -> tuple[str, ...]:
    return (body(memory.trigger, memory.resolution), memory.name, memory.agent, *texts_of(memory.attributes))


def prepare_slices(store: Store, batch: Sequence[Cleaned], vector_at: VectorAt | None) -> list[PreparedSlice]:
    """Return the slices to ingest with the passages, vectors and mentions of their texts."""
    readings: list[ReadText] = []
    given: list[bytes | None] = []
    for one in batch:
        own = [] if spoken_for(one.slice) else [_spoken(one.slice)]
        own += map(_body, one.slice.memories)
        readings += [one.readings[text] for text in own]
        # A vector made elsewhere is for one text, and that of a text which held a secret would tell of it.
        alone = len(own) == 1 and without_markers(own[0][0]) == own[0][0]
        given += [vector_at(one.slice.position) if vector_at is not None and alone else None] * len(own)
    prepared = iter(prepare(store, readings, given))
    ready = []
    for one in batch:
        episode = _unspoken(one) if spoken_for(one.slice) else next(prepared)
        memories = tuple(next(prepared) for _ in one.slice.memories)
        ready.append(PreparedSlice(one.slice, episode, memories, one.held))
    return ready


def spoken_for(item: Slice) -> bool:
    """Return whether an ingested episode is not found itself: its memories are, in its place, or nothing is."""
    told = sum(len(body(memory.trigger, memory.resolution)) for memory in item.memories)
    enough = len(item.memories) == 1 or (told > 0 and told >= _SPOKEN_FOR * len(item.episode.content))
    return item.episode.silent or enough


def _unspoken(one: Cleaned) -> Prepared:
    return Prepared(pieces=(), tokens=(), vectors=(), mentions=one.readings[_spoken(one.slice)].mentions)


def _spoken(item: Slice) -> Text:
    """Return the text an episode is found by or, where its memories are found in its place, what it says."""
    episode = item.episode
    if spoken_for(item):
        return episode.content, episode.files
    return episode.found_by or spoken(episode.content, episode.session, episode.agent), episode.files


def _body(memory: MemoryDraft) -> Text:
    return memory.found_by or body(memory.trigger, memory.resolution), memory.files


def _cleaned_memory(intake: Intake, draft: MemoryDraft) -> MemoryDraft:
    trigger, resolution = intake.pair(draft.trigger, draft.resolution)
    return replace(
        draft,
        trigger=trigger,
        resolution=resolution,
        found_by=intake.text(draft.found_by, "content") if draft.found_by else "",
        name=intake.label(draft.name, "name"),
        agent=intake.label(draft.agent, "agent"),
        files=intake.labels(draft.files, "file"),
        attributes=intake.attributes(draft.attributes),
    )
