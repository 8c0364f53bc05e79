"""Capture: what happens is written down here, unless it is private, ignored or suspicious."""
