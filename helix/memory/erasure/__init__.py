"""Erasure: what is to be gone from every file for good."""
