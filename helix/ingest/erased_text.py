"""Erased text: what a person has erased comes back by no history, file or export that says it still."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from helix.ingest.draft import Slice
from helix.memory.extraction.excluded import Erased
from helix.model.memory import body
from helix.model.tombstone import normal

_MARK = "[erased]"


def without_erased(item: Slice, erased: Erased) -> Slice | None:
    """Return a cleaned slice without what was erased; None where nothing else is left of it."""
    episode = item.episode
    if not erased:
        return item
    before = episode.source.replace(episode.session, episode.forked_from) if episode.forked_from else ""
    if erased.has_episode(episode.source, episode.content) or erased.has_source(before):
        return None
    gone = [one for one in item.memories if erased.is_said_by(one.trigger, one.resolution)]
    told = [*erased.words.said_in(episode.content), *(body(one.trigger, one.resolution) for one in gone)]
    left = tuple(one for one in item.memories if one not in gone)
    if not told or (item.memories and not left):
        return None if told else item
    content = _cut(episode.content, told)
    if not normal(content.replace(_MARK, "")):
        return None
    return replace(
        item,
        episode=replace(episode, content=content, found_by=_cut(episode.found_by, told)),
        memories=tuple(replace(one, found_by=_cut(one.found_by, told)) for one in left),
    )


def _cut(text: str, told: Iterable[str]) -> str:
    """Return a text without what was told, whatever stands between its words."""
    for one in told:
        words = r"[\W_]+".join(map(re.escape, re.findall(r"[^\W_]+", one)))
        text = re.sub(rf"(?<![^\W_]){words}(?![^\W_])", _MARK, text, flags=re.IGNORECASE) if words else text
    return text
