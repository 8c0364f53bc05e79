"""The system of record: an append-only log in SQLite, with the state, text index and vectors it comes to."""
