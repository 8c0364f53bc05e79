"""Agents: what they are shown, what came of it, and what there is to learn from their work."""
