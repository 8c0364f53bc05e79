"""Commands: what a command line is, and what its end says of the work."""
