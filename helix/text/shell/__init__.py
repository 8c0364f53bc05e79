"""Shell: a command line as the shell reads it, without running anything; other text is read as far as it goes."""
