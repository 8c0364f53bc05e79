"""Upkeep: what jobs do to memories: duplicates, gaps, decay, vectors, recovery."""
