"""Instructions: what text that would direct its reader is made of; see `helix.text.instructions.prompt_injection`."""
