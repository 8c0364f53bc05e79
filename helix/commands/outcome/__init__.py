"""Outcome: what the end of a command line says: exit status, test counts, evidence, which command mended an error."""
