"""Erased text: what a person has erased comes back by no history, file or export that says it still."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from helix.ingest.draft import MemoryDraft, Slice
from helix.memory.extraction.excluded import Erased
from helix.model.tombstone import KeptOut, left_of, normal, told_sentences
from helix.text.excerpts import head
from helix.text.regex import regex
from helix.text.structured import texts

_SHORTENED = regex(r"[^\n\u2026]+(?:\u2026\]?[ \t]*)?")
_LEAST_BEGINNING = 40
"""Characters of a line, or of what is before an ellipsis, by which the beginning of an erased text is known: a shorter
one may be a heading of its own."""
_LONGEST_TITLE = 120


def without_erased(item: Slice, erased: Erased) -> Slice | None:
    """Return a cleaned slice without what was erased; None where nothing else is left of it."""
    episode = item.episode
    if not erased:
        return item
    # A fork repeats the calls of the session that it was forked from.
    before = episode.source.replace(episode.session, episode.forked_from) if episode.forked_from else ""
    if erased.has_episode(episode.source, episode.content) or erased.has_source(before):
        return None
    words = erased.words
    told = list(words.said_by(episode.content))
    content, gone = left_of(episode.content, told), [f" {' '.join(one.words)} " for one in told]
    content = _without_beginnings(content, gone)
    stays = f" {normal(content)} "
    left = tuple(kept for one in item.memories if (kept := _without(one, words, gone, stays)) is not None)
    if content == episode.content and left == item.memories:
        return item
    if not normal(content):
        return None
    return replace(
        item,
        episode=replace(episode, content=content.strip(), found_by=words.cut(episode.found_by)),
        memories=tuple(replace(one, found_by=words.cut(one.found_by)) for one in left),
    )


def _without_beginnings(text: str, gone: Sequence[str]) -> str:
    """Return a text without how a text begins that was erased: histories and exports shorten it for their titles."""

    def left(found: re.Match[str]) -> str:
        said = f" {normal(found[0])}"
        is_one = len(said) > _LEAST_BEGINNING and any(one.startswith(said) for one in gone)
        return "" if is_one else found[0]

    return _SHORTENED.sub(left, text)


def attributes_without(attributes: Mapping[str, object], words: KeptOut) -> Mapping[str, object]:
    """Return what is noted of a memory beside its words; nothing where any of it says what was erased."""
    said = [text for _, text in texts(dict(attributes))]
    return attributes if [*map(words.cut, said)] == said else {}


def _without(draft: MemoryDraft, words: KeptOut, gone: Sequence[str], stays: str) -> MemoryDraft | None:
    """Return a memory without the texts that were erased; None where one of its parts, or all of it, is such a text.

    So it is where it was made of such a text of its episode (`gone`, in normal form) and of what stood around that, and
    not of what the episode still says (`stays`): another sentence may hold the same words.
    """
    said = (draft.trigger, draft.resolution)
    left = words.cut_statement(*said)
    if left is None:
        return None
    told = [f" {' '.join(one.words)} " for text in said for one in words.said_by(text)]
    trigger, resolution = (_without_beginnings(one, [*gone, *told]) for one in left)
    if normal(left[1]) and not normal(resolution):
        return None
    left = (
        trigger
        if normal(trigger) or trigger == left[0]
        else head(resolution.strip().partition("\n")[0], _LONGEST_TITLE),
        resolution,
    )
    whole = f" {normal(' '.join(left))} "
    if any(one in whole for one in gone) and not all(f" {one} " in stays for one in told_sentences(*left)):
        return None
    if left == said:
        return replace(draft, attributes=attributes_without(draft.attributes, words))
    # Its name and what else is noted of it were made of all that it said.
    return replace(draft, trigger=left[0].rstrip(" >").strip(), resolution=left[1].strip(), name="", attributes={})
