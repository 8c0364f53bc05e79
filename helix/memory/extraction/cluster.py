"""Clusters: which candidates say one thing. Pure, exact, and the same in whatever order the candidates come.

Two candidates are linked where their vectors and words agree; linked ones form components, and a component that chains
from one matter to another is cut into stars around its medoids (Aslam, Pelekhov and Rus, "The Star Clustering
Algorithm", 2004). What a component becomes depends on nothing outside it: a new candidate changes the components it
touches, and no other. Nor does it depend on weaker voices what stronger ones form: each class of trust joins the stars
of those before it where it fits, and what is left forms stars of its own. One sentence of a page that says two things
which the user said apart would else make one of both.

What was said again after something that contradicts it was said holds anew, apart from the time before. Only what was
said in so many words begins or ends such a turn: a casual mention may look back.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from helix.memory.contradiction.classify import CLOSE_IN_TIME, can_contradict
from helix.memory.contradiction.detect import Statement, contradiction
from helix.memory.extraction.statements import ComparedCandidate, agree
from helix.model.provenance import Trust, weakest_trust
from helix.store import whole_numbers
from helix.store.whole_numbers import Rest, product_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Cosines of one embedding space: from `near` on shared words decide, from `alike` on the cosine alone does.

    Episodes further apart than `around` are not looked at together: so a run need not read all there ever was.
    """

    near: float
    alike: float
    around: float


Links = Mapping[int, Mapping[int, int]]
"""For each place, the places it is linked to and how near they are (the product of the vectors).

Of items that say the same in the same surroundings (`ComparedCandidate.same`) only the first by `order` has links: for
all of them.
"""


def trust_of(item: ComparedCandidate) -> Trust:
    """Return who says an extracted candidate: that of the episode, in a language model's words an agent at most."""
    trust = item.episode.provenance.trust
    return weakest_trust(trust, Trust.AGENT_INFERRED) if item.candidate.by_model else trust


def rank_of(item: ComparedCandidate) -> int:
    """Return the class of trust of who says an extracted candidate; 0 is the best."""
    return trust_of(item).rank


def go_on() -> None:
    """Let clustering take no rest."""


def linked(
    items: Sequence[ComparedCandidate], bars: Bars, fresh: Iterable[int] | None = None, rest: Rest = go_on
) -> Links:
    """Return the links among extracted candidates that say one thing, of those at the places `fresh` (None: of all)."""
    links: dict[int, dict[int, int]] = defaultdict(dict)
    for one, two, product in near_pairs(items, bars, fresh, rest):
        if two not in links[one] and _together(items[one], items[two], bars):
            links[one][two] = links[two][one] = product
    return links


def near_pairs(
    items: Sequence[ComparedCandidate], bars: Bars, fresh: Iterable[int] | None = None, rest: Rest = go_on
) -> Iterator[tuple[int, int, int]]:
    """Yield pairs of extracted candidates near in vectors and words, and how near: the first of each among `fresh`.

    Only the first place of each group counts, by `order`.
    """
    places = [group[0] for group in groups_of(items).values()]
    held = [items[place] for place in places]
    chosen = None if fresh is None else {items[place].same for place in fresh}
    wanted = [number for number, item in enumerate(held) if chosen is None or item.same in chosen]
    vectors, terms = [item.vector for item in held], [item.terms for item in held]
    found = whole_numbers.near_pairs(vectors, terms, wanted, near=bars.near, alike=bars.alike, rest=rest)
    for one, two, product in found:
        yield places[one], places[two], product


def groups_of(items: Sequence[ComparedCandidate]) -> dict[bytes, list[int]]:
    """Return the places of candidates that say the same in the same surroundings, each group by `order`."""
    groups: dict[bytes, list[int]] = defaultdict(list)
    for place in sorted(range(len(items)), key=lambda place: items[place].order):
        groups[items[place].same].append(place)
    return groups


def components(links: Links, count: int) -> list[list[int]]:
    """Return the clusters of extracted statements that links connect: ascending places of 0..count-1, by the first."""
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


def clusters(
    items: Sequence[ComparedCandidate], links: Links, bars: Bars, rest: Rest = go_on
) -> list[list[ComparedCandidate]]:
    """Return extracted candidates in clusters that say one thing each, the medoid first, then by nearness to it."""
    groups = {group[0]: group for group in groups_of(items).values()}
    rest()
    stars = _Stars(items, links, groups, product_of(bars.near), rest)
    return [
        [items[place] for first in star for place in groups[first]]
        for component in components(links, len(items))
        if component[0] in groups
        for star in stars.of(component)
    ]


class _Stars:
    """Cuts components into stars. A place stands for its whole group: each of those in it of the best class counts."""

    def __init__(
        self,
        items: Sequence[ComparedCandidate],
        links: Links,
        groups: Mapping[int, Sequence[int]],
        least: float,
        rest: Rest,
    ) -> None:
        self._items, self._links, self._least, self._rest = items, links, least, rest
        ranks = {first: [rank_of(items[place]) for place in group] for first, group in groups.items()}
        self._voice = {first: min(said) for first, said in ranks.items()}
        self._count = {first: said.count(min(said)) for first, said in ranks.items()}

    def of(self, component: Sequence[int]) -> list[list[int]]:
        """Return the stars of a component: the place best linked within what is left, and its links that agree.

        What is left alone joins the star that holds its nearest link, where it is near that star's centre too. So it is
        for each class of trust, the best first.
        """
        stars: list[list[int]] = []
        held_by: dict[int, int] = {}
        for voice in sorted({self._voice[place] for place in component}):
            centres = {star[0]: number for number, star in enumerate(stars)}
            members = [place for place in component if self._voice[place] == voice]
            alone: list[int] = []
            for star in self._cut([place for place in members if not self._met(place, stars, centres, held_by)]):
                if sum(self._count[place] for place in star) > 1:
                    held_by.update(dict.fromkeys(star, len(stars)))
                    stars.append(star)
                else:
                    alone += star
            for place in [place for place in alone if not self._joined(place, stars, held_by)]:
                held_by[place] = len(stars)
                stars.append([place])
        return stars

    def _met(self, place: int, stars: Sequence[list[int]], centres: Mapping[int, int], held_by: dict[int, int]) -> bool:
        """Put a place into the star of better voices whose centre is nearest, if it fits; return whether it did."""
        self._rest()
        near = self._links.get(place, {})
        for _, number in sorted((-product, centres[other]) for other, product in near.items() if other in centres):
            if self._put(place, number, stars, held_by):
                return True
        return False

    def _put(self, place: int, number: int, stars: Sequence[list[int]], held_by: dict[int, int]) -> bool:
        """Put a place into a star, if it agrees with all in it; return whether it did."""
        item = self._items[place]
        if not all(agree(item, self._items[taken]) for taken in stars[number]):
            return False
        stars[number].append(place)
        held_by[place] = number
        return True

    def _cut(self, members: Sequence[int]) -> Iterator[list[int]]:
        """Yield the stars that the places of one class of trust form among themselves."""
        rank = {place: n for n, place in enumerate(sorted(members, key=lambda place: self._items[place].order))}
        left = set(members)
        weight = {place: self._weight(place, left) for place in members}
        heap = [(-weight[place], rank[place], place) for place in members]
        heapq.heapify(heap)
        while heap:
            negative, _, centre = heapq.heappop(heap)
            if centre not in left or -negative != weight[centre]:
                continue
            self._rest()
            star = self._star(centre, left, rank)
            left.difference_update(star)
            for place in star:
                for other, product in self._links.get(place, {}).items():
                    if other in left:
                        weight[other] -= product * self._count[place]
                        heapq.heappush(heap, (-weight[other], rank[other], other))
            yield star

    def _weight(self, place: int, members: Set[int]) -> int:
        """Return how well the items at a place are linked, with other members and with each other."""
        own = self._items[place].vector
        among = int(own @ own) * (self._count[place] - 1)
        near = self._links.get(place, {}).items()
        return among + sum(product * self._count[other] for other, product in near if other in members)

    def _star(self, centre: int, left: Set[int], rank: Mapping[int, int]) -> list[int]:
        near = self._links.get(centre, {})
        star, worded = [centre], {self._items[centre].candidate.trigger: self._items[centre]}
        for other in sorted(left & near.keys(), key=lambda place: (-near[place], rank[place])):
            item = self._items[other]
            if all(agree(item, taken) for taken in worded.values()):
                star.append(other)
                worded.setdefault(item.candidate.trigger, item)
        return star

    def _joined(self, place: int, stars: Sequence[list[int]], held_by: dict[int, int]) -> bool:
        """Put a place that stands alone into the star of its nearest link, if it fits there; return whether it did."""
        near = self._links.get(place, {})
        held = [(product, -held_by[other]) for other, product in near.items() if other in held_by]
        if not held:
            return False
        self._rest()
        number = -max(held)[1]
        centre = self._items[stars[number][0]]
        fits = float(self._items[place].vector @ centre.vector) >= self._least
        return fits and self._put(place, number, stars, held_by)


def _together(one: ComparedCandidate, other: ComparedCandidate, bars: Bars) -> bool:
    """Return whether two that are near in vectors and words may be linked."""
    return float(one.around @ other.around) >= product_of(bars.around) and agree(one, other)


Rivals = Mapping[bytes, Set[bytes]]
"""For what is said (`ComparedCandidate.same`), what surely cannot hold beside it."""


def opposed(
    items: Sequence[ComparedCandidate], bars: Bars, fresh: Iterable[int], rest: Rest = go_on
) -> Iterator[tuple[bytes, bytes]]:
    """Yield each extracted candidate of the places `fresh` with the near ones that surely contradict it, once."""
    told = [item for item in items if item.candidate.explicit and can_contradict(item.candidate.kind)]
    chosen = {items[place].same for place in fresh}
    for one, two, _ in near_pairs(told, bars, [n for n, item in enumerate(told) if item.same in chosen], rest):
        if two < one and told[two].same in chosen:
            continue  # met already, the other way round
        rest()
        found = contradiction(_statement(told[one]), _statement(told[two]))
        if found is not None and found.sure:
            yield told[one].same, told[two].same


def turns(cluster: Sequence[ComparedCandidate], enders: Iterable[ComparedCandidate]) -> list[list[ComparedCandidate]]:
    """Return a cluster cut where its statement was said anew after an ender, each part in the cluster's order.

    Where it, the ender and it again follow each other within `CLOSE_IN_TIME`, nobody can tell which was meant to hold.
    """
    moments = sorted({_at(item) for item in enders if item.candidate.explicit})
    starts: list[datetime] = []
    for moment in sorted({_at(item) for item in cluster if item.candidate.explicit}):
        if not starts or any(_parts(starts[-1], between, moment) for between in moments):
            starts.append(moment)
    bounds = [*starts[1:], None]
    parts: list[list[ComparedCandidate]] = [[] for _ in bounds]
    for item in cluster:
        parts[next(n for n, bound in enumerate(bounds) if bound is None or _at(item) < bound)].append(item)
    return parts


def _parts(start: datetime, between: datetime, again: datetime) -> bool:
    return start < between < again and max(between - start, again - between) >= CLOSE_IN_TIME


def _at(item: ComparedCandidate) -> datetime:
    return item.episode.occurred_at


def _statement(item: ComparedCandidate) -> Statement:
    candidate = item.candidate
    resolution = "" if candidate.resolution == candidate.trigger else candidate.resolution
    return Statement(trigger=candidate.trigger, resolution=resolution)
