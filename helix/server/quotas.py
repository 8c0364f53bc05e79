"""Quotas: how much a tenant may keep and ask, as whoever runs the server says.

`memories` and `bytes` (of the log) are looked at before something is added, `requests` counts those of a minute in one
process, `tokens` is the month's budget of paid language models.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping

from helix.errors import InvalidInputError, TooManyRequestsError
from helix.journal.postgres.postgres_server import Whereabouts
from helix.model.edge import Label
from helix.service import Helix

NAMES = ("memories", "bytes", "requests", "tokens")
_MINUTE = 60.0
_MOST_COUNTED = 20_000
_BYTES_EVERY = 300.0


def parsed(text: str) -> dict[str, int]:
    """Return a tenant's quota from how it is kept; InvalidInputError for another name, or no number from 0 up."""
    try:
        told = json.loads(text or "{}")
        quota = {str(name): int(value) for name, value in told.items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidInputError(f"this is not a quota: {text!r:.100}") from error
    if unknown := set(quota) - set(NAMES):
        raise InvalidInputError(f"a quota knows no {sorted(unknown)[0]!r}", hint=f"it knows {', '.join(NAMES)}")
    if any(value < 0 for value in quota.values()):
        raise InvalidInputError("a quota is a number of 0 or more")
    return quota


class Quotas:
    """Counts what tenants ask of this process: a bucket that holds a minute's requests, and fills as time goes by."""

    def __init__(self) -> None:
        self._left: OrderedDict[int, tuple[float, float]] = OrderedDict()

    def count(self, there: Whereabouts) -> None:
        """Count a request. Raises TooManyRequestsError where a tenant asks more than it may."""
        most = parsed(there.quota).get("requests")
        if most is None:
            return
        now = time.monotonic()
        left, at = self._left.pop(there.id, (float(most), now))
        left = min(most, left + (now - at) * most / _MINUTE) - 1
        self._left[there.id] = max(left, 0.0) if left >= 0 else left + 1, now
        while len(self._left) > _MOST_COUNTED:
            self._left.popitem(last=False)
        if left < 0:
            raise TooManyRequestsError(f"{there.slug} may ask {most} times a minute", hint="ask again in a while")


class TenantRoom:
    """Whether a tenant that is open here may keep more."""

    def __init__(self, helix: Helix, quota: Callable[[], Mapping[str, int]]) -> None:
        """`quota` tells what holds now."""
        self._helix = helix
        self._quota = quota
        self._bytes = self._seq = 0
        self._counted = -_BYTES_EVERY

    def full(self) -> str:
        """Return why nothing more may be kept; empty where there is room. It may ask the server: not for the loop."""
        quota = self._quota()
        most = quota.get("memories")
        if most is not None and self._helix.store.catalogue.view.counts().labels[Label.MEMORY] >= most:
            return f"the tenant keeps as many memories as it may ({most})"
        most = quota.get("bytes")
        if most is not None and self._size() >= most:
            return f"the tenant keeps as much as it may ({most} bytes)"
        return ""

    def _size(self) -> int:
        """Return the bytes of the log: what came is added at once, what was erased is taken off after a while."""
        journal = self._helix.store.journal
        if time.monotonic() - self._counted > _BYTES_EVERY:
            self._bytes, self._seq, self._counted = 0, 0, time.monotonic()
        if journal.last_seq > self._seq:
            asked = "SELECT coalesce(sum(length(payload)), 0), coalesce(max(seq), 0) FROM log WHERE seq > ?"
            with journal.database.reading() as connection:
                size, seq = connection.execute(asked, (self._seq,)).fetchone()
            self._bytes, self._seq = self._bytes + int(size), int(seq)
        return self._bytes
