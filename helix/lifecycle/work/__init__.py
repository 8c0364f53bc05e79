"""Work: background jobs, their queue and their worker, and taking them back."""
