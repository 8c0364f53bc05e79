"""Rules that find secrets in a text; `helix.text.secrets.redact` puts them together."""
