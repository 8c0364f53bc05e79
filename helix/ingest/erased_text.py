"""Erased text: what a person has erased comes back by no history, file or export that says it still."""

from __future__ import annotations

from dataclasses import replace

from helix.ingest.draft import MemoryDraft, Slice
from helix.memory.extraction.excluded import Erased
from helix.model.memory import body
from helix.model.tombstone import KeptOut, normal

_MARK = "[erased]"


def without_erased(item: Slice, erased: Erased) -> Slice | None:
    """Return a cleaned slice without what was erased; None where nothing else is left of it."""
    episode = item.episode
    if not erased:
        return item
    # A fork repeats the calls of the session that it was forked from.
    before = episode.source.replace(episode.session, episode.forked_from) if episode.forked_from else ""
    if erased.has_episode(episode.source, episode.content) or erased.has_source(before):
        return None
    words, content = erased.words, erased.words.cut(episode.content, _MARK)
    left = tuple(kept for one in item.memories if (kept := _without(one, words)) is not None)
    if content == episode.content and left == item.memories:
        return item
    if (item.memories and not left) or not normal(content.replace(_MARK, "")):
        return None
    return replace(
        item,
        episode=replace(episode, content=content, found_by=words.cut(episode.found_by, _MARK)),
        memories=tuple(replace(one, found_by=words.cut(one.found_by, _MARK)) for one in left),
    )


def _without(draft: MemoryDraft, words: KeptOut) -> MemoryDraft | None:
    """Return a memory without the sentences that were erased; None where its trigger is one, or all of it."""
    said = body(draft.trigger, draft.resolution)
    whole = words.cut(said, _MARK)
    if whole == said:
        return draft
    trigger, resolution = (words.cut(text, _MARK) for text in (draft.trigger, draft.resolution))
    if not normal(trigger.replace(_MARK, "")) or not normal(whole.replace(_MARK, "")):
        return None
    return replace(draft, trigger=trigger, resolution=resolution)
