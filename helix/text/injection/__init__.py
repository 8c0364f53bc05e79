"""Instructions: what text that would direct its reader is made of; see `helix.text.injection.prompt_injection`."""
