"""The window: what its tests and its screenshots are made with."""
