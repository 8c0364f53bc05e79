"""Context: the blocks of memory that an agent is given before it begins."""
