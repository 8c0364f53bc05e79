"""Imports: what other memories keep, read by an adapter each and ingested as any other source is."""
