"""Observer: what an agent's answers give to learn, and the queue in which it waits to be looked at."""
