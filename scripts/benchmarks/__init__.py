"""Benchmarks: what Helix does on this machine, in figures. Nothing in `helix/` imports this."""
