"""Thinking: what a language model adds where one may be asked."""
