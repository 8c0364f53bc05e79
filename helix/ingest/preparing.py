"""Preparing: slices cleaned, redacted, read for what they mention and embedded, before the writer is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from helix.ingest.draft import EpisodeDraft, MemoryDraft, Slice
from helix.lifecycle.compose import Prepared, prepare, spoken_of
from helix.lifecycle.episodes import spoken
from helix.lifecycle.intake import Intake
from helix.lifecycle.remember import body
from helix.store.store import Store
from helix.text.redact import without_markers

# An episode that became one memory, or whose memories hold this much of its text, needs no passage of its own: they
# speak for it, and every answer would come twice otherwise.
_SPOKEN_FOR = 0.5

VectorAt = Callable[[int], bytes]
"""Gives the vector (float32 bytes, unit length) that was made elsewhere for the slice at a position."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A slice cleaned, redacted and embedded."""

    slice: Slice
    episode: Prepared
    memories: tuple[Prepared, ...]


def cleaned(item: Slice, text_limit: int) -> tuple[Slice, bool]:
    """Return the slice cleaned and redacted, and whether anything was redacted; raises InvalidInputError."""
    intake = Intake(text_limit)
    episode = replace(
        item.episode,
        content=intake.text(item.episode.content, "content"),
        agent=intake.label(item.episode.agent, "agent"),
        session=intake.label(item.episode.session, "session"),
        files=intake.labels(item.episode.files, "file"),
    )
    memories = tuple(_cleaned_memory(intake, memory) for memory in item.memories)
    return replace(item, episode=episode, memories=memories), bool(intake.redacted)


def made_ready(store: Store, batch: Sequence[Slice], vector_at: VectorAt | None) -> list[Ready]:
    """Return the cleaned slices with the passages, vectors and mentions of their texts."""
    texts: list[str] = []
    files: list[Sequence[str]] = []
    given: list[bytes | None] = []
    for item in batch:
        own = [] if spoken_for(item) else [(_spoken(item.episode), item.episode.files)]
        own += [(body(memory.trigger, memory.resolution), memory.files) for memory in item.memories]
        texts += [text for text, _ in own]
        files += [paths for _, paths in own]
        # A vector made elsewhere is for one text, and that of a text which held a secret would tell of it.
        alone = len(own) == 1 and without_markers(own[0][0]) == own[0][0]
        given += [vector_at(item.position) if vector_at is not None and alone else None] * len(own)
    prepared = iter(prepare(store, texts, files, given))
    ready = []
    for item in batch:
        episode = None if spoken_for(item) else next(prepared)
        memories = tuple(next(prepared) for _ in item.memories)
        ready.append(Ready(item, episode or _unspoken(item, memories), memories))
    return ready


def spoken_for(item: Slice) -> bool:
    """Return whether an episode's memories are found in its place."""
    told = sum(len(body(memory.trigger, memory.resolution)) for memory in item.memories)
    return len(item.memories) == 1 or (told > 0 and told >= _SPOKEN_FOR * len(item.episode.content))


def _spoken(episode: EpisodeDraft) -> str:
    return spoken(episode.content, episode.session, episode.agent)


def _unspoken(item: Slice, memories: Sequence[Prepared]) -> Prepared:
    """Return what an episode without a passage mentions; a memory of the very same text was read for it already."""
    content, files = item.episode.content, item.episode.files
    for memory, prepared in zip(item.memories, memories, strict=True):
        if (body(memory.trigger, memory.resolution), memory.files) == (content, files):
            return Prepared(pieces=(), vectors=(), mentions=prepared.mentions)
    return Prepared(pieces=(), vectors=(), mentions=spoken_of(content, files))


def _cleaned_memory(intake: Intake, draft: MemoryDraft) -> MemoryDraft:
    return replace(
        draft,
        trigger=intake.text(draft.trigger, "trigger"),
        resolution=intake.text(draft.resolution, "resolution", required=False),
        name=intake.label(draft.name, "name"),
        agent=intake.label(draft.agent, "agent"),
        files=intake.labels(draft.files, "file"),
        attributes=intake.attributes(draft.attributes),
    )
