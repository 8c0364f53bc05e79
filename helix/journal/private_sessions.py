"""Private sessions: what the journal knows of them, digests of their names that are salted with its own salt.

They are no part of the log. Beside a digest stands the salt it was made with where that is another journal's.
"""

from __future__ import annotations

from collections.abc import Mapping

from helix.journal.log import Journal

_DIGEST = "private/"
_SALT = "private_salt"
MOST_SALTS = 1_000
"""Journals, at most, whose private sessions a journal knows of: one more for each that a backup took the place of."""


def own_salt(journal: Journal) -> str | None:
    """Return the salt that the journal keeps for digests of private sessions' names; None before there is one."""
    return journal.meta(_SALT)


def hide_session(journal: Journal, digest: str, salt: str) -> None:
    """Note the salted digest of a private session's name; its salt becomes the journal's own if it has none."""
    own = own_salt(journal)
    if own is None:
        journal.set_meta(_SALT, salt)
    journal.set_meta(_DIGEST + digest, "" if own in (None, salt) else salt)


def hidden_sessions(journal: Journal) -> Mapping[str, frozenset[str]]:
    """Return the digests of private sessions' names that the journal notes, by their salt.

    Each name is compared with a digest for each salt. So of more salts than there can be, which whoever wrote the
    journal made up, only some count, and the journal's own always does.
    """
    own = own_salt(journal) or ""
    by_salt: dict[str, set[str]] = {own: set()}
    for key, salt in journal.metas(_DIGEST).items():
        if (salt or own) in by_salt or len(by_salt) <= MOST_SALTS:
            by_salt.setdefault(salt or own, set()).add(key.removeprefix(_DIGEST))
    return {salt: frozenset(digests) for salt, digests in by_salt.items() if digests}
