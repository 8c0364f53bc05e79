"""Spotting: what each kind of entity looks like in a text, kind by kind; `helix.text.entities` puts it together."""
