"""Hooks: the process that a client runs where it cannot ask the daemon over HTTP by itself."""
