"""The engine seam and its embedded engine."""
