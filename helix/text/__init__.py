"""Pure functions over text: redaction, tokens, entities, dates and names. No input, no output, no state."""
