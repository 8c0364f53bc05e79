"""The command line: every command is a client of the daemon; `serve` alone brings up the service."""
