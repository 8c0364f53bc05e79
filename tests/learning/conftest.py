"""Fixtures of the learning loop's tests: those of the lifecycle's."""

from tests.lifecycle.conftest import living, moment, store

__all__ = ["living", "moment", "store"]
