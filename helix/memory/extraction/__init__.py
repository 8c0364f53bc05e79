"""Extraction: what many episodes say becomes memories, each grounded in them."""
