"""The read path: from a question to packed answers, in pure stages over arrays and small records."""
