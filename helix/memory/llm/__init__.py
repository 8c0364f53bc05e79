"""Language models: what one is asked where the store has one, and how little of its answers is believed."""
