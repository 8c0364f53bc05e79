"""Change: how memories become operations of one change, how they are found, and how versions and links are written."""
