"""Strands: memory that can be carried, signed, merged and rolled back."""
