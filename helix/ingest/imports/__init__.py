"""Imports: what other memories keep, read by an adapter each and taken in as any other source is."""
