"""Connectors: which file of each coding agent's client leads to a store, and the one way to edit such a file."""
