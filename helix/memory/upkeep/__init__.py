"""Upkeep: what jobs do to memories: duplicates, disputes, gaps, recurring failures, decay, vectors, recovery."""
