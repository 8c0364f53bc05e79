"""Remember: stores a memory on request, changes one by hand, and draws edges between memories."""
