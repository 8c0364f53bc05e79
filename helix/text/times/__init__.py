"""Times: when a text says that something was or is to be; `dates.py` puts it together."""
