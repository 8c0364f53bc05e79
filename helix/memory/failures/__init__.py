"""Failures: when a failure was met again, and the warning of one that keeps coming."""
