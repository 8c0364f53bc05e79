"""Spring layout: places for a few hundred things, so that what is linked lies near and nothing covers another.

Fruchterman and Reingold 1991: things push each other away, links pull, and each step is shorter than the one before.
It begins from a spiral, the largest in the middle, and has no chance in it: the same graph has the same picture. Then
everything is spread evenly from the middle outwards, and what still covers another is pushed off it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]
_STEPS = 150
_TURN = np.pi * (3 - np.sqrt(5))
"""The golden angle: turned by it again and again, points on a spiral never stand in a line."""
_FIRST_STEP = 0.2
_TO_THE_MIDDLE = 0.05
"""How strongly everything is drawn to the middle, so that what has no links does not drift away."""
_LEAST = 1e-3
_FILLED = 0.3
"""How much of the frame all of them cover."""
_SMALLEST, _LARGEST = 0.16, 0.3
"""Radii: the smallest over the largest at least, and the largest at most."""
_APART = 1.08
"""Between two there is a little room."""
_PUSHES = 120


class Spot(NamedTuple):
    """A disc within the frame, which reaches from -1 to 1 both ways."""

    x: float
    y: float
    radius: float


def placed(sizes: Sequence[int], links: Sequence[tuple[int, int, int]]) -> list[Spot]:
    """Return a disc for each node of a drawn graph, its area by its size, of which none covers another.

    Links are (one, other, how many), and pull by the logarithm of that.
    """
    if not sizes:
        return []
    radii = _radii(np.asarray(sizes, float))
    places = _apart(_spread(_sprung(radii, links)), radii)
    places = places - ((places + radii[:, None]).max(0) + (places - radii[:, None]).min(0)) / 2
    shrunk = max(1.0, float((np.abs(places) + radii[:, None]).max()))
    return [
        Spot(float(x), float(y), float(radius)) for (x, y), radius in zip(places / shrunk, radii / shrunk, strict=True)
    ]


def _radii(sizes: _Floats) -> _Floats:
    """Return the radii of discs that fill so much of the frame."""
    radii: _Floats = np.maximum(np.sqrt(sizes / sizes.max()), _SMALLEST)
    return radii * min(_LARGEST, float(np.sqrt(4 * _FILLED / (np.pi * (radii**2).sum()))))


def _sprung(radii: _Floats, links: Sequence[tuple[int, int, int]]) -> _Floats:
    count = len(radii)
    places, pull = _spiral(count), np.zeros((count, count))
    for one, other, strength in links:
        pull[one, other] = pull[other, one] = np.log1p(strength)
    pull /= max(pull.max(), 1.0)
    apart = 1 / np.sqrt(count)
    room = apart * (0.5 + radii / radii.max())
    push = np.add.outer(room, room) ** 2 / 4
    for step in range(_STEPS):
        between = places[:, None, :] - places[None, :, :]
        far = np.maximum(np.sqrt((between**2).sum(2)), _LEAST)
        force = push / far - pull * far**2 / apart
        moved = (between / far[:, :, None] * force[:, :, None]).sum(1) - _TO_THE_MIDDLE * places
        length = np.maximum(np.sqrt((moved**2).sum(1)), _LEAST)
        most = _FIRST_STEP * (1 - step / _STEPS)
        places = places + moved / length[:, None] * np.minimum(length, most)[:, None]
    return places


def _spread(places: _Floats) -> _Floats:
    """Return the places as far from their middle as fills a disc evenly, each in the direction in which it lies."""
    away = places - places.mean(0)
    length = np.maximum(np.sqrt((away**2).sum(1)), _LEAST)
    rank = np.argsort(np.argsort(length, kind="stable"), kind="stable")
    spread: _Floats = away / length[:, None] * np.sqrt((rank + 0.5) / len(places))[:, None]
    return spread


def _apart(places: _Floats, radii: _Floats) -> _Floats:
    """Return the places with each two so far apart that neither disc covers the other."""
    least = _APART * np.add.outer(radii, radii)
    np.fill_diagonal(least, 0.0)
    for _ in range(_PUSHES):
        between = places[:, None, :] - places[None, :, :]
        far = np.maximum(np.sqrt((between**2).sum(2)), _LEAST)
        short = np.maximum(least - far, 0.0)
        if not short.any():
            return places
        places = places + (between / far[:, :, None] * short[:, :, None]).sum(1) / 2
    between = places[:, None, :] - places[None, :, :]
    far = np.sqrt((between**2).sum(2)) + np.eye(len(radii))
    return places * max(1.0, float((least / np.maximum(far, _LEAST**2)).max()))


def _spiral(count: int) -> _Floats:
    turns = np.arange(count) * _TURN
    radius = np.sqrt((np.arange(count) + 0.5) / count)
    spiral: _Floats = np.stack((radius * np.cos(turns), radius * np.sin(turns)), 1)
    return spiral
