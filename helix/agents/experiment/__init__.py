"""Experiment: tasks with memory against tasks without, and what the difference is worth."""
