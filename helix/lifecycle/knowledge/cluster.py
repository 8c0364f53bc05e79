"""Clusters: which candidates say one thing. Pure, exact, and the same in whatever order the candidates come.

Two candidates are linked where their vectors and words agree; linked ones form components, and a component that chains
from one matter to another is cut into stars around its medoids (Aslam, Pelekhov and Rus, "The Star Clustering
Algorithm", 2004). What a component becomes depends on nothing outside it: a new candidate changes the components it
touches, and no other.
"""

from __future__ import annotations

import hashlib
import heapq
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from helix.lifecycle.knowledge.extract import Candidate
from helix.lifecycle.truth.wording import names, negated, numbers, opposites, terms, words
from helix.model.episode import Episode
from helix.text.spotting.vocabulary import COMMON, FUNCTION_WORDS
from helix.text.tokens import lexical_tokens

Vector = npt.NDArray[np.float32]

WORD_DIMENSION = 256
_SCALE = 2048.0
_BLOCK = 512
_SHARED = 0.5
"""Share of the telling words of the shorter text that both must have where the cosine alone does not decide."""
_OTHER_CLAUSE = re.compile(
    r"[,;]? \b(?:otherwise|or else|because|since|unless|until|so that|if|when|as"
    r"|or (?:the|it|you|they|everything))\b.*",
    re.IGNORECASE | re.DOTALL,
)
_REMINDER = re.compile(r"\b(?:don't|do not|never) forget\b|\bforgot(?:ten)? to\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A candidate with its episode and vector, made comparable.

    `vector` is of what was said, `around` of the episode it was said in. Both hold whole numbers (see `whole_numbers`).
    """

    candidate: Candidate
    episode: Episode
    vector: Vector
    around: Vector
    terms: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    denies: bool

    @property
    def order(self) -> tuple[str, ...]:
        """What puts candidates into one order, whenever they were recorded: when, what, from where."""
        episode, candidate = self.episode, self.candidate
        moment = episode.occurred_at.isoformat()
        return (moment, candidate.trigger, episode.source, f"{candidate.place:06}", episode.session, episode.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Cosines of one embedding space: from `near` on shared words decide, from `alike` on the cosine alone does.

    Episodes further apart than `around` are not looked at together: so a run need not read all there ever was.
    """

    near: float
    alike: float
    around: float


def whole_numbers(vectors: Vector) -> Vector:
    """Return unit vectors (float32) times 2048, rounded.

    Products of two are below 2^24, which float32 adds up exactly in any order: a cosine never depends on what else is
    multiplied beside it.
    """
    rounded: Vector = np.rint(_SCALE * vectors).astype(np.float32)
    return rounded


def product_of(cosine: float) -> float:
    """Return what the product of two vectors in whole numbers is at a cosine."""
    return cosine * _SCALE * _SCALE


def said(candidate: Candidate, episode: Episode, vector: Vector | None, around: Vector | None) -> Said:
    """Return a candidate made comparable; without vectors (of unit length, float32) its words make one."""
    text = _statement(candidate)
    own = whole_numbers(_of_words(terms(text)) if vector is None else vector)
    return Said(
        candidate=candidate,
        episode=episode,
        vector=own,
        around=own if around is None else whole_numbers(around),
        terms=_telling(text),
        numbers=numbers(text),
        names=frozenset(name.strip(".") for name in names(text)),
        denies=negated(_main(text)),
    )


Links = Mapping[int, Mapping[int, int]]
"""For each place, the places it is linked to and how near they are (the product of the vectors)."""


def linked(items: Sequence[Said], bars: Bars, fresh: Iterable[int] | None = None) -> Links:
    """Return the links among the items, of those at the places `fresh` (None: of all of them)."""
    links: dict[int, dict[int, int]] = defaultdict(dict)
    if not items:
        return links
    rows = np.stack([item.vector for item in items])
    wanted = np.arange(len(items)) if fresh is None else np.array(sorted(fresh), np.int64)
    least = product_of(bars.near)
    for start in range(0, len(wanted), _BLOCK):
        block = wanted[start : start + _BLOCK]
        products = rows[block] @ rows.T
        for place, other in np.argwhere(products >= least).tolist():
            here, product = int(block[place]), int(products[place, other])
            if here != other and other not in links[here] and _alike(items[here], items[other], product, bars):
                links[here][other] = links[other][here] = product
    return links


def components(links: Links, count: int) -> list[list[int]]:
    """Return the places 0..count-1 in groups that links connect, each ascending, by their first place."""
    seen: set[int] = set()
    groups = []
    for start in range(count):
        if start in seen:
            continue
        seen.add(start)
        group, waiting = [], [start]
        while waiting:
            place = waiting.pop()
            group.append(place)
            fresh = [other for other in links.get(place, {}) if other not in seen]
            seen.update(fresh)
            waiting += fresh
        groups.append(sorted(group))
    return groups


def clusters(items: Sequence[Said], links: Links, bars: Bars) -> list[list[Said]]:
    """Return the items in clusters that say one thing each, the medoid first, then by nearness to it."""
    return [
        [items[place] for place in star]
        for component in components(links, len(items))
        for star in _stars(component, items, links, product_of(bars.near))
    ]


def _stars(component: Sequence[int], items: Sequence[Said], links: Links, least: float) -> list[list[int]]:
    """Return the stars of a component: the place best linked within what is left, and its links that agree.

    What is left alone joins the star that holds its nearest link, where it is near that star's centre too.
    """
    rank = {place: number for number, place in enumerate(sorted(component, key=lambda place: items[place].order))}
    stars: list[list[int]] = []
    alone: list[int] = []
    for centre in _centres(component, rank, links, left := set(component)):
        near = links.get(centre, {})
        star, worded = [centre], {items[centre].candidate.trigger: items[centre]}
        for other in sorted(left & near.keys(), key=lambda place: (-near[place], rank[place])):
            if all(_agree(items[other], taken) for taken in worded.values()):
                star.append(other)
                worded.setdefault(items[other].candidate.trigger, items[other])
        left -= set(star)
        if len(star) > 1:
            stars.append(star)
        else:
            alone.append(centre)
    return stars + [[place] for place in alone if not _joined(place, stars, items, links, least)]


def _centres(component: Sequence[int], rank: Mapping[int, int], links: Links, left: set[int]) -> Iterator[int]:
    """Yield, as long as there are any, the place in `left` that is best linked within it; the caller takes from it."""
    weight = {place: sum(links.get(place, {}).values()) for place in component}
    counted = set(component)
    heap = [(-weight[place], rank[place], place) for place in component]
    heapq.heapify(heap)
    while heap:
        negative, _, centre = heapq.heappop(heap)
        if centre not in left or -negative != weight[centre]:
            continue
        yield centre
        for place in sorted(counted - left):
            for other, product in links.get(place, {}).items():
                if other in left:
                    weight[other] -= product
                    heapq.heappush(heap, (-weight[other], rank[other], other))
        counted &= left


def _joined(place: int, stars: Sequence[list[int]], items: Sequence[Said], links: Links, least: float) -> bool:
    """Put a place that stands alone into the star of its nearest link, if it fits there; return whether it did."""
    near = links.get(place, {})
    held = [(near[other], -number) for number, star in enumerate(stars) for other in star if other in near]
    if not held:
        return False
    star = stars[-max(held)[1]]
    centre = items[star[0]]
    fits = float(items[place].vector @ centre.vector) >= least
    if fits and all(_agree(items[place], items[taken]) for taken in star):
        star.append(place)
        return True
    return False


def _alike(one: Said, other: Said, product: int, bars: Bars) -> bool:
    fewer = min(len(one.terms), len(other.terms))
    shares = fewer > 0 and len(one.terms & other.terms) >= _SHARED * fewer
    if not (shares or product >= product_of(bars.alike) or one.candidate.trigger == other.candidate.trigger):
        return False
    return float(one.around @ other.around) >= product_of(bars.around) and _agree(one, other)


def _agree(one: Said, other: Said) -> bool:
    """Return whether nothing in two texts stands against each other: denials, numbers, names, speakers, opposites."""
    if one.candidate.trigger == other.candidate.trigger:
        return True
    return (
        one.denies == other.denies
        and one.candidate.speaker == other.candidate.speaker
        and bool(one.candidate.steps) == bool(other.candidate.steps)
        and (one.numbers <= other.numbers or other.numbers <= one.numbers)
        and (one.names <= other.names or other.names <= one.names)
        and not opposites(one.candidate.trigger, other.candidate.trigger)
    )


def _statement(candidate: Candidate) -> str:
    return candidate.trigger.removeprefix(f"{candidate.speaker}: ") if candidate.speaker else candidate.trigger


def _main(text: str) -> str:
    """Return what a sentence says itself, without the clauses of reason, condition or consequence behind it."""
    main = _REMINDER.sub("", text)
    return _OTHER_CLAUSE.sub("", main) or main


def _telling(text: str) -> frozenset[str]:
    """Return the stems of the words that tell what a text is about: not those that stand in any text."""
    told = (word for word in words(text) if word not in COMMON and word not in FUNCTION_WORDS)
    return frozenset(stem for word in told for stem in lexical_tokens(word)) or terms(text)


def _of_words(found: frozenset[str]) -> Vector:
    """Return a unit vector that the words alone make: for stores without a model."""
    vector = np.zeros(WORD_DIMENSION)
    for word in sorted(found):
        digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=4).digest()
        vector[int.from_bytes(digest, "big") % WORD_DIMENSION] += 1.0
    norm = float(np.linalg.norm(vector))
    return (vector / norm if norm else vector).astype(np.float32)
