"""Outcomes: what came of a task by evidence, and what that says of the memories that were put before it."""
