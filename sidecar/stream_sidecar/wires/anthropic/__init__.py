"""Anthropic's Messages: ``reader`` has the row of the wire."""
