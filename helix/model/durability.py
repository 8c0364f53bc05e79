"""Durability: what a change that was acknowledged survives, by how the engine of the journal is set up."""

from __future__ import annotations

from helix.model.worded import Worded


class Durability(Worded):
    """What an acknowledged change survives."""

    QUORUM = "quorum", "It is on the server's disk and on a standby's."
    ENGINE = "engine", "Whoever runs the server vouches for it."
    SINGLE = "single", "It is on one machine's disk, and nowhere else."
    UNSAFE = "unsafe", "It may be lost with the machine: the server does not wait for its disk."


ENOUGH_FOR_A_QUORUM = frozenset({Durability.QUORUM, Durability.ENGINE})
