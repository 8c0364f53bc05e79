"""The domain: inert, frozen records without any input or output."""
