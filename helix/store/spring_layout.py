"""Spring layout: places for a few hundred things, so that what is linked lies near and nothing covers another.

Fruchterman and Reingold 1991: things push each other away, links pull, and each step is shorter than the one before.
It begins from a spiral, the largest in the middle, and has no chance in it: the same graph has the same picture.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from helix.store.node_columns import FloatArray

_STEPS = 150
_TURN = np.pi * (3 - np.sqrt(5))
"""The golden angle: turned by it again and again, points on a spiral never stand in a line."""
_FIRST_STEP = 0.2
_TO_THE_MIDDLE = 0.05
"""How strongly everything is drawn to the middle, so that what has no links does not drift away."""
_LEAST = 1e-3


def placed(sizes: Sequence[int], links: Sequence[tuple[int, int, int]]) -> list[tuple[float, float]]:
    """Return x and y of each thing, -1 to 1; links are (one, other, how many), and pull by the logarithm of that."""
    count = len(sizes)
    if count < 2:
        return [(0.0, 0.0)] * count
    places, pull = _spiral(count), np.zeros((count, count))
    for one, other, strength in links:
        pull[one, other] = pull[other, one] = np.log1p(strength)
    pull /= max(pull.max(), 1.0)
    apart = 1 / np.sqrt(count)
    room = apart * (0.5 + np.sqrt(np.asarray(sizes, float) / max(sizes)))
    push = np.add.outer(room, room) ** 2 / 4
    for step in range(_STEPS):
        between = places[:, None, :] - places[None, :, :]
        far = np.maximum(np.sqrt((between**2).sum(2)), _LEAST)
        force = push / far - pull * far**2 / apart
        moved = (between / far[:, :, None] * force[:, :, None]).sum(1) - _TO_THE_MIDDLE * places
        length = np.maximum(np.sqrt((moved**2).sum(1)), _LEAST)
        most = _FIRST_STEP * (1 - step / _STEPS)
        places = places + moved / length[:, None] * np.minimum(length, most)[:, None]
    places = places - (places.max(0) + places.min(0)) / 2
    places = places / max(float(np.abs(places).max()), _LEAST)
    return [(float(x), float(y)) for x, y in places]


def _spiral(count: int) -> FloatArray:
    turns = np.arange(count) * _TURN
    radius = np.sqrt((np.arange(count) + 0.5) / count)
    spiral: FloatArray = np.stack((radius * np.cos(turns), radius * np.sin(turns)), 1)
    return spiral
