"""Command outcome: what the end of a line says: status, test counts, evidence, which command mended an error."""
