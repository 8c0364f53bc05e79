"""Outcome: what the end of a command line says: exit status, test counts, evidence, and which command mended an error."""
