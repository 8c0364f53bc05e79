"""Spotting: what each kind of entity looks like in a text, kind by kind; `entities.py` puts it together."""
