"""Summary: what a few neighbouring episodes come to in a third to a half of their words, without a model. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from helix.memory.extraction.gate import gate
from helix.model.episode import Episode
from helix.text.sentences import Sentence, sentences
from helix.text.times.dates import day_in_words
from helix.text.tokens import estimate_tokens

SHARE = 1 / 3
"""Tokens of a summary over those of its episodes, where neither bound below is met.

Of seven turns of talk each (LoCoMo), a third keeps what questions are about; half leaves too little room in an answer.
"""
LEAST_TOKENS, MOST_TOKENS = 48, 600
"""Bounds of a summary's tokens: what is that short is kept whole, and more than that is no summary."""
_MOST_TOPICS = 4
_NAME, _NUMBER, _WORD = 2.0, 1.5, 1.0
"""What a name, a number and a word count that were not told before."""
_CUED, _MOST_CUES = 0.35, 3
"""What each word about a choice, cause, plan, event or time adds to the worth of a sentence, and how many count."""
_ASKED = 0.5
"""The worth of a question over that of a statement with the same words."""
_PLAIN = 8
"""Tokens that every sentence has before it tells anything; without them the shortest ones would always win."""
_OVERHEAD = 3
"""Tokens that a line costs beside its words: who says it, and its end."""
_LASTING = 1.25
"""The worth of a sentence that the gate takes for something durable over that of another with the same words."""
_FEWEST_WORDS = 4
"""A shorter sentence tells something only where it has a number: "Lunch was late" is nothing to keep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """`title` says when, who and what about; `lines` are the telling sentences in order, each with its speaker.

    `by_model`: they are a language model's lines.
    """

    title: str
    lines: tuple[str, ...]
    by_model: bool = False

    @property
    def text(self) -> str:
        """The lines of an insight's summary as one text."""
        return "\n".join(self.lines)


def summarised(episodes: Sequence[Episode]) -> Summary:
    """Return an insight's summary of episodes in the order in which they happened; it depends on nothing else."""
    said = _said(episodes)
    title = f"{_when(episodes)}{_who(episodes)}{_topics(said)}"
    lines = []
    lasting = [{one.sentence.text for one in gate(episode)[1]} for episode in episodes]
    for episode, kept in zip(episodes, _chosen(said, lasting, _budget(episodes, title)), strict=True):
        if kept:
            spoken = " ".join(sentence.text for sentence in kept)
            lines.append(f"{speaker_of(episode)}: {spoken}" if speaker_of(episode) else spoken)
    return Summary(title=title, lines=tuple(lines))


def tells(episodes: Sequence[Episode]) -> bool:
    """Return whether episodes are worth a summary: they say more than greetings, thanks, cheers and brief remarks."""
    return any(features_of(one) for those in _said(episodes) for one in those if not _is_trivial(one))


def speaker_of(episode: Episode) -> str:
    """Return the speaker of an episode to be summarised, where that is known."""
    return episode.agent or episode.role


def _said(episodes: Sequence[Episode]) -> list[list[Sentence]]:
    present = frozenset(speaker_of(episode).casefold() for episode in episodes) - {""}
    return [sentences(episode.content, present) for episode in episodes]


def _budget(episodes: Sequence[Episode], title: str) -> int:
    whole = sum(estimate_tokens(episode.content) for episode in episodes)
    return max(LEAST_TOKENS, min(MOST_TOKENS, round(SHARE * whole))) - estimate_tokens(title)


def _when(episodes: Sequence[Episode]) -> str:
    first, last = (day_in_words(episode.occurred_at) for episode in (episodes[0], episodes[-1]))
    return first if first == last else f"{first} to {last}"


def _who(episodes: Sequence[Episode]) -> str:
    speakers = list(dict.fromkeys(filter(None, map(speaker_of, episodes))))
    return f", {' and '.join(speakers)}" if speakers else ""


def _topics(said: Sequence[Sequence[Sentence]]) -> str:
    """Return what is named most, first met first; nothing where nothing is named."""
    met: dict[str, str] = {}
    counts = Counter[str]()
    for name in (name for those in said for sentence in those for name in sentence.names):
        met.setdefault(name.casefold(), name)
        counts[name.casefold()] += 1
    topics = [met[name] for name, _ in counts.most_common(_MOST_TOPICS)]
    return f": {', '.join(topics)}" if topics else ""


def _is_trivial(sentence: Sentence) -> bool:
    """Return whether a sentence is small talk, or too short to tell what it is about."""
    short = len(sentence.text.split()) < _FEWEST_WORDS and sentence.text.isascii()
    return sentence.is_filler or (short and not sentence.numbers)


def _chosen(
    said: Sequence[Sequence[Sentence]], lasting: Sequence[AbstractSet[str]], budget: int
) -> list[list[Sentence]]:
    """Return the sentences of each episode that together tell the most within so many tokens, in their order.

    Each step takes the sentence that adds most for its length that was not told before, those that the gate takes for
    something `lasting` first of equals; the first one always.
    """
    flat = [(at, sentence) for at, those in enumerate(said) for sentence in those if not _is_trivial(sentence)]
    flat = flat or [(at, sentence) for at, those in enumerate(said) for sentence in those]
    weights = [_LASTING if sentence.text in lasting[at] else 1.0 for at, sentence in flat]
    taken, told = set[int](), set[str]()
    spent = 0
    for place in most_telling([sentence for _, sentence in flat], told, weights):
        cost = flat[place][1].tokens + _OVERHEAD
        if not taken or spent + cost <= budget:
            taken.add(place)
            spent += cost
            told |= features_of(flat[place][1])
    if flat and not taken:
        taken.add(0)
    return [[flat[place][1] for place in sorted(taken) if flat[place][0] == at] for at in range(len(said))]


def most_telling(said: Sequence[Sentence], told: AbstractSet[str], weights: Sequence[float] = ()) -> Iterator[int]:
    """Yield the places of sentences for an insight's summary, each time the one that adds most to what is `told`.

    The first of equals goes first, and each once. The caller adds to `told` what it takes. As what a sentence adds only
    shrinks, few have to be looked at again at each step, however many there are.
    """

    def key(place: int) -> tuple[float, int]:
        return -worth_of(said[place], told) * (weights[place] if weights else 1.0), place

    waiting = [key(place) for place in range(len(said))]
    heapify(waiting)
    while waiting:
        best = key(heappop(waiting)[1])
        if waiting and best > waiting[0]:
            heappush(waiting, best)
        elif best[0] < 0:
            yield best[1]


def features_of(sentence: Sentence) -> set[str]:
    """Return the features of a summary's sentence: names, numbers and words, each under a mark of its own."""
    named = {f"@{name.casefold()}" for name in sentence.names}
    return named | {f"#{number}" for number in sentence.numbers} | sentence.terms


def worth_of(sentence: Sentence, told: AbstractSet[str]) -> float:
    """Return the worth of a sentence to a summary: what it adds to what was told, by its length in tokens."""
    fresh = features_of(sentence) - told
    worth = sum(_NAME if one[0] == "@" else _NUMBER if one[0] == "#" else _WORD for one in fresh)
    cued = 1 + _CUED * min(_MOST_CUES, sentence.cues)
    return worth * cued * (_ASKED if sentence.asks else 1.0) / (sentence.tokens + _PLAIN)
