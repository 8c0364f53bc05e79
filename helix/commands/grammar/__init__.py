"""Grammar: the forms of command lines: launchers, test runners, and the form in which a command is remembered."""
