"""Upkeep: what background jobs do to memories: duplicates, disputes, gaps, recurring failures, decay, vectors."""
