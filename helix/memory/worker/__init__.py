"""Worker: the thread that runs background jobs, which kinds there are, and how one is undone."""
