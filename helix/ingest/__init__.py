"""Ingest: reads sources that people have (git history, notes, JSON lines) as drafts; nothing here writes a store."""
