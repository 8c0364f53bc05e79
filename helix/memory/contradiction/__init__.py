"""Contradiction: whether two statements are the same, a refinement or contrary, and which of them is valid."""
