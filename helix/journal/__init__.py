"""The system of record: an append-only log in SQLite, with the state, tokens and vectors it comes to."""
