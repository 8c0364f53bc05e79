"""Answers: what prompts to agents and their answers look like, read without ever failing."""
