"""One writer over journal, graph and memory, and what readers look at."""
