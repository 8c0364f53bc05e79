"""Jobs: one run of a background job, when it is due, and how it gives way to whoever waits for an answer."""
