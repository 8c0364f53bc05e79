"""Change: how memories become operations of one change, how a name or id finds one, and how versions are written."""
