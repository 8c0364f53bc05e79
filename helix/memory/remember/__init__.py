"""Remember: stores a memory on request, and changes one by hand."""
