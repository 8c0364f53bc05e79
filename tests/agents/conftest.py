"""Fixtures of the agents's tests: those of the memory's."""

from tests.memory.conftest import living, moment, store

__all__ = ["living", "moment", "store"]
