"""The seams to models: embedding texts, and installing what that needs."""
