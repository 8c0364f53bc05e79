"""Insight: reflections on what happened, what they rest on, and summaries of what has faded."""
