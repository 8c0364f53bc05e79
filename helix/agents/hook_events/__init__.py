"""Hooks: what a coding agent's client tells of its work, and what Helix answers."""
