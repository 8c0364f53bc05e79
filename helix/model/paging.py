"""Paging: pages of a sorted list, with cursors that stay right while items come, go or move."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from heapq import nlargest, nsmallest
from operator import itemgetter
from typing import TypeVar

from helix.errors import InvalidInputError
from helix.model.reports import Page

T = TypeVar("T")

Key = tuple[str | int | float, ...]
"""What a list is sorted by: the same number of values of the same types for each item, and for no two the same."""


def cursor_of(key: Key) -> str:
    """Return a key as the cursor of a page: behind it lies the rest of the list, whether or not its item remains."""
    return base64.urlsafe_b64encode(json.dumps(key, separators=(",", ":")).encode()).decode().rstrip("=")


def key_of(cursor: str, example: Key) -> Key:
    """Return the key that a page's cursor holds; raises InvalidInputError for what is no cursor of such a list."""
    try:
        key = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError) as error:
        raise no_cursor(cursor) from error
    if not isinstance(key, list) or [*map(type, key)] != [*map(type, json.loads(json.dumps(example)))]:
        raise no_cursor(cursor)
    return tuple(key)


def no_cursor(text: str) -> InvalidInputError:
    """Return the error for a text that is no cursor of a page of the list it was given for."""
    hint = "pass the cursor on as it came with the last page"
    return InvalidInputError(f"{text!r:.200} is not a cursor of this list", hint=hint)


def page_of(
    items: Iterable[T], key: Callable[[T], Key], *, first: int, after: str | None, newest_first: bool = False
) -> Page[T]:
    """Return the page of `first` items behind the cursor `after`, by their keys; `newest_first` reverses them.

    Raises InvalidInputError for a text that is no cursor of this list.
    """
    placed = [(key(item), item) for item in items]
    behind = placed
    if after is not None and placed:
        last = key_of(after, placed[0][0])
        behind = [one for one in placed if (one[0] < last if newest_first else one[0] > last)]
    found = (nlargest if newest_first else nsmallest)(first + 1, behind, key=itemgetter(0))
    return cut(found, first, len(placed), lambda one: cursor_of(one[0])).each(itemgetter(1))


def cut(found: Sequence[T], first: int, total: int, cursor: Callable[[T], str]) -> Page[T]:
    """Cut the page of the first `first` items; where the list goes on, one more has been found."""
    cursors = tuple(map(cursor, found[:first]))
    more = cursors[-1] if len(found) > first else None
    return Page(items=tuple(found[:first]), total=total, cursors=cursors, next_cursor=more)
