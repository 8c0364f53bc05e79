"""Erased text: what a person has erased comes back by no history, file or export that says it still.

Not measured, as no data labels what was erased: it is a grammar of how git and others shorten and quote titles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from helix.ingest.draft import MemoryDraft, Slice
from helix.ingest.message import titled
from helix.memory.extraction.excluded import Erased
from helix.model.provenance import GIT
from helix.model.told import left_of, normal, told_sentences
from helix.model.tombstone import KeptOut
from helix.text.excerpts import head
from helix.text.regex import regex
from helix.text.structured import texts

_SHORTENED = regex(r"[^\n\u2026]+(?:\u2026\]?[ \t]*)?")
_BEGINNING = regex(r"[.!?:][*_\"')]*\s+")
_FRAME = regex(r"(?:revert|reapply):? [\"\u201c]", re.IGNORECASE)
_QUOTE = regex(r"[\"\u201d]+(?: *\(?(?:#|GH-)\d+\)?)?$")
_LEAST_BEGINNING, _LEAST_TITLE = 40, 100
"""Characters by which the beginning of an erased text is known, and of a title that may have been cut: a shorter one
may be a heading of its own."""
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
    if (quoted := _quoted(episode.content)) and (
        any(erased.has_source(one) for one in (*item.ends, *item.revives))
        or words.has_title(quoted)
        or not normal(words.cut(quoted))
    ):
        return None
    title, _, body = episode.content.partition("\n")
    is_kept_out = episode.source.startswith(f"{GIT}:") and words.has_title(titled(title))
    said = body if is_kept_out else episode.content
    told = list(words.said_by(said))
    content, gone = left_of(said, told), [f" {' '.join(one.words)} " for one in told]
    content = _without_beginnings(content, gone, is_title=True)
    stays = f" {normal(content)} "
    stated = [one for one in item.memories if not (is_kept_out and words.has_title(titled(one.trigger)))]
    left = tuple(kept for one in stated if (kept := _without(one, words, gone, stays)) is not None)
    if content == episode.content and left == item.memories:
        return item
    if not normal(content):
        return None

    def found_by(text: str) -> str:
        return "" if is_kept_out else words.cut(text)

    return replace(
        item,
        episode=replace(episode, content=content.strip(), found_by=found_by(episode.found_by)),
        memories=tuple(replace(one, found_by=found_by(one.found_by)) for one in left),
    )


def _quoted(content: str) -> str:
    """Return the title of another commit that git has put into that of this one; empty for none."""
    title, quoted = content.partition("\n")[0], ""
    while (frame := _FRAME.match(title)) is not None:
        title = quoted = title[frame.end() :]
    return titled(_QUOTE.sub("", quoted)) if quoted else ""


def _without_beginnings(text: str, gone: Sequence[str], *, is_title: bool = False) -> str:
    """Return a text without how a text begins that was erased: histories and exports shorten it for their titles.

    That is a part which ends in an ellipsis, and what `is_title` where it is long and ends as no sentence does.
    """

    def left(found: re.Match[str]) -> str:
        part = found[0].rstrip(" \t]")
        cut_off = is_title and found.start() == 0 and len(part) >= _LEAST_TITLE and part[-1] not in ".!?"
        start = _where_one_begins(part, gone) if cut_off or part.endswith("\u2026") else None
        return found[0] if start is None else part[:start]

    return _SHORTENED.sub(left, text) if gone else text


def _where_one_begins(part: str, gone: Sequence[str]) -> int | None:
    """Return the first sentence from which on all of a part is how an erased text begins; None for none.

    Looked for from the end on, and no further than the longest of them has words: a line may have any length.
    """
    starts = [0, *(one.end() for one in _BEGINNING.finditer(part))]
    most, found = max(one.count(" ") for one in gone), None
    words: list[str] = []
    for start, end in reversed(list(pairwise([*starts, len(part)]))):
        words = normal(part[start:end]).split() + words
        if len(words) > most:
            break
        said = f" {' '.join(words)}"
        if len(said) > _LEAST_BEGINNING and any(one.startswith(said) for one in gone):
            found = start
    return found


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
    cut = (text for text, rest in zip(said, left, strict=True) if text != rest)
    told = [f" {' '.join(one.words)} " for text in cut for one in words.said_by(text)]
    gone_here = [*gone, *told]
    trigger = _without_beginnings(left[0], gone_here, is_title=True)
    resolution = _without_beginnings(left[1], gone_here)
    if normal(left[1]) and not normal(resolution):
        return None
    if trigger != left[0] and not normal(trigger):
        trigger = head(resolution.strip().partition("\n")[0], _LONGEST_TITLE)
    left = trigger, resolution
    whole = f" {normal(' '.join(left))} "
    if any(one in whole for one in gone) and not all(f" {one} " in stays for one in told_sentences(*left)):
        return None
    if left == said:
        return replace(draft, attributes=attributes_without(draft.attributes, words))
    # Its name and what else is noted of it were made of all that it said.
    return replace(draft, trigger=left[0].rstrip(" >").strip(), resolution=left[1].strip(), name="", attributes={})
