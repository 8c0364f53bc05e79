"""Action: what is remembered of exactly one command, error or file, and what commands that failed teach."""
