"""Command line: one as the shell reads it, without running anything; its normal forms, launchers and test runners."""
