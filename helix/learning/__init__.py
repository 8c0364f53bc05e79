"""Learning: what memories are put before an agent, what came of it, and what there is to learn from its work."""
