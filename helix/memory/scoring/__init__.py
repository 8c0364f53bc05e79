"""Scoring: importance, certainty, salience and what a verified use adds, as arithmetic."""
