"""Rules that find secrets in a text; `helix.text.redact` puts them together."""
